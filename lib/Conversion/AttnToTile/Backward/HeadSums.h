//===- HeadSums.h - Sums of the heads of gradients --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each attn.sum_heads behind a backward is a kernel behind its kernels, which
// write the gradients of all query heads to a workspace. Private to
// lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_HEADSUMS_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_HEADSUMS_H

#include "Backward/TiledBackward.h"

namespace attn {

/// Finds the sums of dK and dV.
void findHeadSums(TiledBackward &backward);

/// Adds the workspaces that the kernels sum the heads of.
void addHeadViews(LaunchProgram &program, TiledBackward &backward);

/// Adds the kernels, which begin with `name`.
void addHeadSumKernels(LaunchProgram &program, TiledBackward &backward,
                       llvm::StringRef name);

/// Builds all of the kernels.
mlir::LogicalResult buildHeadSumKernels(mlir::OpBuilder &builder,
                                        TiledBackward &backward);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_HEADSUMS_H
