//===- Passes.h - Passes that run the whole compiler ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_PASSES_H
#define ATTN_PIPELINES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attn {

/// The attribute of an external function that holds its kernel.
inline constexpr llvm::StringLiteral kernelAttrName = "attn.kernel";

/// The attribute of a call of all trips of an outlined parallel loop.
inline constexpr llvm::StringLiteral parallelAttrName = "attn.parallel";

#define GEN_PASS_DECL
#include "attn/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attn/Pipelines/Passes.h.inc"

} // namespace attn

#endif // ATTN_PIPELINES_PASSES_H
