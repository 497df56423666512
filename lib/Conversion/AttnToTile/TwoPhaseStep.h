//===- TwoPhaseStep.h - Softmax in two phases -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The softmax of the small-cache schedule (docs/CostModel.md), in attn_tile
// ops. Phase 1 takes the softmax of each tile of scores by itself:
//
//   E_t = ceil(max S)             of each row of tile t; S in base-2 units
//   P   = 2^(S - E_t)             in (0, 1]: 16 bits
//   s_t = sum P                   in f32
//
// Phase 2 combines the tiles of a row, with E the largest E_t so far:
//
//   O   = 2^(E_before - E) O + (2^(E_t - E) P) V
//   sum = 2^(E_before - E) sum + 2^(E_t - E) s_t
//
// All factors of P and O are powers of two, so that scaling rounds nothing, and
// no exponent is positive. E_t and s_t are kept apart, since their product's
// logarithm has no room for s_t beside the large scores of finite masks; there
// E_t is rounded or the largest float of its sign, and P = 2^(S - max S).
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_TWOPHASESTEP_H
#define LIB_CONVERSION_ATTNTOTILE_TWOPHASESTEP_H

#include "OnlineStep.h"

namespace attn {

/// Of the rows of a tile, [tile_m].
struct RowStatistics {
  mlir::Value exponent; ///< E_t; -inf where no key is visible
  mlir::Value sum;      ///< s_t
};

/// What phase 1 spills of a tile of scores.
struct TileSoftmax {
  mlir::Value probabilities; ///< P, [tile_m, tile_n], f32
  RowStatistics rows;
};

TileSoftmax buildTileSoftmax(mlir::OpBuilder &builder, mlir::Location loc,
                             const ScoreUnits &units, mlir::Value scores);

/// The state of phase 2 before a tile, and the factors of the tile's rows.
/// `max` is E.
struct OutputState {
  FragmentState row;
  mlir::Value weight; ///< 2^(E_t - E) of the tile that is being added
};

OutputState buildInitialOutputState(mlir::OpBuilder &builder,
                                    mlir::Location loc, int64_t rows,
                                    int64_t cols);

/// Rescales the state for a tile with `tile`, of which each lane of a quad has
/// a part (attn_tile.load_row), and gives the weight of its rows.
OutputState buildRescale(mlir::OpBuilder &builder, mlir::Location loc,
                         const RowStatistics &tile, const FragmentState &state);

/// The LSE of rows whose exponent was cut to the largest float of its sign.
mlir::Value keepLargest(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value exponent, mlir::Value lse);

/// Units in which buildNormalize makes the LSE of an OutputState.
ScoreUnits getOutputUnits();

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_TWOPHASESTEP_H
