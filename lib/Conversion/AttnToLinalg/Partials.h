//===- Partials.h - States and results of parts of the keys -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_PARTIALS_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_PARTIALS_H

#include "OnlineStep.h"

namespace attn {

/// The state over the keys of all `stacks`, each [P, B, Hq, M(, Dv)]: see
/// attn.combine.
RunningState emitCombined(mlir::OpBuilder &builder, mlir::Location loc,
                          RowReductionInterface reduction, mlir::FloatType type,
                          llvm::ArrayRef<RunningState> stacks);

/// Each part is a state of one score, its LSE, with its output as the value.
RunningState emitMergedState(mlir::OpBuilder &builder, MergeOp op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_PARTIALS_H
