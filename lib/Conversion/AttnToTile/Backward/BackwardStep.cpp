//===- BackwardStep.cpp - One tile of the backward in fragments -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardStep.h"

#include "Kernel/Fragments.h"
#include "Kernel/MaskBounds.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"
#include "attn/Dialect/Attn/IR/ModRegion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Where an element of the scores is: its coordinates (b, h, i, j), i32, and
/// the number of its column in the tile.
struct BackwardStepBuilder::Element {
  ModToMap::Coordinates at;
  Value col;
};

Value BackwardStepBuilder::constant(double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

/// a b^T, from `init` or 0 on.
Value BackwardStepBuilder::createProduct(Value a, Value b, Value init) {
  int64_t rows = cast<tile::SharedType>(a.getType()).getRows();
  int64_t cols = cast<tile::SharedType>(b.getType()).getRows();
  if (!init)
    init =
        createFill(builder, loc, getAccumulatorType(builder, rows, cols), 0.0f);
  return tile::MmaOp::create(builder, loc, a, b, /*transposeB=*/true, init);
}

/// -delta in each row of an accumulator of dP^T.
Value BackwardStepBuilder::loadDelta() {
  auto type = getAccumulatorType(
      builder, cast<tile::SharedType>(tiles.value.getType()).getRows(),
      cast<tile::SharedType>(tiles.delta.getType()).getCols());
  return tile::LoadColumnOp::create(builder, loc, type, tiles.delta,
                                    ValueRange());
}

Value BackwardStepBuilder::toI32(Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
}

/// A map over fragments like the first input, whose body inlines `regions`,
/// which are fit for positions past the end.
FailureOr<Value> BackwardStepBuilder::createMap(
    ValueRange inputs, ArrayRef<Region *> regions,
    function_ref<FailureOr<Value>(const Element &, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> offsets =
      llvm::map_to_vector(step.getOffsets(), [&](Value offset) {
        return toI32(mods.getValues().lookup(offset));
      });
  auto query = [&](Value inTile) -> Value {
    return arith::AddIOp::create(builder, loc, offsets[kLoopM], inTile);
  };
  auto key = [&](Value inTile) -> Value {
    return arith::AddIOp::create(builder, loc, offsets[kLoopN], inTile);
  };
  // Nothing of a row may depend on the tile that streams.
  auto place = [&](Value row) -> ModToMap::Coordinates {
    Value none = arith::ConstantIntOp::create(builder, loc, 0, 32);
    return {offsets[kLoopB], offsets[kLoopH], keysAreRows ? none : query(row),
            keysAreRows ? key(row) : none};
  };
  auto type = cast<tile::FragmentType>(inputs.front().getType());
  if (failed(mods.buildRowTerms(regions, keysAreRows ? kLoopN : kLoopM,
                                /*ofRowsOnly=*/true, type.getShape().front(),
                                place)))
    return failure();
  SmallVector<Value> all(inputs);
  llvm::append_range(all, mods.getRowTerms());
  auto map = tile::MapOp::create(builder, loc, type, all);
  Block *block = createMapBody(builder, map);
  mods.setRowTerms(
      block->getArguments().slice(inputs.size(), all.size() - inputs.size()));
  Value row = block->getArgument(all.size());
  Value col = block->getArgument(all.size() + 1);
  Element element{{offsets[kLoopB], offsets[kLoopH],
                   query(keysAreRows ? col : row),
                   key(keysAreRows ? row : col)},
                  col};
  FailureOr<Value> result =
      body(element, block->getArguments().take_front(inputs.size()));
  mods.clearRowTerms();
  if (failed(result))
    return failure();
  tile::YieldOp::create(builder, loc, *result);
  return map.getResult();
}

/// A vector of queries as maps take it: with one value for each row or column.
Value BackwardStepBuilder::getVector(Value vector) {
  auto tile = dyn_cast<tile::SharedType>(vector.getType());
  if (!tile)
    return vector;
  auto type =
      tile::FragmentType::getColumn(tile.getCols(), builder.getF32Type());
  return tile::LoadColumnOp::create(builder, loc, type, vector, ValueRange());
}

/// score + bias[b or 0, h or 0, i or 0, j or 0]; queries and keys past the end
/// read the last one.
Value BackwardStepBuilder::addBias(Value score, const Element &element) {
  Value tile = step.getBias();
  if (!tile)
    return score;
  Value source = mods.getValues().lookup(tile);
  auto type = cast<tile::GlobalType>(source.getType());
  Value coordinates[] = {element.at.batch, element.at.head, element.at.row,
                         element.at.col};
  SmallVector<Value> indices;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    if (type.getShape()[dim] == 1) {
      indices.push_back(arith::ConstantIntOp::create(builder, loc, 0, 64));
      continue;
    }
    Value wide =
        arith::ExtSIOp::create(builder, loc, builder.getI64Type(), coordinate);
    if (dim == kSequence || dim == kHeadDim) {
      Value size = tile::DimOp::create(builder, loc, source, dim);
      size =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
      Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
      Value last = arith::SubIOp::create(builder, loc, size, one);
      wide = arith::MinSIOp::create(builder, loc, wide, last);
    }
    indices.push_back(wide);
  }
  Value bias = tile::ExtractOp::create(builder, loc, type.getElementType(),
                                       source, indices);
  if (!bias.getType().isF32())
    bias = arith::ExtFOp::create(builder, loc, builder.getF32Type(), bias);
  return arith::AddFOp::create(builder, loc, score, bias);
}

/// The score before score_mod.
FailureOr<Value> BackwardStepBuilder::getInner(Value product,
                                               const Element &element) {
  Value score = arith::MulFOp::create(builder, loc, product,
                                      factors ? factors.score
                                              : constant(step.getScaleValue()));
  return addBias(score, element);
}

RowUnits RowUnits::get(BackwardStepOp step) {
  bool changesScores = step.hasScoreMod() || step.getBias();
  RowUnits units{changesScores ? 1.0 : llvm::numbers::log2e,
                 step.getScaleValue()};
  if (!changesScores && isFloat8(step.getQuery().getType()))
    units.weightBits = kFloat8WeightBits;
  return units;
}

/// `value`, and 0 where the mask hides the element.
FailureOr<Value> BackwardStepBuilder::zeroIfHidden(Value value,
                                                   const Element &element) {
  if (!step.hasMaskMod())
    return value;
  FailureOr<Value> mask =
      mods.inlineRegion(step.getMaskMod(), Value(), element.at);
  if (failed(mask))
    return failure();
  Value visible =
      boundByRow(builder, *mask, keysAreRows ? element.at.row : element.at.col,
                 element.col);
  return arith::SelectOp::create(builder, loc, visible, value, constant(0))
      .getResult();
}

/// The score after score_mod, which is the weight without softmax.
FailureOr<Value> BackwardStepBuilder::getScore(Value product,
                                               const Element &element) {
  FailureOr<Value> score = getInner(product, element);
  if (succeeded(score) && step.hasScoreMod())
    return mods.inlineRegion(step.getScoreMod(), *score, element.at);
  return score;
}

/// The derivative of score_mod at the score of `product`.
FailureOr<Value> BackwardStepBuilder::getSlope(Value product,
                                               const Element &element,
                                               Region &derivative) {
  FailureOr<Value> score = getInner(product, element);
  if (failed(score))
    return failure();
  return mods.inlineRegion(derivative, *score, element.at);
}

/// P = exp(S - LSE) of a product and lse, and 0 where masked, and in rows
/// without keys or past the end. There exp2(x - inf) is 0 for every score but
/// those that a score_mod may make of what is no key.
FailureOr<Value> BackwardStepBuilder::getProbability(ValueRange inputs,
                                                     const Element &element) {
  Fragments fragments(builder, loc);
  Value product = inputs[0];
  if (!tiles.lse) {
    FailureOr<Value> weight = getScore(product, element);
    if (failed(weight))
      return failure();
    return zeroIfHidden(*weight, element);
  }
  Value lse = inputs[1];
  const double log2e = llvm::numbers::log2e;
  Value exponent;
  if (RowUnits::get(step).lse == 1.0) {
    FailureOr<Value> score = getScore(product, element);
    if (failed(score))
      return failure();
    exponent = fragments.sub(*score, lse);
    exponent = factors ? fragments.fma(exponent, constant(log2e),
                                       constant(kFloat8WeightBits))
                       : fragments.mul(exponent, constant(log2e));
  } else {
    Value unit =
        factors ? factors.exponent : constant(step.getScaleValue() * log2e);
    exponent = fragments.fma(product, unit, fragments.negate(lse));
  }
  Value p = fragments.exp2(exponent);
  if (step.hasScoreMod())
    p = fragments.selectEqual(lse, -kMinusInf, constant(0), p);
  return zeroIfHidden(p, element);
}

/// True where the sign bit says that `p` is dropped; -0 is, too.
static Value isDropped(OpBuilder &builder, Location loc, Value p) {
  Value bits = arith::BitcastOp::create(builder, loc, builder.getI32Type(), p);
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, bits,
                               zero);
}

/// scale * dS1, or dS1 where dP starts from delta, from P, with signs where
/// dropout drops it, dP, delta and, for the derivative of score_mod at the
/// score, the product. 0 where a mask or a score_mod makes P 0: there dP may be
/// infinite.
FailureOr<Value> BackwardStepBuilder::getGradient(ValueRange inputs,
                                                  const Element &element,
                                                  Region &derivative) {
  Fragments fragments(builder, loc);
  Value p = inputs[0], dP = inputs[1];
  Value delta = tiles.startsFromDelta ? Value() : inputs[2];
  double factor = step.getScaleValue();
  if (dropout) {
    Value dropped = isDropped(builder, loc, p);
    dP = arith::SelectOp::create(builder, loc, dropped, constant(0), dP);
    p = math::AbsFOp::create(builder, loc, p);
    factor *= dropout->getScale();
  }
  Value gradient = dP;
  if (!tiles.startsFromDelta) {
    Value scale = factors ? factors.gradient : constant(factor);
    gradient = fragments.fma(dP, scale, fragments.negate(delta));
  }
  gradient = fragments.mul(p, gradient);
  if (step.hasScoreMod()) {
    FailureOr<Value> slope = getSlope(inputs.back(), element, derivative);
    if (failed(slope))
      return failure();
    gradient = fragments.mul(gradient, *slope);
  }
  if (!step.hasScoreMod() && !step.hasMaskMod())
    return gradient;
  return fragments.selectEqual(p, 0, constant(0), gradient);
}

/// scale * dS1 without softmax, from dP, what dropout keeps if there is any,
/// and the product. Rows and keys past the end have a dP of 0, whatever a
/// score_mod makes of them.
FailureOr<Value> BackwardStepBuilder::getWeightGradient(ValueRange inputs,
                                                        const Element &element,
                                                        Region &derivative) {
  Fragments fragments(builder, loc);
  Value dP = inputs[0];
  double factor = step.getScaleValue();
  if (dropout) {
    Value dropped = isDropped(builder, loc, inputs[1]);
    dP = arith::SelectOp::create(builder, loc, dropped, constant(0), dP);
    factor *= dropout->getScale();
  }
  Value gradient = fragments.mul(dP, constant(factor));
  if (step.hasScoreMod()) {
    FailureOr<Value> slope = getSlope(inputs.back(), element, derivative);
    if (failed(slope))
      return failure();
    Value zero = constant(0);
    gradient =
        fragments.selectEqual(dP, 0, zero, fragments.mul(gradient, *slope));
  }
  return zeroIfHidden(gradient, element);
}

Value BackwardStepBuilder::buildDropout(Value probabilities) {
  if (!dropout)
    return probabilities;
  SmallVector<Value> offsets =
      llvm::map_to_vector(step.getOffsets(), [&](Value offset) {
        return mods.getValues().lookup(offset);
      });
  return mods.createDropout(loc, *dropout, probabilities, offsets,
                            /*signs=*/true, keysAreRows, /*heads=*/1);
}

Value BackwardStepBuilder::buildKept(Value probabilities, Value signs) {
  if (!dropout)
    return probabilities;
  Fragments fragments(builder, loc);
  SmallVector<Value> inputs = {probabilities};
  if (signs)
    inputs.push_back(signs);
  return fragments.map(
      probabilities.getType(), inputs, [&](ValueRange args) -> Value {
        Value scaled = fragments.mul(args[0], constant(dropout->getScale()));
        Value dropped = isDropped(builder, loc, args.back());
        return arith::SelectOp::create(builder, loc, dropped, constant(0),
                                       scaled);
      });
}

Value BackwardStepBuilder::toOperand(Value fragment, Type element) {
  auto type = cast<tile::FragmentType>(fragment.getType());
  auto operandType =
      tile::FragmentType::getOperandPairs(type.getShape(), element);
  return tile::ToOperandOp::create(builder, loc, operandType, fragment);
}

/// Their rows of K are 0, but their P is exp(0 - LSE), with which dS is
/// infinite in 16 bits, and dQ NaN: an LSE of -12 is enough. Only the last tile
/// has such keys: a branch, since nearly no tile needs it.
Value BackwardStepBuilder::hidePaddedKeys(Value probabilities) {
  if (!keysAreRows || !step.getDQuery() || step.hasMaskMod() ||
      !step.getKey().getDefiningOp<tensor::PadOp>())
    return probabilities;
  Fragments fragments(builder, loc);
  int64_t tileKeys =
      cast<tile::FragmentType>(probabilities.getType()).getRows();
  Value all = toI32(tile::DimOp::create(builder, loc, tiles.keys, kSequence));
  Value first = toI32(mods.getValues().lookup(step.getOffsets()[kLoopN]));
  Value keys = arith::SubIOp::create(builder, loc, all, first);
  Value isCut = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, keys,
      arith::ConstantIntOp::create(builder, loc, tileKeys, 32));
  Value exist = fragments.mapRows(tileKeys, [&](Value row) -> Value {
    Value isKey = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        row, keys);
    return arith::SelectOp::create(builder, loc, isKey, constant(1),
                                   constant(0));
  });
  return tile::UpdateRowsOp::create(builder, loc, tile::RowUpdate::keep,
                                    probabilities, exist, isCut);
}

FailureOr<Value> BackwardStepBuilder::buildProbabilities(Value product) {
  SmallVector<Value> inputs = {product};
  if (tiles.lse)
    inputs.push_back(getVector(tiles.lse));
  FailureOr<Value> probabilities =
      createMap(inputs, {&step.getScoreMod(), &step.getMaskMod()},
                [&](const Element &element, ValueRange elements) {
                  return getProbability(elements, element);
                });
  if (failed(probabilities))
    return failure();
  return hidePaddedKeys(*probabilities);
}

FailureOr<Value> BackwardStepBuilder::buildGradient(Value product,
                                                    Value probabilities,
                                                    Value dProbabilities) {
  Region derivative;
  if (step.hasScoreMod()) {
    SmallVector<Value> variables = llvm::map_to_vector(
        step.getReads(),
        [](tensor::ExtractOp read) -> Value { return read.getResult(); });
    if (variables.empty())
      variables.push_back(step.getScoreMod().getArgument(0));
    if (failed(differentiateMod(step.getScoreMod(), variables, derivative)))
      return failure();
  }
  SmallVector<Value> inputs = {dProbabilities};
  if (tiles.lse)
    inputs.insert(inputs.begin(), probabilities);
  else if (dropout)
    inputs.push_back(probabilities);
  if (tiles.lse && !tiles.startsFromDelta)
    inputs.push_back(getVector(tiles.delta));
  if (step.hasScoreMod())
    inputs.push_back(product);
  return createMap(
      inputs, &derivative, [&](const Element &element, ValueRange elements) {
        return tiles.lse ? getGradient(elements, element, derivative)
                         : getWeightGradient(elements, element, derivative);
      });
}

FailureOr<BackwardStepBuilder::Scores> BackwardStepBuilder::build() {
  // Registers are set before products are in flight.
  Value init = tiles.startsFromDelta ? loadDelta() : Value();
  Value scores = keysAreRows ? createProduct(tiles.key, tiles.query)
                             : createProduct(tiles.query, tiles.key);
  FailureOr<Value> probabilities = buildProbabilities(scores);
  if (failed(probabilities))
    return failure();
  // Weights without softmax have signs of their own.
  Value signs;
  if (dropout && !tiles.lse)
    signs =
        buildDropout(createFill(builder, loc, probabilities->getType(), 1.0f));
  else
    probabilities = buildDropout(*probabilities);
  Value kept = step.getDValue() ? buildKept(*probabilities, signs) : Value();
  if (!tiles.value)
    return Scores{kept, Value()};
  Value dP = keysAreRows ? createProduct(tiles.value, tiles.dOutput, init)
                         : createProduct(tiles.dOutput, tiles.value);
  FailureOr<Value> dScores =
      buildGradient(scores, signs ? signs : *probabilities, dP);
  if (failed(dScores))
    return failure();
  return Scores{kept, *dScores};
}
