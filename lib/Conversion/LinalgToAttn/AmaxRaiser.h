//===- AmaxRaiser.h - Largest magnitudes of outputs, captured ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LINALGTOATTN_AMAXRAISER_H
#define LIB_CONVERSION_LINALGTOATTN_AMAXRAISER_H

#include "attn/Dialect/Attn/IR/OutputOps.h"

#include "mlir/IR/PatternMatch.h"

namespace attn::raise {

/// Gives the attn.output_mod that `output` [B, Hq, M, Dv] is of, or a new one
/// behind it, the largest magnitudes of rows, where a graph reduces magnitudes
/// of `output` along rows and more: reductions of all of it, through views, or
/// of its dimensions from the last on. What is reduced beyond rows is so of
/// `amax`. Returns the op; null if no such reduction is found.
OutputModOp raiseAmax(mlir::RewriterBase &rewriter, mlir::Value output);

} // namespace attn::raise

#endif // LIB_CONVERSION_LINALGTOATTN_AMAXRAISER_H
