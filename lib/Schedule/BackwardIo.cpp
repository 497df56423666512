//===- BackwardIo.cpp - Elements moved by backward algorithms -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Notation as in ForwardIo.cpp. With P = exp(S - LSE), dP = dO V^T and
// Delta = rowsum(dO * O): dS = P * (dP - Delta), dV = P^T dO, dQ = dS K,
// dK = dS^T Q.
//
//===----------------------------------------------------------------------===//

#include "IoModelDetail.h"

namespace attn {

Traffic countUnfusedBackward(const HeadShape &head) {
  int64_t scores = head.rows * head.kvLength;
  // P for dV and dS, dP for dS, dS for dQ and dK; dO for dV and dP.
  return Traffic()
      .read(Operand::Scores, 5 * scores)
      .read(Operand::OutputGradient, 2 * head.rows * head.valueDim)
      .read(Operand::Value, head.kvLength * head.valueDim)
      .read(Operand::Key, head.kvLength * head.headDim)
      .read(Operand::Query, head.rows * head.headDim)
      .write(Operand::Scores, 2 * scores)
      .write(Operand::ValueGradient, head.kvLength * head.valueDim)
      .write(Operand::QueryGradient, head.rows * head.headDim)
      .write(Operand::KeyGradient, head.kvLength * head.headDim);
}

/// Writes dK and dV once.
static void writeKeyValueGradients(Traffic &traffic, const HeadShape &head) {
  traffic.write(Operand::KeyGradient, head.kvLength * head.headDim)
      .write(Operand::ValueGradient, head.kvLength * head.valueDim);
}

/// Delta = rowsum(dO * O), in a kernel of its own.
static void addDeltaKernel(Traffic &traffic, const HeadShape &head) {
  traffic.read(Operand::OutputGradient, head.rows * head.valueDim)
      .read(Operand::Output, head.rows * head.valueDim)
      .write(Operand::Delta, head.rows);
}

/// `rows` rows of Q, dO, LSE and Delta.
static void readQuerySide(Traffic &traffic, const HeadShape &head,
                          int64_t rows) {
  traffic.read(Operand::Query, rows * head.headDim)
      .read(Operand::OutputGradient, rows * head.valueDim)
      .read(Operand::Lse, rows)
      .read(Operand::Delta, rows);
}

Traffic countKvOuterBackward(const HeadShape &head, int64_t tileN) {
  int64_t visits = ceilDiv(head.kvLength, tileN) * head.rows;
  Traffic traffic;
  detail::readKeyValueRows(traffic, head, head.kvLength);
  traffic.read(Operand::Query, visits * head.headDim)
      .read(Operand::QueryGradient, visits * head.headDim)
      .read(Operand::Output, visits * head.valueDim)
      .read(Operand::OutputGradient, visits * head.valueDim)
      .read(Operand::Statistics, visits * 2)
      .write(Operand::QueryGradient, (head.rows + visits) * head.headDim);
  // Zeroed at first, written at the end.
  writeKeyValueGradients(traffic, head);
  writeKeyValueGradients(traffic, head);
  return traffic;
}

Traffic countFusedBackward(const HeadShape &head, int64_t tileM, int64_t tileN,
                           QueryGradientSum sum) {
  TileSums sums = sumVisibleTiles(head, tileM, tileN);
  // Each key tile visits the rows of the query tiles that see it.
  int64_t visits = sums.queryRows;
  Traffic traffic;
  addDeltaKernel(traffic, head);
  detail::readKeyValueRows(traffic, head, head.kvLength);
  readQuerySide(traffic, head, visits);
  writeKeyValueGradients(traffic, head);
  traffic.write(Operand::QueryGradient, visits * head.headDim);
  if (sum == QueryGradientSum::Atomic)
    // Zeroed at first.
    traffic.write(Operand::QueryGradient, head.rows * head.headDim);
  else
    // The first visit of a row finds nothing to add to.
    traffic.read(Operand::QueryGradient,
                 std::max<int64_t>(visits - sums.rows, 0) * head.headDim);
  return traffic;
}

Traffic countTwoKernelBackward(const HeadShape &head, int64_t tileN,
                               int64_t tileM) {
  Traffic traffic;
  addDeltaKernel(traffic, head);
  detail::readKeyValueRows(traffic, head, head.kvLength);
  readQuerySide(traffic, head, ceilDiv(head.kvLength, tileN) * head.rows);
  writeKeyValueGradients(traffic, head);
  readQuerySide(traffic, head, head.rows);
  detail::readKeyValueRows(traffic, head,
                           ceilDiv(head.rows, tileM) * head.kvLength);
  traffic.write(Operand::QueryGradient, head.rows * head.headDim);
  return traffic;
}

/// dV = P^T dO, dQ = dS K, dK = dS^T Q.
static void addGradientProducts(Traffic &traffic, const HeadShape &head,
                                int64_t tile) {
  int64_t rows = head.rows, keys = head.kvLength;
  const detail::Product products[] = {
      {Operand::Scores, Operand::OutputGradient, Operand::ValueGradient, keys,
       rows, head.valueDim},
      {Operand::Scores, Operand::Key, Operand::QueryGradient, rows, keys,
       head.headDim},
      {Operand::Scores, Operand::Query, Operand::KeyGradient, keys, rows,
       head.headDim}};
  for (const detail::Product &product : products)
    detail::addProduct(traffic, product, tile, tile);
}

Traffic countSmallCacheBackward(const HeadShape &head, int64_t tile,
                                bool fused) {
  int64_t rows = head.rows, keys = head.kvLength, scores = rows * keys;
  Traffic traffic;
  detail::addProduct(
      traffic,
      {Operand::Query, Operand::Key, Operand::Scores, rows, head.headDim, keys},
      tile, tile);
  traffic.read(Operand::Lse, rows);
  detail::addProduct(traffic,
                     {Operand::OutputGradient, Operand::Value, Operand::Scores,
                      rows, head.valueDim, keys},
                     tile, tile);
  if (fused) {
    // The second product writes dS for dP, and needs P and Delta.
    addDeltaKernel(traffic, head);
    traffic.read(Operand::Scores, scores).read(Operand::Delta, rows);
  } else {
    // P and dP for the row sums, again for dS.
    traffic.read(Operand::Scores, 4 * scores).write(Operand::Scores, scores);
  }
  addGradientProducts(traffic, head, tile);
  return traffic;
}

Traffic countLiBackward(const HeadShape &head, int64_t tile) {
  int64_t n = head.rows, d = head.headDim, scores = n * head.kvLength;
  using detail::Product;
  const Product products[] = {
      // A1 X, A3 Y, then the scores and q = dO (A3 Y)^T
      {Operand::Query, Operand::Query, Operand::Query, n, d, d},
      {Operand::Value, Operand::Value, Operand::Value, head.kvLength, d, d},
      {Operand::Query, Operand::Key, Operand::Scores, n, d, head.kvLength},
      {Operand::OutputGradient, Operand::Value, Operand::Scores, n, d,
       head.kvLength},
      // p A2, A1^T (p A2)
      {Operand::Scores, Operand::Key, Operand::QueryGradient, n, head.kvLength,
       d},
      {Operand::Query, Operand::QueryGradient, Operand::QueryGradient, d, n,
       d}};
  Traffic traffic;
  for (const Product &product : products)
    detail::addProduct(traffic, product, tile, tile);
  // p = f * q - rowsum(f * q) f in two passes; f's row statistic is written
  // once and read by the passes.
  return traffic.read(Operand::Scores, 4 * scores)
      .write(Operand::Scores, scores)
      .read(Operand::Statistics, 2 * n)
      .write(Operand::Statistics, n);
}

} // namespace attn
