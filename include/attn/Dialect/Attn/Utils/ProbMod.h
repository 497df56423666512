//===- ProbMod.h - An attention with a prob_mod as two ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A map of probabilities needs the sums of rows before it. Two attentions do
// without a kernel of its own: one whose LSEs are used, and one without
// normalization whose weights are prob_mod(exp(S - LSE)).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_PROBMOD_H
#define ATTN_DIALECT_ATTN_UTILS_PROBMOD_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The values of an attention of which only the LSE [B, Hq, M] is used: a few
/// columns of the key of `op`, or its value where that is narrow or the key is
/// a view.
mlir::Value getValueOfLse(mlir::OpBuilder &builder, AttentionOp op);

/// The attention of the scores of `op` that computes their LSE.
AttentionOp buildLseAttention(mlir::OpBuilder &builder, AttentionOp op,
                              mlir::Value value);

/// The LSE that the weights of `op` subtract, where `lse` is that of its
/// scores. In f32 it has no room for the logarithm of a sum beside -1e9, the
/// scores of a row that a finite mask hides whole. Where a bias or a score_mod
/// may be such a mask, `lse` is subtracted from the scores of `op`, and this is
/// the LSE of what is left: 0 but for the rounding of `lse`. With a sink it is
/// `lse`.
mlir::Value buildWeightLse(mlir::OpBuilder &builder, AttentionOp op,
                           mlir::Value lse);

/// Fills `scoreMod` with the weights of `op`, without its dropout:
/// prob_mod(exp(score_mod(s) - lse[b, h, i])).
void buildWeightMod(AttentionOp op, mlir::Value lse, mlir::Region &scoreMod);

/// True if the steps of `op` can apply its prob_mod: one that is a factor
/// (ProbFactor.h). Those of a small cache do not.
bool isOfSteps(AttentionOp op);

/// Fails if `op` has a prob_mod that is not of steps, where there is none any
/// more.
mlir::LogicalResult verifyNoProbMod(AttentionOp op);

/// Replaces each attention with a prob_mod in `root` by two without, but with
/// `keepsOfSteps` those whose steps can apply it; returns how many there were.
unsigned decomposeProbMods(mlir::Operation *root, bool keepsOfSteps);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_PROBMOD_H
