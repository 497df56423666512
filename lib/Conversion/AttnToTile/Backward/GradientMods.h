//===- GradientMods.h - What follows gradients ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attn.output_mods that --attn-fuse-outputs has put between the tiles of
// gradients and where they are stored. Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_GRADIENTMODS_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_GRADIENTMODS_H

#include "Backward/TiledBackward.h"

namespace attn {

/// Those that make `stored` of a gradient, in order; none of a gradient that is
/// stored as it is.
llvm::SmallVector<OutputModOp> getGradientMods(mlir::Value stored);

/// Adds the largest magnitudes of the rows of gradients, "amax_d_query" and so
/// on, of several of one gradient then "amax_d_query1", to the operands.
void addGradientMaxima(TiledAttention &attention, TiledBackward &backward);

/// Fails where kernels have no gradient whole for what follows it.
mlir::LogicalResult checkGradientMods(TiledBackward &backward);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_GRADIENTMODS_H
