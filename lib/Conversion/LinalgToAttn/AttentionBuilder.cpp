//===- AttentionBuilder.cpp - From a match to attn.attention -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::raise;
using Progress = MissedAttention::Progress;

namespace {
class AttentionBuilder {
public:
  AttentionBuilder(RewriterBase &rewriter, ElementWalker &walker,
                   const AttentionMatch &match, MissRecorder &recorder)
      : rewriter(rewriter), walker(walker), space(walker.getSpace()),
        match(match), recorder(recorder), loc(match.values.op->getLoc()) {}

  FailureOr<Value> run();

private:
  FailureOr<AttentionOp> createOp();
  LogicalResult fillScoreMod(AttentionOp op);
  LogicalResult fillMaskMod(AttentionOp op);
  LogicalResult fillProbMod(AttentionOp op);
  void bindCoordinates(ScalarEmitter &emitter, ValueRange coordinates);
  LogicalResult emitBody(ScalarEmitter &emitter, ScalarRef scalar);
  FailureOr<Value> createSink(Value query);
  LogicalResult missScalar(ScalarRef scalar);

  RewriterBase &rewriter;
  ElementWalker &walker;
  IndexSpace &space;
  const AttentionMatch &match;
  MissRecorder &recorder;
  Location loc;
  FloatType scoreType;
};
} // namespace

/// The scale without the noise of its computation: 1/sqrt(D), or a number of
/// f32, if it is as close as f32 arithmetic can tell.
static double roundScale(double scale, int64_t headDim) {
  double usual = 1 / std::sqrt(static_cast<double>(headDim));
  constexpr double kTwoUlps = 2.5e-7;
  if (std::fabs(scale - usual) <= kTwoUlps * usual)
    return usual;
  double rounded = static_cast<float>(scale);
  return std::fabs(scale - rounded) <= 1e-12 * std::fabs(scale) ? rounded
                                                                : scale;
}

LogicalResult AttentionBuilder::missScalar(ScalarRef scalar) {
  Operation *op = scalar ? scalar->op : nullptr;
  return recorder.miss(Progress::Score, op,
                       Twine("expected the score to be computed from "
                             "positions and tensors, could not compute ") +
                           (op ? op->getName().getStringRef() : "a part") +
                           " per element");
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// The layout of the bias with the dimensions it does not have left empty.
static Layout getBiasLayout(const Roles &roles, const Layout &source) {
  Layout target = {roles.batch, roles.getQueryHeads(), roles.query, roles.key};
  for (auto &variables : target) {
    bool isThere = llvm::any_of(source, [&](const auto &dimension) {
      return !variables.empty() &&
             llvm::is_contained(dimension, variables.front());
    });
    if (!isThere)
      variables.clear();
  }
  return target;
}

/// The score of each head's sink, a tensor of [Hq]; null if there is none.
FailureOr<Value> AttentionBuilder::createSink(Value query) {
  if (!match.sink)
    return Value();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSize(rewriter, loc, query, 1), scoreType);
  ScalarRef failed = nullptr;
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    ScalarEmitter emitter(inner, loc, walker, scoreType);
    SmallVector<AffineExpr> heads = match.roles.getQueryHeads();
    emitter.bind(heads, linalg::IndexOp::create(inner, loc, 0));
    Value sink = emitter.emit(match.sink);
    failed = emitter.getFailed();
    if (!sink)
      sink = arith::ConstantOp::create(inner, loc,
                                       inner.getFloatAttr(scoreType, 0));
    linalg::YieldOp::create(inner, loc, sink);
  };
  auto sinks = linalg::GenericOp::create(
      rewriter, loc, TypeRange(empty.getType()), ValueRange(),
      ValueRange(empty),
      AffineMap::getMultiDimIdentityMap(1, rewriter.getContext()),
      utils::IteratorType::parallel, body);
  if (!failed)
    return sinks.getResult(0);
  rewriter.eraseOp(sinks);
  return recorder.miss(Progress::Score, failed->op,
                       "expected a sink for each query head, got one that "
                       "depends on more than the head");
}

FailureOr<AttentionOp> AttentionBuilder::createOp() {
  const Roles &roles = match.roles;
  auto convert = [&](const OperandSource &source, const Layout &target) {
    return convertLayout(rewriter, loc, space, source.tensor,
                         *getLayout(walker, source), target);
  };
  Value query = convert(match.query, roles.getQueryLayout());
  Value key = convert(match.key, roles.getKeyLayout());
  Value value = convert(match.value, roles.getValueLayout());
  Value bias;
  if (match.bias)
    bias = convert(*match.bias,
                   getBiasLayout(roles, *getLayout(walker, *match.bias)));
  auto queryType = cast<RankedTensorType>(query.getType());
  if (match.prob && isByte(queryType))
    return recorder.miss(Progress::Softmax, match.prob->op,
                         "expected weights of 8-bit queries to be those of a "
                         "softmax, times a constant at most, got another "
                         "function of them");
  auto valueType = cast<RankedTensorType>(value.getType());
  scoreType = queryType.getElementType().isF64()
                  ? FloatType(rewriter.getF64Type())
                  : FloatType(rewriter.getF32Type());
  Type wanted = getElementTypeOrSelf(match.values.op->getResult(0).getType());
  Type elementType = wanted == queryType.getElementType() &&
                             match.numSummands == 1 && match.weightFactor == 1
                         ? wanted
                         : Type(scoreType);
  SmallVector<int64_t> shape(queryType.getShape());
  shape.back() = valueType.getShape().back();
  auto outputType = RankedTensorType::get(shape, elementType);
  FailureOr<Value> sink = createSink(query);
  if (failed(sink))
    return failure();
  double scale = match.score.scale * match.query.factor * match.key.factor;
  if (auto cap = matchSoftCap(match.score))
    scale *= cap->second;
  auto op = AttentionOp::create(rewriter, loc, outputType, /*lseType=*/Type(),
                                query, key, value, bias, *sink,
                                roundScale(scale, queryType.getShape().back()));
  if (!match.hasSoftmax)
    op.setNormalizationAttr(NoneAttr::get(rewriter.getContext()));
  return op;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void AttentionBuilder::bindCoordinates(ScalarEmitter &emitter,
                                       ValueRange coordinates) {
  const Roles &roles = match.roles;
  ArrayRef<AffineExpr> dimensions[] = {roles.batch, {}, roles.query, roles.key};
  SmallVector<AffineExpr> heads = roles.getQueryHeads();
  dimensions[1] = heads;
  for (auto [digits, coordinate] : llvm::zip(dimensions, coordinates))
    emitter.bind(digits, coordinate);
}

LogicalResult AttentionBuilder::emitBody(ScalarEmitter &emitter,
                                         ScalarRef scalar) {
  Value value = emitter.emit(scalar);
  if (!value)
    return missScalar(emitter.getFailed());
  YieldOp::create(rewriter, loc, value);
  return success();
}

LogicalResult AttentionBuilder::fillScoreMod(AttentionOp op) {
  if (!match.score.mod)
    return success();
  OpBuilder::InsertionGuard guard(rewriter);
  if (auto cap = matchSoftCap(match.score)) {
    buildSoftCap(rewriter, loc, op.getScoreMod(), scoreType, cap->first);
    return success();
  }
  Block *block = addScoreModBlock(rewriter, loc, op.getScoreMod(), scoreType);
  ScalarEmitter emitter(rewriter, loc, walker, scoreType);
  bindCoordinates(emitter, block->getArguments().drop_front());
  emitter.bind(match.score.hole, block->getArgument(0));
  for (const DistanceTable &entry : match.score.tables) {
    OpBuilder before(op);
    emitter.bind(entry.scalar,
                 createTable(before, loc, walker, entry, scoreType));
  }
  return emitBody(emitter, match.score.mod);
}

LogicalResult AttentionBuilder::fillMaskMod(AttentionOp op) {
  ArrayRef<ScalarRef> masks = match.score.masks;
  if (masks.empty())
    return success();
  OpBuilder::InsertionGuard guard(rewriter);
  if (auto named = nameMask(space, masks, match.roles)) {
    buildNamedMod(rewriter, loc, op.getMaskMod(), scoreType, *named);
    return success();
  }
  Block *block = addMaskModBlock(rewriter, loc, op.getMaskMod());
  ScalarEmitter emitter(rewriter, loc, walker, scoreType);
  bindCoordinates(emitter, block->getArguments());
  ScalarGraph &graph = walker.getGraph();
  ScalarRef all = masks.front();
  for (ScalarRef mask : masks.drop_front())
    all = graph.apply("arith.andi", Number::Bool, {all, mask}, mask->op);
  return emitBody(emitter, all);
}

LogicalResult AttentionBuilder::fillProbMod(AttentionOp op) {
  if (!match.prob)
    return success();
  OpBuilder::InsertionGuard guard(rewriter);
  Block *block = addScoreModBlock(rewriter, loc, op.getProbMod(), scoreType);
  ScalarEmitter emitter(rewriter, loc, walker, scoreType);
  bindCoordinates(emitter, block->getArguments().drop_front());
  emitter.bind(match.probHole, block->getArgument(0));
  return emitBody(emitter, match.prob);
}

//===----------------------------------------------------------------------===//
// Around the op
//===----------------------------------------------------------------------===//

/// Rounds or widens the elements of `tensor`.
static Value castTo(RewriterBase &rewriter, Location loc, Value tensor,
                    Type elementType) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == elementType)
    return tensor;
  AffineMap map =
      AffineMap::getMultiDimIdentityMap(type.getRank(), type.getContext());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, tensor), elementType);
  bool widens =
      elementType.getIntOrFloatBitWidth() > type.getElementTypeBitWidth();
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    Value result =
        widens ? arith::ExtFOp::create(inner, loc, elementType, arguments[0])
                     .getResult()
               : arith::TruncFOp::create(inner, loc, elementType, arguments[0])
                     .getResult();
    linalg::YieldOp::create(inner, loc, result);
  };
  return linalg::GenericOp::create(rewriter, loc, TypeRange(empty.getType()),
                                   ValueRange(tensor), ValueRange(empty),
                                   ArrayRef<AffineMap>{map, map}, loops, body)
      .getResult(0);
}

/// The elements of `tensor` times `factor`.
static Value multiply(RewriterBase &rewriter, Location loc, Value tensor,
                      double factor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  AffineMap map =
      AffineMap::getMultiDimIdentityMap(type.getRank(), type.getContext());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, tensor),
      type.getElementType());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    Value constant = arith::ConstantOp::create(
        inner, loc, inner.getFloatAttr(type.getElementType(), factor));
    Value product = arith::MulFOp::create(inner, loc, arguments[0], constant);
    linalg::YieldOp::create(inner, loc, product);
  };
  return linalg::GenericOp::create(rewriter, loc, TypeRange(empty.getType()),
                                   ValueRange(tensor), ValueRange(empty),
                                   ArrayRef<AffineMap>{map, map}, loops, body)
      .getResult(0);
}

FailureOr<Value> AttentionBuilder::run() {
  rewriter.setInsertionPoint(match.values.op);
  FailureOr<AttentionOp> op = createOp();
  if (failed(op))
    return failure();
  if (failed(fillScoreMod(*op)) || failed(fillMaskMod(*op)) ||
      failed(fillProbMod(*op))) {
    rewriter.eraseOp(*op);
    return failure();
  }
  raiseProducts(rewriter, *op, match.weightType);
  auto resultType =
      cast<RankedTensorType>(match.values.op->getResult(0).getType());
  Value result = op->getOutput();
  if (match.weightFactor != 1)
    result = multiply(rewriter, loc, result, match.weightFactor);
  if (match.numSummands == 1)
    result = castTo(rewriter, loc, result, resultType.getElementType());
  else
    resultType = RankedTensorType::get(resultType.getShape(), Type(scoreType));
  result = convertLayout(rewriter, loc, space, result,
                         match.roles.getResultLayout(), match.resultLayout);
  if (result.getType() != resultType)
    result = tensor::CastOp::create(rewriter, loc, resultType, result);
  return result;
}

FailureOr<Value> attn::raise::buildAttention(RewriterBase &rewriter,
                                             ElementWalker &walker,
                                             const AttentionMatch &match,
                                             MissRecorder &recorder) {
  return AttentionBuilder(rewriter, walker, match, recorder).run();
}

Value attn::raise::sumAttentions(RewriterBase &rewriter, Operation *contraction,
                                 ArrayRef<Value> parts) {
  Location loc = contraction->getLoc();
  rewriter.setInsertionPoint(contraction);
  Value sum = parts.front();
  for (Value part : parts.drop_front()) {
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, sum),
        getElementTypeOrSelf(sum));
    sum = linalg::AddOp::create(rewriter, loc, ValueRange{sum, part},
                                ValueRange(empty))
              .getResult(0);
  }
  auto type = cast<RankedTensorType>(contraction->getResult(0).getType());
  Value result = castTo(rewriter, loc, sum, type.getElementType());
  return result.getType() == type
             ? result
             : tensor::CastOp::create(rewriter, loc, type, result);
}
