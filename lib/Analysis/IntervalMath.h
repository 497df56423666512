//===- IntervalMath.h - Arithmetic on intervals -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The smallest intervals around the results of integer operations, or larger
// ones; exact on single numbers. Private to lib/Analysis.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ANALYSIS_INTERVALMATH_H
#define LIB_ANALYSIS_INTERVALMATH_H

#include "attn/Analysis/MaskProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn {

/// Far beyond what positions can become, and safe to add.
inline constexpr int64_t kFar = int64_t(1) << 61;
inline constexpr Interval kAnything = {-kFar, kFar};
inline constexpr Interval kAnyTruth = {0, 1};

Interval addIntervals(Interval a, Interval b);
Interval subtractIntervals(Interval a, Interval b);
Interval multiplyIntervals(Interval a, Interval b);

enum class Rounding { Down, Up, ToZero };
Interval divideIntervals(Interval a, Interval b, Rounding rounding);
/// With the sign of the dividend.
Interval remainderOfIntervals(Interval a, Interval b);

enum class Bitwise { And, Or, Xor };
Interval combineBits(Interval a, Interval b, Bitwise operation);

Interval compareIntervals(mlir::arith::CmpIPredicate predicate, Interval a,
                          Interval b);

} // namespace attn

#endif // LIB_ANALYSIS_INTERVALMATH_H
