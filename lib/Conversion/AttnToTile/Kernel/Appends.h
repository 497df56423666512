//===- Appends.h - Caches that grow -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a kernel a pool is memory, to which a kernel before that of the attention
// has appended.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_APPENDS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_APPENDS_H

#include "Kernel/KernelOperands.h"

namespace attn {

/// What reads the results of a function's attn.append reads the pools; fails
/// with a diagnostic where a kernel cannot write these in place.
mlir::LogicalResult appendInPlace(mlir::Operation *function);

/// Adds to the operands what the appends of the prologue read and write.
void addAppended(TiledAttention &attention);

/// The appends of a function without an attention, and what is checked before,
/// as a prologue alone.
mlir::FailureOr<TiledAttention> findAppends(mlir::Operation *function);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_APPENDS_H
