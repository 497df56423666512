//===- ResourceModel.h - What a CTA of a schedule occupies ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory and registers of one CTA, and how many CTAs an SM holds. The
// shared memory is what a kernel of this project allocates, byte for byte; the
// registers are an estimate that is calibrated against ptxas.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_RESOURCEMODEL_H
#define ATTN_SCHEDULE_RESOURCEMODEL_H

#include "attn/Schedule/AttentionProblem.h"
#include "attn/Schedule/Schedule.h"

namespace attn {

/// Head dims as the matrix instructions see them: multiples of 16, or 32 of
/// 8-bit types.
int64_t getPaddedHeadDim(const AttentionProblem &problem);
int64_t getPaddedValueDim(const AttentionProblem &problem);

/// Bytes of shared memory of one CTA, by use.
struct SharedMemoryUse {
  int64_t query = 0;
  int64_t key = 0;      ///< all stages
  int64_t value = 0;    ///< all stages
  int64_t scores = 0;   ///< P between warpgroups, partial S between CTAs
  int64_t output = 0;   ///< if it has a tile of its own
  int64_t barriers = 0; ///< mbarriers, and alignment to 1 KiB
  int64_t total = 0;    ///< with what shares memory counted once
};

SharedMemoryUse getSharedMemoryUse(const AttentionProblem &problem,
                                   const Schedule &schedule);

/// Estimated 32-bit registers of one computing thread, by use.
struct RegisterUse {
  int64_t output = 0;   ///< accumulator of O
  int64_t scores = 0;   ///< accumulator of S (and P beside it)
  int64_t operands = 0; ///< fragments of Q, K, V
  int64_t other = 0;    ///< row statistics, addresses, indices
  int64_t getTotal() const { return output + scores + operands + other; }
};

RegisterUse getRegisterUse(const AttentionProblem &problem,
                           const Schedule &schedule);

/// Most registers a computing thread may be given: the target's limit, and what
/// the register file leaves to each of the schedule's warps.
int64_t getRegisterLimit(const Schedule &schedule, const TargetInfo &target);

/// Keys of a row whose sums may be those of the tensor cores: 16 steps of 32
/// keys, of which each drops at most 2^-13 of the sum.
inline constexpr int64_t kMostUnpromoted = 512;

/// True if the sums of 8-bit weights times values over a row are less exact
/// than 8-bit weights ask for, unless they are promoted (Schedule::promote).
bool dropsBits(const AttentionProblem &problem, MmaFamily family,
               const TargetInfo &target);

/// True if the kernel might not do without spilling registers to memory: it
/// runs, but slower than predicted.
bool maySpill(const AttentionProblem &problem, const Schedule &schedule,
              const TargetInfo &target);

/// CTAs that one SM holds at a time; 0 if not even one fits.
int64_t getCtasPerSm(const AttentionProblem &problem, const Schedule &schedule,
                     const TargetInfo &target);

} // namespace attn

#endif // ATTN_SCHEDULE_RESOURCEMODEL_H
