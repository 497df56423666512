//===- VectorMath.h - Arithmetic on vectors of scores -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders of the arithmetic that a score takes, on scalars and 1-D vectors of
// f32 or f64. Private to lib/Conversion/AttnToVector.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOVECTOR_VECTORMATH_H
#define LIB_CONVERSION_ATTNTOVECTOR_VECTORMATH_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// A loop over [0, size) with step `step`; `init` are the values it carries.
mlir::scf::ForOp createFor(mlir::ImplicitLocOpBuilder &b, int64_t size,
                           int64_t step, mlir::ValueRange init = {});

/// `number` in each lane of `type`, a float or a vector of floats.
mlir::Value createSplat(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                        double number);

mlir::Value createSum(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                      mlir::Value y);

/// a > b ? a : b. NaN in `b` stays; this is one instruction of most hosts, and
/// arith.maximumf is not.
mlir::Value createMax(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                      mlir::Value y);

/// exp(x) for x <= 0, to about 2 ulp in f32: exp2 by range reduction to
/// [-0.5, 0.5] and the polynomial of Cephes' exp2f (S. Moshier, 1992). Results
/// below 2^-127 are 0. f64 takes math.exp.
mlir::Value createExpOfNonPositive(mlir::ImplicitLocOpBuilder &b,
                                   mlir::Value x);

/// What `combine`, such as createMax, makes of all lanes of all `vectors`.
using Combine = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                               mlir::Value, mlir::Value)>;
mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b,
                         mlir::ValueRange vectors, Combine combine);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOVECTOR_VECTORMATH_H
