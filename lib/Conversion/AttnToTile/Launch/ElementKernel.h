//===- ElementKernel.h - Kernels that read and write elements ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_LAUNCH_ELEMENTKERNEL_H
#define LIB_CONVERSION_ATTNTOTILE_LAUNCH_ELEMENTKERNEL_H

#include "Kernel/KernelScope.h"

namespace attn {

/// The base of what builds a kernel without tiles, at one place of the program.
class ElementKernel : protected KernelScope {
protected:
  ElementKernel(mlir::OpBuilder &builder, TiledAttention &attention,
                mlir::Location loc)
      : KernelScope(builder, attention), loc(loc) {}

  template <typename OpTy>
  mlir::Value create(mlir::Value a, mlir::Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  /// As numbers without a sign.
  mlir::Value isBelow(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(builder, loc,
                                       mlir::arith::CmpIPredicate::ult, a, b);
  }
  mlir::Value toI64(mlir::Value index) {
    return mlir::arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                            index);
  }
  /// Of a tensor outside of the kernel.
  mlir::Value getSize(mlir::Value tensor, unsigned dim) {
    return tile::DimOp::create(builder, loc, values.lookup(tensor), dim);
  }

  /// Where `condition` holds, which is always if it is null.
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body) {
    if (!condition)
      return body();
    auto guarded = mlir::scf::IfOp::create(builder, loc, condition);
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    body();
  }

  mlir::Location loc;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_LAUNCH_ELEMENTKERNEL_H
