//===- DecomposeTwoPhase.h - The small-cache schedule on a CPU --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Conversion/AttnToVector: the part of --attn-decompose-online
// for schedules of kind small_cache.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOVECTOR_DECOMPOSETWOPHASE_H
#define LIB_CONVERSION_ATTNTOVECTOR_DECOMPOSETWOPHASE_H

#include "TileBuffers.h"

namespace attn {

/// Decomposes the attentions among `ops` (steps and ends on static tiles) that
/// have a small-cache schedule, and takes their ops off the list. Returns the
/// number of steps.
int64_t decomposeTwoPhase(llvm::SmallVectorImpl<mlir::Operation *> &ops,
                          TileBuffers &buffers);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOVECTOR_DECOMPOSETWOPHASE_H
