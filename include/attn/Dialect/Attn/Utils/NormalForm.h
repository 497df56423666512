//===- NormalForm.h - The form a module is in -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The module's `attn.normal_form` attribute, and the facts of each form
// (docs/Forms.md).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_NORMALFORM_H
#define ATTN_DIALECT_ATTN_UTILS_NORMALFORM_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// The form the module carries, if it carries one.
std::optional<NormalForm> getNormalForm(mlir::ModuleOp module);

/// Marks the module as being in `form`.
void setNormalForm(mlir::ModuleOp module, NormalForm form);

/// Marks the module as being in no form: between two of them.
void clearNormalForm(mlir::ModuleOp module);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_NORMALFORM_H
