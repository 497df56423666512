//===- ProbModVerifier.cpp - What a prob_mod demands ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"
#include "attn/Dialect/Attn/IR/ProbFactor.h"
#include "attn/Dialect/Attn/IR/Views.h"

using namespace mlir;
using namespace attn;

/// attention_c24: weights are made of the LSE of rows that are where queries
/// are, at the precision of these.
static LogicalResult verifyProbabilities(AttentionOp op) {
  if (!op.getNormalization().hasLse())
    return op.emitOpError()
           << "expected no prob_mod with normalization "
           << op.getNormalization() << ": its score_mod gives the weights";
  if (isByte(op.getQuery().getType()))
    return op.emitOpError()
           << "expected inputs of at least 16 bits with prob_mod, got "
           << getElementTypeOrSelf(op.getQuery().getType());
  if (isProbFactor(op.getProbMod()))
    return success(); // and the steps of the attention apply it: no LSE is read
  for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
    if (RaggedOp ragged = getRagged(operand)) {
      InFlightDiagnostic diag =
          op.emitOpError() << "expected no view of sequences behind each other "
                              "with a prob_mod that is no factor of the "
                              "weights";
      diag.attachNote(ragged.getLoc()) << "view here";
      return diag;
    }
  return success();
}

LogicalResult attn::verifyProbMod(AttentionOp op, const AttentionDims &dims) {
  if (!op.hasProbMod())
    return success();
  if (failed(verifyProbabilities(op)))
    return failure();
  // attention_c23
  Type type = op.getScoreType();
  return verifyMod(op, "prob_mod", op.getProbMod(), type, type, dims);
}

LogicalResult attn::verifyProbMod(OnlineAttentionOp op,
                                  const AttentionDims &dims) {
  if (!op.hasProbMod())
    return success();
  // online_attention_c4
  Type type = op.getScoreType();
  if (failed(verifyMod(op, "prob_mod", op.getProbMod(), type, type, dims)))
    return failure();
  // online_attention_c5
  if (!op.getNormalization().hasLse())
    return op.emitOpError()
           << "expected no prob_mod with normalization "
           << op.getNormalization() << ": its score_mod gives the weights";
  if (!isProbFactor(op.getProbMod()))
    return op.emitOpError() << "expected a prob_mod that is a factor of the "
                               "weights: what it yields is no multiple of them";
  return success();
}
