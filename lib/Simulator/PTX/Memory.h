//===- Memory.h - Checked accesses of every state space ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Every access of a lane goes through here: bounds, alignment, data in flight,
/// uninitialised data, races. Sizes are powers of two up to 16, except for 0,
/// which only checks that the address is valid.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_MEMORY_H
#define ATTN_LIB_SIMULATOR_PTX_MEMORY_H

#include "Machine.h"

namespace attn::sim {

/// One access by one lane.
struct Access {
  u64 address = 0;
  u32 bytes = 0;
  bool isWrite = false;
  u32 lane = 0;
};

/// Checks a global access and makes its allocation the worker's window.
u8 *globalPointerSlow(Warp &warp, const Instruction &instruction,
                      const Access &access);
inline u8 *globalPointer(Warp &warp, const Instruction &instruction,
                         const Access &access) {
  const GlobalWindow &window = warp.worker->window;
  u8 *data = reinterpret_cast<u8 *>(access.address);
  if (__builtin_expect(!window.contains(access.address, access.bytes) ||
                           (access.isWrite && window.readOnly) ||
                           (access.address & (access.bytes - 1)),
                       0))
    data = globalPointerSlow(warp, instruction, access);
  if (__builtin_expect(warp.worker->chain != nullptr, 0))
    noteInChain(warp, instruction, access);
  return data;
}
/// Checks that [address, address + bytes) is inside one allocation, without
/// asking for alignment.
void checkGlobalRange(Warp &warp, const Instruction &instruction, u64 address,
                      u64 bytes, bool isWrite, u32 lane);

/// Ends a request, and counts what it has read (Counters.h, ReadRequests).
void countRequest(Warp &warp);
/// The warp's request reads this of the worker's window.
inline void addToRequest(Warp &warp, u64 address, u64 bytes) {
  Worker &worker = *warp.worker;
  if (worker.request.allocation != worker.window.id)
    countRequest(warp);
  worker.request.allocation = worker.window.id;
  worker.request.ranges.push_back({address, address + bytes});
}

/// A shared access through the generic proxy. `allowCluster`: addresses of
/// other CTAs of the cluster are valid. `owner` gets the CTA that is accessed.
u8 *sharedPointer(Warp &warp, const Instruction &instruction,
                  const Access &access, bool allowCluster,
                  Cta **owner = nullptr);
u8 *localPointer(Warp &warp, const Instruction &instruction,
                 const Access &access);
/// An access in the space of the instruction.
u8 *pointer(Warp &warp, const Instruction &instruction, Space space,
            const Access &access);

/// A shared address of any CTA of the cluster, with or without the window.
struct SharedLocation {
  Cta *cta = nullptr;
  u32 offset = 0;
};
SharedLocation sharedLocation(Warp &warp, const Instruction &instruction,
                              u64 address);
/// Checks a read of shared memory through the async proxy, by an agent at its
/// time; `what` names the operand in findings.
void checkAsyncRead(Warp &warp, const Instruction &instruction, Cta &cta,
                    u32 offset, u32 bytes, const char *what, u32 agent,
                    u32 time);

/// Marks shared bytes as the destination of an asynchronous copy, and as
/// written once it has arrived.
void markInFlight(Cta &cta, u32 offset, u32 bytes);
void markWritten(Cta &cta, u32 offset, u32 bytes);

inline bool isSharedAccess(Space space, u64 address) {
  return space == Space::SharedCta || space == Space::SharedCluster ||
         (space == Space::Generic && inSharedWindow(address));
}

/// Counts the passes over the banks that a warp's shared access takes: 32 banks
/// of 4 bytes; accesses of 8 and 16 bytes go by half and quarter warps.
void countBankConflicts(Warp &warp, const u64 (&addresses)[warpSize],
                        u32 bytesPerLane);

/// How findings print a shared offset: relative to the CTA's first byte.
inline int printedOffset(u32 offset) { return int(offset) - int(sharedBase); }

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_MEMORY_H
