//===- Descales.h - What numbers of 8 bits stand for ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_DESCALES_H
#define ATTN_LIB_INTERPRETER_DESCALES_H

#include "attn/Reference/Tensor.h"

#include "mlir/IR/Operation.h"

namespace attn {

/// attention_c20, where sizes are dynamic: fails at `op` unless `descale` is
/// [1], or [B, Hkv] of query and key.
mlir::LogicalResult checkDescale(mlir::Operation *op,
                                 const reference::Tensor &descale,
                                 const reference::Tensor &query,
                                 const reference::Tensor &key);

/// Fails at `op`, which divides by `descale`, unless that is finite and
/// positive.
mlir::LogicalResult checkDivisors(mlir::Operation *op,
                                  const reference::Tensor &descale);

/// The element of a descale, [1] or [B, Hkv], for head number `head` of a
/// tensor [B, heads, ...], b * heads + h.
double getDescaleOfHead(const reference::Tensor &descale, int64_t heads,
                        int64_t head);

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_DESCALES_H
