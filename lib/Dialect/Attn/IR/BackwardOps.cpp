//===- BackwardOps.cpp - Ops of the backward pass -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accessors, shapes and verifiers of attention_backward, backward_delta,
// backward_step, backward_sum and backward_scatter; the labels are those of
// docs/Spec.md.
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"

using namespace mlir;
using namespace attn;

/// The sizes of each of `values`.
static void appendSizes(OpBuilder &builder, ValueRange values,
                        ReifiedRankedShapedTypeDims &shapes) {
  for (Value value : values)
    if (value)
      shapes.push_back(tensor::getMixedSizes(builder, value.getLoc(), value));
}

/// Fails unless `gradient` has the shape of `of`, and its element type or the
/// score type.
static LogicalResult verifyGradient(Operation *op, StringRef name,
                                    Value gradient, StringRef ofName, Value of,
                                    Type scoreType) {
  auto type = cast<ShapedType>(gradient.getType());
  auto expected = cast<ShapedType>(of.getType());
  if (failed(verifyCompatibleShape(type, expected)))
    return op->emitOpError() << "expected " << name << " to have the shape of "
                             << ofName << ", " << expected << ", got " << type;
  // attention_backward_c11
  if (isFloat8(expected))
    return success();
  return verifyElementType(op, name, type, expected.getElementType(),
                           scoreType);
}

//===----------------------------------------------------------------------===//
// AttentionBackwardOp
//===----------------------------------------------------------------------===//

double AttentionBackwardOp::getScaleValue() {
  return attn::getScaleValue(getScale(), getQuery());
}

FloatType AttentionBackwardOp::getScoreType() {
  return attn::getScoreType(getQuery());
}

/// The reads of `capture` in a score_mod, which may be empty.
static SmallVector<tensor::ExtractOp> findReads(Region &scoreMod,
                                                Value capture) {
  SmallVector<tensor::ExtractOp> reads;
  if (!scoreMod.empty())
    for (auto read : scoreMod.getOps<tensor::ExtractOp>())
      if (read.getTensor() == capture)
        reads.push_back(read);
  return reads;
}

SmallVector<tensor::ExtractOp> AttentionBackwardOp::getReads(Value capture) {
  return findReads(getScoreMod(), capture);
}

LogicalResult
AttentionBackwardOp::reifyResultShapes(OpBuilder &builder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  appendSizes(builder, {getQuery(), getKey(), getValue()}, shapes);
  if (getDBias())
    appendSizes(builder, getBias(), shapes);
  appendSizes(builder, getCaptures(), shapes);
  appendSizes(builder, getSink(), shapes);
  if (getAmaxDs()) {
    appendSizes(builder, getQuery(), shapes);
    shapes.back().pop_back();
  }
  return success();
}

/// attention_backward_c1, c2: the results of the forward, and their gradients.
static LogicalResult verifyForwardResults(AttentionBackwardOp op) {
  AttentionDims dims = AttentionDims::get(op);
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  Type score = op.getScoreType();
  // attention_backward_c9
  RowReductionInterface reduction = op.getNormalization();
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"output", op.getOutput()},
        {"lse", op.getLse()}})
    if (static_cast<bool>(value) != reduction.hasLse())
      return op.emitOpError() << "expected " << (value ? "no " : "") << name
                              << " with normalization " << reduction;
  if (!reduction.hasLse() && (op.getDLse() || op.getSink() || op.getAmaxDs()))
    return op.emitOpError() << "expected neither d_lse nor sink nor amax_ds "
                               "with normalization "
                            << reduction;
  if (isa<SumAttr>(reduction))
    return op.emitOpError()
           << "expected normalization #attn.softmax or #attn.none, got "
           << reduction << ", whose gradients are not derived";
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"output", op.getOutput()},
        {"d_output", op.getDOutput()}}) {
    if (!value)
      continue;
    auto type = cast<ShapedType>(value.getType());
    if (failed(verifyResultShape(op, name, type, dims)))
      return failure();
    // attention_backward_c11 has the types beside inputs of 8 bits.
    if (!isFloat8(element) &&
        failed(verifyElementType(op, name, type, element, score)))
      return failure();
  }
  for (auto [name, value] : {std::pair<StringRef, Value>{"lse", op.getLse()},
                             {"d_lse", op.getDLse()},
                             {"amax_ds", op.getAmaxDs()}}) {
    if (!value)
      continue;
    auto type = cast<ShapedType>(value.getType());
    if (failed(verifyElementType(op, name, type, score)) ||
        failed(verifyResultShape(op, name, type, dims)))
      return failure();
  }
  return success();
}

/// attention_backward_c5, c6: what gradients of captures are asked for.
static LogicalResult verifyCaptures(AttentionBackwardOp op) {
  if (op.getCaptures().size() != op.getDCaptures().size())
    return op.emitOpError()
           << "expected one of d_captures for each of captures, got "
           << op.getDCaptures().size() << " for " << op.getCaptures().size();
  llvm::SmallDenseSet<Value> seen;
  for (auto [i, capture, gradient] :
       llvm::enumerate(op.getCaptures(), op.getDCaptures())) {
    if (!seen.insert(capture).second)
      return op.emitOpError() << "expected captures to differ, got one twice";
    std::string number = std::to_string(i);
    if (failed(verifyGradient(op, "d_captures " + number, gradient,
                              "captures " + number, capture,
                              op.getScoreType())))
      return failure();
    bool isRead = false;
    for (Operation *user : capture.getUsers()) {
      if (!op.hasScoreMod() ||
          !op.getScoreMod().isAncestor(user->getParentRegion()))
        continue;
      if (!isa<tensor::ExtractOp, tensor::DimOp>(user) ||
          user->getParentRegion() != &op.getScoreMod())
        return user->emitOpError()
               << "expected score_mod to read a tensor whose gradient is "
                  "asked for by tensor.extract";
      isRead |= isa<tensor::ExtractOp>(user);
    }
    if (!isRead)
      return op.emitOpError() << "expected score_mod to read captures "
                              << number << " by tensor.extract";
  }
  return success();
}

/// attention_backward_c8: the sink and its gradient.
static LogicalResult verifySink(AttentionBackwardOp op) {
  if (!op.getSink() != !op.getDSink())
    return op.emitOpError() << "expected d_sink with a sink, and no sink "
                               "without, got one of both";
  if (!op.getSink())
    return success();
  auto type = cast<ShapedType>(op.getSink().getType());
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  auto query = cast<ShapedType>(op.getQuery().getType());
  if (failed(verifyElementType(op, "sink", type, element, op.getScoreType())) ||
      failed(verifyEqual(op, {"query", "Hq", query.getDimSize(kHead)},
                         {"sink", "0", type.getDimSize(0)})))
    return failure();
  return verifyGradient(op, "d_sink", op.getDSink(), "sink", op.getSink(),
                        op.getScoreType());
}

LogicalResult AttentionBackwardOp::verify() {
  if (failed(verifyOperands(*this, AttentionOperands::get(*this))) ||
      failed(verifyDropout(*this)) || failed(verifyForwardResults(*this)) ||
      failed(verifyFloat8(*this)) || failed(verifySink(*this)) ||
      failed(verifyNoRagged(*this)))
    return failure();
  // attention_backward_c3
  Type score = getScoreType();
  if (failed(verifyGradient(*this, "d_query", getDQuery(), "query", getQuery(),
                            score)) ||
      failed(
          verifyGradient(*this, "d_key", getDKey(), "key", getKey(), score)) ||
      failed(verifyGradient(*this, "d_value", getDValue(), "value", getValue(),
                            score)))
    return failure();
  // attention_backward_c4
  if (!getDBias())
    return success();
  if (!getBias())
    return emitOpError() << "expected a bias, since d_bias is asked for";
  return verifyGradient(*this, "d_bias", getDBias(), "bias", getBias(), score);
}

LogicalResult AttentionBackwardOp::verifyRegions() {
  if (failed(verifyMods(*this, getScoreMod(), getMaskMod(), getScoreType(),
                        AttentionDims::get(*this))) ||
      failed(verifyCaptures(*this)))
    return failure();
  // attention_backward_c7
  if (!hasScoreMod())
    return success();
  SmallVector<Value> variables = {getScoreMod().getArgument(0)};
  for (Value capture : getCaptures())
    for (tensor::ExtractOp read : getReads(capture))
      variables.push_back(read);
  return verifyDifferentiable(getScoreMod(), variables);
}

//===----------------------------------------------------------------------===//
// BackwardDeltaOp
//===----------------------------------------------------------------------===//

LogicalResult
BackwardDeltaOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getOutput());
  sizes.pop_back();
  shapes.push_back(sizes);
  return success();
}

LogicalResult BackwardDeltaOp::verify() {
  auto output = cast<ShapedType>(getOutput().getType());
  auto dOutput = cast<ShapedType>(getDOutput().getType());
  auto delta = cast<ShapedType>(getDelta().getType());
  // backward_delta_c1
  if (failed(verifyCompatibleShape(output, dOutput)))
    return emitOpError() << "expected output and d_output to have one shape, "
                         << "got " << output << " and " << dOutput;
  if (failed(verifyCompatibleShape(delta.getShape(),
                                   output.getShape().drop_back())))
    return emitOpError() << "expected delta to have the rows of output, "
                         << output << ", got " << delta;
  // backward_delta_c2
  if (getDLse() && getDLse().getType() != delta)
    return emitOpError() << "expected d_lse to have the type of delta, "
                         << delta << ", got " << getDLse().getType();
  // backward_delta_c3
  if (!getDescale())
    return success();
  return verifyDescale(*this, "descale", getDescale().getType(), 1, 1);
}

//===----------------------------------------------------------------------===//
// BackwardStepOp
//===----------------------------------------------------------------------===//

double BackwardStepOp::getScaleValue() {
  return attn::getScaleValue(getScale(), getQuery());
}

FloatType BackwardStepOp::getScoreType() {
  return attn::getScoreType(getQuery());
}

LogicalResult
BackwardStepOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  appendSizes(builder, {getDQuery(), getDKey(), getDValue(), getDScores()},
              shapes);
  appendSizes(builder, getAmax(), shapes);
  return success();
}

SmallVector<tensor::ExtractOp> BackwardStepOp::getReads() {
  SmallVector<tensor::ExtractOp> reads = findReads(getScoreMod(), getCapture());
  std::optional<uint64_t> number = getRead();
  if (!number)
    return reads;
  return *number < reads.size() ? SmallVector<tensor::ExtractOp>{reads[*number]}
                                : SmallVector<tensor::ExtractOp>();
}

/// backward_step_c3, c6, c7: gradients that are given together, and of what.
static LogicalResult verifyGradientKinds(BackwardStepOp op) {
  bool hasProduct = op.getDQuery() || op.getDKey() || op.getDValue();
  if (hasProduct == static_cast<bool>(op.getDScores()))
    return op.emitOpError()
           << "expected d_query, d_key or d_value, or d_scores alone";
  if (op.getRead() && !op.getCapture())
    return op.emitOpError() << "expected d_scores of a captured tensor, since "
                               "it is of one read";
  if (!op.getCapture())
    return success();
  if (!op.getDScores())
    return op.emitOpError() << "expected d_scores of a captured tensor";
  size_t count = findReads(op.getScoreMod(), op.getCapture()).size();
  if (op.getRead() && count > 0 && *op.getRead() >= count)
    return op.emitOpError()
           << "expected one of the " << count
           << " reads of the captured tensor, got number " << *op.getRead();
  SmallVector<tensor::ExtractOp> reads = op.getReads();
  if (reads.empty())
    return op.emitOpError() << "expected score_mod to read the tensor that "
                               "d_scores is of by tensor.extract";
  return verifyDifferentiable(
      op.getScoreMod(), llvm::map_to_vector(reads, [](tensor::ExtractOp read) {
        return read.getResult();
      }));
}

LogicalResult BackwardStepOp::verify() {
  if (failed(verifyOperands(*this, AttentionOperands::get(*this))) ||
      failed(verifyDropout(*this)))
    return failure();
  // backward_step_c1
  if (getOffsets().size() != 4)
    return emitOpError() << "expected 4 offsets (b, h, i, j), got "
                         << getOffsets().size();
  // backward_step_c2
  AttentionDims dims = AttentionDims::get(*this);
  Type score = getScoreType();
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"d_output", getDOutput()},
        {"lse", getLse()},
        {"delta", getDelta()},
        {"amax", getAmax()}}) {
    // backward_step_c8
    bool isOfLse = name == "lse" || name == "delta";
    if (isOfLse && static_cast<bool>(value) != getNormalization().hasLse())
      return emitOpError() << "expected " << (value ? "no " : "") << name
                           << " with normalization " << getNormalization();
    if (!value)
      continue;
    auto type = cast<ShapedType>(value.getType());
    if (failed(verifyResultShape(*this, name, type, dims)))
      return failure();
    if (type.getRank() == 3 &&
        failed(verifyElementType(*this, name, type, score)))
      return failure();
  }
  // backward_step_c9
  if (getAmax() && !getDQuery())
    return emitOpError() << "expected amax beside d_query";
  if (!getDescales().empty() && getDescales().size() != 4)
    return emitOpError() << "expected descales of query, key, value and "
                            "d_output, got "
                         << getDescales().size();
  // backward_step_c4
  std::tuple<StringRef, Value, StringRef, Value> gradients[] = {
      {"d_query", getDQuery(), "query", getQuery()},
      {"d_key", getDKey(), "key", getKey()},
      {"d_value", getDValue(), "value", getValue()}};
  for (auto [name, gradient, ofName, of] : gradients)
    if (gradient &&
        (failed(verifyElementType(*this, name, gradient.getType(), score)) ||
         failed(verifyGradient(*this, name, gradient, ofName, of, score))))
      return failure();
  if (!getDScores())
    return success();
  auto scores = cast<ShapedType>(getDScores().getType());
  SmallVector<int64_t> expected(
      cast<ShapedType>(getQuery().getType()).getShape().drop_back());
  expected.push_back(
      cast<ShapedType>(getKey().getType()).getDimSize(kSequence));
  if (failed(verifyCompatibleShape(scores.getShape(), expected)))
    return emitOpError() << "expected d_scores to have the rows of query and "
                            "a column for each key, got "
                         << scores;
  return verifyElementType(*this, "d_scores", scores, score);
}

LogicalResult BackwardStepOp::verifyRegions() {
  if (failed(verifyMods(*this, getScoreMod(), getMaskMod(), getScoreType(),
                        getUnknownDims())))
    return failure();
  // backward_step_c5
  if (hasScoreMod() &&
      failed(verifyDifferentiable(getScoreMod(), getScoreMod().getArgument(0))))
    return failure();
  return verifyGradientKinds(*this);
}

//===----------------------------------------------------------------------===//
// BackwardSumOp
//===----------------------------------------------------------------------===//

LogicalResult
BackwardSumOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  appendSizes(builder, getLike(), shapes);
  return success();
}

LogicalResult BackwardSumOp::verify() {
  auto like = cast<ShapedType>(getLike().getType());
  AffineMap map = getMap();
  // backward_sum_c1
  if (map.getNumDims() != 3 || map.getNumSymbols() != 0 ||
      map.getNumResults() != like.getRank())
    return emitOpError() << "expected a map from (b, h, p) to the "
                         << like.getRank() << " indices of like, got "
                         << getMapAttr();
  // backward_sum_c2
  if (getLse() && getLse().getType() != getSource().getType())
    return emitOpError() << "expected lse to have the type of source, "
                         << getSource().getType() << ", got "
                         << getLse().getType();
  // backward_sum_c3
  return verifyGradient(*this, "the result", getResult(), "like", getLike(),
                        getElementTypeOrSelf(getSource().getType()));
}

//===----------------------------------------------------------------------===//
// BackwardScatterOp
//===----------------------------------------------------------------------===//

LogicalResult
BackwardScatterOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  appendSizes(builder, getInto(), shapes);
  return success();
}

LogicalResult BackwardScatterOp::verify() {
  // backward_scatter_c1
  if (getOffsets().size() != 4)
    return emitOpError() << "expected 4 offsets (b, h, i, j), got "
                         << getOffsets().size();
  // backward_scatter_c2
  auto scores = cast<ShapedType>(getScores().getType());
  auto into = cast<ShapedType>(getInto().getType());
  if (scores.getElementType() != into.getElementType())
    return emitOpError() << "expected scores and into of one element type, got "
                         << scores << " and " << into;
  // backward_scatter_c3
  if (getIndices().size() != static_cast<size_t>(into.getRank()))
    return emitOpError() << "expected a region for each of the "
                         << into.getRank() << " indices of into, got "
                         << getIndices().size();
  return success();
}

/// backward_scatter_c4
LogicalResult BackwardScatterOp::verifyRegions() {
  for (Region &region : getIndices()) {
    auto isIndex = [](Type type) { return type.isIndex(); };
    auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
    if (region.getNumArguments() != 4 ||
        !llvm::all_of(region.getArgumentTypes(), isIndex) || !yield ||
        !yield.getValue().getType().isIndex())
      return emitOpError() << "expected regions that take (b, h, i, j) and "
                              "yield an index";
  }
  return success();
}
