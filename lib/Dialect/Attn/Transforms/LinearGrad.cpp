//===- LinearGrad.cpp - Gradients of linear attention -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients of a linear attention are linear attentions (Katharopoulos et
// al., Transformers are RNNs, 2020, 3.3.1), which walk the other way where the
// gradient of the state is carried: with R the gradient of S,
//
//   dQ[i] = scale S[i] dO[i]         query dO, key V, value K, the same way
//   dK[i] = R[i] V[i]                query V, key dO, value Q, the other way
//   dV[i] = R[i]^T K[i]              query K, key Q, value dO, the other way
//
// from the gradient of the final state on, divided by scale, to scale times
// that of the first state. A log decay has what crosses it: with the decays of
// positions t between those of t - 1 and t, for any e > t,
//
//   dg[t] = sum over i from t to e - 1 of (Q[i].dQ[i] - K[i].dK[i])
//           + scale <S[e - 1], exp(g[e]) R[e]>
//
// where the last term is what crosses e. That is the next multiple of 64, whose
// states are results of dQ and dK: terms that are rounded apart add up over 64
// positions, as in the kernels of Flash Linear Attention. Over all of a long
// sequence their errors would be more than what is left. At the end it is
// <S, R>; in reverse the sum is the opposite, and <S, R> that at the beginning.
//
//===----------------------------------------------------------------------===//

#include "GradScope.h"
#include "LinearDecaySums.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/GenericBuilder.h"
#include "attn/Dialect/Attn/Utils/ScoreGradients.h"
#include "attn/Schedule/LinearAttention.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cmath>

using namespace mlir;
using namespace attn;

namespace {
using Sizes = SmallVector<OpFoldResult>;
using Values = SmallVector<Value>;

class LinearGradBuilder : GradScope {
public:
  LinearGradBuilder(func::FuncOp forward, LinearAttentionOp attention)
      : GradScope(forward, attention), op(attention),
        b(attention.getLoc(), builder), type(attention.getScoreType()) {}

  LogicalResult run();

private:
  /// A linear attention to make, with the decays and the scale of `op`.
  struct Request {
    Value query, key, value;
    Value state;              ///< may be null
    bool goesBack = false;    ///< the other way
    bool isWide = false;      ///< the output is in the type of states
    bool needsState = false;  ///< the final state, too
    bool needsStates = false; ///< those of every 64 positions, too
  };
  /// The results of one; states may be null.
  struct Linear {
    Value output, state, states;
  };

  LogicalResult check();
  void createFunction();
  Value get(Value value) { return value ? mapping.lookup(value) : value; }
  bool needsGradient(Value value) { return value && isArgument(value); }

  Value empty(const Sizes &sizes, Type element) {
    return tensor::EmptyOp::create(b, sizes, element);
  }
  Value zeros(const Sizes &sizes);
  Value number(double value) {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  }
  Value convert(Value scalar, Type element);
  Value mapElements(Value tensor, Type element, double factor);
  Value transposeState(Value state);
  Value expandHeads(Value tensor);
  Value sumHeads(Value gradient, Value like);
  Linear attend(const Request &request);
  Value multiplyRows(Value x, Value y);
  Value multiplyStates(Value state, Value gradient);
  bool needsStates();
  Value sumBatches(Value terms, Value slope);
  Value emitDecayGradient(const Linear &dQuery, const Linear &dKey,
                          Value dState);

  LinearAttentionOp op;
  ImplicitLocOpBuilder b;
  FloatType type; ///< of states
  bool isGrouped = false;
  Value dOutput, dFinalState; ///< the second may be null
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be differentiated
//===----------------------------------------------------------------------===//

LogicalResult LinearGradBuilder::check() {
  auto returns =
      cast<func::ReturnOp>(forward.getBody().front().getTerminator());
  SmallVector<Value> expected = {op.getOutput()};
  if (returns.getNumOperands() == 2 && op.getFinalState())
    expected.push_back(op.getFinalState());
  if (!llvm::equal(returns.getOperands(), expected))
    return returns.emitOpError()
           << "expected @" << forward.getName()
           << " to return the output of its linear attention, or that and its "
              "final state";
  if (expected.size() == 2 && !isDivisor(op.getScaleValue()))
    return op.emitOpError()
           << "expected a scale from 1e-30 to 1e30, or from -1e30 to -1e-30, "
              "by which the gradient of the final state is divided, got "
           << op.getScaleValue();
  std::pair<StringRef, Value> inputs[] = {
      {"query", op.getQuery()}, {"key", op.getKey()}, {"value", op.getValue()}};
  for (auto [name, value] : inputs)
    if (failed(checkArgument(value, name)))
      return failure();
  for (Value value : op->getOperands())
    if (!isArgument(value) &&
        failed(checkSource(value, "what the attention reads")))
      return failure();
  return success();
}

void LinearGradBuilder::createFunction() {
  ValueRange gradients =
      GradScope::createFunction(TypeRange(forward.getResultTypes()));
  b.restoreInsertionPoint(builder.saveInsertionPoint());
  for (Value value : op->getOperands())
    cloneValue(value);
  b.restoreInsertionPoint(builder.saveInsertionPoint());
  // A factor of products, as the others are.
  dOutput = mapElements(gradients[0], getElementTypeOrSelf(op.getQuery()), 1);
  if (gradients.size() == 2)
    dFinalState = gradients[1];
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value LinearGradBuilder::zeros(const Sizes &sizes) {
  Value zero = number(0);
  return linalg::FillOp::create(b, zero, empty(sizes, type)).getResult(0);
}

Value LinearGradBuilder::convert(Value scalar, Type element) {
  auto from = cast<FloatType>(scalar.getType()), to = cast<FloatType>(element);
  if (from == to)
    return scalar;
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b, to, scalar);
  return arith::TruncFOp::create(b, to, scalar);
}

/// `factor` times the elements, in type `element`; the tensor itself where that
/// changes nothing. A factor other than 1 is of a tensor of states.
Value LinearGradBuilder::mapElements(Value tensor, Type element,
                                     double factor) {
  auto given = cast<RankedTensorType>(tensor.getType());
  if (factor == 1 && given.getElementType() == element)
    return tensor;
  auto loops =
      llvm::to_vector_of<unsigned, 4>(llvm::seq<unsigned>(0, given.getRank()));
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), tensor);
  return buildGeneric(
      b, tensor, {loops}, empty(sizes, element), loops,
      [&](ValueRange args) -> Value {
        Value made = convert(args[0], element);
        return factor == 1
                   ? made
                   : arith::MulFOp::create(b, made, number(factor)).getResult();
      });
}

/// [B, H, D, Dv] as [B, H, Dv, D]; null stays null.
Value LinearGradBuilder::transposeState(Value state) {
  if (!state)
    return state;
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), state);
  std::swap(sizes[2], sizes[3]);
  int64_t order[] = {0, 1, 3, 2};
  return linalg::TransposeOp::create(b, state, empty(sizes, type), order)
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Groups of heads
//===----------------------------------------------------------------------===//

/// The keys or values of each query head.
Value LinearGradBuilder::expandHeads(Value tensor) {
  if (!isGrouped)
    return tensor;
  Value query = get(op.getQuery());
  auto size = [&](Value from, unsigned dim) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(),
                                           getDim(b, b.getLoc(), from, dim));
  };
  Value group = size(query, kHead);
  group = arith::DivUIOp::create(b, group, size(tensor, kHead));
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), tensor);
  sizes[kHead] = getDim(b, b.getLoc(), query, kHead);
  return buildGeneric(b, {}, {}, empty(sizes, getElementTypeOrSelf(tensor)),
                      {0, 1, 2, 3}, [&](ValueRange) -> Value {
                        Values at;
                        for (unsigned dim = 0; dim < 4; ++dim)
                          at.push_back(linalg::IndexOp::create(b, dim));
                        at[kHead] = arith::DivUIOp::create(b, at[kHead], group);
                        return tensor::ExtractOp::create(b, tensor, at);
                      });
}

/// The sum of the gradients of a key head's query heads, in the type of `like`.
Value LinearGradBuilder::sumHeads(Value gradient, Value like) {
  Type element = getElementTypeOrSelf(like);
  if (!isGrouped)
    return mapElements(gradient, element, 1);
  Location loc = b.getLoc();
  OpFoldResult heads = getDim(b, loc, gradient, kHead),
               keyHeads = getDim(b, loc, like, kHead);
  Value group = getValueOrCreateConstantIndexOp(b, loc, heads);
  group = arith::DivUIOp::create(
      b, group, getValueOrCreateConstantIndexOp(b, loc, keyHeads));
  // A tensor that gives the loop over the group its length.
  Value members = empty({OpFoldResult(group)}, type);
  Value sum = buildGeneric(
      b, members, {{4}}, zeros(tensor::getMixedSizes(b, loc, like)),
      {0, 1, 2, 3}, [&](ValueRange args) -> Value {
        Values at;
        for (unsigned dim = 0; dim < 4; ++dim)
          at.push_back(linalg::IndexOp::create(b, dim));
        Value first = arith::MulIOp::create(b, at[kHead], group);
        at[kHead] =
            arith::AddIOp::create(b, first, linalg::IndexOp::create(b, 4));
        Value part = tensor::ExtractOp::create(b, gradient, at);
        return arith::AddFOp::create(b, args[1], part);
      });
  return mapElements(sum, element, 1);
}

//===----------------------------------------------------------------------===//
// Linear attentions
//===----------------------------------------------------------------------===//

LinearGradBuilder::Linear LinearGradBuilder::attend(const Request &request) {
  auto shapeOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  ArrayRef<int64_t> query = shapeOf(request.query);
  int64_t width = shapeOf(request.value)[kHeadDim];
  Type element = request.isWide ? type : getElementTypeOrSelf(request.query);
  Type output = RankedTensorType::get(
      {query[kBatch], query[kHead], query[kSequence], width}, element);
  Type last;
  if (request.needsState)
    last = RankedTensorType::get(
        {query[kBatch], query[kHead], query[kHeadDim], width}, type);
  Type states;
  if (request.needsStates) {
    int64_t chunks = ShapedType::isDynamic(query[kSequence])
                         ? ShapedType::kDynamic
                         : llvm::divideCeil(query[kSequence], kStateStride);
    states = RankedTensorType::get(
        {query[kBatch], query[kHead], chunks, query[kHeadDim], width}, type);
  }
  bool isReverse = !op.getFull() && op.getReverse() != request.goesBack;
  auto made = LinearAttentionOp::create(
      b, output, last, states, request.query, request.key, request.value,
      get(op.getDecay()), get(op.getSlope()), request.state, isReverse,
      op.getFull(), b.getF64FloatAttr(op.getScaleValue()),
      /*schedule=*/ScheduleAttr());
  return {made.getOutput(), made.getFinalState(), made.getStates()};
}

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

/// [B, Hq, M]: the dot products of rows.
Value LinearGradBuilder::multiplyRows(Value x, Value y) {
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), x);
  sizes.pop_back();
  return buildGeneric(b, {x, y}, {{0, 1, 2, 3}, {0, 1, 2, 3}}, zeros(sizes),
                      {0, 1, 2}, [&](ValueRange args) -> Value {
                        Value product = convert(args[0], type);
                        product = arith::MulFOp::create(b, product,
                                                        convert(args[1], type));
                        return arith::AddFOp::create(b, args[2], product);
                      });
}

/// [B, Hq]: the sums of products of states.
Value LinearGradBuilder::multiplyStates(Value state, Value gradient) {
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), state);
  sizes.truncate(2);
  return buildGeneric(b, {state, gradient}, {{0, 1, 2, 3}, {0, 1, 2, 3}},
                      zeros(sizes), {0, 1}, [&](ValueRange args) -> Value {
                        Value product =
                            arith::MulFOp::create(b, args[0], args[1]);
                        return arith::AddFOp::create(b, args[2], product);
                      });
}

/// Whether states are asked for: where there is a position 64, and where a
/// chunk may be shorter than the rows, since states make chunks 64 rows, whose
/// weights both gradients round alike.
bool LinearGradBuilder::needsStates() {
  int64_t rows = AttentionDims::get(op).queryRows;
  return ShapedType::isDynamic(rows) || rows > kStateStride / 2;
}

/// [Hq]: the gradients of a head's decay at all positions.
Value LinearGradBuilder::sumBatches(Value terms, Value slope) {
  return buildGeneric(b, terms, {{1, 0, 2}},
                      zeros(tensor::getMixedSizes(b, b.getLoc(), slope)), {0},
                      [&](ValueRange args) -> Value {
                        return arith::AddFOp::create(b, args[1], args[0]);
                      });
}

/// The gradient of the decays, of positions or heads.
Value LinearGradBuilder::emitDecayGradient(const Linear &dQuery,
                                           const Linear &dKey, Value dState) {
  Value rows = multiplyRows(get(op.getQuery()), dQuery.output),
        columns = multiplyRows(expandHeads(get(op.getKey())), dKey.output);
  Value end;
  if (op.getReverse())
    std::swap(rows, columns);
  if (op.getReverse() && op.getState())
    end = multiplyStates(get(op.getState()), dState);
  else if (!op.getReverse() && dFinalState)
    end = multiplyStates(transposeState(dQuery.state), dFinalState);
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), rows);
  Value terms = buildGeneric(
      b, {rows, columns}, {{0, 1, 2}, {0, 1, 2}}, empty(sizes, type), {0, 1, 2},
      [&](ValueRange args) -> Value {
        return arith::SubFOp::create(b, args[0], args[1]);
      });
  Value before = dQuery.states, after = dKey.states;
  if (op.getReverse())
    std::swap(before, after);
  Value sums =
      emitDecaySums(b, {terms, end, before, after, op.getScaleValue()});
  Value decay = get(op.getDecay() ? op.getDecay() : op.getSlope());
  // Nothing crosses a decay of 0.
  SmallVector<unsigned, 4> of = {0, 1, 2};
  if (op.getSlope())
    of = {1};
  sums = buildGeneric(
      b, {sums, decay}, {{0, 1, 2}, of}, empty(sizes, type), {0, 1, 2},
      [&](ValueRange args) -> Value {
        Value least = number(-INFINITY);
        Value forgets =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, args[1], least);
        return arith::SelectOp::create(b, forgets, number(0), args[0]);
      });
  return op.getSlope() ? sumBatches(sums, decay) : sums;
}

//===----------------------------------------------------------------------===//
// The backward function
//===----------------------------------------------------------------------===//

LogicalResult LinearGradBuilder::run() {
  if (failed(check()))
    return failure();
  AttentionDims dims = AttentionDims::get(op);
  isGrouped = dims.queryHeads != dims.keyHeads ||
              ShapedType::isDynamic(dims.queryHeads);
  createFunction();
  Value query = get(op.getQuery()), key = get(op.getKey()),
        value = get(op.getValue()), state = get(op.getState());
  double scale = op.getScaleValue();
  bool hasDecay = needsGradient(op.getDecay()) || needsGradient(op.getSlope());
  bool hasStates = hasDecay && needsStates();
  bool needsState = needsGradient(op.getState()) ||
                    (hasDecay && op.getReverse() && op.getState());
  Value last =
      dFinalState ? mapElements(dFinalState, type, 1 / scale) : Value();
  Linear dQuery = attend({.query = dOutput,
                          .key = value,
                          .value = key,
                          .state = transposeState(state),
                          .isWide = hasDecay,
                          .needsState = hasDecay && dFinalState,
                          .needsStates = hasStates});
  Linear dKey = attend({.query = expandHeads(value),
                        .key = dOutput,
                        .value = query,
                        .state = transposeState(last),
                        .goesBack = true,
                        .isWide = hasDecay || isGrouped,
                        .needsStates = hasStates});
  Linear dValue = attend({.query = expandHeads(key),
                          .key = query,
                          .value = dOutput,
                          .state = last,
                          .goesBack = true,
                          .isWide = isGrouped,
                          .needsState = needsState});
  Value dState, dDecay;
  if (needsState)
    dState = mapElements(dValue.state, type, scale);
  if (hasDecay)
    dDecay = emitDecayGradient(dQuery, dKey, dState);
  builder.restoreInsertionPoint(b.saveInsertionPoint());
  returnGradients(
      {{query, mapElements(dQuery.output, getElementTypeOrSelf(query), 1)},
       {key, sumHeads(dKey.output, key)},
       {value, sumHeads(dValue.output, value)},
       {get(op.getDecay()), dDecay},
       {get(op.getSlope()), dDecay},
       {state, dState}});
  return success();
}

LogicalResult attn::buildLinearGrad(func::FuncOp forward,
                                    LinearAttentionOp attention) {
  return LinearGradBuilder(forward, attention).run();
}
