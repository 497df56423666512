//===- Backward.h - Kernels of the backward pass ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARD_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARD_H

#include "Kernel/KernelOperands.h"

namespace attn {

/// True if `function` holds a tiled backward.
bool holdsBackward(mlir::Operation *function);

/// Builds the kernels of the one tiled backward of `function`: delta and dQ,
/// then dK and dV, or each apart, or one for all three; then those that sum the
/// heads of gradients. Only that of all three adds to memory atomically: what
/// the others give does not depend on the order in which CTAs run. Returns
/// their number; emits an error for what the GPU cannot do.
mlir::FailureOr<int64_t> buildBackwardKernels(mlir::OpBuilder &builder,
                                              mlir::Operation *function,
                                              llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARD_H
