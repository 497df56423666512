//===- ModDerivative.h - Derivatives of score_mod regions -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symbolic differentiation of a score_mod region in forward mode: next to the
// value of each op goes its derivative (its tangent) with respect to one
// variable, or to several that change alike. The result has the signature of a
// score_mod, so that whatever inlines, lowers or evaluates such regions does so
// with derivatives too.
//
// Known are the float ops of arith and the ops of math. At points where a
// function has no derivative the convention is:
//  - |x| at 0 has 0;
//  - maximum, minimum and clamp pass the derivative of the operand they return,
//    of the first one where both are equal;
//  - arith.select passes that of the operand it returns; its condition, other
//    comparisons, roundings to integers and conversions to integer types have
//    derivative 0 everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_MODDERIVATIVE_H
#define ATTN_DIALECT_ATTN_IR_MODDERIVATIVE_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Emits an error at the first op of `mod` that depends on one of `variables`
/// and has no known derivative. A variable is the score argument of `mod` or
/// the result of one of its ops.
mlir::LogicalResult verifyDifferentiable(mlir::Region &mod,
                                         mlir::ValueRange variables);

/// Fills `derivative`, an empty region, with the derivative of `mod` with
/// respect to a variable: the same arguments, and d yielded / d variable as
/// what it yields, summed over `variables` if there are several. Emits an error
/// as verifyDifferentiable does; `derivative` is empty then.
mlir::LogicalResult differentiateMod(mlir::Region &mod,
                                     mlir::ValueRange variables,
                                     mlir::Region &derivative);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_MODDERIVATIVE_H
