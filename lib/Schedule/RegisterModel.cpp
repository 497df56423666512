//===- RegisterModel.cpp - Registers of a computing thread ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/ResourceModel.h"

#include "attn/Schedule/Family.h"

#include <algorithm>

namespace attn {

/// What ptxas can need beyond the estimate before it spills, and what a mask or
/// a change of the scores adds.
static constexpr int64_t kRegisterMargin = 32;

/// And a bias, in kernels of mma.sync: of each score, or the same for all rows.
static constexpr int64_t kBiasMargin = 64, kRowBiasMargin = 24;

RegisterUse getRegisterUse(const AttentionProblem &problem,
                           const Schedule &schedule) {
  return getFamily(schedule.mma).getRegisterUse(problem, schedule);
}

int64_t getRegisterLimit(const Schedule &schedule, const TargetInfo &target) {
  return getFamily(schedule.mma).getRegisterLimit(schedule, target);
}

bool maySpill(const AttentionProblem &problem, const Schedule &schedule,
              const TargetInfo &target) {
  int64_t margin = kRegisterMargin;
  if (problem.hasBias)
    margin += problem.isRowBias ? kRowBiasMargin : kBiasMargin;
  // With no barrier of the CTA in its way, ptxas reads the bias of a whole tile
  // ahead: 112 columns of V and 64 keys spill, 64 and 64 do not.
  if (problem.hasBias && !problem.isRowBias && schedule.producerWarps > 0)
    margin = std::max(margin, 2 * schedule.tileN - 1);
  // A producer's threads have as many as those that compute.
  int64_t most = schedule.producerWarps > 0 ? getRegisterLimit(schedule, target)
                                            : target.maxRegistersPerThread;
  return !getFamily(schedule.mma).hasRoles() &&
         getRegisterUse(problem, schedule).getTotal() > most - margin;
}

/// Most keys that a row may see.
static int64_t getLongestRow(const AttentionProblem &problem) {
  const MaskPattern &mask = problem.mask;
  int64_t all = problem.kvLength;
  if (mask.left.value_or(all) >= all || mask.right.value_or(all) >= all)
    return all;
  // Below -all nothing is visible, and a sum might wrap.
  return std::min(all,
                  std::max(*mask.left, -all) + std::max(*mask.right, -all) + 1);
}

bool dropsBits(const AttentionProblem &problem, MmaFamily family,
               const TargetInfo &target) {
  return getFamily(family).getSumBits(problem.getWeightType(), target) > 0 &&
         getLongestRow(problem) > kMostUnpromoted;
}

/// Registers the hardware sets aside for each thread of a CTA.
static int64_t getAllocatedRegisters(const AttentionProblem &problem,
                                     const Schedule &schedule,
                                     const TargetInfo &target) {
  // Where warps have roles all threads start with an equal share.
  if (getFamily(schedule.mma).hasRoles())
    return alignDown(target.registersPerSm / schedule.getNumThreads(), 8);
  return alignUp(getRegisterUse(problem, schedule).getTotal(), 8);
}

int64_t getCtasPerSm(const AttentionProblem &problem, const Schedule &schedule,
                     const TargetInfo &target) {
  if (target.kind == TargetKind::Cpu)
    return 1;
  int64_t threads = schedule.getNumThreads(), warps = threads / 32;
  int64_t sharedMemory = getSharedMemoryUse(problem, schedule).total +
                         target.sharedMemoryReservedBytes;
  int64_t registers = 32 * getAllocatedRegisters(problem, schedule, target);
  int64_t ctas =
      std::min(target.maxCtasPerSm, target.maxThreadsPerSm / threads);
  // A schedule without matrix instructions, which no GPU takes, has neither.
  auto fit = [&](int64_t available, int64_t used) {
    if (used > 0)
      ctas = std::min(ctas, available / used);
  };
  fit(target.sharedMemoryPerSmBytes, sharedMemory);
  // A partition of an SM has a quarter of its registers, and no part of a warp.
  // assumed: without a producer warps are dealt out evenly.
  if (schedule.producerWarps > 0 && registers > 0)
    fit(4 * (target.registersPerSm / 4 / registers), warps);
  else
    fit(target.registersPerSm, warps * registers);
  return ctas;
}

} // namespace attn
