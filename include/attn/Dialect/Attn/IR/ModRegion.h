//===- ModRegion.h - What mask_mod and score_mod ask of positions -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_MODREGION_H
#define ATTN_DIALECT_ATTN_IR_MODREGION_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// True if a mask_mod or score_mod, or its absence, can be computed for
/// positions of `loop` (kLoopM: rows; kLoopN: keys) that are none, as padding
/// has them: nothing of them is an index of a tensor, or a divisor that may be
/// 0.
bool isDefinedBeyond(mlir::Region &region, unsigned loop);

/// True if a region reads a tensor where another one says that it reads at the
/// key position, as it does through a table of pages.
bool readsByTable(mlir::Region &region);

/// How many keys share what `op`, of a score_mod, mask_mod or prob_mod, gives:
/// by what it divides the key position; nothing for other ops.
std::optional<int64_t> getKeyBlock(mlir::Operation *op);

/// What has to hold for `condition` to hold, each once: what arith.andi joins.
llvm::SmallVector<mlir::Value> getConjuncts(mlir::Value condition);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_MODREGION_H
