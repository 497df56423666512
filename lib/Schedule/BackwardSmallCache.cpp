//===- BackwardSmallCache.cpp - Costs of the small-cache backward ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Five kernels a round: delta; P and dS, a CTA for each visible tile, which
// sums S and dP over slices of the head dimensions; dQ, dK and dV, a CTA for
// each tile of a gradient. A round takes as many whole groups of query heads as
// chunk_rows has room for, or a part of one; then dK and dV go from round to
// round in f32.
//
//===----------------------------------------------------------------------===//

#include "BackwardSmallCache.h"

#include "BackwardTiles.h"
#include "CostDetail.h"
#include "Machine.h"

#include "attn/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace attn;
using namespace attn::detail;

/// Clocks of a step of a product in which its warps meet.
static constexpr double kStepClocks = 200;
/// What the choice spends on P and dS, unless `kFewestRows` need more.
static constexpr int64_t kMostScoreBytes = int64_t(256) << 20;
static constexpr int64_t kFewestRows = 512;
/// Addresses, row numbers, operands in flight; and with dropout its words.
static constexpr int64_t kSmallCacheRegisters = 40,
                         kSmallCacheDropoutRegisters = 16;

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

namespace {
/// What a round takes.
struct Rounds {
  int64_t groups;     ///< of query heads, one for each key head
  int64_t groupTiles; ///< row tiles of a group
  int64_t chunkTiles; ///< row tiles that a round has room for
  int64_t perRound;   ///< groups of a round
  int64_t perGroup;   ///< rounds of a group
  int64_t count;

  Rounds(const AttentionProblem &problem, const Schedule &schedule)
      : groups(problem.batch * problem.kvHeads),
        groupTiles(problem.getGroupSize() *
                   ceilDiv(problem.queryLength, schedule.tileM)),
        chunkTiles(schedule.chunkRows / schedule.tileM),
        perRound(std::max<int64_t>(1, chunkTiles / groupTiles)),
        perGroup(ceilDiv(groupTiles, chunkTiles)),
        count(ceilDiv(groups, perRound) * perGroup) {}
};

/// What a kernel needs, all rounds together.
struct KernelWork {
  double ctas = 0;
  double clocks = 0; ///< of an SM, for all of them
  /// The same of what they are made of, in clocks.
  std::vector<CostTerm> terms;
  double dramBytes = 0;
};

class SmallCacheModel {
public:
  SmallCacheModel(const AttentionProblem &problem, const Schedule &schedule,
                  const TargetInfo &target, const TileSums &sums)
      : problem(problem), schedule(schedule), target(target), sums(sums),
        rounds(problem, schedule),
        queryHeads(problem.batch * problem.queryHeads),
        keyTiles(ceilDiv(problem.kvLength, schedule.tileN)),
        keyWarps(std::min(schedule.warps, schedule.tileN / kWarpRows)) {}

  /// Empty if the target can run the kernels.
  std::string findObstacle() const;
  BackwardSelection get() const;

private:
  int64_t getColumns(int64_t dim) const {
    return std::min(schedule.tileDv, alignUp(dim, kWarpRows));
  }
  int64_t getSlices(int64_t dim) const { return ceilDiv(dim, getColumns(dim)); }
  int64_t getDim(BackwardKernel kernel) const {
    return kernel == BackwardKernel::ValueGradient ? problem.valueDim
                                                   : problem.headDim;
  }
  int64_t getDepth() const {
    return alignUp(std::max(problem.headDim, problem.valueDim), schedule.tileD);
  }
  int64_t getScoreBytes() const;
  int64_t getSumBytes(BackwardKernel kernel) const;
  int64_t getWorkspaceBytes() const;
  int64_t getSharedMemory(BackwardKernel kernel) const;
  int64_t getRegisters(BackwardKernel kernel) const;
  int64_t getRegisterLimit(BackwardKernel kernel) const;
  Traffic getTraffic(BackwardKernel kernel) const;
  double getMmaClocks(double multiplyAdds) const;
  KernelWork getScoreWork() const;
  KernelWork getGradientWork(BackwardKernel kernel) const;
  KernelWork getWork(BackwardKernel kernel) const;
  void setTime(BackwardKernel kernel, BackwardCost &cost) const;

  const AttentionProblem &problem;
  const Schedule &schedule;
  const TargetInfo &target;
  const TileSums &sums; ///< of one query head
  Rounds rounds;
  int64_t queryHeads, keyTiles, keyWarps;
};
} // namespace

static constexpr BackwardKernel kKernels[] = {
    BackwardKernel::RowValues, BackwardKernel::Scores,
    BackwardKernel::QueryGradient, BackwardKernel::KeyGradient,
    BackwardKernel::ValueGradient};

//===----------------------------------------------------------------------===//
// What the kernels occupy
//===----------------------------------------------------------------------===//

/// P and dS of a round.
int64_t SmallCacheModel::getScoreBytes() const {
  int64_t tiles =
      std::min(rounds.chunkTiles, rounds.groups * rounds.groupTiles);
  return 2 * tiles * schedule.tileM * alignUp(problem.kvLength, 8) *
         kInputBytes;
}

/// The f32 sums of one group; none where a round has whole groups.
int64_t SmallCacheModel::getSumBytes(BackwardKernel kernel) const {
  int64_t columns = getSlices(getDim(kernel)) * getColumns(getDim(kernel));
  return rounds.perGroup > 1 ? keyTiles * schedule.tileN * columns * kFloatBytes
                             : 0;
}

int64_t SmallCacheModel::getWorkspaceBytes() const {
  int64_t rows = alignUp(problem.queryLength, schedule.tileM);
  return getScoreBytes() + getSumBytes(BackwardKernel::KeyGradient) +
         getSumBytes(BackwardKernel::ValueGradient) +
         2 * queryHeads * rows * kFloatBytes;
}

int64_t SmallCacheModel::getSharedMemory(BackwardKernel kernel) const {
  int64_t scores = schedule.tileM * schedule.tileN;
  int64_t stage = 0;
  switch (kernel) {
  case BackwardKernel::Scores:
    stage = 2 * (schedule.tileM + schedule.tileN) * schedule.tileD;
    break;
  case BackwardKernel::QueryGradient:
    stage = scores + schedule.tileN * getColumns(problem.headDim);
    break;
  case BackwardKernel::KeyGradient:
  case BackwardKernel::ValueGradient:
    stage = scores + schedule.tileM * getColumns(getDim(kernel));
    break;
  default:
    break;
  }
  return schedule.stages * stage * kInputBytes;
}

/// Accumulators, and the transposed operand of dK and dV.
int64_t SmallCacheModel::getRegisters(BackwardKernel kernel) const {
  int64_t rows = schedule.tileM / schedule.warps / kWarpRows;
  int64_t keys = schedule.tileN / keyWarps / kWarpRows;
  switch (kernel) {
  case BackwardKernel::Scores:
    return rows * schedule.tileN + 4 * rows + kSmallCacheRegisters +
           (problem.hasDropout ? kSmallCacheDropoutRegisters : 0);
  case BackwardKernel::QueryGradient:
    return rows * getColumns(problem.headDim) / 2 + 4 * rows +
           kSmallCacheRegisters;
  case BackwardKernel::KeyGradient:
  case BackwardKernel::ValueGradient:
    return keys * (getColumns(getDim(kernel)) / 2 + schedule.tileM / 4) +
           kSmallCacheRegisters;
  default:
    return kSmallCacheRegisters;
  }
}

int64_t SmallCacheModel::getRegisterLimit(BackwardKernel kernel) const {
  bool keysStay = kernel == BackwardKernel::KeyGradient ||
                  kernel == BackwardKernel::ValueGradient;
  int64_t threads = 32 * (keysStay ? keyWarps : schedule.warps);
  return std::min<int64_t>(240, target.registersPerSm / threads / 8 * 8);
}

std::string SmallCacheModel::findObstacle() const {
  const Schedule &s = schedule;
  if (s.mma != MmaFamily::MmaSync)
    return "expected mma = \"mma_sync\" with a small cache, got \"" +
           std::string(getName(s.mma)) + "\"";
  for (int64_t tile : {s.tileM, s.tileN, s.tileD, s.tileDv})
    if (tile < kWarpRows || tile % kWarpRows != 0)
      return "expected tiles that are positive multiples of 16, got " +
             s.print();
  if (s.warps < 1 || s.tileM % (kWarpRows * s.warps) != 0 ||
      s.tileN % (kWarpRows * keyWarps) != 0)
    return "expected tile_m to be a multiple of 16 * warps and tile_n of 16, "
           "and of 16 * warps where it is more, got " +
           s.print();
  for (BackwardKernel kernel : kKernels)
    if (getSharedMemory(kernel) > target.sharedMemoryPerCtaBytes)
      return std::string(getName(kernel)) + ": it needs " +
             std::to_string(getSharedMemory(kernel)) +
             " bytes of shared memory, and a CTA gets " +
             std::to_string(target.sharedMemoryPerCtaBytes);
  return "";
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

Traffic SmallCacheModel::getTraffic(BackwardKernel kernel) const {
  int64_t d = problem.headDim * kInputBytes,
          dv = problem.valueDim * kInputBytes;
  int64_t rows = problem.queryLength, scores = sums.scores * kInputBytes;
  int64_t padded = alignUp(rows, schedule.tileM);
  // delta reads the last row and column again for those past the end.
  int64_t outputs = padded * alignUp(problem.valueDim, kWarpRows);
  // The row values of each visible tile.
  int64_t visited = sums.tiles * schedule.tileM * kFloatBytes;
  int64_t slices = getSlices(getDim(kernel));
  Traffic head; // of one query head
  switch (kernel) {
  case BackwardKernel::Scores:
    head.read(Operand::Query, sums.queryRows * d)
        .read(Operand::Key, sums.keyRows * d)
        .read(Operand::OutputGradient, sums.queryRows * dv)
        .read(Operand::Value, sums.keyRows * dv)
        .read(Operand::Lse, visited)
        .read(Operand::Delta, visited)
        .write(Operand::Scores, 2 * scores);
    break;
  case BackwardKernel::QueryGradient:
    head.read(Operand::Scores, slices * scores)
        .read(Operand::Key, sums.keyRows * d);
    writeGradient(head, Operand::QueryGradient, problem, problem.dQueryType,
                  rows, problem.headDim);
    break;
  case BackwardKernel::KeyGradient:
    head.read(Operand::Scores, slices * scores)
        .read(Operand::Query, sums.queryRows * d);
    break;
  case BackwardKernel::ValueGradient:
    head.read(Operand::Scores, slices * scores)
        .read(Operand::OutputGradient, sums.queryRows * dv);
    break;
  default:
    head.read(Operand::Output, outputs * getSizeBytes(problem.outputType))
        .read(Operand::OutputGradient, outputs * kInputBytes)
        .read(Operand::Lse, rows * kFloatBytes)
        .write(Operand::Lse, padded * kFloatBytes)
        .write(Operand::Delta, padded * kFloatBytes);
  }
  Traffic total = head * queryHeads;
  int64_t groups = rounds.groups, keys = groups * problem.kvLength;
  int64_t partials = groups * (rounds.perGroup - 1) * getSumBytes(kernel);
  if (kernel == BackwardKernel::KeyGradient)
    writeGradient(total, Operand::KeyGradient, problem, problem.dKeyType, keys,
                  problem.headDim);
  else if (kernel == BackwardKernel::ValueGradient)
    writeGradient(total, Operand::ValueGradient, problem, problem.dValueType,
                  keys, problem.valueDim);
  else
    return total;
  return total.read(Operand::Partials, partials)
      .write(Operand::Partials, partials);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

double SmallCacheModel::getMmaClocks(double multiplyAdds) const {
  double flopsPerClock =
      target.f16TFlops * 1e3 /
      (target.clockGHz * static_cast<double>(target.smCount));
  return 2 * multiplyAdds / flopsPerClock / target.mmaSyncShare;
}

/// The clocks of products [rows, depth] [depth, cols] whose warps each read the
/// right factor.
static double getSharedClocks(double rows, double cols, double depth,
                              double warps, const TargetInfo &target) {
  return (2 * rows + (1 + warps) * cols) * depth * kInputBytes /
         target.sharedMemoryBytesPerClock;
}

KernelWork SmallCacheModel::getScoreWork() const {
  auto m = static_cast<double>(schedule.tileM),
       n = static_cast<double>(schedule.tileN),
       depth = static_cast<double>(2 * getDepth());
  double tiles = static_cast<double>(queryHeads * sums.tiles), elements = m * n;
  double mma = getMmaClocks(elements * depth);
  double shared =
      getSharedClocks(m, n, depth, static_cast<double>(schedule.warps), target);
  double exp = elements / target.ex2PerClockPerSm;
  double issue = elements * kInstructionsPerElement / target.lanesPerClock;
  double latency =
      static_cast<double>(getDepth() / schedule.tileD) * kStepClocks +
      kCtaClocks;
  KernelWork work;
  work.ctas = tiles;
  work.clocks =
      tiles * (std::max(mma, shared) + std::max(exp, issue) + latency);
  work.terms = {{"mma", tiles * mma},
                {"exp", tiles * exp},
                {"issue", tiles * issue},
                {"shared_memory", tiles * shared},
                {"latency", tiles * latency}};
  return work;
}

KernelWork SmallCacheModel::getGradientWork(BackwardKernel kernel) const {
  bool keysStay = kernel != BackwardKernel::QueryGradient;
  auto columns = static_cast<double>(getColumns(getDim(kernel))),
       slices = static_cast<double>(getSlices(getDim(kernel)));
  auto m = static_cast<double>(schedule.tileM),
       n = static_cast<double>(schedule.tileN);
  double rows = keysStay ? n : m, depth = keysStay ? m : n;
  auto warps = static_cast<double>(keysStay ? keyWarps : schedule.warps);
  double mma = getMmaClocks(m * n * columns);
  double shared = getSharedClocks(rows, columns, depth, warps, target);
  double steps = slices * static_cast<double>(queryHeads * sums.tiles);
  KernelWork work;
  work.ctas = slices * static_cast<double>(
                           keysStay ? rounds.groups * rounds.perGroup * keyTiles
                                    : rounds.groups * rounds.groupTiles);
  double latency = steps * kStepClocks + work.ctas * kCtaClocks;
  work.clocks = steps * std::max(mma, shared) + latency;
  work.terms = {{"mma", steps * mma},
                {"shared_memory", steps * shared},
                {"latency", latency}};
  return work;
}

KernelWork SmallCacheModel::getWork(BackwardKernel kernel) const {
  KernelWork work;
  if (kernel == BackwardKernel::RowValues) {
    work.ctas = static_cast<double>(rounds.groups * rounds.groupTiles);
    work.clocks = work.ctas * kCtaClocks;
    work.terms = {{"latency", work.clocks}};
    return work;
  }
  work = kernel == BackwardKernel::Scores ? getScoreWork()
                                          : getGradientWork(kernel);
  // Each kernel moves P or dS once to or from DRAM where L2 cannot keep them,
  // the first both.
  if (2 * getScoreBytes() > target.l2Bytes)
    work.dramBytes =
        static_cast<double>((kernel == BackwardKernel::Scores ? 2 : 1) *
                            queryHeads * sums.scores * kInputBytes);
  return work;
}

void SmallCacheModel::setTime(BackwardKernel kernel, BackwardCost &cost) const {
  KernelWork work = getWork(kernel);
  auto launches = static_cast<double>(rounds.count);
  // Whole CTAs in each round; of a band, the shortest come last.
  double perSm = work.ctas / launches / static_cast<double>(target.smCount);
  double waves =
      problem.mask.isBand() ? std::max(perSm, 1.0) : std::ceil(perSm);
  double secondsPerClock =
      launches * waves / work.ctas / (target.clockGHz * 1e9);
  double l2 =
      static_cast<double>(cost.bytes.getTotal()) / (target.l2GBps * 1e9);
  double dram = work.dramBytes / (target.dramGBps * 1e9);
  double launch = launches * getLaunchSeconds(target);
  cost.terms = std::move(work.terms);
  for (CostTerm &term : cost.terms)
    term.seconds *= secondsPerClock;
  for (auto [name, seconds] : {std::pair("l2", l2), std::pair("dram", dram),
                               std::pair("launch", launch)})
    cost.terms.push_back({name, seconds});
  cost.limiter = detail::getLargestTerm(cost.terms);
  cost.seconds = std::max({work.clocks * secondsPerClock, l2, dram}) + launch;
}

BackwardSelection SmallCacheModel::get() const {
  BackwardSelection selection;
  for (BackwardKernel kernel : kKernels) {
    BackwardCost cost;
    cost.bytes = getTraffic(kernel);
    cost.sharedMemoryBytes = getSharedMemory(kernel);
    cost.registersPerThread = getRegisters(kernel);
    cost.maySpill = cost.registersPerThread > getRegisterLimit(kernel);
    setTime(kernel, cost);
    selection.kernels.push_back({kernel, schedule, cost});
  }
  selection.workspaceBytes = getWorkspaceBytes();
  return selection;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

Result<BackwardSelection>
detail::getSmallCacheBackward(const AttentionProblem &problem,
                              const Schedule &schedule,
                              const TargetInfo &target) {
  if (schedule.tileM < 1 || schedule.tileN < 1 || schedule.chunkRows < 1 ||
      schedule.chunkRows % schedule.tileM != 0)
    return Error{
        "expected chunk_rows to be a positive multiple of tile_m, got " +
        schedule.print()};
  TileSums sums = sumVisibleTiles(HeadShape::get(problem, /*pack=*/false),
                                  schedule.tileM, schedule.tileN);
  SmallCacheModel model(problem, schedule, target, sums);
  if (std::string obstacle = model.findObstacle(); !obstacle.empty())
    return Error{obstacle};
  return model.get();
}

/// Rows of a round: as many as their P and dS may take, from few to all.
static std::vector<int64_t> getChunks(const AttentionProblem &problem) {
  int64_t rows = problem.batch * problem.queryHeads * problem.queryLength;
  std::vector<int64_t> chunks;
  for (int64_t chunk = kFewestRows;; chunk *= 2) {
    chunks.push_back(chunk);
    if (chunk >= rows ||
        2 * chunk * 2 * kInputBytes * problem.kvLength > kMostScoreBytes)
      return chunks;
  }
}

static std::vector<Schedule> getCandidates(const AttentionProblem &problem,
                                           const ScheduleOverrides &given) {
  std::vector<Schedule> candidates;
  auto add = [&](Schedule schedule, int64_t rowsPerWarp) {
    given.apply(schedule);
    if (!given.has("warps"))
      schedule.warps = schedule.tileM / rowsPerWarp;
    candidates.push_back(schedule);
  };
  Schedule schedule;
  schedule.kind = ScheduleKind::SmallCache;
  schedule.mma = MmaFamily::MmaSync;
  for (int64_t chunk : getChunks(problem))
    for (auto [tileM, tileN] : {std::pair<int64_t, int64_t>{128, 128},
                                {128, 64},
                                {64, 128},
                                {64, 64}})
      for (int64_t slice : {64, 32})
        for (int64_t columns : {256, 128, 64})
          for (int64_t stages : {2, 3, 1})
            for (int64_t rowsPerWarp : {kWarpRows, 2 * kWarpRows}) {
              schedule.chunkRows = chunk;
              schedule.tileM = tileM;
              schedule.tileN = tileN;
              schedule.tileD = slice;
              schedule.tileDv = columns;
              schedule.stages = stages;
              add(schedule, rowsPerWarp);
            }
  return candidates;
}

Result<BackwardSelection>
detail::selectSmallCacheBackward(const AttentionProblem &problem,
                                 const TargetInfo &target,
                                 const ScheduleOverrides &given) {
  std::optional<BackwardSelection> best;
  std::string reason;
  for (const Schedule &schedule : getCandidates(problem, given)) {
    Result<BackwardSelection> selection =
        getSmallCacheBackward(problem, schedule, target);
    if (!selection) {
      if (reason.empty())
        reason = selection.error();
      continue;
    }
    // One stage leaves nothing in flight while a tile is computed.
    if (schedule.stages == 1)
      for (BackwardChoice &choice : selection->kernels)
        choice.cost.seconds *= 1.3;
    bool isBetter =
        !best || (selection->maySpill() != best->maySpill()
                      ? best->maySpill()
                      : selection->getSeconds() < 0.995 * best->getSeconds());
    if (isBetter)
      best = *selection;
  }
  if (!best)
    return Error{reason};
  return *best;
}
