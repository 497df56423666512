//===- ErrorBound.h - How exact a kernel has to be --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The project's rule: measured against float64, a kernel's error is at most
// twice the error of the same-precision unfused computation (unfusedAttention).
// It holds for two norms at once over the whole tensor, x the result and r the
// oracle:
//
//   maxAbs  = max |x - r|
//   relNorm = ||x - r||_F / ||r||_F          (Frobenius; 0 / 0 = 0)
//
// maxAbs catches one wrong element, relNorm a small bias everywhere. The
// yardstick's error can be 0 by luck on small or special inputs, so each bound
// has the floor that the roundings of any kernel already cost: u = 2^-p, the
// unit roundoff of the output type, or 4 u for f32 and f64, where the
// intermediate results (dot product, exponential, sum, logarithm or quotient)
// are rounded to the output's type too:
//
//   maxAbs  <= 2 * max(maxAbs of the yardstick,  u * max |r|)
//   relNorm <= 2 * max(relNorm of the yardstick, u)
//
// A sum that is off by a part of itself moves its logarithm by as much, however
// near to 0 that is, as the LSE of a row that sees one key may be: in the
// floors of logarithms |r| is at least 1.
//
// A result that is 0 everywhere, as the gradients of queries are where each row
// sees one key, and of weights that these were multiplied by, is what cancels:
// f32 sums of the size of the other gradients.
// It may be off by 2^-17 of the largest of those.
//
// NaN must meet NaN and infinity the same infinity; each disagreement counts as
// an infinite error. An oracle value beyond the range of the result's type is
// expected as what it rounds to. A yardstick with an infinite error leaves only
// the floor.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_ERRORBOUND_H
#define ATTN_REFERENCE_ERRORBOUND_H

#include "attn/Reference/Tensor.h"

namespace attn {
namespace reference {

/// Distance of a tensor from the oracle.
struct ErrorStats {
  double maxAbs = 0;
  double relNorm = 0;
  /// Row-major position of the largest error; -1 if there is none.
  int64_t worstPosition = -1;
};

/// Compares tensors of one shape (a precondition).
ErrorStats measureError(const Tensor &actual, const Tensor &oracle);

/// What the rule allows.
struct ErrorBound {
  double maxAbs = 0;
  double relNorm = 0;

  bool holds(const ErrorStats &stats) const {
    return stats.maxAbs <= maxAbs && stats.relNorm <= relNorm;
  }
};

/// The largest finite magnitude.
double getLargest(const Tensor &tensor);

/// The rule's bound for results of the yardstick's element type; `others` is
/// the largest magnitude among results that are sums of the same products, and
/// `isLogarithm` true of an LSE.
ErrorBound getErrorBound(const Tensor &yardstick, const Tensor &oracle,
                         double others = 0, bool isLogarithm = false);

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_ERRORBOUND_H
