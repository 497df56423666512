//===- Heads.h - Heads by a map, in linalg ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_HEADS_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_HEADS_H

#include "attn/Dialect/Attn/IR/HeadOps.h"

namespace attn {

/// A copy of what the view shows.
mlir::Value emitSelectHeads(mlir::OpBuilder &builder, SelectHeadsOp op);

/// A sum over all heads of those that the map takes from the head, in the score
/// type.
mlir::Value emitSumHeads(mlir::OpBuilder &builder, SumHeadsOp op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_HEADS_H
