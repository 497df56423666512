//===- BackwardTraffic.cpp - Bytes of the backward's kernels --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardTiles.h"
#include "Machine.h"
#include "attn/Schedule/Family.h"

#include "attn/Support/MathExtras.h"

using namespace attn;
using namespace attn::detail;

/// The positions of [0, total) that some position of `stay` sees if it sees
/// those from itself - left on, up to itself + right; in whole tiles.
Span attn::detail::getVisited(Span stay, std::optional<int64_t> left,
                              std::optional<int64_t> right, int64_t tile,
                              int64_t total) {
  Span span{0, total};
  if (left)
    span.begin = std::max<int64_t>(stay.begin - *left, 0) / tile * tile;
  if (right)
    span.end =
        std::min(total, alignUp(std::max<int64_t>(stay.end + *right, 0), tile));
  return span;
}

void attn::detail::writeGradient(Traffic &traffic, Operand gradient,
                                 const AttentionProblem &problem,
                                 std::optional<ElementType> given, int64_t rows,
                                 int64_t columns) {
  traffic.write(gradient,
                rows * columns * getSizeBytes(problem.getGradientType(given)));
  if (problem.hasAmax)
    traffic.write(Operand::Amax, rows * kFloatBytes);
}

/// The kernels before and behind a fused one; statistics and sums are of whole
/// tiles of rows.
static Traffic getRowTraffic(const AttentionProblem &problem,
                             BackwardKernel kernel, int64_t tileM) {
  int64_t rows = problem.queryLength;
  int64_t whole = alignUp(rows, tileM) * kFloatBytes;
  int64_t d = problem.headDim, dv = problem.valueDim;
  Traffic head;
  if (kernel == BackwardKernel::QueryRounding)
    writeGradient(head.read(Operand::QuerySums, whole * alignUp(d, kWarpRows)),
                  Operand::QueryGradient, problem, problem.dQueryType, rows, d);
  else
    head.read(Operand::Output, rows * dv * getSizeBytes(problem.outputType))
        .read(Operand::OutputGradient, rows * dv * kInputBytes)
        .read(Operand::Lse, rows * kFloatBytes)
        .write(Operand::Lse, whole)
        .write(Operand::Delta, whole)
        .write(Operand::QuerySums, whole * alignUp(d, kWarpRows));
  return head * (problem.batch * problem.queryHeads);
}

/// How often a streamed tile is read for the CTA of `stay`: CTAs of a cluster
/// take it from one read, counted for the first of them. Of a pair each brings
/// its halves: of a tile that is read in both ways as many bytes as all of it.
static int64_t countReads(BackwardKernel kernel, const Schedule &schedule,
                          Span stay, bool isOfScores) {
  bool keysStay = kernel != BackwardKernel::QueryGradient;
  int64_t tile = keysStay ? schedule.tileN : schedule.tileM;
  if (stay.begin % (schedule.clusterN * tile) != 0)
    return 0;
  bool areHalves = schedule.ctaPair && isReadBothWays(kernel, isOfScores);
  return areHalves ? schedule.clusterN : 1;
}

/// There are whole clusters: a CTA of dQ past the end reads the last row for
/// all of its delta.
static void addRowsPastEnd(Traffic &head, const AttentionProblem &problem,
                           const Schedule &schedule) {
  int64_t tiles = ceilDiv(problem.queryLength, schedule.tileM);
  int64_t past = (alignUp(tiles, schedule.clusterN) - tiles) * schedule.tileM *
                 problem.valueDim;
  head.read(Operand::Output, past * getSizeBytes(problem.outputType))
      .read(Operand::OutputGradient, past * getSizeBytes(problem.elementType));
}

Traffic attn::getBackwardTraffic(const AttentionProblem &problem,
                                 BackwardKernel kernel,
                                 const Schedule &schedule) {
  if (kernel == BackwardKernel::ClearedSums ||
      kernel == BackwardKernel::QueryRounding)
    return getRowTraffic(problem, kernel, schedule.tileM);
  bool keysStay = kernel != BackwardKernel::QueryGradient;
  bool isFused = kernel == BackwardKernel::AllGradients;
  bool hasDKey = kernel == BackwardKernel::KeyValueGradients ||
                 kernel == BackwardKernel::KeyGradient || isFused;
  bool hasDValue = kernel == BackwardKernel::KeyValueGradients ||
                   kernel == BackwardKernel::ValueGradient || isFused;
  int64_t inputBytes = getSizeBytes(problem.elementType),
          outputBytes = getSizeBytes(problem.outputType);
  int64_t d = problem.headDim * inputBytes, dv = problem.valueDim * inputBytes;
  // All slices read the same, but of the factor of their product, of which each
  // reads its columns once more; of dO for dV those alone.
  int64_t slices = countGradientSlices(kernel, schedule, problem);
  int64_t again = slices > 1 ? 1 : 0;
  // What is read as it is, too, is loaded apart to be transposed.
  int64_t transposed =
      getFamily(schedule.mma).transposesValue(problem.elementType) ? 1 : 0;
  int64_t queryLoads = slices +
                       (kernel == BackwardKernel::KeyGradient ? again : 0) +
                       (hasDKey ? transposed : 0);
  int64_t outputLoads = hasDKey && hasDValue ? slices + transposed
                        : kernel == BackwardKernel::ValueGradient ? 1
                                                                  : slices;
  int64_t keyLoads = slices + (keysStay ? 0 : again + transposed);
  Traffic head;
  forEachTile(problem, keysStay, schedule, [&](Span stay, Span streamed) {
    int64_t rows =
        keysStay ? streamed.getSize() * problem.getGroupSize() : stay.getSize();
    int64_t keys = keysStay ? stay.getSize() : streamed.getSize();
    int64_t ofScores = countReads(kernel, schedule, stay, /*isOfScores=*/true);
    int64_t ofOther = countReads(kernel, schedule, stay, /*isOfScores=*/false);
    int64_t rowReads = keysStay ? ofScores : 1;
    int64_t outputReads = keysStay ? ofOther : 1;
    int64_t keyReads = keysStay ? 1 : ofScores;
    int64_t valueReads = keysStay ? 1 : ofOther;
    head.read(Operand::Query, rows * d * queryLoads * rowReads)
        .read(Operand::OutputGradient, rows * dv * outputLoads * outputReads)
        .read(Operand::Key, keys * d * keyLoads * keyReads);
    if (!keysStay || hasDKey)
      head.read(Operand::Value, keys * dv * slices * valueReads);
    if (keysStay) {
      // Statistics come in whole tiles.
      int64_t whole = alignUp(streamed.getSize(), schedule.tileM) *
                      problem.getGroupSize() * kFloatBytes * slices;
      if (problem.hasSoftmax())
        head.read(Operand::Lse, whole);
      if (problem.hasSoftmax() && hasDKey)
        head.read(Operand::Delta, whole);
      if (hasDKey)
        writeGradient(head, Operand::KeyGradient, problem, problem.dKeyType,
                      keys, problem.headDim);
      if (hasDValue)
        writeGradient(head, Operand::ValueGradient, problem, problem.dValueType,
                      keys, problem.valueDim);
      if (isFused)
        head.write(Operand::QuerySums, whole * problem.headDim);
      return;
    }
    writeGradient(head, Operand::QueryGradient, problem, problem.dQueryType,
                  rows, problem.headDim);
    if (!problem.hasSoftmax())
      return;
    // delta reads O, and dO once more; the last row again for those past the
    // end.
    int64_t whole = alignUp(rows, schedule.tileM) * slices;
    head.read(Operand::Output, whole * problem.valueDim * outputBytes)
        .read(Operand::OutputGradient, whole * dv);
    head.read(Operand::Lse, rows * kFloatBytes * slices);
    head.write(Operand::Lse, schedule.tileM * kFloatBytes);
    head.write(Operand::Delta, schedule.tileM * kFloatBytes);
  });
  if (!keysStay && problem.hasSoftmax())
    addRowsPastEnd(head, problem, schedule);
  return head *
         (problem.batch * (keysStay ? problem.kvHeads : problem.queryHeads));
}
