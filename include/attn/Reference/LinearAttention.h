//===- LinearAttention.h - Linear attention by definition ------ -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_LINEARATTENTION_H
#define ATTN_REFERENCE_LINEARATTENTION_H

#include "attn/Reference/Tensor.h"

#include <optional>

namespace attn {
namespace reference {

/// Of each (b, h), with g <= 0:
///
///   S[i] = exp(g[i]) * S[i-1] + K[i]^T V[i]
///   O[i] = scale * Q[i] S[i]
///
/// and with `reverse` or `full` as docs/Spec.md has it.
struct LinearAttentionOptions {
  /// Default: 1 / sqrt(D).
  std::optional<double> scale;
  /// g: [B, Hq, M], or [Hq] for all positions alike; null: 0.
  const Tensor *decay = nullptr;
  /// S[-1]: [B, Hq, D, Dv]; null: 0.
  const Tensor *state = nullptr;
  /// From the last position to the first.
  bool reverse = false;
  /// One state of all keys, for all rows; without decays.
  bool full = false;
  /// Of the yardstick: whether factors are rounded.
  bool roundFactors = true;
  /// Default: that of the query.
  std::optional<ElementType> outputType;
};

struct LinearAttentionResult {
  Tensor output; ///< [B, Hq, M, Dv]
  Tensor state;  ///< [B, Hq, D, Dv]: S after the last position
  /// [B, Hq, ceil(M / 64), D, Dv]: what is carried into each 64 positions
  /// (docs/Spec.md); none with `full`.
  Tensor states;
};

/// The recurrence in float64. query [B, Hq, M, D], key [B, Hkv, N, D], value
/// [B, Hkv, N, Dv], N = M unless full; query head h has the key head h / (Hq /
/// Hkv). Output and state are f64. Fails where the shapes do not fit or a log
/// decay is above 0 or NaN.
Result<LinearAttentionResult>
linearAttention(const Tensor &query, const Tensor &key, const Tensor &value,
                const LinearAttentionOptions &options = {});

/// The yardstick, as a graph in the type of the inputs computes chunks of 64
/// positions: with L the decays between two of them, O = (Q K^T * L) V + Q S
/// and S' = S + (K * L)^T V in f32, where the weights Q K^T * L, the factor S
/// and the factor K * L are, with roundFactors, rounded to the types of value,
/// query and key. The state itself stays in f32.
Result<LinearAttentionResult>
unfusedLinearAttention(const Tensor &query, const Tensor &key,
                       const Tensor &value,
                       const LinearAttentionOptions &options = {});

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_LINEARATTENTION_H
