//===- OnlineStep.cpp - The online softmax on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnlineStep.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace attn;

static constexpr double kLog2e = llvm::numbers::log2e;
static constexpr float kMinusInf = -std::numeric_limits<float>::infinity();

ScoreUnits ScoreUnits::get(OnlineAttentionOp step) {
  double scale = step.getScaleValue();
  // The running maximum is over scores: the factor must keep their order.
  if (!ModToMap::changesScores(step) && scale > 0)
    return {1.0, scale * kLog2e, scale};
  return {scale, kLog2e, 1.0};
}

//===----------------------------------------------------------------------===//
// Building maps
//===----------------------------------------------------------------------===//

namespace {

/// Builds elementwise functions of fragments.
class Fragments {
public:
  Fragments(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  using Body = llvm::function_ref<Value(ValueRange elements)>;

  /// A map to `type` of `inputs`.
  Value map(Type type, ValueRange inputs, Body body) {
    auto fragment = cast<tile::FragmentType>(type);
    OpBuilder::InsertionGuard guard(builder);
    auto op = tile::MapOp::create(builder, loc, type, inputs);
    SmallVector<Type> types(inputs.size(), builder.getF32Type());
    types.append(fragment.isRow() ? 1 : 2, builder.getI32Type());
    Block *block = builder.createBlock(
        &op.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    Value result =
        body(ValueRange(block->getArguments().take_front(inputs.size())));
    tile::YieldOp::create(builder, loc, result);
    return op.getResult();
  }

  Value constant(double value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, loc, a, b, c);
  }
  Value negate(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value exp2(Value a) { return math::Exp2Op::create(builder, loc, a); }
  Value log(Value a) { return math::LogOp::create(builder, loc, a); }
  Value divide(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  /// `a == number ? whenEqual : otherwise`
  Value selectEqual(Value a, double number, Value whenEqual, Value otherwise) {
    Value equal = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                        a, constant(number));
    return arith::SelectOp::create(builder, loc, equal, whenEqual, otherwise);
  }

private:
  OpBuilder &builder;
  Location loc;
};

tile::FragmentType rowType(OpBuilder &builder, int64_t rows) {
  return tile::FragmentType::get(builder.getContext(), {rows},
                                 builder.getF32Type(),
                                 tile::FragmentLayout::Row);
}

tile::FragmentType accumulatorType(OpBuilder &builder, int64_t rows,
                                   int64_t cols) {
  return tile::FragmentType::get(builder.getContext(), {rows, cols},
                                 builder.getF32Type(),
                                 tile::FragmentLayout::Accumulator);
}

Value fill(OpBuilder &builder, Location loc, Type type, float value) {
  return tile::FillOp::create(builder, loc, type,
                              builder.getF32FloatAttr(value));
}

} // namespace

//===----------------------------------------------------------------------===//
// Start, step, end
//===----------------------------------------------------------------------===//

FragmentState attn::buildInitialState(OpBuilder &builder, Location loc,
                                      int64_t rows, int64_t valueDim) {
  tile::FragmentType row = rowType(builder, rows);
  return {fill(builder, loc, accumulatorType(builder, rows, valueDim), 0.0f),
          fill(builder, loc, row, kMinusInf), fill(builder, loc, row, 0.0f)};
}

FailureOr<FragmentState> attn::buildStep(ModToMap &mods, OnlineAttentionOp step,
                                         Value query, Value key, Value value,
                                         Value keysInTile,
                                         const FragmentState &state) {
  OpBuilder &builder = mods.getBuilder();
  Location loc = step.getLoc();
  Fragments fragments(builder, loc);
  ScoreUnits units = ScoreUnits::get(step);
  auto keyType = cast<tile::SharedType>(key.getType());
  int64_t rows = cast<tile::FragmentType>(state.max.getType()).getRows();
  auto scoreType = accumulatorType(builder, rows, keyType.getRows());
  Type rowsType = state.max.getType();

  Value zero = fill(builder, loc, scoreType, 0.0f);
  Value product = tile::MmaOp::create(builder, loc, query, key,
                                      /*transpose_b=*/true, zero);
  FailureOr<Value> scores =
      mods.apply(step, product, units.beforeMods, keysInTile);
  if (failed(scores))
    return failure();

  Value max = tile::RowReduceOp::create(builder, loc, tile::Reduction::max,
                                        *scores, state.max);
  max = tile::RowAllReduceOp::create(builder, loc, rowsType,
                                     tile::Reduction::max, max);
  // A row that has seen no key yet has maximum -inf: with 0 instead, its
  // exponentials are exp2(-inf - 0) = 0 and not NaN.
  Value safe = fragments.map(rowsType, max, [&](ValueRange args) {
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 args[0]);
  });
  Value shift = fragments.map(rowsType, safe, [&](ValueRange args) {
    return fragments.mul(args[0], fragments.constant(units.exponent));
  });
  // Exactly 1 where the maximum stays.
  Value decay =
      fragments.map(rowsType, {state.max, safe}, [&](ValueRange args) {
        return fragments.exp2(
            fragments.mul(fragments.sub(args[0], args[1]),
                          fragments.constant(units.exponent)));
      });
  Value p = fragments.map(scoreType, {*scores, shift}, [&](ValueRange args) {
    return fragments.exp2(fragments.fma(args[0],
                                        fragments.constant(units.exponent),
                                        fragments.negate(args[1])));
  });
  auto times = [&](ValueRange args) { return fragments.mul(args[0], args[1]); };
  Value sum = fragments.map(rowsType, {state.sum, decay}, times);
  sum = tile::RowReduceOp::create(builder, loc, tile::Reduction::sum, p, sum);
  Value acc = fragments.map(state.acc.getType(), {state.acc, decay}, times);

  auto operandType = tile::FragmentType::get(
      builder.getContext(), {rows, keyType.getRows()}, keyType.getElementType(),
      tile::FragmentLayout::OperandA);
  Value operand = tile::ToOperandOp::create(builder, loc, operandType, p);
  acc = tile::MmaOp::create(builder, loc, operand, value,
                            /*transpose_b=*/false, acc);
  return FragmentState{acc, max, sum};
}

std::pair<Value, Value> attn::buildNormalize(OpBuilder &builder, Location loc,
                                             const ScoreUnits &units,
                                             const FragmentState &state) {
  Fragments fragments(builder, loc);
  Type rowsType = state.max.getType();
  Value sum = tile::RowAllReduceOp::create(builder, loc, rowsType,
                                           tile::Reduction::sum, state.sum);
  Value inverse = fragments.map(rowsType, sum, [&](ValueRange args) {
    Value quotient = fragments.divide(fragments.constant(1.0), args[0]);
    return fragments.selectEqual(args[0], 0.0, fragments.constant(0.0),
                                 quotient);
  });
  Value output = fragments.map(
      state.acc.getType(), {state.acc, inverse},
      [&](ValueRange args) { return fragments.mul(args[0], args[1]); });
  Value lse = fragments.map(rowsType, {state.max, sum}, [&](ValueRange args) {
    Value sumLog = fragments.log(args[1]);
    Value total = fragments.fma(args[0], fragments.constant(units.lse), sumLog);
    return fragments.selectEqual(args[1], 0.0, fragments.constant(kMinusInf),
                                 total);
  });
  return {output, lse};
}
