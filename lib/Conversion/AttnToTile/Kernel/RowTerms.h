//===- RowTerms.h - What a region computes once per row ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWTERMS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWTERMS_H

#include "attn/Analysis/IndexRanges.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Region.h"
#include "llvm/ADT/SetVector.h"

namespace attn {

/// Values of a score_mod or mask_mod that depend on b, h and `position` only,
/// which is that of a tile's rows (kLoopM, or kLoopN where keys are rows), cost
/// a read, a search or a division, and are used where the other position or the
/// score is: they are worth a register for each row of a thread. Of types that
/// one register holds: f32, i32, i1, and index where it fits i32, or is
/// compared so that it may be cut to that.
llvm::SmallVector<mlir::Value> findRowTerms(mlir::Region &region,
                                            unsigned position, bool ofRowsOnly,
                                            IndexRanges &ranges);

/// The ops of a region on which `value` depends, in order, up to `known`
/// values.
llvm::SetVector<mlir::Operation *>
getProducers(mlir::Region &region, mlir::Value value,
             llvm::function_ref<bool(mlir::Value)> isKnown);

/// Moves reads of tensors that are the same for all elements out of a map.
void hoistReads(tile::MapOp map);

/// Moves an op out of the loops in which it is invariant, with what it is
/// computed from. It may read memory that nothing writes.
void hoistInvariant(mlir::Operation *op);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWTERMS_H
