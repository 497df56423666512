//===- AsyncState.h - Operations in flight ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What warps and CTAs remember of asynchronous operations between issue and
/// completion: cp.async, bulk and tensor copies, wgmma. Those of tensor memory
/// are in TensorMemory.h.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ASYNCSTATE_H
#define ATTN_LIB_SIMULATOR_PTX_ASYNCSTATE_H

#include "RaceHistory.h"
#include "TensorMap.h"
#include "Types.h"

#include <array>
#include <map>
#include <memory>
#include <vector>

namespace attn::sim {

struct Cta;
struct Instruction;
struct Warp;

enum class AtomicOp : u8 { Add, Min, Max, And, Or, Xor, Exch, Cas, Inc, Dec };

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// One cp.async of a warp; lanes leave `mask` as they complete.
struct CpAsyncOp {
  u32 mask = 0;
  u32 bytes = 0; // cp-size
  u64 sequence = 0;
  std::array<u32, warpSize> destination{}, sourceBytes{}, group{};
  std::array<u64, warpSize> source{};
  /// The warp's clock at the first cp.async.mbarrier.arrive behind the copy; 0:
  /// none. Who has waited on that mbarrier may read.
  u32 arrival = 0;
  u64 doneCycle = 0; // trace
};

struct CpAsyncState {
  std::vector<CpAsyncOp> ops;
  std::array<u32, warpSize> group{}; // open group of each lane
  u64 sequence = 0;
};

//===----------------------------------------------------------------------===//
// Copies that complete on an mbarrier
//===----------------------------------------------------------------------===//

struct PendingCopy {
  enum class Kind : u8 {
    Tensor,        // cp.async.bulk.tensor to shared memory
    Bulk,          // cp.async.bulk to shared memory
    Store,         // st.async, red.async, cp.reduce.async.bulk to shared memory
    CpAsyncArrive, // cp.async.mbarrier.arrive
    TensorCommit   // tcgen05.commit, which copies nothing
  };
  Kind kind = Kind::Bulk;
  const Instruction *instruction = nullptr;
  Cta *destination = nullptr;
  Cta *signaled = nullptr; // the mbarrier's; null: that of the destination
  u32 mbarrier = 0, offset = 0, bytes = 0;

  TensorMap map; // Tensor
  TensorCoordinates coordinates{};
  u64 source = 0;       // Bulk from global memory
  std::vector<u8> data; // Bulk from shared memory, Store
  bool reduces = false; // Store
  AtomicOp reduction = AtomicOp::Add;
  Type elementType = Type::None;
  Warp *warp = nullptr; // CpAsyncArrive
  u32 mask = 0;
  u64 sequence = 0;
  u32 time = 0;      // of the warp, at the arrive
  u64 doneCycle = 0; // trace
};

//===----------------------------------------------------------------------===//
// Bulk stores
//===----------------------------------------------------------------------===//

/// A bulk or tensor copy from shared to global memory. The source is read at
/// issue and compared at wait_group.read; global memory changes at wait_group.
struct BulkStore {
  const Instruction *instruction = nullptr;
  bool isTensor = false;
  u32 lane = 0, group = 0;
  u32 number = 0; // of the lane, from 1
  bool readDone = false;
  TensorMap map;
  TensorCoordinates coordinates{};
  u64 destination = 0;
  u32 offset = 0, bytes = 0;
  std::vector<u8> snapshot;
  bool reduces = false;
  AtomicOp reduction = AtomicOp::Add;
  Type elementType = Type::None;
  u64 readCycle = 0; // trace
};

struct BulkState {
  std::vector<BulkStore> stores;
  std::array<u32, warpSize> group{}, issued{};
  std::map<u32, u32> agents; // by lane
};

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// Matrix B of a wgmma, gathered from shared memory; shared by the four warps
/// of a warpgroup and by repeated reads of unchanged memory.
struct WgmmaTileB {
  u64 descriptor = 0;
  u32 key = 0; // shape, type, transposition, sign
  u64 epoch = 0;
  std::vector<float> values;
  std::vector<u32> chunks; // offsets of the 16-byte chunks read
  std::vector<u8> bytes;   // their content at issue
  // For the race check: the product that read them last, who had written them.
  u32 agent = noAgent, time = 0;
  Writers writers;
};

/// A wgmma, or a register move of an accumulator in flight (no instruction).
struct WgmmaOp {
  const Instruction *instruction = nullptr;
  s32 moveDestination = -1, moveSource = -1;
  u32 moveMask = 0;

  std::shared_ptr<WgmmaTileB> b;
  std::vector<float> a;
  std::vector<u32> chunksA; // when A is in shared memory
  std::vector<u8> bytesA;
  u64 epochA = 0;
  bool accumulates = true;
  u32 group = 0;
  bool committed = false, sourcesChecked = false;
  u64 number = 0;    // in the warp
  u64 doneCycle = 0; // trace
};

struct WgmmaState {
  std::vector<WgmmaOp> ops;
  u64 issued = 0;
  u32 group = 0;
  u32 pending = 0;          // ops that are no moves
  std::vector<u8> inFlight; // by slot: operations that write it
  u64 fenceStamp = 0;
};

struct WgmmaCtaState {
  /// The n-th wgmma of a warpgroup, to see that its warps agree.
  struct Issue {
    u64 number = 0;
    const Instruction *instruction = nullptr;
  };
  static constexpr u32 issueRing = 512;
  std::vector<Issue> issues; // [warpgroup][issueRing]
  std::vector<std::shared_ptr<WgmmaTileB>> cache;
  u32 nextCacheEntry = 0;
  std::vector<u32> agents; // by warpgroup
};

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ASYNCSTATE_H
