//===- Launches.h - What a launch must know of its kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_TILETONVVM_LAUNCHES_H
#define LIB_CONVERSION_TILETONVVM_LAUNCHES_H

#include "mlir/IR/BuiltinOps.h"

namespace attn::tile {

/// Gives each attn_launch.launch the threads, the shared memory and the tensor
/// maps of its kernel, before that is lowered.
mlir::LogicalResult completeLaunches(mlir::ModuleOp module);

} // namespace attn::tile

#endif // LIB_CONVERSION_TILETONVVM_LAUNCHES_H
