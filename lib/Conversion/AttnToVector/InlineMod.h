//===- InlineMod.h - Mod regions on vectors of keys -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inlines a score_mod or mask_mod region for a vector of consecutive keys of
// one query row. Private to lib/Conversion/AttnToVector.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOVECTOR_INLINEMOD_H
#define LIB_CONVERSION_ATTNTOVECTOR_INLINEMOD_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"

namespace attn {

/// Inlines the one block of `region` with `arguments`, each either as the
/// region declares it, or a vector of `width` lanes of that. Ops on vectors are
/// elementwise where they can be, else repeated for each lane. Returns what the
/// region yields, as a vector of `width` lanes.
mlir::Value inlineMod(mlir::OpBuilder &builder, mlir::Region &region,
                      llvm::ArrayRef<mlir::Value> arguments, int64_t width);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOVECTOR_INLINEMOD_H
