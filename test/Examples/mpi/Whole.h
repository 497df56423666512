// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The causal attention of the whole and its gradients, in f64, to compare with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/// [heads, tokens, dim] each, of as many key heads as `keyHeads` has.
struct Whole {
  int64_t tokens, dim, heads, keyHeads;
  std::vector<double> query, key, value, dOutput;
  std::vector<double> output, dQuery, dKey, dValue;

  void compute() {
    output.assign(query.size(), 0);
    dQuery.assign(query.size(), 0);
    dKey.assign(key.size(), 0);
    dValue.assign(key.size(), 0);
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < tokens; ++i)
        computeRow((h * tokens + i) * dim,
                   h / (heads / keyHeads) * tokens * dim, i);
  }

private:
  /// `row` and `keys` are where a row and the keys of its head begin.
  void computeRow(int64_t row, int64_t keys, int64_t i) {
    double scale = 1 / std::sqrt(double(dim)), sum = 0, delta = 0;
    std::vector<double> p(i + 1);
    for (int64_t j = 0; j <= i; ++j)
      sum += p[j] = std::exp(scale * dot(query, row, key, keys + j * dim));
    for (int64_t j = 0; j <= i; ++j) {
      p[j] /= sum;
      for (int64_t d = 0; d < dim; ++d)
        output[row + d] += p[j] * value[keys + j * dim + d];
    }
    delta = dot(dOutput, row, output, row);
    for (int64_t j = 0; j <= i; ++j) {
      int64_t at = keys + j * dim;
      double dScore = p[j] * (dot(dOutput, row, value, at) - delta) * scale;
      for (int64_t d = 0; d < dim; ++d) {
        dValue[at + d] += p[j] * dOutput[row + d];
        dQuery[row + d] += dScore * key[at + d];
        dKey[at + d] += dScore * query[row + d];
      }
    }
  }

  double dot(const std::vector<double> &a, int64_t x,
             const std::vector<double> &b, int64_t y) const {
    double sum = 0;
    for (int64_t d = 0; d < dim; ++d)
      sum += a[x + d] * b[y + d];
    return sum;
  }
};
