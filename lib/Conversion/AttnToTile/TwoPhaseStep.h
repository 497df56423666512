//===- TwoPhaseStep.h - Softmax in two phases -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The softmax of the small-cache schedule (docs/CostModel.md), in attn_tile
// ops. Phase 1 takes the softmax of each tile of scores by itself:
//
//   L = log2(sum 2^S)             of each row of the tile; S in base-2 units
//   P = 2^(S - ceil(L))           in (0, 1], sums to more than 1/2: 16 bits
//
// Phase 2 combines the tiles of a row, with E the largest ceil(L) so far:
//
//   O   = 2^(E_before - E) O + (2^(ceil(L) - E) P) V
//   sum = 2^(E_before - E) sum + 2^(L - E)
//
// All factors of P and O are powers of two, so that scaling rounds nothing, and
// no exponent is positive.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_TWOPHASESTEP_H
#define LIB_CONVERSION_ATTNTOTILE_TWOPHASESTEP_H

#include "OnlineStep.h"

namespace attn {

/// What phase 1 spills of a tile of scores.
struct TileSoftmax {
  mlir::Value probabilities; ///< P, [tile_m, tile_n], f32
  mlir::Value logSumExp;     ///< L, [tile_m]; -inf where no key is visible
};

TileSoftmax buildTileSoftmax(mlir::OpBuilder &builder, mlir::Location loc,
                             const ScoreUnits &units, mlir::Value scores);

/// The state of phase 2 before a tile, and the factors of the tile's rows.
/// `max` is E.
struct OutputState {
  FragmentState row;
  mlir::Value weight; ///< 2^(ceil(L) - E) of the tile that is being added
};

OutputState buildInitialOutputState(mlir::OpBuilder &builder,
                                    mlir::Location loc, int64_t rows,
                                    int64_t cols);

/// Rescales the state for a tile with `logSumExp`, of which each lane of a quad
/// has a part (attn_tile.load_row), and gives the weight of its rows.
OutputState buildRescale(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value logSumExp, const FragmentState &state);

/// Units in which buildNormalize makes the LSE of an OutputState.
ScoreUnits getOutputUnits();

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_TWOPHASESTEP_H
