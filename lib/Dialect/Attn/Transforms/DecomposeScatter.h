//===- DecomposeScatter.h - attn.backward_scatter in loops ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_DECOMPOSESCATTER_H
#define LIB_DIALECT_ATTN_TRANSFORMS_DECOMPOSESCATTER_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Emits the sums of `op`, whose tile is static, before it; one thread adds
/// them up in order.
mlir::Value decomposeScatter(BackwardScatterOp op);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_DECOMPOSESCATTER_H
