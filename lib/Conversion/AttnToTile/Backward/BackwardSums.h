//===- BackwardSums.h - Kernels around a fused backward ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fused backward adds up dQ in f32 in a workspace: one kernel before it
// writes zeros there, and lse and delta, one behind it rounds. Private to
// lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSUMS_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSUMS_H

#include "Backward/TiledBackward.h"

namespace attn {

/// Builds `name`_delta: lse, delta and zeros for whole tiles of rows.
mlir::LogicalResult buildDeltaKernel(mlir::OpBuilder &builder,
                                     TiledBackward &backward,
                                     llvm::StringRef name);

/// Builds `name`_round: dQ in its element type.
mlir::LogicalResult buildRoundingKernel(mlir::OpBuilder &builder,
                                        TiledBackward &backward,
                                        llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSUMS_H
