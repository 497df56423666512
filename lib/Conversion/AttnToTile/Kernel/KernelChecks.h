//===- KernelChecks.h - What no kernel computes -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a tiled attention has to be for a kernel. All fail with a diagnostic.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELCHECKS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELCHECKS_H

#include "Kernel/KernelOperands.h"

#include "attn/Support/ElementType.h"

namespace attn {

/// A type of 8-bit floats as schedules know it.
ElementType getFloat8(mlir::Type type);

/// What this target computes: types of tensor cores and head dims of whole
/// 16-byte chunks; f32 with `allowTf32` only.
mlir::LogicalResult checkSupported(TiledAttention &attention, bool allowTf32);

/// Fails unless `op` is in the nest, of so many loops, which are known by their
/// number.
mlir::LogicalResult checkNest(mlir::Operation *op, mlir::scf::ForallOp nest,
                              int64_t loops);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELCHECKS_H
