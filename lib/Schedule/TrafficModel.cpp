//===- TrafficModel.cpp - Bytes that a schedule moves ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The byte counts of a schedule: between L2 and the SMs exactly, from the
// closed forms of IoModel.h; between DRAM and L2 by whether the data in flight
// stay in L2.
//
//===----------------------------------------------------------------------===//

#include "CostDetail.h"

#include <algorithm>

namespace attn {

static int64_t getDvSlices(const AttentionProblem &problem,
                           const Schedule &schedule) {
  return ceilDiv(getPaddedValueDim(problem),
                 schedule.tileDv * schedule.clusterD);
}

/// Numbers that a row's state has beside the accumulator.
static int64_t getRowValueCount(const AttentionProblem &problem) {
  switch (problem.normalization) {
  case Normalization::Softmax:
    return 2;
  case Normalization::Sum:
    return 1;
  case Normalization::None:
    return 0;
  }
  return 0;
}

/// Small-cache traffic of one head (or packed group). The kernels keep no LSE
/// between the phases: phase 2 has it from the statistics of the score tiles,
/// one for each row value (lib/Conversion/AttnToTile/SmallCache/
/// TwoPhaseStep.h).
static Traffic getTwoPhaseTraffic(const AttentionProblem &problem,
                                  const Schedule &schedule,
                                  const HeadShape &head) {
  Traffic traffic = countSmallCacheForward(
      head, {schedule.tileM, schedule.tileN, schedule.tileM, schedule.tileDv},
      schedule.spill == SpillFormat::Probabilities);
  auto statistics = static_cast<size_t>(Operand::Statistics);
  traffic.reads[statistics] *= getRowValueCount(problem);
  traffic.writes[statistics] *= getRowValueCount(problem);
  auto lse = static_cast<size_t>(Operand::Lse);
  traffic.reads[lse] = 0;
  traffic.writes[lse] = problem.hasLse ? head.rows : 0;
  return traffic;
}

/// Large-cache or split-KV traffic of one head (or packed group).
static Traffic getOnePassTraffic(const AttentionProblem &problem,
                                 const Schedule &schedule,
                                 const HeadShape &head) {
  bool isSplit = schedule.kind == ScheduleKind::SplitKV;
  int64_t splits = detail::getSplitCount(problem, schedule);
  Traffic traffic =
      isSplit ? countSplitKvForward(head, schedule.tileM, schedule.tileN,
                                    splits, problem.hasLse)
              : countQueryOuterForward(head, schedule.tileM, schedule.tileN,
                                       problem.hasLse);
  // A CTA loads its rows whether they see keys or not.
  int64_t rows = head.rows * splits;
  traffic.read(Operand::Query,
               rows * head.headDim - traffic.getReads(Operand::Query));
  // A state has its row values in place of the LSE.
  int64_t more = rows * (getRowValueCount(problem) - 1);
  if (isSplit)
    traffic.read(Operand::Partials, more).write(Operand::Partials, more);
  // Each further slice of V reads Q and K again.
  int64_t repeats = getDvSlices(problem, schedule) - 1;
  traffic.read(Operand::Query, repeats * traffic.getReads(Operand::Query));
  traffic.read(Operand::Key, repeats * traffic.getReads(Operand::Key));
  return traffic;
}

/// A kernel in front reads each row once and writes it; the attention reads
/// what that has written.
static void readChangedRows(Traffic &traffic, const HeadShape &head) {
  int64_t &reads = traffic.reads[static_cast<size_t>(Operand::Query)];
  traffic.read(Operand::QueryRows, reads)
      .write(Operand::QueryRows, head.rows * head.headDim);
  reads = head.rows * head.headDim;
}

/// Elements of each tensor that an output_mod reads: those of whole tiles, in
/// which what is past the end reads the last element; where splits are merged,
/// those of the output.
static int64_t getCapturedElements(const AttentionProblem &problem,
                                   const Schedule &schedule,
                                   const HeadShape &head) {
  if (schedule.kind == ScheduleKind::SplitKV)
    return head.rows * head.valueDim;
  return alignUp(head.rows, schedule.tileM) * getPaddedValueDim(problem);
}

/// A warp for each sequence reads all lengths and writes its splits; whoever
/// takes a split of a row tile reads its number, and each CTA how many there
/// are.
static Traffic getPlanTraffic(const AttentionProblem &problem,
                              const Schedule &schedule, int64_t rowTiles) {
  int64_t splits = problem.batch * detail::getSplitCount(problem, schedule);
  int64_t taken = rowTiles / problem.batch * splits;
  return Traffic()
      .read(Operand::Worklist, problem.batch * problem.batch + taken +
                                   std::min(taken, schedule.persistentCtas))
      .write(Operand::Worklist, splits + 1);
}

Traffic getTraffic(const AttentionProblem &problem, const Schedule &schedule) {
  HeadShape head = HeadShape::get(problem, schedule.packGqa);
  int64_t heads = problem.getKvHeadCount() *
                  (schedule.packGqa ? 1 : problem.getGroupSize());
  Traffic traffic;
  if (schedule.kind == ScheduleKind::SmallCache)
    traffic = getTwoPhaseTraffic(problem, schedule, head);
  else
    traffic = getOnePassTraffic(problem, schedule, head);
  if (problem.changesQuery() && schedule.queryPrologue == QueryPrologue::Kernel)
    readChangedRows(traffic, head);
  if (problem.captureBytes > 0)
    traffic.read(Operand::Captures,
                 getCapturedElements(problem, schedule, head));
  if (problem.hasAmax)
    traffic.write(Operand::Amax, head.rows);
  if (problem.hasBias)
    traffic.read(Operand::Bias,
                 sumVisibleTiles(head, schedule.tileM, schedule.tileN).scores);
  // CTAs of a cluster take the same K and V from one read; all row tiles of a
  // head read as much.
  int64_t rowTiles = ceilDiv(head.rows, schedule.tileM);
  int64_t clusters = ceilDiv(rowTiles, schedule.clusterM);
  for (Operand operand : {Operand::Key, Operand::Value}) {
    int64_t &reads = traffic.reads[static_cast<size_t>(operand)];
    reads = scaleBy(reads, clusters, rowTiles);
  }
  traffic = traffic * heads;
  if (schedule.isPlanned())
    traffic += getPlanTraffic(problem, schedule, heads * rowTiles);
  return traffic;
}

int64_t getElementBytes(const AttentionProblem &problem,
                        const Schedule &schedule, Operand operand) {
  switch (operand) {
  case Operand::Key:
    return getSizeBytes(problem.getKeyType());
  case Operand::Value:
    return getSizeBytes(problem.getValueType());
  case Operand::Query:
  case Operand::QueryRows:
    return getSizeBytes(problem.elementType);
  case Operand::Bias:
    return getSizeBytes(problem.getWeightType());
  case Operand::Output:
    return getSizeBytes(problem.outputType);
  case Operand::Captures:
    return problem.captureBytes;
  case Operand::Scores:
    return schedule.spill == SpillFormat::Scores ? 4 : 2;
  default:
    return 4;
  }
}

/// More bytes than this are no better: sums of such counts do not overflow.
static constexpr int64_t kMostBytes = int64_t(1) << 59;

static int64_t multiplyBytes(int64_t count, int64_t bytes) {
  return bytes > 0 && count > kMostBytes / bytes ? kMostBytes : count * bytes;
}

/// Sets the operands and the totals between L2 and the SMs.
static void setL2Traffic(Cost &cost, const AttentionProblem &problem,
                         const Schedule &schedule) {
  Traffic traffic = getTraffic(problem, schedule);
  for (size_t i = 0; i < kNumOperands; ++i) {
    auto operand = static_cast<Operand>(i);
    int64_t bytes = getElementBytes(problem, schedule, operand);
    OperandBytes moved = {operand, multiplyBytes(traffic.reads[i], bytes),
                          multiplyBytes(traffic.writes[i], bytes)};
    cost.l2ReadBytes += moved.read;
    cost.l2WriteBytes += moved.written;
    if (moved.read || moved.written)
      cost.operands.push_back(moved);
  }
}

/// Bytes between DRAM and L2: inputs, captures and outputs once; K and V again
/// for each wave of CTAs if those of the heads in flight do not stay in half of
/// L2; spilled scores, partial results and changed queries if the workspace
/// does not.
static int64_t getDramBytes(const Cost &cost, const AttentionProblem &problem,
                            const Schedule &schedule,
                            const TargetInfo &target) {
  int64_t elementBytes = getSizeBytes(problem.elementType);
  int64_t kvHeads = problem.getKvHeadCount();
  int64_t kvBytes = problem.kvLength * problem.getKvRowBytes();
  int64_t rows = kvHeads * problem.getPackedRows();
  int64_t bytes = kvHeads * kvBytes + rows * problem.headDim * elementBytes +
                  rows * problem.valueDim *
                      (getSizeBytes(problem.outputType) + problem.captureBytes);
  int64_t ctasPerHead = ceilDiv(cost.ctas, kvHeads);
  int64_t ctasInFlight = target.smCount * std::max<int64_t>(cost.ctasPerSm, 1);
  int64_t headsInFlight = std::min(kvHeads, ceilDiv(ctasInFlight, ctasPerHead));
  if (schedule.kind != ScheduleKind::SplitKV &&
      headsInFlight * kvBytes > target.l2Bytes / 2)
    bytes += multiplyBytes(ceilDiv(ctasPerHead, ctasInFlight) - 1,
                           kvHeads * kvBytes);
  for (const OperandBytes &moved : cost.operands)
    if ((moved.operand == Operand::Scores ||
         moved.operand == Operand::Partials ||
         moved.operand == Operand::QueryRows) &&
        cost.workspaceBytes > target.l2Bytes / 2)
      // Slices that read the same scores run next to each other.
      bytes += 2 * moved.written;
  return bytes;
}

/// Of partial results, or of a chunk's scores.
static int64_t getStateBytes(const AttentionProblem &problem,
                             const Schedule &schedule) {
  int64_t rows = problem.getKvHeadCount() * problem.getPackedRows();
  if (schedule.kind == ScheduleKind::SplitKV)
    return detail::getSplitCount(problem, schedule) * rows *
           (problem.valueDim + getRowValueCount(problem)) * 4;
  if (schedule.kind != ScheduleKind::SmallCache)
    return 0;
  int64_t scoreBytes = getElementBytes(problem, schedule, Operand::Scores);
  int64_t statistics = schedule.spill == SpillFormat::Probabilities
                           ? getRowValueCount(problem) *
                                 ceilDiv(problem.kvLength, schedule.tileN)
                           : 0;
  // Rows of the spill start at multiples of 16 bytes.
  int64_t rowBytes = alignUp(problem.kvLength * scoreBytes, 16);
  return schedule.chunkRows * (rowBytes + statistics * 4);
}

static int64_t getWorkspaceBytes(const Cost &cost,
                                 const AttentionProblem &problem,
                                 const Schedule &schedule) {
  int64_t bytes = getStateBytes(problem, schedule);
  if (schedule.isPlanned())
    bytes += 4 * (1 + problem.batch * detail::getSplitCount(problem, schedule));
  for (const OperandBytes &moved : cost.operands)
    if (moved.operand == Operand::QueryRows)
      bytes += moved.written;
  return bytes;
}

void detail::setTraffic(Cost &cost, const AttentionProblem &problem,
                        const Schedule &schedule, const TargetInfo &target) {
  setL2Traffic(cost, problem, schedule);
  cost.workspaceBytes = getWorkspaceBytes(cost, problem, schedule);
  cost.dramBytes = getDramBytes(cost, problem, schedule, target);
}

} // namespace attn
