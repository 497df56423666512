//===- TensorMemory.h - Tensor memory of a CTA (TMEM) -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.16.1: 128 lanes of 512 cells of 32 bits, allocated by columns.
/// The instructions of a warp, and products that a thread issues, work beside
/// each other; what orders them is checked by vector clocks (SyncClock.h), in
/// which these are agents:
///
/// * the accesses (ld, st) of a warp: time is their number. The warp learns of
///   them at wait::ld and wait::st;
/// * the fences of a warp: at fence::before_thread_sync its time becomes that
///   of the accesses that are complete;
/// * the products of a thread: time is their number. A commit hands it to the
///   phase of an mbarrier.
///
/// fence::after_thread_sync takes a copy of the warp's clock, `seen`. An access
/// is ordered after another one if the fence or the product of that one is in
/// the copy.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_TENSORMEMORY_H
#define ATTN_LIB_SIMULATOR_PTX_TENSORMEMORY_H

#include "SyncClock.h"

#include <array>
#include <map>
#include <vector>

namespace attn::sim {

inline constexpr u32 tensorLanes = 128, tensorColumns = 512;
/// Lanes that are always accessed together, and whose history is kept as one.
inline constexpr u32 tensorLaneGroup = 16;

/// A tensor-memory address: bits 16 to 31 lane, 0 to 15 column.
struct TensorAddress {
  u32 lane = 0, column = 0;

  explicit TensorAddress(u32 bits) : lane(bits >> 16), column(bits & 0xFFFF) {}
};

/// Who accessed a cell.
struct TensorAccess {
  /// Product, Copy and Shift are work of the tensor pipe.
  enum class Kind : u8 { Load, Store, Product, Copy, Shift };
  Kind kind = Kind::Load;
  u32 agent = noAgent, time = 0;
  u32 warp = 0;              // in the cluster
  u64 accumulator = 0;       // of a product: place, shape and types
  bool isRowRefresh = false; // tcgen05.cp of 4x256b

  bool isPipe() const { return kind >= Kind::Product; }
};

/// The history of one column of a group of lanes since its last write.
struct TensorHistory {
  bool isWritten = false;
  TensorAccess write;
  std::vector<TensorAccess> reads;
};

struct TensorAllocation {
  u32 column = 0, columns = 0;
};

/// A warp in alloc, dealloc or relinquish_alloc_permit of cta_group::2, which
/// waits for one of the peer CTA to execute the same.
struct TensorRequest {
  Warp *warp = nullptr; // null: none waits
  const Instruction *instruction = nullptr;
  TensorAllocation what;
};

struct TensorMemory {
  /// The products, copies and shifts of a thread.
  struct Issuer {
    u32 agent = noAgent, issued = 0;
    u64 doneCycle = 0; // trace
  };

  std::vector<u32> cells; // [lane][column], once there is an allocation
  std::vector<TensorHistory> history; // [lane / tensorLaneGroup][column]
  std::vector<TensorAllocation> allocations;
  u32 lastColumns = tensorColumns; // of the last allocation
  bool isRelinquished = false;
  std::map<u32, Issuer> issuers; // by warp * 32 + lane
  TensorRequest request;

  u32 *row(u32 lane) { return &cells[size_t(lane) * tensorColumns]; }
  TensorHistory &historyOf(u32 lane, u32 column) {
    return history[size_t(lane / tensorLaneGroup) * tensorColumns + column];
  }
};

/// A tcgen05.ld whose registers are not there yet.
struct TensorLoad {
  std::vector<s32> slots;
  std::vector<u32> values; // [register][lane]
};

/// What a warp has in flight.
struct TensorWarpState {
  u32 accessAgent = noAgent, fenceAgent = noAgent;
  u32 time = 0;                          // of its last access
  u32 pendingLoad = 0, pendingStore = 0; // the first one; 0: none
  VectorClock seen;
  std::vector<TensorLoad> loads;
  std::vector<u8> inFlight; // by slot: loads that write it
  u32 allocated = 0; // column that the peer's tcgen05.alloc found for the warp

  /// The last access of which it and all before are complete.
  u32 completed() const {
    u32 first = pendingLoad && pendingStore
                    ? std::min(pendingLoad, pendingStore)
                    : std::max(pendingLoad, pendingStore);
    return first ? first - 1 : time;
  }
};

/// A rectangle of cells: whole groups of lanes.
struct TensorRange {
  u32 lane = 0, lanes = 0, column = 0, columns = 0;
};

/// The CTAs that an instruction works for: the warp's own, or the pair with the
/// even rank first (cta_group::2; PTX ISA 9.7.16, "CTA Pair": ranks that differ
/// in the last bit).
class CtaGroup {
public:
  CtaGroup(Warp &warp, const Instruction &instruction, bool isPair);

  u32 size() const { return count; }
  Cta &operator[](u32 index) const { return *ctas[index]; }
  Cta *const *begin() const { return ctas.data(); }
  Cta *const *end() const { return ctas.data() + count; }

private:
  std::array<Cta *, 2> ctas{};
  u32 count = 1;
};
/// The other CTA of the warp's pair; null where the cluster has none.
Cta *peerCta(const Warp &warp);

/// Fails unless the columns of the CTA's memory are allocated.
void checkTensorRange(Warp &warp, const Instruction &instruction, Cta &cta,
                      const TensorRange &range, const char *what);

/// The agent of the warp's accesses, made on first use.
u32 tensorAccessAgent(Warp &warp);
/// The products of a lane's thread, with an agent on first use.
TensorMemory::Issuer &tensorIssuer(Warp &warp, u32 lane);
/// The next access of the warp, which is in flight from here on.
TensorAccess beginTensorAccess(Warp &warp, TensorAccess::Kind kind);

/// The next product, copy or shift of a lane's thread.
TensorAccess beginTensorProduct(Warp &warp, u32 lane, TensorAccess::Kind kind);
/// Remembers that it reaches into the CTA, which must not exit before its end.
void noteTensorReach(Warp &warp, Cta &cta, const TensorAccess &access);

/// Checks an access of a range against earlier ones and remembers it. `what`
/// names it in findings. Returns false where a read is not ordered after the
/// write of what it reads.
bool readTensor(Warp &warp, const Instruction &instruction, Cta &cta,
                const TensorRange &range, const TensorAccess &access,
                const char *what);
void writeTensor(Warp &warp, const Instruction &instruction, Cta &cta,
                 const TensorRange &range, const TensorAccess &access,
                 const char *what);

/// fence::before_thread_sync, which tcgen05.commit implies, and
/// fence::after_thread_sync.
void fenceTensorBefore(Warp &warp);
void fenceTensorAfter(Warp &warp);

/// Allocation in the memory of a CTA. `columns` is a power of two from 32 to
/// 512. Returns the first one.
u32 allocateTensor(Warp &warp, const Instruction &instruction, Cta &cta,
                   u32 columns);
/// Fails unless this is an allocation, and reports accesses that the warp does
/// not know to be over.
void checkDeallocation(Warp &warp, const Instruction &instruction, Cta &cta,
                       TensorAddress address, u32 columns);
void deallocateTensor(Cta &cta, u32 column);
/// At the exit of the CTA's last warp.
void checkTensorExit(Warp &warp, const Instruction &instruction);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_TENSORMEMORY_H
