//===- Ragged.h - Kernels over sequences behind each other ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA sees the sequence of its batch as a tensor of its own (attn_tile.
// sequence): loads and stores end at its end as they do at that of a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_RAGGED_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_RAGGED_H

#include "Kernel/KernelOperands.h"

namespace attn {

/// Fails where the kernels cannot fold the views that `attention` reads.
mlir::LogicalResult checkRagged(const TiledAttention &attention);

/// Notes the views of query, keys and values, which are operands by now, and
/// adds their offsets. Fails where two views are of one tensor.
mlir::LogicalResult addSequences(TiledAttention &attention);

/// Makes `output` the destination of the attn.pack that takes it, where the
/// query is of sequences behind each other. Fails where results and query do
/// not go together.
mlir::LogicalResult packOutput(const TiledAttention &attention,
                               KernelOperand &output);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_RAGGED_H
