//===- OnlineStep.h - The online softmax on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds, in attn_tile ops, the start, one step and the end of attention over
// one row tile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_ONLINESTEP_H
#define LIB_CONVERSION_ATTNTOTILE_ONLINESTEP_H

#include "Fragments.h"
#include "ModToMap.h"

namespace attn {

/// The running state of a row tile. `max` is in units of the scores before the
/// final factor (ScoreUnits), the same in all lanes of a quad; each lane has
/// its part of `sum`.
struct FragmentState {
  mlir::Value acc; ///< [tile_m, Dv]
  mlir::Value max; ///< [tile_m]
  mlir::Value sum; ///< [tile_m]

  llvm::SmallVector<mlir::Value> values() const { return {acc, max, sum}; }
};

/// How the scores are kept. Where nothing but a mask changes them, the product
/// Q K^T is left unscaled and the scale is folded into the exponent.
struct ScoreUnits {
  double beforeMods; ///< factor applied to Q K^T before bias and score_mod
  double exponent;   ///< P = exp2(exponent * (S - max))
  double lse;        ///< LSE = lse * max + log(sum)

  static ScoreUnits get(OnlineAttentionOp step);
};

/// A tile of scores, with row fragments.
struct ShiftedScores {
  mlir::Value scores;
  mlir::Value max;   ///< of the scores so far; finite
  mlir::Value shift; ///< max in the exponent's units
};

/// 2^(unit * score - shift), one fma for each score. A large shift is rounded
/// by more than an exponential forgives, or overflows (masks that add -1e9, or
/// the lowest float): then 2^(unit * (score - max)), in a branch, since nearly
/// no tile needs it.
mlir::Value buildExponentials(Fragments &fragments, const ShiftedScores &tile,
                              double unit);

/// The state before the first key.
FragmentState buildInitialState(mlir::OpBuilder &builder, mlir::Location loc,
                                int64_t rows, int64_t valueDim);

/// One step over the key and value tiles, both in shared memory. `query` is a
/// shared tile or an operand_a fragment; `keysInTile` as in ModToMap::apply.
mlir::FailureOr<FragmentState> buildStep(ModToMap &mods, OnlineAttentionOp step,
                                         mlir::Value query, mlir::Value key,
                                         mlir::Value value,
                                         mlir::Value keysInTile,
                                         const FragmentState &state);

/// The state as other CTAs take it: every lane has the sum of its whole rows.
FragmentState buildWholeState(mlir::OpBuilder &builder, mlir::Location loc,
                              const FragmentState &state);

/// Output, with the factor `scale`, and LSE fragments from the final state.
/// `sink` is a row fragment, null if there is none.
std::pair<mlir::Value, mlir::Value>
buildNormalize(mlir::OpBuilder &builder, mlir::Location loc,
               const ScoreUnits &units, const FragmentState &state,
               mlir::Value sink, double scale);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_ONLINESTEP_H
