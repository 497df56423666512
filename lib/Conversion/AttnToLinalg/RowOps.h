//===- RowOps.h - What happens to rows, in linalg ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_ROWOPS_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_ROWOPS_H

#include "attn/Dialect/Attn/IR/RowOps.h"

namespace attn {

/// All rows, turned once: of keys, each row tile of an attention reads them.
mlir::Value emitRotary(mlir::OpBuilder &builder, RotaryOp op);

mlir::Value emitQkNorm(mlir::OpBuilder &builder, QkNormOp op);

mlir::Value emitDequantize(mlir::OpBuilder &builder, DequantizeOp op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_ROWOPS_H
