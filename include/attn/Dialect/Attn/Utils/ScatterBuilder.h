//===- ScatterBuilder.h - attn.backward_scatter in loops --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_SCATTERBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_SCATTERBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/Builders.h"

namespace attn {

/// Builds the sums of `op` by loops over its scores: one thread adds them up in
/// order.
mlir::Value buildScatter(mlir::OpBuilder &builder, BackwardScatterOp op);

/// The same of several ops, each of which adds to the result of the one before
/// what is in tiles of equal sizes, by one nest of loops: bufferization's
/// analysis takes a time that is exponential in the number of nests behind each
/// other.
mlir::Value buildScatters(mlir::OpBuilder &builder,
                          llvm::ArrayRef<BackwardScatterOp> scatters);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_SCATTERBUILDER_H
