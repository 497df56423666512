//===- OnlineStep.h - The online softmax on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds, in attn_tile ops, the start, one step and the end of attention over
// one row tile. The state is in fragments: acc [tile_m, Dv], row values
// [tile_m]. A maximum is in units of the scores before the final factor
// (ScoreUnits), the same in all lanes of a quad; of a sum each lane has its
// part.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_FORWARD_ONLINESTEP_H
#define LIB_CONVERSION_ATTNTOTILE_FORWARD_ONLINESTEP_H

#include "Kernel/Fragments.h"
#include "Kernel/ModToMap.h"

#include "attn/Dialect/Attn/Utils/StepEmitter.h"

namespace attn {

/// How the scores are kept. Where nothing but a mask changes them, the product
/// Q K^T is left unscaled and the scale is folded into the exponent.
struct ScoreUnits {
  double beforeMods; ///< factor applied to Q K^T before bias and score_mod
  double exponent;   ///< P = exp2(exponent * (S - max) + offset)
  double lse;        ///< LSE = lse * max + log(sum), of a whole state
  /// P is rounded to 8 bits, whose range is mostly above 1: it, sum and
  /// accumulator are 2^offset as large as those of a whole state.
  double offset = 0;

  static ScoreUnits get(OnlineAttentionOp step);
};

/// A tile of scores in fragments, as a step takes it. Exponentials are
/// 2^(exponent * score - shift), one fma for each score, where the shift is in
/// their units.
class ScoreTile : public StepEmitter {
public:
  ScoreTile(mlir::OpBuilder &builder, mlir::Location loc,
            const ScoreUnits &units, mlir::Value scores = mlir::Value())
      : weights(scores), builder(builder), loc(loc), units(units),
        fragments(builder, loc) {}

  /// `max`, and 0 where it is -inf.
  mlir::Value emitFinite(mlir::Value max);
  mlir::Value emitDecay(mlir::Value before, mlir::Value max) override;

  mlir::Value weights; ///< the scores, until they are weights
  /// A row fragment of positive numbers by which scores have still to be
  /// multiplied, maximum and state not: null for 1.
  mlir::Value factor;

protected:
  mlir::Value emitMaximum(mlir::Value before) override;
  mlir::Value emitShift(mlir::Value max) override;
  void emitExponentials(mlir::Value max) override;
  mlir::Value emitSum(mlir::Value init) override;
  mlir::Value emitRescaled(mlir::Value value, mlir::Value decay) override;
  /// A tile without values has no product.
  mlir::Value emitProduct(mlir::Value acc, mlir::Value) override { return acc; }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const ScoreUnits units;
  Fragments fragments;

private:
  llvm::SmallVector<mlir::Value> subtract(mlir::Value max, mlir::Value large);
  llvm::SmallVector<mlir::Value> subtractScaled(mlir::Value max,
                                                mlir::Value large);

  mlir::Value shift; ///< the maximum in the exponent's units, less the offset
};

/// True if tiles of V are transposed before they are multiplied: wgmma takes
/// 8-bit operands K-major only.
bool transposesValue(OnlineAttentionOp step);

/// True if the producer makes 8-bit keys and values tiles of the query's type.
bool widensTiles(OnlineAttentionOp step);

/// True if a query of bf16 is multiplied as f16, which bytes of keys and values
/// become by an instruction for two, or a few, and bf16 by four more: each of
/// its rows times a power of two, whose inverse scores get. Weights are of f16
/// then, too.
bool narrowsQuery(OnlineAttentionOp step);

/// The layout of the product with V.
tile::FragmentLayoutAttr getOutputLayout(OnlineAttentionOp step);

/// The state before the first key, with an output of `layout`.
RunningState buildInitialState(mlir::OpBuilder &builder, mlir::Location loc,
                               RowReductionInterface reduction, int64_t rows,
                               int64_t valueDim,
                               tile::FragmentLayoutAttr layout);

/// Rows of queries as a step multiplies them.
struct QueryTile {
  mlir::Value rows;   ///< a shared tile or an operand_a fragment
  mlir::Value factor; ///< a row fragment that they have to be times; null for 1
};

/// One step over the key and value tiles, both in shared memory. `keysInTile`
/// as in ModToMap::apply.
mlir::FailureOr<RunningState> buildStep(ModToMap &mods, OnlineAttentionOp step,
                                        const QueryTile &query, mlir::Value key,
                                        mlir::Value value,
                                        mlir::Value keysInTile,
                                        RunningState state);

/// The state as other CTAs take it: every lane has the sum of its whole rows,
/// and weights are as large as they are.
RunningState buildWholeState(mlir::OpBuilder &builder, mlir::Location loc,
                             const ScoreUnits &units, RunningState state);

/// Output and LSE fragments of `normalize` from the final state; no LSE where
/// its reduction has none. `sink` is a row fragment and `descale` an f32, null
/// if there is none.
std::pair<mlir::Value, mlir::Value>
buildNormalize(mlir::OpBuilder &builder, NormalizeOp normalize,
               const ScoreUnits &units, RunningState state, mlir::Value sink,
               mlir::Value descale = mlir::Value());

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_FORWARD_ONLINESTEP_H
