//===- LinearAttentionOps.cpp - Linear attention ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accessors, shapes and the verifier of attn.linear_attention; the labels are
// those of docs/Spec.md.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"

#include "AttnSyntax.h"
#include "AttnVerifiers.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;
using namespace attn;

double LinearAttentionOp::getScaleValue() {
  return attn::getScaleValue(getScale(), getQuery());
}

FloatType LinearAttentionOp::getScoreType() {
  return attn::getScoreType(getQuery());
}

LogicalResult
LinearAttentionOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> output =
      tensor::getMixedSizes(builder, getLoc(), getQuery());
  OpFoldResult headDim = output[kHeadDim];
  output[kHeadDim] = getDim(builder, getLoc(), getValue(), kHeadDim);
  shapes.push_back(output);
  if (getFinalState())
    shapes.push_back(
        {output[kBatch], output[kHead], headDim, output[kHeadDim]});
  if (getStates()) {
    AffineExpr chunks = builder.getAffineDimExpr(0).ceilDiv(kStateStride);
    shapes.push_back({output[kBatch], output[kHead],
                      affine::makeComposedFoldedAffineApply(
                          builder, getLoc(), chunks, {output[kSequence]}),
                      headDim, output[kHeadDim]});
  }
  return success();
}

/// `value`, which may be null, has these sizes and elements of `element`.
static LogicalResult
verifyTensor(Operation *op, StringRef name, Value value, Type element,
             ArrayRef<std::pair<StringRef, int64_t>> dims) {
  if (!value)
    return success();
  auto type = cast<ShapedType>(value.getType());
  if (failed(verifyElementType(op, name, type, element)))
    return failure();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (failed(verifyEqual(op, {"the inputs", dim.first, dim.second},
                           {name, dim.first, type.getDimSize(i)})))
      return failure();
  return success();
}

LogicalResult LinearAttentionOp::verify() {
  auto dims = AttentionDims::get(*this);
  Type score = getScoreType();
  // linear_attention_c1
  std::optional<double> scale;
  if (getScale())
    scale = getScaleValue();
  if (failed(verifyOperands(*this, {getQuery().getType(), getKey().getType(),
                                    getValue().getType(), /*bias=*/ShapedType(),
                                    scale})))
    return failure();
  // linear_attention_c2
  if (!getFull() && failed(verifyEqual(*this, {"query", "M", dims.queryRows},
                                       {"key", "N", dims.keyRows})))
    return failure();
  // linear_attention_c3
  if (failed(verifyElementType(*this, "output", getOutput().getType(),
                               getElementTypeOrSelf(getQuery()), score)) ||
      failed(verifyResultShape(*this, "output", getOutput().getType(), dims)))
    return failure();
  // linear_attention_c4
  if (getDecay() && getSlope())
    return emitOpError() << "expected decay or slope, got both";
  if (failed(verifyTensor(*this, "decay", getDecay(), score,
                          {{"B", dims.batch},
                           {"Hq", dims.queryHeads},
                           {"M", dims.queryRows}})) ||
      failed(verifyTensor(*this, "slope", getSlope(), score,
                          {{"Hq", dims.queryHeads}})))
    return failure();
  // linear_attention_c5
  std::pair<StringRef, int64_t> state[] = {{"B", dims.batch},
                                           {"Hq", dims.queryHeads},
                                           {"D", dims.headDim},
                                           {"Dv", dims.valueDim}};
  if (failed(verifyTensor(*this, "state", getState(), score, state)))
    return failure();
  // linear_attention_c6
  if (getFull() && (getReverse() || getDecay() || getSlope()))
    return emitOpError() << "expected no reverse, decay or slope with full, "
                            "where no position is before another";
  if (failed(verifyTensor(*this, "the final state", getFinalState(), score,
                          state)))
    return failure();
  // linear_attention_c7
  if (getFull() && getStates())
    return emitOpError() << "expected no states with full, which has one state";
  int64_t chunks = ShapedType::isDynamic(dims.queryRows)
                       ? ShapedType::kDynamic
                       : llvm::divideCeil(dims.queryRows, kStateStride);
  return verifyTensor(
      *this, "states", getStates(), score,
      {state[0], state[1], {"ceil(M / 64)", chunks}, state[2], state[3]});
}

/// f32 where the cost model has no such type.
static ElementType getElement(Value tensor) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(tensor);
  return parseElementType(name).value_or(ElementType::F32);
}

LinearProblem attn::getProblem(LinearAttentionOp op) {
  AttentionDims dims = AttentionDims::get(op);
  // A size of 0 costs nothing whatever the schedule.
  auto known = [](int64_t size, int64_t typical) {
    return ShapedType::isDynamic(size) ? typical : std::max<int64_t>(size, 1);
  };
  LinearProblem problem;
  problem.batch = known(dims.batch, 2);
  problem.kvHeads = known(dims.keyHeads, known(dims.queryHeads, 8));
  problem.queryHeads = known(dims.queryHeads, problem.kvHeads);
  problem.length = known(dims.queryRows, 4096);
  problem.keyLength = known(dims.keyRows, problem.length);
  problem.full = op.getFull();
  problem.headDim = dims.headDim;
  problem.valueDim = dims.valueDim;
  problem.elementType = getElement(op.getQuery());
  problem.outputType = getElement(op.getOutput());
  if (op.getDecay())
    problem.decay = LinearProblem::Decay::Position;
  if (op.getSlope())
    problem.decay = LinearProblem::Decay::Head;
  problem.hasState = static_cast<bool>(op.getState());
  problem.hasFinalState = static_cast<bool>(op.getFinalState());
  problem.hasStates = static_cast<bool>(op.getStates());
  return problem;
}

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/LinearAttentionOps.cpp.inc"
