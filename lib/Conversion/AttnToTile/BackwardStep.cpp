//===- BackwardStep.cpp - One tile of the backward in fragments -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardStep.h"

#include "Fragments.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Where an element of the scores is: its coordinates (b, h, i, j), i32, and
/// whether its query exists (i1).
struct BackwardStepBuilder::Element {
  ModToMap::Coordinates at;
  Value exists;
};

Value BackwardStepBuilder::constant(double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

/// a b^T
Value BackwardStepBuilder::createProduct(Value a, Value b) {
  int64_t rows = cast<tile::SharedType>(a.getType()).getRows();
  int64_t cols = cast<tile::SharedType>(b.getType()).getRows();
  Value zero =
      createFill(builder, loc, getAccumulatorType(builder, rows, cols), 0.0f);
  return tile::MmaOp::create(builder, loc, a, b, /*transpose_b=*/true, zero);
}

/// A map over fragments like the first input. Queries past the end have the
/// coordinates of the last one, so that reads stay within their tensors.
FailureOr<Value> BackwardStepBuilder::createMap(
    ValueRange inputs,
    function_ref<FailureOr<Value>(const Element &, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(builder);
  auto toI32 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      index);
  };
  SmallVector<Value> offsets =
      llvm::map_to_vector(step.getOffsets(), [&](Value offset) {
        return toI32(mods.getValues().lookup(offset));
      });
  Value rows = toI32(tile::DimOp::create(builder, loc, tiles.lse, kSequence));
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Value last = arith::SubIOp::create(builder, loc, rows, one);
  auto map =
      tile::MapOp::create(builder, loc, inputs.front().getType(), inputs);
  SmallVector<Type> types(inputs.size(), builder.getF32Type());
  types.append(2, builder.getI32Type());
  Block *block = builder.createBlock(&map.getBody(), {}, types,
                                     SmallVector<Location>(types.size(), loc));
  Value row = block->getArgument(inputs.size());
  Value col = block->getArgument(inputs.size() + 1);
  Value i = arith::AddIOp::create(builder, loc, offsets[kLoopM],
                                  keysAreRows ? col : row);
  Value j = arith::AddIOp::create(builder, loc, offsets[kLoopN],
                                  keysAreRows ? row : col);
  Element element;
  element.exists =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, i, rows);
  i = arith::MinSIOp::create(builder, loc, i, last);
  element.at = {offsets[kLoopB], offsets[kLoopH], i, j};
  FailureOr<Value> result =
      body(element, block->getArguments().take_front(inputs.size()));
  if (failed(result))
    return failure();
  tile::YieldOp::create(builder, loc, *result);
  return map.getResult();
}

/// vector[b, h, i]
Value BackwardStepBuilder::readRow(Value vector, const Element &element) {
  SmallVector<Value> indices;
  for (Value coordinate : {element.at.batch, element.at.head, element.at.row})
    indices.push_back(
        arith::ExtSIOp::create(builder, loc, builder.getI64Type(), coordinate));
  return tile::ExtractOp::create(builder, loc, builder.getF32Type(), vector,
                                 indices);
}

/// score + bias[b or 0, h or 0, i or 0, j or 0]; keys past the end read the
/// last one.
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
    if (dim == kHeadDim) {
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
                                      constant(step.getScaleValue()));
  return addBias(score, element);
}

/// P = exp2(log2(e) * (S - lse)), and 0 where masked or past the end, and in
/// rows without keys.
FailureOr<Value> BackwardStepBuilder::getProbability(Value product,
                                                     const Element &element) {
  FailureOr<Value> score = getInner(product, element);
  if (succeeded(score) && step.hasScoreMod())
    score = mods.inlineRegion(step.getScoreMod(), *score, element.at);
  if (failed(score))
    return failure();
  Value lse = readRow(tiles.lse, element);
  Value shifted = arith::SubFOp::create(builder, loc, *score, lse);
  Value exponent = arith::MulFOp::create(builder, loc, shifted,
                                         constant(llvm::numbers::log2e));
  Value p = math::Exp2Op::create(builder, loc, exponent);
  Value hasKeys = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                        lse, constant(kMinusInf));
  Value visible = arith::AndIOp::create(builder, loc, hasKeys, element.exists);
  if (step.hasMaskMod()) {
    FailureOr<Value> mask =
        mods.inlineRegion(step.getMaskMod(), Value(), element.at);
    if (failed(mask))
      return failure();
    visible = arith::AndIOp::create(builder, loc, visible, *mask);
  }
  return arith::SelectOp::create(builder, loc, visible, p, constant(0))
      .getResult();
}

/// scale * dS1 from the product, P and dP of an element; 0 where P is.
FailureOr<Value> BackwardStepBuilder::getGradient(ValueRange inputs,
                                                  const Element &element,
                                                  Region &derivative) {
  Value product = inputs[0], p = inputs[1], dP = inputs[2];
  Value delta = readRow(tiles.delta, element);
  Value gradient = arith::MulFOp::create(
      builder, loc, p, arith::SubFOp::create(builder, loc, dP, delta));
  if (step.hasScoreMod()) {
    FailureOr<Value> inner = getInner(product, element);
    if (succeeded(inner))
      inner = mods.inlineRegion(derivative, *inner, element.at);
    if (failed(inner))
      return failure();
    gradient = arith::MulFOp::create(builder, loc, gradient, *inner);
  }
  gradient = arith::MulFOp::create(builder, loc, gradient,
                                   constant(step.getScaleValue()));
  Value isZero = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       p, constant(0));
  return arith::SelectOp::create(builder, loc, isZero, constant(0), gradient)
      .getResult();
}

Value BackwardStepBuilder::toOperand(Value fragment) {
  auto type = cast<tile::FragmentType>(fragment.getType());
  Type element = getElementTypeOrSelf(step.getQuery().getType());
  auto operandType =
      tile::FragmentType::get(builder.getContext(), type.getShape(), element,
                              tile::FragmentLayout::OperandA);
  return tile::ToOperandOp::create(builder, loc, operandType, fragment);
}

FailureOr<BackwardStepBuilder::Operands> BackwardStepBuilder::build() {
  Region derivative;
  if (step.hasScoreMod() &&
      failed(differentiateMod(step.getScoreMod(),
                              step.getScoreMod().getArgument(0), derivative)))
    return failure();
  Value scores = keysAreRows ? createProduct(tiles.key, tiles.query)
                             : createProduct(tiles.query, tiles.key);
  FailureOr<Value> probabilities =
      createMap(scores, [&](const Element &element, ValueRange inputs) {
        return getProbability(inputs[0], element);
      });
  if (failed(probabilities))
    return failure();
  Value dP = keysAreRows ? createProduct(tiles.value, tiles.dOutput)
                         : createProduct(tiles.dOutput, tiles.value);
  FailureOr<Value> dScores =
      createMap({scores, *probabilities, dP},
                [&](const Element &element, ValueRange inputs) {
                  return getGradient(inputs, element, derivative);
                });
  if (failed(dScores))
    return failure();
  return Operands{toOperand(*probabilities), toOperand(*dScores)};
}

//===----------------------------------------------------------------------===//
// delta
//===----------------------------------------------------------------------===//

DeltaBuilder::DeltaBuilder(OpBuilder &builder, Location loc, ValueRange at)
    : builder(builder), loc(loc) {
  for (Value value : at)
    first.push_back(toI64(value));
}

Value DeltaBuilder::toI64(Value value) {
  Type i64 = builder.getI64Type();
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, value);
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

/// As Fragments::map, with the element's row and column.
Value DeltaBuilder::createMap(Type result, ValueRange inputs, Body body) {
  OpBuilder::InsertionGuard guard(builder);
  auto map = tile::MapOp::create(builder, loc, result, inputs);
  SmallVector<Type> types(inputs.size(), builder.getF32Type());
  types.append(cast<tile::FragmentType>(result).isRow() ? 1 : 2,
               builder.getI32Type());
  Block *block = builder.createBlock(&map.getBody(), {}, types,
                                     SmallVector<Location>(types.size(), loc));
  tile::YieldOp::create(builder, loc, body(block->getArguments()));
  return map.getResult();
}

/// An element in f32.
Value DeltaBuilder::read(Value tensor, ValueRange indices) {
  Type element = cast<tile::GlobalType>(tensor.getType()).getElementType();
  Value number =
      tile::ExtractOp::create(builder, loc, element, tensor, indices);
  if (element.isF32())
    return number;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), number);
}

/// The indices of a row of the tile; of the last one for rows past the end.
SmallVector<Value> DeltaBuilder::getRow(Value row, Value last) {
  Value i = arith::AddIOp::create(builder, loc, first[kSequence], toI64(row));
  i = arith::MinSIOp::create(builder, loc, i, last);
  return {first[kBatch], first[kHead], i};
}

Value DeltaBuilder::build(int64_t rows, int64_t cols, Value output,
                          Value dOutput, Value dLse) {
  Fragments fragments(builder, loc);
  Value size = toI64(tile::DimOp::create(builder, loc, output, kSequence));
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  Value last = arith::SubIOp::create(builder, loc, size, one);
  Value products = createMap(
      getAccumulatorType(builder, rows, llvm::alignTo(cols, 16)), ValueRange(),
      [&](ValueRange args) -> Value {
        SmallVector<Value> indices = getRow(args[0], last);
        Value col = toI64(args[1]);
        Value end = arith::ConstantIntOp::create(builder, loc, cols - 1, 64);
        indices.push_back(arith::MinSIOp::create(builder, loc, col, end));
        Value product =
            fragments.mul(read(output, indices), read(dOutput, indices));
        Value exists = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::sle, col, end);
        return arith::SelectOp::create(builder, loc, exists, product,
                                       fragments.constant(0));
      });
  Value delta = fragments.reduce(tile::Reduction::sum, products, 0.0f);
  if (!dLse)
    return delta;
  return createMap(delta.getType(), delta, [&](ValueRange args) {
    return fragments.sub(args[0], read(dLse, getRow(args[1], last)));
  });
}
