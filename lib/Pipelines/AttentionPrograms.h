//===- AttentionPrograms.h - The attentions of a module ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is what one launch function computes: an attention, or a backward.
// Private to lib/Pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_PIPELINES_ATTENTIONPROGRAMS_H
#define ATTN_LIB_PIPELINES_ATTENTIONPROGRAMS_H

#include "attn/Dialect/Attn/Transforms/ExtractAttention.h"
#include "attn/Runtime/Bundle.h"

namespace attn {

/// "f_attention" for an attention in @f, "f_append" for an append.
std::string getProgramName(mlir::Operation *op);

/// The same text for attentions that one program can serve: the module without
/// its function's name and without locations.
std::string getProgramKey(ExtractedAttention &extracted);

/// True where kernels of the module's function do not compute all of its
/// attentions, once a call: it has several, or one in a loop, a branch or a
/// module of its own.
bool needsPrograms(mlir::ModuleOp module);

/// Erases what no kernel can be made of: declarations, functions that the one
/// with the attention calls, modules in the module.
void dropOtherFunctions(mlir::ModuleOp module);

/// Leaves in `module` a function for each distinct attention in place of its
/// own functions. Returns where those call them, the operands named by their
/// position: "0", "1", ... of the program's arguments and results.
std::vector<runtime::ProgramCall> convertToPrograms(mlir::ModuleOp module);

/// Gives the inputs and results of `calls` the names that the manifests of
/// their programs have for them.
void nameOperands(std::vector<runtime::ProgramCall> &calls,
                  llvm::ArrayRef<runtime::Manifest> programs);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_ATTENTIONPROGRAMS_H
