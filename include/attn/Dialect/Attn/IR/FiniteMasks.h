//===- FiniteMasks.h - Options of masks made of numbers ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_FINITEMASKS_H
#define ATTN_DIALECT_ATTN_IR_FINITEMASKS_H

#include "mlir/IR/Operation.h"

namespace attn {

/// The check of the option `mask-threshold`, with an error at `op`.
mlir::LogicalResult checkMaskThreshold(mlir::Operation *op, double value);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_FINITEMASKS_H
