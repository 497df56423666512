//===- Loops.h - Attention as a nest of loops -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which dimension of which tensor a loop of an attention runs over: all that
// the partition of an attention over devices follows from.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_SHARDING_LOOPS_H
#define LIB_DIALECT_ATTN_SHARDING_LOOPS_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"

namespace attn::sharding {

/// Loops of batches, heads (a query head and its key head are one position),
/// query rows, keys, and the head dims of query and value. Behind them is one
/// for each dimension that no other follows: those of size 1, which are
/// broadcast, and those of captures.
enum ShardLoop : unsigned {
  kBatches,
  kHeads,
  kRows,
  kKeys,
  kHeadDims,
  kValueDims,
  kNumNamedLoops
};

/// "rows" and so on, for messages; of a later loop "a broadcast dimension".
llvm::StringRef getLoopName(unsigned loop);

struct LoopNest {
  /// Of operands, then of results; scalars have none.
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SmallVector<mlir::utils::IteratorType> types;
};

/// Of attn.attention, attn.attention_backward or attn.linear_attention.
LoopNest getLoopNest(mlir::Operation *op);

} // namespace attn::sharding

#endif // LIB_DIALECT_ATTN_SHARDING_LOOPS_H
