//===- PastLength.h - How many rows caches have -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_PASTLENGTH_H
#define LIB_DIALECT_ATTN_TRANSFORMS_PASTLENGTH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// The rows that all caches of `function` got before, an index at its start:
/// of an argument, `tensor<i64>`, which is added behind the others if there is
/// none, and whose number is the function's attribute attn.past_length.
mlir::Value getPastLength(mlir::func::FuncOp function);

/// Stops with a message where `holds` is false.
void emitRoomCheck(mlir::ImplicitLocOpBuilder &builder, mlir::Value holds);

/// True if `past` is an argument of a function of one block that nothing calls,
/// and nothing but `readers`, in that block, reads more of it than its sizes.
bool isCacheOf(mlir::Value past, llvm::ArrayRef<mlir::Operation *> readers);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_PASTLENGTH_H
