//===- ErrorBound.cpp - How exact a kernel has to be ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/ErrorBound.h"

#include "attn/Reference/Element.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace attn {
namespace reference {

/// |actual - expected|, with infinities and NaN compared as values.
static double getDistance(double actual, double expected) {
  if (std::isnan(actual) && std::isnan(expected))
    return 0;
  if (actual == expected)
    return 0;
  if (!std::isfinite(actual) || !std::isfinite(expected))
    return std::numeric_limits<double>::infinity();
  return std::fabs(actual - expected);
}

/// A value beyond the range of `type` is expected to come out as what it rounds
/// to: infinity, or NaN where the type has none.
static double saturate(double value, ElementType type) {
  double rounded = roundToElement(value, type);
  return std::isfinite(rounded) ? value : rounded;
}

ErrorStats measureError(const Tensor &actual, const Tensor &oracle) {
  assert(actual.getShape() == oracle.getShape());
  ErrorStats stats;
  double errorSquares = 0, oracleSquares = 0;
  for (int64_t i = 0; i < oracle.getNumElements(); ++i) {
    double distance =
        getDistance(actual[i], saturate(oracle[i], actual.getType()));
    if (distance > stats.maxAbs) {
      stats.maxAbs = distance;
      stats.worstPosition = i;
    }
    errorSquares += distance * distance;
    if (std::isfinite(oracle[i]))
      oracleSquares += oracle[i] * oracle[i];
  }
  if (errorSquares > 0)
    stats.relNorm = std::sqrt(errorSquares) / std::sqrt(oracleSquares);
  return stats;
}

/// Roundings to `type` that even the best kernel makes on the way to a result:
/// one where it computes in more bits than it returns, four (dot product,
/// exponential, sum, logarithm or quotient) where it computes in f32 or f64.
static int getRoundings(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 ? 4 : 1;
}

double getLargest(const Tensor &tensor) {
  double largest = 0;
  for (double value : tensor.getValues())
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  return largest;
}

/// ||r||_F of the finite elements, each of a magnitude of at least `least`.
static double getNorm(const Tensor &tensor, double least) {
  double squares = 0;
  for (double value : tensor.getValues())
    if (std::isfinite(value)) {
      double magnitude = std::max(std::fabs(value), least);
      squares += magnitude * magnitude;
    }
  return std::sqrt(squares);
}

ErrorBound getErrorBound(const Tensor &yardstick, const Tensor &oracle,
                         double others, bool isLogarithm) {
  ErrorStats stats = measureError(yardstick, oracle);
  double largest = getLargest(oracle);
  double roundoff =
      getRoundings(yardstick.getType()) * getUnitRoundoff(yardstick.getType());
  // A yardstick that is infinitely wrong excuses nothing.
  auto finiteOrZero = [](double x) { return std::isfinite(x) ? x : 0; };
  ErrorBound bound = {
      2 * std::max(finiteOrZero(stats.maxAbs), roundoff * largest),
      2 * std::max(finiteOrZero(stats.relNorm), roundoff)};
  if (double norm = getNorm(oracle, 1); isLogarithm && norm > 0) {
    bound.maxAbs = std::max(bound.maxAbs, 2 * roundoff);
    bound.relNorm =
        std::max(bound.relNorm, 2 * roundoff * norm / getNorm(oracle, 0));
  }
  if (largest == 0 && others > 0)
    bound = {std::max(bound.maxAbs, std::ldexp(others, -17)),
             std::numeric_limits<double>::infinity()};
  return bound;
}

} // namespace reference
} // namespace attn
