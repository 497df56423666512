//===- IndexMath.h - Folded index arithmetic --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds index arithmetic at one place, folded to constants where it can be.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_INDEXMATH_H
#define ATTN_ANALYSIS_INDEXMATH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace attn {

class IndexMath {
public:
  using Number = mlir::OpFoldResult; ///< index, or i1 where it says so

  IndexMath(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  Number constant(int64_t number) { return builder.getIndexAttr(number); }
  Number apply(mlir::AffineExpr expr, llvm::ArrayRef<Number> symbols);
  mlir::AffineExpr constantExpr(int64_t number) {
    return builder.getAffineConstantExpr(number);
  }
  mlir::AffineExpr symbol(unsigned position) {
    return builder.getAffineSymbolExpr(position);
  }
  Number add(Number a, Number b);
  Number sub(Number a, Number b);
  Number floorDiv(Number a, int64_t divisor);
  Number ceilDiv(Number a, int64_t divisor);
  Number mul(Number a, int64_t factor);
  Number min(llvm::ArrayRef<Number> numbers);
  Number max(llvm::ArrayRef<Number> numbers);

  /// a <= b, as i1.
  Number atMost(Number a, Number b);
  /// a < b, as i1.
  Number below(Number a, Number b) { return atMost(add(a, constant(1)), b); }
  /// Of i1.
  Number both(Number a, Number b);
  Number either(Number a, Number b);
  Number select(Number condition, Number a, Number b);
  Number truth(bool value) { return builder.getBoolAttr(value); }

private:
  mlir::Value toValue(Number number);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace attn

#endif // ATTN_ANALYSIS_INDEXMATH_H
