//===- AttentionSplit.h - The attention apart from its graph ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel computes one attention; a function may compute its operands first
// and use its results afterwards. This cuts such a function into three.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_ATTENTIONSPLIT_H
#define ATTN_TOOLS_ATTNRUN_ATTENTIONSPLIT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn::run {

/// Three functions, in modules of their own, that compute one after the other
/// what the split one does.
struct AttentionSplit {
  /// The function's arguments -> the attention's. Null where all of them are
  /// arguments of the function.
  mlir::OwningOpRef<mlir::ModuleOp> prologue;
  /// The attention's arguments -> its results.
  mlir::OwningOpRef<mlir::ModuleOp> attention;
  /// The function's arguments, then the attention's results -> the function's
  /// results. Null where all of them are among these.
  mlir::OwningOpRef<mlir::ModuleOp> epilogue;

  /// Without a prologue: the function's argument that each argument of the
  /// attention is.
  llvm::SmallVector<unsigned> arguments;
  /// Without an epilogue: which of the epilogue's arguments each result is.
  llvm::SmallVector<unsigned> results;
};

/// Splits a function of the tensor form (docs/Forms.md). Emits an error unless
/// it holds exactly one attention, outside of loops and branches.
mlir::FailureOr<AttentionSplit> splitAtAttention(mlir::func::FuncOp function);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_ATTENTIONSPLIT_H
