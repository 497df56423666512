//===- Passes.h - Conversions to and from the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES_H
#define ATTN_CONVERSION_PASSES_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace attn {

#define GEN_PASS_DECL
#include "attn/Conversion/Passes.h.inc"

/// Patterns that replace attn.attention, attn.online_attention, attn.normalize
/// and attn.merge by linalg ops on tensors.
void populateAttnToLinalgPatterns(mlir::RewritePatternSet &patterns);

#define GEN_PASS_REGISTRATION
#include "attn/Conversion/Passes.h.inc"

} // namespace attn

#endif // ATTN_CONVERSION_PASSES_H
