//===- PlanBias.cpp - What stands beside scores: sink and bias ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExecutorImpl.h"

#include <cmath>
#include <limits>

namespace attn {

void PlanExecutor::Impl::fillWithoutKeys(const SavedAttention &saved) {
  memory.fill(saved.output, 0);
  memory.fill(saved.lse, -std::numeric_limits<float>::infinity());
  if (!saved.sink)
    return;
  const TokenArray &lse = saved.lse;
  char *row = lse.data;
  for (int64_t b = 0; b < lse.batch; ++b)
    for (int64_t h = lse.heads.begin; h < lse.heads.end; ++h) {
      memory.fill({1, {h, h + 1}, lse.tokens, lse.rowBytes, row},
                  saved.sink[h]);
      row += lse.getHeadBytes();
    }
}

/// Calls move(bytes behind the begin of a row of the whole, of the part,
/// width) for each range of keys.
template <typename Move>
static void forEachColumns(const TokenRanges &keys, Move move) {
  int64_t at = 0;
  for (const TokenRange &range : keys) {
    move(range.begin * sizeof(float), at * sizeof(float),
         range.size() * sizeof(float));
    at += range.size();
  }
}

TokenArray PlanExecutor::Impl::takeBias(const SavedAttention &saved,
                                        const TokenRanges &keys) {
  if (!saved.bias)
    return {};
  size_t pitch = keys.count() * sizeof(float);
  TokenArray part = memory.allocate(sizes.batch, saved.query.heads,
                                    saved.query.tokens, pitch);
  auto from = reinterpret_cast<const char *>(saved.bias);
  size_t rows = part.getBytes() / std::max<size_t>(pitch, 1);
  forEachColumns(keys, [&](size_t whole, size_t column, size_t width) {
    memory.copy(part.data + column, pitch, from + whole,
                plan.tokens * sizeof(float), width, rows);
  });
  return part;
}

void PlanExecutor::Impl::putBias(float *whole, const TokenArray &part,
                                 const TokenRanges &keys) {
  auto to = reinterpret_cast<char *>(whole);
  size_t rows = part.getBytes() / part.rowBytes;
  forEachColumns(keys, [&](size_t at, size_t column, size_t width) {
    memory.copy(to + at, plan.tokens * sizeof(float), part.data + column,
                part.rowBytes, width, rows);
  });
}

void computeSinkGradient(const PlanSizes &sizes, int64_t tokens,
                         const float *sink, const CallResults &results,
                         const float *dOutput, float *dSink) {
  std::fill_n(dSink, sizes.heads, 0.0f);
  for (int64_t row = 0; row < sizes.batch * sizes.heads * tokens; ++row) {
    int64_t head = row / tokens % sizes.heads;
    double delta = 0;
    for (int64_t d = row * sizes.valueDim; d < (row + 1) * sizes.valueDim; ++d)
      delta += double(dOutput[d]) * results.output[d];
    dSink[head] -=
        float(std::exp(double(sink[head]) - results.lse[row]) * delta);
  }
}

} // namespace attn
