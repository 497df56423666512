//===- ScalarOps.h - Scalar arith and math ops in float64 -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_SCALAROPS_H
#define ATTN_LIB_INTERPRETER_SCALAROPS_H

#include "Values.h"

#include "llvm/Support/MathExtras.h"

namespace attn {

/// What an op's function needs to know besides its operands.
struct ScalarOpInfo {
  /// Bits of the first operand and of the result; 64 for index.
  unsigned operandBits = 64;
  unsigned resultBits = 64;
  /// Of arith.cmpi and arith.cmpf.
  int64_t predicate = 0;
  /// What the result is rounded to; nothing where it is kept in float64.
  std::optional<ElementType> rounding;
};

using ScalarFunction =
    std::function<Scalar(const ScalarOpInfo &, const Scalar *operands)>;

/// The function of a scalar op on scalars, constants and affine.apply included;
/// null if `op` is none that is known.
ScalarFunction findScalarFunction(mlir::Operation *op);

ScalarOpInfo getScalarOpInfo(mlir::Operation *op,
                             EvaluationPrecision precision);

/// Calls `function` and rounds what it returns as `info` asks for.
Scalar evaluateScalar(const ScalarFunction &function, const ScalarOpInfo &info,
                      const Scalar *operands);

/// `value` as an integer of that width is held.
inline int64_t wrapInteger(uint64_t value, unsigned bits) {
  if (bits == 1)
    return static_cast<int64_t>(value & 1);
  return llvm::SignExtend64(value, bits);
}

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_SCALAROPS_H
