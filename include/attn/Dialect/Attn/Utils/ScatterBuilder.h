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

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_SCATTERBUILDER_H
