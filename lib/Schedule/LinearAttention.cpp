//===- LinearAttention.cpp - Schedules of linear attention ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/LinearAttention.h"

#include "Machine.h"

#include "attn/Support/Format.h"
#include "attn/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace attn {

/// Columns of the state that the matrix instructions take at once.
static constexpr int64_t kColumns = 16;
/// The warp that sums up the decays of a chunk has this many lanes.
static constexpr int64_t kLanes = 32;
/// Of a thread: with more registers of fragments ptxas spills; with fewer it
/// takes that many beside them, up to as many in all (test/Integration/Ptxas).
static constexpr int64_t kMostFragments = 200, kRegistersBeside = 95,
                         kMostRegisters = 240;
/// Clocks of a step that are neither products nor loads, assumed: two barriers,
/// the state's way through shared memory, the decays.
static constexpr double kStepClocks = 400;

int64_t getStateRows(const LinearProblem &problem, const Schedule &schedule) {
  return alignUp(problem.headDim, detail::kWarpRows * schedule.warps);
}

static int64_t getSlices(const LinearProblem &problem,
                         const Schedule &schedule) {
  return ceilDiv(alignUp(problem.valueDim, kColumns), schedule.tileDv);
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

static Status expectMultiple(const std::string &name, int64_t value,
                             int64_t factor, const std::string &reason = "") {
  if (value > 0 && value % factor == 0)
    return {};
  return Error{"expected " + name + " to be a multiple of " +
               std::to_string(factor) + reason + ", got " +
               std::to_string(value)};
}

static Status checkProblem(const LinearProblem &problem) {
  if (Status status = problem.getSoftmax().verify(); !status)
    return status;
  if (problem.elementType != ElementType::F16 &&
      problem.elementType != ElementType::BF16)
    return Error{"expected f16 or bf16 inputs of a linear attention on a GPU, "
                 "got " +
                 std::string(getName(problem.elementType))};
  if (Status status = expectMultiple("D", problem.headDim, 8); !status)
    return status;
  return expectMultiple("Dv", problem.valueDim, 8);
}

Status checkLinearSchedule(const LinearProblem &problem,
                           const Schedule &schedule) {
  if (Status status = checkProblem(problem); !status)
    return status;
  if (schedule.kind != ScheduleKind::Chunks)
    return Error{"expected kind = \"chunks\" of a linear attention on a GPU, "
                 "got \"" +
                 std::string(getName(schedule.kind)) + "\""};
  if (schedule.mma != MmaFamily::MmaSync)
    return Error{"expected mma = \"mma_sync\" of a linear attention, got \"" +
                 std::string(getName(schedule.mma)) + "\""};
  if (schedule.tileM != schedule.tileN)
    return Error{
        "expected tile_n to be tile_m, the rows of a chunk, which is " +
        std::to_string(schedule.tileM) + ", got " +
        std::to_string(schedule.tileN)};
  if (problem.hasStates && schedule.tileM != kStateStride)
    return Error{
        "expected tile_m to be " + std::to_string(kStateStride) +
        ", the positions that each of the states is carried into, got " +
        std::to_string(schedule.tileM)};
  if (Status status = expectMultiple("tile_m", schedule.tileM, kLanes); !status)
    return status;
  if (Status status = expectMultiple("tile_m", schedule.tileM,
                                     detail::kWarpRows * schedule.warps,
                                     ", 16 rows for each warp");
      !status)
    return status;
  return expectMultiple("tile_dv", schedule.tileDv, kColumns);
}

//===----------------------------------------------------------------------===//
// Resources
//===----------------------------------------------------------------------===//

/// Rings of Q, K and V, and the state as an operand. Where all rows see all
/// keys, those of K and V in one kernel, of Q and the state in the other.
static int64_t getSharedBytes(const LinearProblem &problem,
                              const Schedule &schedule) {
  int64_t rows = getStateRows(problem, schedule);
  if (problem.full) {
    int64_t queries = schedule.stages * schedule.tileM * rows;
    return detail::kInputBytes *
           (queries +
            std::max(schedule.stages * schedule.tileM, rows) * schedule.tileDv);
  }
  int64_t stage = schedule.tileM * (2 * rows + schedule.tileDv);
  return detail::kInputBytes *
         (schedule.stages * stage + rows * schedule.tileDv);
}

/// Registers of a thread: the state, beside the scores, as f32 and as an
/// operand, and O; or beside K as an operand; and decays of columns. Where all
/// rows see all keys, the state or O beside the other factor.
static int64_t getFragments(const LinearProblem &problem,
                            const Schedule &schedule) {
  int64_t rows = getStateRows(problem, schedule), chunk = schedule.tileM;
  int64_t threads = schedule.getNumThreads();
  int64_t state = rows * schedule.tileDv / threads;
  if (problem.full)
    return std::max(state, chunk * schedule.tileDv / threads) +
           rows * chunk / 2 / threads;
  int64_t inner = chunk * (chunk + chunk / 2 + schedule.tileDv) / threads;
  int64_t key = rows * chunk / 2 / threads;
  return state + std::max(inner, key) + chunk / 4;
}

static int64_t getCtasPerSm(const LinearCost &cost, const Schedule &schedule,
                            const TargetInfo &target) {
  int64_t shared = cost.sharedMemoryBytes + target.sharedMemoryReservedBytes;
  int64_t threads = schedule.getNumThreads();
  return std::min(
      {target.sharedMemoryPerSmBytes / shared,
       target.registersPerSm / (alignUp(cost.registersPerThread, 8) * threads),
       target.maxThreadsPerSm / threads, target.maxCtasPerSm});
}

//===----------------------------------------------------------------------===//
// Bytes and time
//===----------------------------------------------------------------------===//

/// More than any chip moves in a year would overflow the counts of bytes.
static Status checkLoads(const LinearProblem &problem,
                         const Schedule &schedule) {
  constexpr double most = static_cast<double>(int64_t(1) << 56);
  int64_t rows = std::max(
      {problem.length + schedule.tileM, problem.keyLength, problem.headDim});
  double elements =
      static_cast<double>(problem.batch) *
      static_cast<double>(problem.queryHeads) * static_cast<double>(rows) *
      static_cast<double>(std::max(problem.headDim, problem.valueDim)) *
      static_cast<double>(getSlices(problem, schedule));
  if (elements <= most)
    return {};
  return Error{"expected at most 2^56 elements of each tensor that CTAs load, "
               "got 2^" +
               formatFixed(std::log2(elements), 1)};
}

/// Rows and columns that do not exist are not moved. A thread that reads the
/// sums of a chunk reads what the other warps read, too.
static LinearBytes getBytes(const LinearProblem &problem,
                            const Schedule &schedule) {
  int64_t heads = problem.batch * problem.queryHeads;
  int64_t slices = getSlices(problem, schedule);
  int64_t rows = heads * problem.length, keys = heads * problem.keyLength;
  int64_t inBytes = getSizeBytes(problem.elementType);
  int64_t state =
      heads * problem.headDim * problem.valueDim * detail::kFloatBytes;
  LinearBytes bytes;
  bytes.query = rows * problem.headDim * slices * inBytes;
  bytes.key = keys * problem.headDim * slices * inBytes;
  bytes.value = keys * problem.valueDim * inBytes;
  bytes.output = rows * problem.valueDim * getSizeBytes(problem.outputType);
  bytes.state = problem.hasState ? state : 0;
  bytes.finalState = problem.hasFinalState ? state : 0;
  if (problem.hasStates)
    bytes.states = state * ceilDiv(problem.length, kStateStride);
  if (problem.full)
    bytes.factor = heads * problem.headDim * problem.valueDim * inBytes;
  if (problem.decay == LinearProblem::Decay::None)
    return bytes;
  int64_t padded = heads * alignUp(problem.length, schedule.tileM);
  bytes.decayWritten = padded * detail::kFloatBytes;
  int64_t given =
      problem.decay == LinearProblem::Decay::Position ? rows : padded;
  bytes.decayRead = (given + 2 * slices * padded) * detail::kFloatBytes;
  return bytes;
}

/// The chunks that a CTA takes, where all rows see all keys those of both
/// kernels.
static int64_t getChunks(const LinearProblem &problem,
                         const Schedule &schedule) {
  int64_t keys = problem.full ? ceilDiv(problem.keyLength, schedule.tileM) : 0;
  return keys + ceilDiv(problem.length, schedule.tileM);
}

/// Of a chunk of one CTA: Q S and K^T V, Q K^T, and the scores by V; where all
/// rows see all keys one of the first two.
static double getChunkFlops(const LinearProblem &problem,
                            const Schedule &schedule) {
  auto rows = static_cast<double>(getStateRows(problem, schedule));
  auto chunk = static_cast<double>(schedule.tileM),
       columns = static_cast<double>(schedule.tileDv);
  if (problem.full)
    return 2 * chunk * rows * columns;
  return 2 * chunk * (2 * rows * columns + chunk * (rows + columns));
}

/// Each CTA takes its chunks one after the other: the busiest SM decides. What
/// limits is the slowest resource, or the chain of steps.
static double getSeconds(const LinearProblem &problem, const Schedule &schedule,
                         const TargetInfo &target, const LinearCost &cost) {
  double clock = target.clockGHz * 1e9;
  auto sms = static_cast<double>(target.smCount);
  auto chunks = static_cast<double>(getChunks(problem, schedule));
  auto ctas = static_cast<double>(cost.ctas);
  auto resident = static_cast<double>(cost.ctasPerSm);
  double rounds = std::ceil(ctas / (sms * resident));
  double busiest = std::ceil(ctas / sms);
  double stepSeconds = getChunkFlops(problem, schedule) * sms /
                       (target.f16TFlops * 1e12 * target.mmaSyncShare);
  double mma = busiest * chunks * stepSeconds;
  double latency = rounds * chunks * (kStepClocks / clock + stepSeconds);
  double loads = schedule.stages > 1 ? 0 : target.loadClocks / clock;
  auto bytes =
      static_cast<double>(cost.bytes.getRead() + cost.bytes.getWritten());
  bool isOneKernel =
      problem.decay == LinearProblem::Decay::None && !problem.full;
  return std::max({mma, latency + rounds * chunks * loads,
                   bytes / (target.l2GBps * 1e9)}) +
         (isOneKernel ? 1 : 2) * detail::getLaunchSeconds(target);
}

Result<LinearCost> getLinearCost(const LinearProblem &problem,
                                 const Schedule &schedule,
                                 const TargetInfo &target) {
  if (Status status = checkLinearSchedule(problem, schedule); !status)
    return Error{status.error()};
  LinearCost cost;
  cost.sharedMemoryBytes = getSharedBytes(problem, schedule);
  if (cost.sharedMemoryBytes > target.sharedMemoryPerCtaBytes)
    return Error{"expected at most " +
                 std::to_string(target.sharedMemoryPerCtaBytes) +
                 " bytes of shared memory, got " +
                 std::to_string(cost.sharedMemoryBytes)};
  int64_t fragments = getFragments(problem, schedule);
  if (fragments > kMostFragments)
    return Error{"expected at most " + std::to_string(kMostFragments) +
                 " registers of a thread for the state, scores and outputs, "
                 "got " +
                 std::to_string(fragments)};
  cost.registersPerThread =
      std::min(fragments + kRegistersBeside, kMostRegisters);
  cost.ctasPerSm = getCtasPerSm(cost, schedule, target);
  if (Status status = checkLoads(problem, schedule); !status)
    return Error{status.error()};
  cost.bytes = getBytes(problem, schedule);
  cost.ctas = problem.batch * problem.queryHeads * getSlices(problem, schedule);
  cost.flops = static_cast<double>(cost.ctas * getChunks(problem, schedule)) *
               getChunkFlops(problem, schedule);
  cost.seconds = getSeconds(problem, schedule, target, cost);
  return cost;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Chunks, slices, warps and stages, with `given` fields in place of others.
static std::vector<Schedule> getCandidates(const LinearProblem &problem,
                                           const ScheduleOverrides &given) {
  std::vector<Schedule> candidates;
  int64_t columns = alignUp(problem.valueDim, kColumns);
  for (int64_t chunk : {32, 64, 128})
    for (int64_t warps : {2, 4, 8})
      for (int64_t tileDv : {32, 64, 128, 256})
        for (int64_t stages : {2, 3, 1}) {
          Schedule schedule;
          schedule.kind = ScheduleKind::Chunks;
          schedule.tileM = schedule.tileN = chunk;
          schedule.warps = warps;
          schedule.tileDv = std::min(tileDv, columns);
          schedule.stages = stages;
          given.apply(schedule);
          if (given.has("tile_m") && !given.has("tile_n"))
            schedule.tileN = schedule.tileM;
          schedule.tileD = getStateRows(problem, schedule);
          candidates.push_back(schedule);
        }
  return candidates;
}

Result<LinearSelection>
selectLinearSchedule(const LinearProblem &problem, const TargetInfo &target,
                     const ScheduleOverrides &overrides) {
  if (target.kind != TargetKind::Gpu)
    return Error{
        "expected a GPU for schedules of linear attention, got target " +
        target.name};
  if (Status status = checkProblem(problem); !status)
    return Error{status.error()};
  std::optional<LinearSelection> best;
  std::string reason;
  for (const Schedule &schedule : getCandidates(problem, overrides)) {
    Result<LinearCost> cost = getLinearCost(problem, schedule, target);
    if (!cost) {
      reason = cost.error();
      continue;
    }
    if (!best || cost->seconds < best->cost.seconds)
      best = LinearSelection{schedule, *cost};
  }
  if (!best)
    return Error{reason};
  return *best;
}

} // namespace attn
