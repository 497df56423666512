//===- Outputs.h - What follows an attention, in linalg ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_OUTPUTS_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_OUTPUTS_H

#include "attn/Dialect/Attn/IR/OutputOps.h"

namespace attn {

/// An elementwise linalg.generic, and one that reduces rows to `amax`.
llvm::SmallVector<mlir::Value> emitOutputMod(mlir::OpBuilder &builder,
                                             OutputModOp op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_OUTPUTS_H
