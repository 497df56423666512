//===- ForwardKernel.h - The kernel of a tiled attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_FORWARD_FORWARDKERNEL_H
#define LIB_CONVERSION_ATTNTOTILE_FORWARD_FORWARDKERNEL_H

#include "Kernel/KernelOperands.h"

namespace attn {

/// Builds the kernel called `name` of an attention with a large cache, at the
/// insertion point. Its CTAs take a row tile, and a slice of the value
/// dimension, each; that of an attention that repairs ends where no row of the
/// tile needs it.
mlir::LogicalResult buildForwardKernel(mlir::OpBuilder &builder,
                                       TiledAttention &attention,
                                       llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_FORWARD_FORWARDKERNEL_H
