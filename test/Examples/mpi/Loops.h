// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain loops that stand in for kernels: causal attention of some rows over
// some keys, of which positions in the whole say who sees whom.
#pragma once

#include "attn/Distributed/PlanExecutor.h"

#include <cmath>
#include <vector>

template <typename Visit>
void forEachToken(const attn::TokenRanges &tokens, Visit visit) {
  int64_t number = 0;
  for (const attn::TokenRange &range : tokens)
    for (int64_t token = range.begin; token < range.end; ++token)
      visit(number++, token);
}

/// Calls visit(query row, key row, score) for each visible pair, rows being
/// numbers among [batch, heads, tokens].
template <typename Visit>
void forEachPair(const attn::PlanSizes &sizes, const attn::CallInputs &in,
                 Visit visit) {
  auto q = static_cast<const float *>(in.query);
  auto k = static_cast<const float *>(in.key);
  int64_t rows = in.call.rows.count(), keys = in.call.keys.count();
  int64_t dim = sizes.headDim, group = sizes.heads / sizes.keyHeads;
  for (int64_t b = 0; b < sizes.batch; ++b)
    for (int64_t h = in.heads.begin; h < in.heads.end; ++h) {
      int64_t head = b * in.heads.size() + h - in.heads.begin;
      int64_t keyHead = b * in.keyHeads.size() + h / group - in.keyHeads.begin;
      forEachToken(in.call.rows, [&](int64_t i, int64_t row) {
        forEachToken(in.call.keys, [&](int64_t j, int64_t key) {
          if (key > row)
            return;
          int64_t x = head * rows + i, y = keyHead * keys + j;
          double score = 0;
          for (int64_t d = 0; d < dim; ++d)
            score += double(q[x * dim + d]) * k[y * dim + d];
          visit(x, y, score / std::sqrt(double(dim)));
        });
      });
    }
}

inline attn::Status computeForward(const attn::PlanSizes &sizes,
                                   const attn::CallInputs &in,
                                   const attn::CallResults &out) {
  auto v = static_cast<const float *>(in.value);
  int64_t dim = sizes.valueDim;
  int64_t rows = sizes.batch * in.heads.size() * in.call.rows.count();
  std::vector<double> sums(rows), output(rows * dim);
  forEachPair(sizes, in, [&](int64_t x, int64_t y, double score) {
    double p = std::exp(score);
    sums[x] += p;
    for (int64_t d = 0; d < dim; ++d)
      output[x * dim + d] += p * v[y * dim + d];
  });
  for (int64_t x = 0; x < rows; ++x) {
    out.lse[x] = float(std::log(sums[x])); // -inf where nothing is seen
    for (int64_t d = 0; d < dim; ++d)
      out.output[x * dim + d] =
          sums[x] > 0 ? float(output[x * dim + d] / sums[x]) : 0;
  }
  return {};
}

inline attn::Status computeBackward(const attn::PlanSizes &sizes,
                                    const attn::CallInputs &in,
                                    const attn::CallResults &out,
                                    const void *dOutput,
                                    const attn::CallGradients &gradients) {
  auto q = static_cast<const float *>(in.query);
  auto k = static_cast<const float *>(in.key);
  auto v = static_cast<const float *>(in.value);
  auto g = static_cast<const float *>(dOutput);
  int64_t dim = sizes.headDim, valueDim = sizes.valueDim;
  int64_t rows = sizes.batch * in.heads.size() * in.call.rows.count();
  int64_t keys = sizes.batch * in.keyHeads.size() * in.call.keys.count();
  std::fill_n(gradients.query, rows * dim, 0.0f);
  std::fill_n(gradients.key, keys * dim, 0.0f);
  std::fill_n(gradients.value, keys * valueDim, 0.0f);
  double scale = 1 / std::sqrt(double(dim));
  forEachPair(sizes, in, [&](int64_t x, int64_t y, double score) {
    double p = std::exp(score - out.lse[x]), dp = 0;
    for (int64_t d = 0; d < valueDim; ++d) {
      int64_t at = x * valueDim + d;
      gradients.value[y * valueDim + d] += float(p * g[at]);
      dp += g[at] * (double(v[y * valueDim + d]) - out.output[at]);
    }
    for (int64_t d = 0; d < dim; ++d) {
      gradients.query[x * dim + d] += float(p * dp * scale * k[y * dim + d]);
      gradients.key[y * dim + d] += float(p * dp * scale * q[x * dim + d]);
    }
  });
  return {};
}
