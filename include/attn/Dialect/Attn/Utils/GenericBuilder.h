//===- GenericBuilder.h - linalg.generic by names of loops ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products and sums of small tensors, written as in an index notation: which
// loop each dimension of each operand is.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_GENERICBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_GENERICBUILDER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// The loop of each dimension of a tensor.
using LoopsOfDims = llvm::SmallVector<unsigned, 4>;

/// init[initLoops] = body(operands[loops]..., init[initLoops]) over all loops
/// that are named; those that init has not are reductions. `body` uses `b`.
mlir::Value
buildGeneric(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange operands,
             llvm::ArrayRef<LoopsOfDims> loops, mlir::Value init,
             llvm::ArrayRef<unsigned> initLoops,
             llvm::function_ref<mlir::Value(mlir::ValueRange)> body);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_GENERICBUILDER_H
