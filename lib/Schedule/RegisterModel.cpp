//===- RegisterModel.cpp - Registers of a computing thread ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/ResourceModel.h"

namespace attn {

/// Addresses, loop state and temporaries of a kernel. Calibrated with the
/// fewest registers with which ptxas 13.0 does not spill the kernels of this
/// project (the unit test lists them).
static constexpr int64_t kOtherRegisters = 32;

/// What ptxas can need beyond the estimate before it spills, and what a mask or
/// a change of the scores adds.
static constexpr int64_t kRegisterMargin = 32;

/// More descriptors than of 128 columns, in wgmma kernels.
static constexpr int64_t kWideHeadRegisters = 4;

/// And a bias, in kernels of mma.sync: of each score, or the same for all rows.
static constexpr int64_t kBiasMargin = 64, kRowBiasMargin = 24;

/// The counter, the words and the thresholds of dropout beside the scores of a
/// wgmma kernel, calibrated in the same way.
static constexpr int64_t kDropoutRegisters = 40;

/// Elements of a bias that are on their way while others are added, of a wgmma
/// kernel whose thread has `columns` of the scores; calibrated in the same way.
static int64_t getBiasRegisters(const AttentionProblem &problem,
                                int64_t columns) {
  if (!problem.hasBias)
    return 0;
  int64_t ofMask = problem.mask.isBand() ? 24 : 0;
  return ofMask + (problem.isRowBias ? columns / 2 + 2 : 3 * columns / 4 + 10);
}

/// mma.sync: a warp holds rows x columns of an f32 accumulator in rows *
/// columns / 32 registers a thread, and as 16-bit operands in half of that.
/// ptxas begins the next S while P is still being used.
static RegisterUse getMmaSyncUse(const AttentionProblem &problem,
                                 const Schedule &schedule) {
  int64_t rows = schedule.getRowsPerWarp();
  int64_t rowFragments = ceilDiv(rows, 16);
  RegisterUse use;
  // An A fragment of 16 x 16 takes 4 registers; two B fragments of 16 x 16 are
  // in flight.
  use.operands = 4 * rowFragments + 8;
  // Row maximum and sum, of two rows for each fragment.
  use.other = kOtherRegisters + 4 * rowFragments;
  if (schedule.kind == ScheduleKind::SmallCache) {
    use.output = rows * std::max(schedule.tileN, schedule.tileDv) / 32;
    return use;
  }
  use.output = rows * schedule.tileDv / 32;
  use.scores = rows * schedule.tileN / 32 +
               rows * schedule.tileN * getSizeBytes(problem.elementType) / 128;
  if (schedule.queryInRegisters)
    use.operands +=
        rows * schedule.tileD * getSizeBytes(problem.elementType) / (32 * 4) -
        4 * rowFragments;
  return use;
}

/// wgmma: a warpgroup of 128 threads holds 64 rows; warpgroups that share rows
/// split the columns of S and of O, and then P goes through shared memory.
static RegisterUse getWgmmaUse(const AttentionProblem &problem,
                               const Schedule &schedule) {
  int64_t sharing = std::max<int64_t>(schedule.warps * 16 / schedule.tileM, 1);
  RegisterUse use;
  use.other = kOtherRegisters + (problem.hasDropout ? kDropoutRegisters : 0) +
              (schedule.tileD > 128 ? kWideHeadRegisters : 0);
  if (schedule.kind == ScheduleKind::SmallCache) {
    use.output = std::max(schedule.tileN, schedule.tileDv) / (2 * sharing);
    return use;
  }
  use.output = schedule.tileDv / (2 * sharing);
  use.scores = schedule.tileN / (2 * sharing);
  use.other += getBiasRegisters(problem, schedule.tileN / sharing);
  if (sharing == 1 && schedule.clusterD == 1)
    use.scores += schedule.tileN / 4;
  return use;
}

RegisterUse getRegisterUse(const AttentionProblem &problem,
                           const Schedule &schedule) {
  switch (schedule.mma) {
  case MmaFamily::MmaSync:
    return getMmaSyncUse(problem, schedule);
  case MmaFamily::Wgmma:
    return getWgmmaUse(problem, schedule);
  case MmaFamily::None:
  case MmaFamily::Tcgen05:
    break;
  }
  return {};
}

int64_t getRegisterLimit(const Schedule &schedule, const TargetInfo &target) {
  if (schedule.mma == MmaFamily::Wgmma) {
    // What setmaxnreg can leave to the computing warpgroups beside a producer,
    // at most 240 each.
    int64_t all = std::max<int64_t>(target.registersPerSm / 128 - 32, 0);
    int64_t share =
        std::min(all / std::max<int64_t>(schedule.warps / 4, 1), int64_t(240));
    return std::min(target.maxRegistersPerThread, share);
  }
  // Registers are given to warps in units of 8 a thread.
  int64_t share = target.registersPerSm / schedule.getNumThreads();
  return std::min(target.maxRegistersPerThread, alignDown(share, 8));
}

bool maySpill(const AttentionProblem &problem, const Schedule &schedule,
              const TargetInfo &target) {
  int64_t margin = kRegisterMargin;
  if (problem.hasBias)
    margin += problem.isRowBias ? kRowBiasMargin : kBiasMargin;
  return schedule.mma == MmaFamily::MmaSync &&
         getRegisterUse(problem, schedule).getTotal() >
             target.maxRegistersPerThread - margin;
}

/// Registers the hardware sets aside for each thread of a CTA.
static int64_t getAllocatedRegisters(const AttentionProblem &problem,
                                     const Schedule &schedule,
                                     const TargetInfo &target) {
  // With a producer warpgroup all threads start with an equal share.
  if (schedule.mma == MmaFamily::Wgmma)
    return alignDown(target.registersPerSm / schedule.getNumThreads(), 8);
  return alignUp(getRegisterUse(problem, schedule).getTotal(), 8);
}

int64_t getCtasPerSm(const AttentionProblem &problem, const Schedule &schedule,
                     const TargetInfo &target) {
  if (target.kind == TargetKind::Cpu)
    return 1;
  int64_t threads = schedule.getNumThreads();
  int64_t sharedMemory = getSharedMemoryUse(problem, schedule).total +
                         target.sharedMemoryReservedBytes;
  int64_t registers =
      threads * getAllocatedRegisters(problem, schedule, target);
  int64_t ctas =
      std::min(target.maxCtasPerSm, target.maxThreadsPerSm / threads);
  // A schedule without matrix instructions, which no GPU takes, has neither.
  auto fit = [&](int64_t available, int64_t used) {
    if (used > 0)
      ctas = std::min(ctas, available / used);
  };
  fit(target.sharedMemoryPerSmBytes, sharedMemory);
  fit(target.registersPerSm, registers);
  return ctas;
}

} // namespace attn
