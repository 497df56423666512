//===- Append.h - New rows of a cache, in linalg ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_APPEND_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_APPEND_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The pools with their new rows: slices that loops over the slots insert,
/// which bufferization does in place. A slot that is no row of the pools is
/// skipped.
llvm::SmallVector<mlir::Value> emitAppend(mlir::OpBuilder &builder,
                                          AppendOp op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_APPEND_H
