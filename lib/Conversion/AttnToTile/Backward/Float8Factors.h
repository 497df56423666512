//===- Float8Factors.h - Gradients by 8-bit products ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Descales and scales never touch a tile (docs/Rationale/Float8.md): they are
// in the factors of exponents, of dP and delta, and of the sums at their ends.
// Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_FLOAT8FACTORS_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_FLOAT8FACTORS_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attn {

/// The binary logarithm of what weights are multiplied by before they are
/// rounded to 8 bits (docs/Spec.md, 8-bit inputs).
inline constexpr double kFloat8WeightBits = 8;

/// What products of 8-bit inputs, and dS, are multiplied by: f32 of the kernel,
/// of a batch and key head. All null for inputs of more bits.
struct Float8Factors {
  /// scale * dq * dk, and the same times log2(e).
  mlir::Value score, exponent;
  /// scale * dv * ddo * scale_ds / 2^8, and what delta is multiplied by.
  mlir::Value gradient, delta;
  /// What the sums of dQ, dK and dV are multiplied by at their ends, and the
  /// maxima of |dS|.
  mlir::Value dQuery, dKey, dValue, amax;
  mlir::Value dOutput; ///< ddo

  /// Those of a CTA, read at the start of its kernel; null for inputs of more
  /// bits. `at` is its batch and head, a key head with `keysAreRows`; `values`
  /// are the kernel's.
  static Float8Factors load(mlir::OpBuilder &builder, BackwardStepOp step,
                            mlir::ValueRange at, bool keysAreRows,
                            const mlir::IRMapping &values);

  explicit operator bool() const { return static_cast<bool>(score); }
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_FLOAT8FACTORS_H
