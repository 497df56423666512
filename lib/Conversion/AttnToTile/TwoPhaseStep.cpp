//===- TwoPhaseStep.cpp - Softmax in two phases -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TwoPhaseStep.h"

#include "Fragments.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Above 2^22 an exponent is rounded by more than an exponential forgives;
/// below it is an integer, of which the fma takes nothing.
static constexpr double kLargeExponent = 4194304;
static constexpr float kLargest = std::numeric_limits<float>::max();

TileSoftmax attn::buildTileSoftmax(OpBuilder &builder, Location loc,
                                   const ScoreUnits &units, Value scores) {
  Fragments fragments(builder, loc);
  Value max = fragments.reduce(tile::Reduction::max, scores, kMinusInf);
  Type rows = max.getType();
  // Of a row without visible key the exponentials are 2^(-inf - 0) = 0.
  Value safe = fragments.map(rows, max, [&](ValueRange args) {
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 args[0]);
  });
  Value shift = fragments.map(rows, safe, [&](ValueRange args) {
    Value exponent = fragments.mul(args[0], fragments.constant(units.exponent));
    return fragments.max(
        fragments.min(fragments.ceil(exponent), fragments.constant(kLargest)),
        fragments.constant(-kLargest));
  });
  TileSoftmax softmax;
  softmax.probabilities = buildExponentials(fragments, {scores, safe, shift},
                                            units.exponent, kLargeExponent);
  softmax.rows.sum =
      fragments.reduce(tile::Reduction::sum, softmax.probabilities, 0.0f);
  softmax.rows.exponent =
      fragments.map(rows, {max, shift}, [&](ValueRange args) {
        return fragments.selectEqual(args[0], kMinusInf,
                                     fragments.constant(kMinusInf), args[1]);
      });
  return softmax;
}

OutputState attn::buildInitialOutputState(OpBuilder &builder, Location loc,
                                          int64_t rows, int64_t cols) {
  return {buildInitialState(builder, loc, rows, cols),
          createFill(builder, loc, getRowType(builder, rows), 0.0f)};
}

OutputState attn::buildRescale(OpBuilder &builder, Location loc,
                               const RowStatistics &tile,
                               const FragmentState &state) {
  Fragments fragments(builder, loc);
  Type rows = state.max.getType();
  auto spread = [&](Value part) -> Value {
    return tile::RowAllReduceOp::create(builder, loc, rows,
                                        tile::Reduction::max, part);
  };
  Value exponent = spread(tile.exponent), tileSum = spread(tile.sum);
  Value max = fragments.map(rows, {state.max, exponent}, [&](ValueRange args) {
    return fragments.max(args[0], args[1]);
  });
  Value shift = fragments.map(rows, max, [&](ValueRange args) {
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 args[0]);
  });
  auto power = [&](ValueRange args) {
    return fragments.exp2(fragments.sub(args[0], args[1]));
  };
  Value decay = fragments.map(rows, {state.max, shift}, power);
  Value weight = fragments.map(rows, {exponent, shift}, power);
  // In the lane that has loaded the row: its part of the sum.
  Value part = fragments.map(rows, {tile.exponent, shift}, power);
  Value added = fragments.scale(tileSum, part);
  Value sum =
      fragments.map(rows, {state.sum, decay, added}, [&](ValueRange args) {
        return fragments.fma(args[0], args[1], args[2]);
      });
  return {{fragments.scale(state.acc, decay), max, sum}, weight};
}

Value attn::keepLargest(OpBuilder &builder, Location loc, Value exponent,
                        Value lse) {
  Fragments fragments(builder, loc);
  return fragments.map(lse.getType(), {exponent, lse}, [&](ValueRange args) {
    Value low = fragments.selectEqual(args[0], -kLargest, args[0], args[1]);
    return fragments.selectEqual(args[0], kLargest, args[0], low);
  });
}

ScoreUnits attn::getOutputUnits() {
  return {/*beforeMods=*/1.0, /*exponent=*/1.0, /*lse=*/llvm::numbers::ln2};
}
