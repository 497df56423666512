//===- BackwardRowValues.cpp - LSE and delta of rows ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a backward of softmax knows of each row, in attn_tile ops.
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardStep.h"

#include "Kernel/Fragments.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

RowValuesBuilder::RowValuesBuilder(OpBuilder &builder, Location loc,
                                   ValueRange at, RowUnits units, int64_t slice,
                                   const Float8Factors &factors)
    : builder(builder), loc(loc), at(at), units(units), slice(slice),
      factors(factors) {
  for (Value value : at)
    first.push_back(toI64(value));
}

Value RowValuesBuilder::toI64(Value value) {
  Type i64 = builder.getI64Type();
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, value);
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

/// As Fragments::map, with the element's row and column.
Value RowValuesBuilder::createMap(Type result, ValueRange inputs, Body body) {
  OpBuilder::InsertionGuard guard(builder);
  auto map = tile::MapOp::create(builder, loc, result, inputs);
  Block *block = createMapBody(builder, map);
  tile::YieldOp::create(builder, loc, body(block->getArguments()));
  return map.getResult();
}

/// An element in f32.
Value RowValuesBuilder::read(Value tensor, ValueRange indices) {
  Type element = cast<tile::GlobalType>(tensor.getType()).getElementType();
  Value number =
      tile::ExtractOp::create(builder, loc, element, tensor, indices);
  if (element.isF32())
    return number;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), number);
}

/// The indices of a row of the tile; of the last one for rows past the end.
SmallVector<Value> RowValuesBuilder::getRow(Value row, Value last) {
  Value i = arith::AddIOp::create(builder, loc, first[kSequence], toI64(row));
  i = arith::MinSIOp::create(builder, loc, i, last);
  return {first[kBatch], first[kHead], i};
}

Value RowValuesBuilder::getLastRow(Value tensor) {
  Value size = toI64(tile::DimOp::create(builder, loc, tensor, kSequence));
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  return arith::SubIOp::create(builder, loc, size, one);
}

/// O * dO of the columns from `first` on (null: from 0 on); 0 past the `cols`
/// that there are.
Value RowValuesBuilder::buildProducts(Type type, Value first, int64_t cols,
                                      Value output, Value dOutput) {
  Fragments fragments(builder, loc);
  Value last = getLastRow(output);
  return createMap(type, ValueRange(), [&](ValueRange args) -> Value {
    SmallVector<Value> indices = getRow(args[0], last);
    Value col = toI64(args[1]);
    if (first)
      col = arith::AddIOp::create(builder, loc, toI64(first), col);
    Value end = arith::ConstantIntOp::create(builder, loc, cols - 1, 64);
    indices.push_back(arith::MinSIOp::create(builder, loc, col, end));
    Value product = read(output, indices);
    product = fragments.mul(product, read(dOutput, indices));
    Value exists = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::sle, col, end);
    return arith::SelectOp::create(builder, loc, exists, product,
                                   fragments.constant(0));
  });
}

/// rowsum(O * dO)
Value RowValuesBuilder::buildSums(int64_t rows, int64_t cols, Value output,
                                  Value dOutput) {
  int64_t padded = llvm::alignTo(cols, 16);
  if (slice == 0) {
    Value products = buildProducts(getAccumulatorType(builder, rows, padded),
                                   Value(), cols, output, dOutput);
    return Fragments(builder, loc).reduce(tile::Reduction::sum, products, 0.0f);
  }
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  Type type = getRowType(builder, rows);
  Value zero = createFill(builder, loc, type, 0.0f);
  Value lower = index(0), upper = index(padded);
  auto loop =
      scf::ForOp::create(builder, loc, lower, upper, index(slice), zero);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value products =
        buildProducts(getAccumulatorType(builder, rows, slice),
                      loop.getInductionVar(), cols, output, dOutput);
    Value sum =
        tile::RowReduceOp::create(builder, loc, tile::Reduction::sum, products,
                                  loop.getRegionIterArgs().front());
    scf::YieldOp::create(builder, loc, sum);
  }
  return tile::RowAllReduceOp::create(builder, loc, type, tile::Reduction::sum,
                                      loop.getResult(0));
}

Value RowValuesBuilder::buildDelta(int64_t rows, int64_t cols, Value output,
                                   Value dOutput, Value dLse) {
  Fragments fragments(builder, loc);
  Value delta = buildSums(rows, cols, output, dOutput);
  if (factors)
    delta = fragments.multiply(delta, factors.dOutput);
  if (!dLse)
    return delta;
  Value last = getLastRow(output);
  return createMap(delta.getType(), delta, [&](ValueRange args) {
    return fragments.sub(args[0], read(dLse, getRow(args[1], last)));
  });
}

Value RowValuesBuilder::buildLse(int64_t rows, Value lse) {
  Fragments fragments(builder, loc);
  tile::FragmentType type = getRowType(builder, rows);
  Value loaded = tile::LoadRowOp::create(builder, loc, type, lse, at);
  return fragments.map(type, loaded, [&](ValueRange args) {
    Value scaled = fragments.mul(args[0], fragments.constant(units.lse));
    if (units.weightBits != 0)
      scaled = fragments.sub(scaled, fragments.constant(units.weightBits));
    return fragments.selectEqual(args[0], kMinusInf,
                                 fragments.constant(-kMinusInf), scaled);
  });
}

RowValues RowValuesBuilder::build(int64_t rows, int64_t cols, Value lse,
                                  Value output, Value dOutput, Value dLse) {
  Fragments fragments(builder, loc);
  Value delta = buildDelta(rows, cols, output, dOutput, dLse);
  delta = fragments.map(delta.getType(), delta, [&](ValueRange args) {
    return fragments.mul(args[0], factors ? factors.delta
                                          : fragments.constant(units.delta));
  });
  return {buildLse(rows, lse), delta};
}
