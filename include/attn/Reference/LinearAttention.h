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
struct LinearAttentionOptions {
  /// Default: 1 / sqrt(D).
  std::optional<double> scale;
  /// g: [B, Hq, M], or [Hq] for all positions alike; null: 0.
  const Tensor *decay = nullptr;
  /// S[-1]: [B, Hq, D, Dv]; null: 0.
  const Tensor *state = nullptr;
  /// Default: that of the query.
  std::optional<ElementType> outputType;
};

struct LinearAttentionResult {
  Tensor output; ///< [B, Hq, M, Dv]
  Tensor state;  ///< [B, Hq, D, Dv]: S after the last position
};

/// The recurrence in float64. query [B, Hq, M, D], key [B, Hkv, M, D], value
/// [B, Hkv, M, Dv]; query head h has the key head h / (Hq / Hkv). Output and
/// state are f64. Fails where the shapes do not fit or a log decay is above 0
/// or NaN.
Result<LinearAttentionResult>
linearAttention(const Tensor &query, const Tensor &key, const Tensor &value,
                const LinearAttentionOptions &options = {});

/// The yardstick: (Q K^T * decays) V in f32, whose weights are rounded to the
/// type of `value` as those of unfusedAttention are; and (K * decays)^T V in
/// f32, whose first factor is rounded to the type of `key`.
Result<LinearAttentionResult>
unfusedLinearAttention(const Tensor &query, const Tensor &key,
                       const Tensor &value,
                       const LinearAttentionOptions &options = {});

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_LINEARATTENTION_H
