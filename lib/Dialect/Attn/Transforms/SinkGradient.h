//===- SinkGradient.h - The gradient of a sink ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_SINKGRADIENT_H
#define LIB_DIALECT_ATTN_TRANSFORMS_SINKGRADIENT_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The gradient of `sink`, the sink of the attention whose gradients `backward`
/// computes: a sink is a score whose key has no value, so that it is, for each
/// head, the sum over b and i of -exp(sink - LSE) * (rowsum(dO * O) - dLSE).
mlir::Value createSinkGradient(mlir::OpBuilder &builder,
                               AttentionBackwardOp backward, mlir::Value sink);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_SINKGRADIENT_H
