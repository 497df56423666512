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

TileSoftmax attn::buildTileSoftmax(OpBuilder &builder, Location loc,
                                   const ScoreUnits &units, Value scores) {
  Fragments fragments(builder, loc);
  Value max = fragments.reduce(tile::Reduction::max, scores, kMinusInf);
  Type rows = max.getType();
  // Of a row without visible key the exponentials are 2^(-inf - 0) = 0.
  Value shift = fragments.map(rows, max, [&](ValueRange args) {
    Value exponent = fragments.mul(args[0], fragments.constant(units.exponent));
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 fragments.ceil(exponent));
  });
  Value p =
      fragments.map(scores.getType(), {scores, shift}, [&](ValueRange args) {
        return fragments.exp2(fragments.fma(args[0],
                                            fragments.constant(units.exponent),
                                            fragments.negate(args[1])));
      });
  Value sum = fragments.reduce(tile::Reduction::sum, p, 0.0f);
  Value lse = fragments.map(rows, {sum, shift}, [&](ValueRange args) {
    Value logSum = fragments.add(fragments.log2(args[0]), args[1]);
    return fragments.selectEqual(args[0], 0.0, fragments.constant(kMinusInf),
                                 logSum);
  });
  Value factor = fragments.map(rows, {lse, shift}, [&](ValueRange args) {
    Value power =
        fragments.exp2(fragments.sub(args[1], fragments.ceil(args[0])));
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 power);
  });
  return {fragments.scale(p, factor), lse};
}

OutputState attn::buildInitialOutputState(OpBuilder &builder, Location loc,
                                          int64_t rows, int64_t cols) {
  return {buildInitialState(builder, loc, rows, cols),
          createFill(builder, loc, getRowType(builder, rows), 0.0f)};
}

OutputState attn::buildRescale(OpBuilder &builder, Location loc,
                               Value logSumExp, const FragmentState &state) {
  Fragments fragments(builder, loc);
  Type rows = state.max.getType();
  Value lse = tile::RowAllReduceOp::create(builder, loc, rows,
                                           tile::Reduction::max, logSumExp);
  Value exponent = fragments.map(
      rows, lse, [&](ValueRange args) { return fragments.ceil(args[0]); });
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
  Value added = fragments.map(rows, {logSumExp, shift}, power);
  Value sum =
      fragments.map(rows, {state.sum, decay, added}, [&](ValueRange args) {
        return fragments.fma(args[0], args[1], args[2]);
      });
  return {{fragments.scale(state.acc, decay), max, sum}, weight};
}

ScoreUnits attn::getOutputUnits() {
  return {/*beforeMods=*/1.0, /*exponent=*/1.0, /*lse=*/llvm::numbers::ln2};
}
