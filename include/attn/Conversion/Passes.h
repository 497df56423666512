//===- Passes.h - Conversions to and from the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES_H
#define ATTN_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attn {

#define GEN_PASS_DECL
#include "attn/Conversion/Passes.h.inc"

/// Patterns that replace attn.attention, attn.online_attention, attn.normalize
/// and attn.merge by linalg ops on tensors.
void populateAttnToLinalgPatterns(mlir::RewritePatternSet &patterns,
                                  bool roundFactors = false);

#define GEN_PASS_REGISTRATION
#include "attn/Conversion/Passes.h.inc"

} // namespace attn

#endif // ATTN_CONVERSION_PASSES_H
