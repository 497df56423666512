//===- VerifyNormalForm.h - What holds in each normal form ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_VERIFYNORMALFORM_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_VERIFYNORMALFORM_H

#include "attn/Dialect/Attn/Utils/NormalForm.h"

namespace attn {

/// Checks the facts of `form` on the attn ops of the module, and those of each
/// dialect with a NormalFormInterface; emits an error at the first op that
/// breaks one. In the forms `tile` and `nvvm` no attn op is left.
mlir::LogicalResult verifyNormalForm(mlir::ModuleOp module, NormalForm form);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_VERIFYNORMALFORM_H
