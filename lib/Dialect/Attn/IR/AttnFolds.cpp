//===- AttnFolds.cpp - Canonicalization of the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attn;

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {}
