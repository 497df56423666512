//===- TiledBackward.h - What the kernels of a backward take ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the nests of --attn-tile-backward in a function, with their operands,
// their workspace and how they are launched. Private to
// lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_TILEDBACKWARD_H
#define LIB_CONVERSION_ATTNTOTILE_TILEDBACKWARD_H

#include "KernelOperands.h"

namespace attn {

/// The two nests of a backward, and what both kernels take.
struct TiledBackward {
  /// Each with the operands of both; `first` and `normalize` are null.
  TiledAttention queries, keys;
  BackwardStepOp queryStep, keyStep;
  BackwardDeltaOp delta;
  /// Kernels of dQ, then of dK and dV; delta is the workspace.
  LaunchPlan plan;

  /// The one backward of `function`; emits an error for what the GPU cannot do.
  static mlir::FailureOr<TiledBackward> find(mlir::Operation *function,
                                             llvm::StringRef name);
};

/// The slice that a tile is, under its padding; null if it is none.
mlir::tensor::ExtractSliceOp getSlice(mlir::Value tile);

/// The tensor that a tile is sliced from.
mlir::Value getSource(mlir::Value tile);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_TILEDBACKWARD_H
