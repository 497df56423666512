//===- Backward.cpp - Gradients of attention in linalg --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward.h"

#include "ScoreEmitter.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"
#include "attn/Dialect/Attn/Utils/GradientBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// What the forward gave for the rows, and what is known of their gradients;
/// lse and delta are null where weights are no exponentials.
struct RowInputs {
  Value dOutput, lse, delta;
};

Value attn::castTensor(OpBuilder &builder, Location loc, Value tensor,
                       RankedTensorType type) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getElementType() != type.getElementType()) {
    AffineMap identity =
        AffineMap::getMultiDimIdentityMap(from.getRank(), builder.getContext());
    SmallVector<utils::IteratorType> iterators(from.getRank(),
                                               utils::IteratorType::parallel);
    Value init = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, tensor),
        type.getElementType());
    auto body = [&](OpBuilder &b, Location l, ValueRange args) {
      Value element =
          convertFloat(b, l, args[0], cast<FloatType>(type.getElementType()));
      linalg::YieldOp::create(b, l, element);
    };
    tensor = linalg::GenericOp::create(builder, loc, TypeRange(init.getType()),
                                       ValueRange(tensor), ValueRange(init),
                                       ArrayRef<AffineMap>{identity, identity},
                                       iterators, body)
                 .getResult(0);
  }
  if (tensor.getType() != type)
    tensor = tensor::CastOp::create(builder, loc, type, tensor);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

namespace {
/// Emits the gradients; holds what they share.
class BackwardEmitter : ScoreEmitter {
public:
  BackwardEmitter(OpBuilder &builder, Location loc, const ScoreInputs &inputs,
                  const RowInputs &rows)
      : ScoreEmitter(builder, loc, inputs), dOutput(expandHeads(rows.dOutput)) {
    Value lse, delta;
    if (rows.lse) {
      lse = expandHeads(rows.lse);
      delta = expandHeads(rows.delta);
    }
    emitScoreGradients(lse, delta);
  }

  /// scale * dS1 K, added to `init` or to 0, as `resultType`.
  Value emitQueryGradient(Value init, Type resultType);
  /// scale * dS1^T Q
  Value emitKeyGradient(Value init);
  /// P^T dO
  Value emitValueGradient(Value init);
  /// dS1 summed over what the bias is broadcast to.
  Value emitBiasGradient();
  Value emitCaptureGradient(Value capture, ArrayRef<tensor::ExtractOp> reads);
  /// The larger of `init`, or 0, and |scale * dS1| over the keys.
  Value emitScoreMaxima(Value init, Type resultType);
  /// What the scores of a step add to `init`, those of a captured tensor if
  /// there are reads.
  Value emitScoreGradient(Value init, ArrayRef<tensor::ExtractOp> reads);

private:
  void emitScoreGradients(Value lse, Value delta);
  Value emitProbabilities(Value lse);
  Value emitOuterGradient(Value delta);
  Value emitModGradient(ValueRange variables);
  /// P after dropout.
  Value emitDropped();
  Value emitWeightedKeyRows(Value weights, Value rows, double scale,
                            Value init);

  /// With the row loops and j, all in the score type: the scores before
  /// score_mod, P, and the gradients after and before score_mod.
  Value scores, probabilities, dScores, dInner;
  Value dOutput;
};
} // namespace

/// P = exp(score_mod(S1) - LSE), or score_mod(S1) without an LSE; 0 where
/// masked and in rows without keys.
Value BackwardEmitter::emitProbabilities(Value lse) {
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, scores), type);
  SmallVector<Value> operands = {scores};
  SmallVector<AffineMap> maps = {map(loops)};
  if (lse) {
    operands.push_back(lse);
    maps.push_back(map(rowLoops()));
  }
  maps.push_back(map(loops));
  return generic(
      operands, maps, init, loops, {},
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        SmallVector<Value> at = coordinates(b, l);
        Value p = emitScoreMod(b, args[0], at);
        if (lse) {
          Value zero = constantFloat(b, l, type, 0);
          p = math::ExpOp::create(b, l,
                                  arith::SubFOp::create(b, l, p, args[1]));
          Value isEmpty =
              arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, args[1],
                                    negativeInfinity(b, l, type));
          p = arith::SelectOp::create(b, l, isEmpty, zero, p);
        }
        if (inputs.maskMod->empty())
          return p;
        return hideElement(b, l, inlineMod(b, *inputs.maskMod, at), p);
      });
}

/// dS, from P and dP; without delta, where weights are scores, from dP.
Value BackwardEmitter::emitOuterGradient(Value delta) {
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps(1, map(loops));
  if (delta) {
    operands = {probabilities, delta};
    maps = {map(loops), map(rowLoops()), map(loops)};
  }
  return generic(
      operands, maps, emitProducts(dOutput, inputs.value), loops, {},
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        double factor = inputs.dropout ? inputs.dropout->getScale() : 1;
        Value dP = emitDropout(b, l, args.back(), factor);
        if (delta)
          return buildScoreGradient(b, l, args[0], dP, args[1], Value());
        Value visible;
        if (!inputs.maskMod->empty())
          visible = inlineMod(b, *inputs.maskMod, coordinates(b, l));
        return buildScoreGradient(b, l, Value(), dP, Value(), visible);
      });
}

/// dS1 = dS * score_mod'(variables)
Value BackwardEmitter::emitModGradient(ValueRange variables) {
  Region derivative;
  LogicalResult isKnown =
      differentiateMod(*inputs.scoreMod, variables, derivative);
  assert(succeeded(isKnown) && "expected a score_mod that was verified");
  (void)isKnown;
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, scores), type);
  return generic({scores, dScores}, {map(loops), map(loops), map(loops)}, init,
                 loops, {},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   SmallVector<Value> arguments = {args[0]};
                   llvm::append_range(arguments, coordinates(b, l));
                   Value factor = inlineMod(b, derivative, arguments);
                   return buildInnerGradient(b, l, args[1], factor);
                 });
}

void BackwardEmitter::emitScoreGradients(Value lse, Value delta) {
  scores = emitScores(
      emitProducts(query, inputs.key),
      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
  probabilities = emitProbabilities(lse);
  dScores = emitOuterGradient(delta);
  dInner = inputs.scoreMod->empty()
               ? dScores
               : emitModGradient(inputs.scoreMod->getArgument(0));
}

//===----------------------------------------------------------------------===//
// Gradients of the operands
//===----------------------------------------------------------------------===//

/// acc + scale * weight * row
static Value emitScaledProduct(OpBuilder &b, Location l, ValueRange args,
                               double scale, FloatType type) {
  Value weight = args[0];
  if (scale != 1)
    weight =
        arith::MulFOp::create(b, l, weight, constantFloat(b, l, type, scale));
  Value product =
      arith::MulFOp::create(b, l, weight, convertFloat(b, l, args[1], type));
  return arith::AddFOp::create(b, l, args[2], product);
}

Value BackwardEmitter::emitQueryGradient(Value init, Type resultType) {
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  loops.push_back(loopD);
  if (init)
    init = expandHeads(init);
  else
    init = filledLike(builder, loc, query, type, 0);
  Value gradient = generic(
      {dInner, inputs.key},
      {map(rowLoopsAnd(loopJ)), map({loopB, loopH, loopJ, loopD}),
       map(rowLoopsAnd(loopD))},
      init, loops, {loopJ}, [&](OpBuilder &b, Location l, ValueRange args) {
        return emitScaledProduct(b, l, args, inputs.scale, type);
      });
  auto wanted = cast<RankedTensorType>(resultType);
  return collapseHeads(gradient, wanted.clone(type));
}

/// init + scale * weights^T rows, summed over the rows of all query heads that
/// share a key head.
Value BackwardEmitter::emitWeightedKeyRows(Value weights, Value rows,
                                           double scale, Value init) {
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  loops.push_back(loopD);
  SmallVector<unsigned> reductions = {loopI};
  if (grouped)
    reductions.push_back(loopG);
  return generic({weights, rows},
                 {map(rowLoopsAnd(loopJ)), map(rowLoopsAnd(loopD)),
                  map({loopB, loopH, loopJ, loopD})},
                 init, loops, reductions,
                 [&](OpBuilder &b, Location l, ValueRange args) {
                   return emitScaledProduct(b, l, args, scale, type);
                 });
}

Value BackwardEmitter::emitKeyGradient(Value init) {
  if (!init)
    init = filledLike(builder, loc, inputs.key, type, 0);
  return emitWeightedKeyRows(dInner, query, inputs.scale, init);
}

Value BackwardEmitter::emitDropped() {
  if (!inputs.dropout)
    return probabilities;
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, probabilities), type);
  return generic({probabilities}, {map(loops), map(loops)}, init, loops, {},
                 [&](OpBuilder &b, Location l, ValueRange args) {
                   return emitDropout(b, l, args[0],
                                      inputs.dropout->getScale());
                 });
}

Value BackwardEmitter::emitValueGradient(Value init) {
  if (!init)
    init = filledLike(builder, loc, inputs.value, type, 0);
  return emitWeightedKeyRows(emitDropped(), dOutput, 1, init);
}

Value BackwardEmitter::emitBiasGradient() {
  auto bias = cast<RankedTensorType>(inputs.bias.getType());
  Value init = filledLike(builder, loc, inputs.bias, type, 0);
  bool perHead = bias.getDimSize(kHead) != 1;
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ), reductions;
  unsigned biasLoops[] = {loopB, loopH, loopI, loopJ};
  for (auto [dim, loop] : llvm::enumerate(biasLoops))
    if (bias.getDimSize(dim) == 1)
      reductions.push_back(loop);
  if (grouped && !perHead)
    reductions.push_back(loopG);
  Value gradient =
      generic({dInner}, {map(loops), biasMap()},
              perHead ? expandHeads(init) : init, loops, reductions,
              [](OpBuilder &b, Location l, ValueRange args) -> Value {
                return arith::AddFOp::create(b, l, args[0], args[1]);
              });
  return perHead ? collapseHeads(gradient, bias.clone(type)) : gradient;
}

/// Adds, score by score, what each read of `capture` contributes to the
/// element that it reads.
Value BackwardEmitter::emitCaptureGradient(Value capture,
                                           ArrayRef<tensor::ExtractOp> reads) {
  Value init = filledLike(builder, loc, capture, type, 0);
  Value at = collapseHeads(scores, Type());
  Value gradients = collapseHeads(dScores, Type());
  SmallVector<Value> sizes;
  for (OpFoldResult size : tensor::getMixedSizes(builder, loc, at))
    sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  SmallVector<Value> zeros(
      4, arith::ConstantIndexOp::create(builder, loc, 0).getResult());
  SmallVector<Value> ones(
      4, arith::ConstantIndexOp::create(builder, loc, 1).getResult());
  auto body = [&](OpBuilder &b, Location l, ValueRange position,
                  ValueRange sums) -> scf::ValueVector {
    Value sum = sums[0];
    Value gradient = tensor::ExtractOp::create(b, l, gradients, position);
    SmallVector<Value> arguments = {
        tensor::ExtractOp::create(b, l, at, position)};
    llvm::append_range(arguments, position);
    for (tensor::ExtractOp read : reads) {
      Region derivative;
      (void)differentiateMod(*inputs.scoreMod, read.getResult(), derivative);
      Value factor = inlineMod(b, derivative, arguments);
      Value term = buildInnerGradient(b, l, gradient, factor);
      SmallVector<Value> place;
      for (Value index : read.getIndices())
        place.push_back(inlineMod(b, *inputs.scoreMod, arguments, index));
      Value old = tensor::ExtractOp::create(b, l, sum, place);
      term = arith::AddFOp::create(b, l, old, term);
      sum = tensor::InsertOp::create(b, l, term, sum, place);
    }
    return {sum};
  };
  return scf::buildLoopNest(builder, loc, zeros, sizes, ones, ValueRange(init),
                            body)
      .results[0];
}

Value BackwardEmitter::emitScoreMaxima(Value init, Type resultType) {
  if (init)
    init = expandHeads(init);
  else
    init =
        filled(builder, loc, rowSizes(), constantFloat(builder, loc, type, 0));
  Value maxima = generic(
      {dInner}, {map(rowLoopsAnd(loopJ)), map(rowLoops())}, init,
      rowLoopsAnd(loopJ), {loopJ},
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value size = math::AbsFOp::create(b, l, args[0]);
        size = arith::MulFOp::create(
            b, l, size, constantFloat(b, l, type, std::abs(inputs.scale)));
        return arith::MaximumFOp::create(b, l, args[1], size);
      });
  return collapseHeads(maxima, cast<RankedTensorType>(resultType).clone(type));
}

Value BackwardEmitter::emitScoreGradient(Value init,
                                         ArrayRef<tensor::ExtractOp> reads) {
  SmallVector<Value> variables = llvm::map_to_vector(
      reads, [](tensor::ExtractOp read) { return read.getResult(); });
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  Value score = reads.empty() ? dInner : emitModGradient(variables);
  Value gradient =
      generic({score}, {map(loops), map(loops)}, expandHeads(init), loops, {},
              [](OpBuilder &b, Location l, ValueRange args) -> Value {
                return arith::AddFOp::create(b, l, args[0], args[1]);
              });
  return collapseHeads(gradient, init.getType());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// rowsum(dO * O) - dLSE over [B, Hq, M, Dv].
static Value emitDelta(OpBuilder &builder, Location loc, Value output,
                       Value dOutput, Value dLse, FloatType type) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, output);
  sizes.pop_back();
  MLIRContext *context = builder.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(4, context);
  AffineMap rows = all.getMajorSubMap(3);
  Value sum = filled(builder, loc, sizes, constantFloat(builder, loc, type, 0));
  SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  auto dot = [&](OpBuilder &b, Location l, ValueRange args) {
    Value x = convertFloat(b, l, args[0], type),
          y = convertFloat(b, l, args[1], type);
    Value product = arith::MulFOp::create(b, l, x, y);
    linalg::YieldOp::create(
        b, l, arith::AddFOp::create(b, l, args[2], product).getResult());
  };
  sum = linalg::GenericOp::create(builder, loc, TypeRange(sum.getType()),
                                  ValueRange{output, dOutput}, ValueRange(sum),
                                  ArrayRef<AffineMap>{all, all, rows},
                                  iterators, dot)
            .getResult(0);
  if (!dLse)
    return sum;
  AffineMap identity = AffineMap::getMultiDimIdentityMap(3, context);
  iterators.pop_back();
  iterators.back() = utils::IteratorType::parallel;
  auto subtract = [](OpBuilder &b, Location l, ValueRange args) {
    linalg::YieldOp::create(
        b, l, arith::SubFOp::create(b, l, args[1], args[0]).getResult());
  };
  return linalg::GenericOp::create(builder, loc, TypeRange(sum.getType()),
                                   ValueRange(dLse), ValueRange(sum),
                                   ArrayRef<AffineMap>{identity, identity},
                                   iterators, subtract)
      .getResult(0);
}

Value attn::emitBackwardDelta(OpBuilder &builder, BackwardDeltaOp op) {
  auto type = cast<RankedTensorType>(op.getDelta().getType());
  Value delta = emitDelta(builder, op.getLoc(), op.getOutput(), op.getDOutput(),
                          op.getDLse(), cast<FloatType>(type.getElementType()));
  return castTensor(builder, op.getLoc(), delta, type);
}

SmallVector<Value> attn::emitBackward(OpBuilder &builder,
                                      AttentionBackwardOp op) {
  Location loc = op.getLoc();
  ScoreInputs inputs = ScoreInputs::get(op);
  Value delta;
  if (op.getLse())
    delta = emitDelta(builder, loc, op.getOutput(), op.getDOutput(),
                      op.getDLse(), op.getScoreType());
  BackwardEmitter emitter(builder, loc, inputs,
                          {op.getDOutput(), op.getLse(), delta});
  SmallVector<Value> gradients = {
      emitter.emitQueryGradient(Value(), op.getDQuery().getType()),
      emitter.emitKeyGradient(Value()), emitter.emitValueGradient(Value())};
  if (op.getDBias())
    gradients.push_back(emitter.emitBiasGradient());
  for (Value capture : op.getCaptures())
    gradients.push_back(
        emitter.emitCaptureGradient(capture, op.getReads(capture)));
  if (op.getDSink()) {
    AffineMap head = AffineMap::get(3, 0, builder.getAffineDimExpr(1));
    gradients.push_back(
        emitSum(builder, loc, {delta, op.getSink(), op.getLse(), head},
                cast<RankedTensorType>(op.getDSink().getType())));
  }
  if (op.getAmaxDs())
    gradients.push_back(
        emitter.emitScoreMaxima(Value(), op.getAmaxDs().getType()));
  for (auto [gradient, result] : llvm::zip_equal(gradients, op->getResults()))
    gradient = castTensor(builder, loc, gradient,
                          cast<RankedTensorType>(result.getType()));
  return gradients;
}

SmallVector<Value> attn::emitBackwardStep(OpBuilder &builder,
                                          BackwardStepOp op) {
  Location loc = op.getLoc();
  ScoreInputs inputs = ScoreInputs::get(op);
  llvm::append_range(inputs.offsets, op.getOffsets());
  BackwardEmitter emitter(builder, loc, inputs,
                          {op.getDOutput(), op.getLse(), op.getDelta()});
  SmallVector<Value> gradients;
  if (op.getDQuery())
    gradients.push_back(
        emitter.emitQueryGradient(op.getDQuery(), op.getDQuery().getType()));
  if (op.getDKey()) {
    gradients.push_back(emitter.emitKeyGradient(op.getDKey()));
    gradients.push_back(emitter.emitValueGradient(op.getDValue()));
  }
  if (op.getDScores())
    gradients.push_back(
        emitter.emitScoreGradient(op.getDScores(), op.getReads()));
  if (op.getAmax())
    gradients.push_back(
        emitter.emitScoreMaxima(op.getAmax(), op.getAmax().getType()));
  for (auto [gradient, result] : llvm::zip_equal(gradients, op->getResults()))
    gradient = castTensor(builder, loc, gradient,
                          cast<RankedTensorType>(result.getType()));
  return gradients;
}
