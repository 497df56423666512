//===- CostModel.cpp - What a schedule costs ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The terms are described in docs/CostModel.md. Work is spread evenly over the
// SMs in whole CTAs: with T CTAs and S SMs, compute terms grow by ceil(T / S) S
// / T.
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/CostModel.h"

#include "IoModelDetail.h"

#include <cmath>

namespace attn {

//===----------------------------------------------------------------------===//
// Assumed constants, to be calibrated on devices
//===----------------------------------------------------------------------===//

/// Clocks of one iteration over a key tile that are neither products nor
/// exponentials: barriers, row reductions across lanes, address arithmetic.
static constexpr double kIterationClocks = 350;
/// Clocks from a request to L2 until its data are in shared memory.
static constexpr double kLoadClocks = 800;
/// Bytes a clock through the shared memory of one SM (32 banks of 4 bytes).
static constexpr double kSharedMemoryBytesPerClock = 128;
/// Instructions for each score besides MMA and exponential: scale, maximum,
/// sum, half a conversion, half a copy; an SM issues 128 lanes a clock.
static constexpr double kInstructionsPerScore = 4;
static constexpr double kLanesPerClock = 128;
/// A kernel launch, with the dependence on the one before.
static constexpr double kLaunchSeconds = 2.5e-6;
/// Fraction of the matrix rate that mma.sync reaches on chips whose full rate
/// needs wgmma or tcgen05.
static constexpr double kLegacyMmaFraction = 0.62;
/// What of the shorter terms the longest one does not hide.
static constexpr double kExposedFraction = 0.1;

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

static int64_t getDvSlices(const AttentionProblem &problem,
                           const Schedule &schedule) {
  return ceilDiv(getPaddedValueDim(problem),
                 schedule.tileDv * schedule.clusterD);
}

/// Large-cache or split-KV traffic of one head (or packed group).
static Traffic getOnePassTraffic(const AttentionProblem &problem,
                                 const Schedule &schedule,
                                 const HeadShape &head) {
  if (schedule.kind == ScheduleKind::SplitKV)
    return countSplitKvForward(head, schedule.tileM, schedule.tileN,
                               schedule.splits, problem.hasLse);
  Traffic traffic = countQueryOuterForward(head, schedule.tileM, schedule.tileN,
                                           problem.hasLse);
  // Each further slice of V reads Q and K again.
  int64_t repeats = getDvSlices(problem, schedule) - 1;
  traffic.read(Operand::Query, repeats * traffic.getReads(Operand::Query));
  traffic.read(Operand::Key, repeats * traffic.getReads(Operand::Key));
  return traffic;
}

Traffic getTraffic(const AttentionProblem &problem, const Schedule &schedule) {
  HeadShape head = HeadShape::get(problem, schedule.packGqa);
  int64_t heads = problem.getKvHeadCount() *
                  (schedule.packGqa ? 1 : problem.getGroupSize());
  Traffic traffic;
  if (schedule.kind == ScheduleKind::SmallCache)
    traffic = countSmallCacheForward(
        head, {schedule.tileM, schedule.tileN, schedule.tileM, schedule.tileDv},
        schedule.spill == SpillFormat::Probabilities);
  else
    traffic = getOnePassTraffic(problem, schedule, head);
  if (problem.hasBias)
    traffic.read(Operand::Bias,
                 sumVisibleTiles(head, schedule.tileM, schedule.tileN).scores);
  // CTAs of a cluster take the same K and V from one read.
  traffic = traffic * heads;
  for (Operand operand : {Operand::Key, Operand::Value}) {
    int64_t &reads = traffic.reads[static_cast<size_t>(operand)];
    reads = ceilDiv(reads, schedule.clusterM);
  }
  return traffic;
}

int64_t getElementBytes(const AttentionProblem &problem,
                        const Schedule &schedule, Operand operand) {
  switch (operand) {
  case Operand::Query:
  case Operand::Key:
  case Operand::Value:
  case Operand::Bias:
    return getSizeBytes(problem.elementType);
  case Operand::Output:
    return getSizeBytes(problem.outputType);
  case Operand::Scores:
    return schedule.spill == SpillFormat::Scores ? 4 : 2;
  default:
    return 4;
  }
}

static void setTraffic(Cost &cost, const AttentionProblem &problem,
                       const Schedule &schedule) {
  Traffic traffic = getTraffic(problem, schedule);
  for (size_t i = 0; i < kNumOperands; ++i) {
    auto operand = static_cast<Operand>(i);
    int64_t bytes = getElementBytes(problem, schedule, operand);
    OperandBytes moved = {operand, traffic.reads[i] * bytes,
                          traffic.writes[i] * bytes};
    cost.l2ReadBytes += moved.read;
    cost.l2WriteBytes += moved.written;
    if (moved.read || moved.written)
      cost.operands.push_back(moved);
  }
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

namespace {
/// The grid of a schedule and what its tiles compute.
struct Work {
  int64_t rowTiles = 0;     ///< of all heads
  int64_t keyTiles = 0;     ///< visible (row tile, key tile) pairs
  int64_t iterations = 0;   ///< key tiles of the longest CTA
  double scores = 0;        ///< computed once, tiles full
  double scoreProducts = 0; ///< scores computed for QK^T (dv-split repeats)
  double exponentials = 0;
  int64_t kernels = 1;
};
} // namespace

static Work getWork(const AttentionProblem &problem, const Schedule &schedule) {
  HeadShape head = HeadShape::get(problem, schedule.packGqa);
  int64_t heads = problem.getKvHeadCount() *
                  (schedule.packGqa ? 1 : problem.getGroupSize());
  TileSums sums = sumVisibleTiles(head, schedule.tileM, schedule.tileN);
  int64_t slices = getDvSlices(problem, schedule);
  Work work;
  work.rowTiles = heads * ceilDiv(head.rows, schedule.tileM);
  work.keyTiles = heads * sums.tiles;
  work.iterations =
      ceilDiv(ceilDiv(sums.maxKeyRows, schedule.tileN), schedule.splits);
  work.scores = static_cast<double>(work.keyTiles) *
                static_cast<double>(schedule.tileM * schedule.tileN);
  bool isSmall = schedule.kind == ScheduleKind::SmallCache;
  work.scoreProducts = work.scores * static_cast<double>(isSmall ? 1 : slices);
  work.exponentials = work.scoreProducts;
  if (isSmall && schedule.spill == SpillFormat::Scores)
    // Phase 2 takes the exponentials again for each slice.
    work.exponentials += work.scores * static_cast<double>(slices);
  if (schedule.kind == ScheduleKind::SplitKV)
    work.kernels = 2;
  if (isSmall)
    work.kernels = 2 * ceilDiv(work.rowTiles * schedule.tileM,
                               std::max<int64_t>(schedule.chunkRows, 1));
  return work;
}

static void setGrid(Cost &cost, const AttentionProblem &problem,
                    const Schedule &schedule, const TargetInfo &target,
                    const Work &work) {
  cost.ctas = work.rowTiles * schedule.splits * schedule.clusterD;
  if (schedule.kind == ScheduleKind::SmallCache)
    // Both phases spread a chunk over key tiles (value slices) too.
    cost.ctas = std::max<int64_t>(work.keyTiles, 1);
  else
    cost.ctas *= getDvSlices(problem, schedule);
  cost.ctasPerSm = getCtasPerSm(problem, schedule, target);
  cost.waves = static_cast<double>(cost.ctas) /
               static_cast<double>(target.smCount *
                                   std::max<int64_t>(cost.ctasPerSm, 1));
  cost.sharedMemoryBytes = getSharedMemoryUse(problem, schedule).total;
  cost.registersPerThread = getRegisterUse(problem, schedule).getTotal();
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static double getMmaRate(const AttentionProblem &problem,
                         const Schedule &schedule, const TargetInfo &target) {
  double tflops = target.f16TFlops;
  if (getSizeBytes(problem.elementType) == 1)
    tflops = target.f8TFlops;
  else if (problem.elementType == ElementType::F32)
    tflops =
        target.kind == TargetKind::Cpu ? target.f32TFlops : target.tf32TFlops;
  bool isLegacy =
      schedule.mma == MmaFamily::MmaSync &&
      (target.hasMma(MmaFamily::Wgmma) || target.hasMma(MmaFamily::Tcgen05));
  return tflops * 1e12 * (isLegacy ? kLegacyMmaFraction : 1);
}

/// Bytes through shared memory for one key tile of one CTA: what is filled, and
/// what each warp (warpgroup) reads as B operand, and Q where it is read again.
static double getSharedMemoryBytesPerTile(const AttentionProblem &problem,
                                          const Schedule &schedule) {
  int64_t elementBytes = getSizeBytes(problem.elementType);
  int64_t tileBytes =
      schedule.tileN * (schedule.tileD + schedule.tileDv) * elementBytes;
  int64_t readers =
      schedule.mma == MmaFamily::Wgmma ? schedule.warps / 4 : schedule.warps;
  int64_t queryBytes = schedule.queryInRegisters
                           ? 0
                           : schedule.tileM * schedule.tileD * elementBytes;
  return static_cast<double>((1 + readers) * tileBytes + queryBytes);
}

/// The same for small cache: the operands of both products, once filled and
/// once read for each warp that shares them.
static double getSmallCacheSharedMemoryBytes(const AttentionProblem &problem,
                                             const Schedule &schedule) {
  double elementBytes = static_cast<double>(getSizeBytes(problem.elementType));
  double readers = static_cast<double>(
      schedule.mma == MmaFamily::Wgmma ? schedule.warps / 4 : schedule.warps);
  auto tileM = static_cast<double>(schedule.tileM);
  auto tileN = static_cast<double>(schedule.tileN);
  auto headDim = static_cast<double>(getPaddedHeadDim(problem));
  auto valueDim = static_cast<double>(getPaddedValueDim(problem));
  double slices = std::ceil(valueDim / static_cast<double>(schedule.tileDv));
  double scoreBytes = schedule.spill == SpillFormat::Scores ? 4 : 2;
  return 2 * tileM * headDim * elementBytes +
         (1 + readers) * tileN * (headDim + valueDim) * elementBytes +
         2 * tileM * tileN * slices * scoreBytes;
}

/// Clocks of one CTA's iteration if it were alone on its SM's tensor cores:
/// product, exponentials and instructions of a warp (warpgroup) follow each
/// other, except that wgmma runs beside the softmax of the previous tile.
static double getIterationClocks(const AttentionProblem &problem,
                                 const Schedule &schedule,
                                 const TargetInfo &target) {
  bool isWgmma = schedule.mma == MmaFamily::Wgmma;
  double clocksPerSecond = target.clockGHz * 1e9;
  double smFlopsPerClock = getMmaRate(problem, schedule, target) /
                           clocksPerSecond /
                           static_cast<double>(target.smCount);
  // A warp has a quarter of the SM's units, a warpgroup all of them.
  double share = isWgmma ? 1 : 0.25;
  double rows = isWgmma ? 64 : static_cast<double>(schedule.getRowsPerWarp());
  double scores = rows * static_cast<double>(schedule.tileN);
  double products = 2 * scores *
                    static_cast<double>(schedule.tileD + schedule.tileDv) /
                    (smFlopsPerClock * share);
  double softmax = scores / (target.ex2PerClockPerSm * share) +
                   scores * kInstructionsPerScore / (kLanesPerClock * share);
  double chain = isWgmma ? std::max(products, softmax) : products + softmax;
  double bytes =
      static_cast<double>(schedule.tileN * (schedule.tileD + schedule.tileDv) *
                          getSizeBytes(problem.elementType));
  double smBytesPerClock = target.l2GBps * 1e9 / clocksPerSecond /
                           static_cast<double>(target.smCount);
  double load = kLoadClocks + bytes / smBytesPerClock;
  chain += kIterationClocks;
  // Stages beyond the first hide one iteration each.
  return std::max(chain, (chain + load) / static_cast<double>(schedule.stages));
}

static void addComputeTerms(Cost &cost, const AttentionProblem &problem,
                            const Schedule &schedule, const TargetInfo &target,
                            const Work &work) {
  double sms = static_cast<double>(target.smCount);
  double clocks = target.clockGHz * 1e9;
  double quantisation =
      static_cast<double>(ceilDiv(cost.ctas, target.smCount)) * sms /
      static_cast<double>(cost.ctas);
  auto headDim = static_cast<double>(getPaddedHeadDim(problem));
  auto valueDim = static_cast<double>(getPaddedValueDim(problem));
  cost.flops = 2 * (work.scoreProducts * headDim + work.scores * valueDim);
  cost.computedScores = static_cast<int64_t>(work.scoreProducts);

  double sharedMemory =
      schedule.kind == ScheduleKind::SmallCache
          ? getSmallCacheSharedMemoryBytes(problem, schedule)
          : getSharedMemoryBytesPerTile(problem, schedule) *
                static_cast<double>(getDvSlices(problem, schedule));
  sharedMemory *= static_cast<double>(work.keyTiles);

  auto add = [&](const char *name, double seconds) {
    cost.terms.push_back({name, seconds * quantisation});
  };
  add("mma", cost.flops / getMmaRate(problem, schedule, target));
  add("exp", work.exponentials / target.getEx2PerSecond());
  add("issue", work.exponentials * kInstructionsPerScore /
                   (kLanesPerClock * sms * clocks));
  add("shared_memory",
      sharedMemory / (kSharedMemoryBytesPerClock * sms * clocks));
  if (schedule.clusterD > 1)
    // f32 partial scores are reduced and 16-bit P is gathered.
    add("dsmem", work.scores * 6 * static_cast<double>(schedule.clusterD - 1) /
                     (target.dsmemGBps * 1e9));
}

/// Bytes between DRAM and L2: inputs and outputs once; K and V again for each
/// wave of CTAs if those of the heads in flight do not stay in half of L2;
/// spilled scores and partial results if the workspace does not.
static int64_t getDramBytes(const Cost &cost, const AttentionProblem &problem,
                            const Schedule &schedule,
                            const TargetInfo &target) {
  int64_t elementBytes = getSizeBytes(problem.elementType);
  int64_t kvHeads = problem.getKvHeadCount();
  int64_t kvBytes =
      problem.kvLength * problem.getKvRowElements() * elementBytes;
  int64_t rows = kvHeads * problem.getPackedRows();
  int64_t bytes = kvHeads * kvBytes + rows * problem.headDim * elementBytes +
                  rows * problem.valueDim * getSizeBytes(problem.outputType);
  int64_t ctasPerHead = ceilDiv(cost.ctas, kvHeads);
  int64_t ctasInFlight = target.smCount * std::max<int64_t>(cost.ctasPerSm, 1);
  int64_t headsInFlight = std::min(kvHeads, ceilDiv(ctasInFlight, ctasPerHead));
  if (schedule.kind != ScheduleKind::SplitKV &&
      headsInFlight * kvBytes > target.l2Bytes / 2)
    bytes += (ceilDiv(ctasPerHead, ctasInFlight) - 1) * kvHeads * kvBytes;
  for (const OperandBytes &moved : cost.operands)
    if ((moved.operand == Operand::Scores ||
         moved.operand == Operand::Partials) &&
        cost.workspaceBytes > target.l2Bytes / 2)
      bytes += moved.read + moved.written;
  return bytes;
}

static int64_t getWorkspaceBytes(const AttentionProblem &problem,
                                 const Schedule &schedule) {
  int64_t rows = problem.getKvHeadCount() * problem.getPackedRows();
  if (schedule.kind == ScheduleKind::SplitKV)
    return schedule.splits * rows * (problem.valueDim + 1) * 4;
  if (schedule.kind != ScheduleKind::SmallCache)
    return 0;
  int64_t scoreBytes = getElementBytes(problem, schedule, Operand::Scores);
  int64_t statistics = ceilDiv(problem.kvLength, schedule.tileN) + 1;
  return schedule.chunkRows * (problem.kvLength * scoreBytes + statistics * 4);
}

static void addMemoryTerms(Cost &cost, const AttentionProblem &problem,
                           const Schedule &schedule, const TargetInfo &target,
                           const Work &work) {
  cost.terms.push_back(
      {"l2", static_cast<double>(cost.getL2Bytes()) / (target.l2GBps * 1e9)});
  cost.terms.push_back(
      {"dram", static_cast<double>(cost.dramBytes) / (target.dramGBps * 1e9)});
  double rounds = std::ceil(cost.waves);
  double chain = static_cast<double>(work.iterations) *
                 getIterationClocks(problem, schedule, target);
  if (schedule.kind == ScheduleKind::SmallCache)
    chain = 0; // its tiles are independent of each other
  cost.terms.push_back({"latency", rounds * chain / (target.clockGHz * 1e9)});
  double launches = target.kind == TargetKind::Cpu
                        ? 0
                        : static_cast<double>(work.kernels) * kLaunchSeconds;
  cost.terms.push_back({"launch", launches});
}

/// The longest term, a part of the others, and the launches.
static void setTotal(Cost &cost) {
  double longest = 0, sum = 0, launch = cost.getTerm("launch");
  for (const CostTerm &term : cost.terms) {
    if (term.name == "launch")
      continue;
    sum += term.seconds;
    if (term.seconds > longest) {
      longest = term.seconds;
      cost.limiter = term.name;
    }
  }
  if (launch > longest)
    cost.limiter = "launch";
  cost.seconds = longest + kExposedFraction * (sum - longest) + launch;
}

double Cost::getTerm(const std::string &name) const {
  for (const CostTerm &term : terms)
    if (term.name == name)
      return term.seconds;
  return 0;
}

Cost getCost(const AttentionProblem &problem, const Schedule &schedule,
             const TargetInfo &target) {
  Cost cost;
  Work work = getWork(problem, schedule);
  setGrid(cost, problem, schedule, target, work);
  setTraffic(cost, problem, schedule);
  cost.visibleScores =
      countVisibleScores(HeadShape::get(problem)) * problem.getKvHeadCount();
  cost.workspaceBytes = getWorkspaceBytes(problem, schedule);
  cost.dramBytes = getDramBytes(cost, problem, schedule, target);
  addComputeTerms(cost, problem, schedule, target, work);
  addMemoryTerms(cost, problem, schedule, target, work);
  setTotal(cost);
  return cost;
}

} // namespace attn
