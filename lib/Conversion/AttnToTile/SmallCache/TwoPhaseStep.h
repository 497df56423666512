//===- TwoPhaseStep.h - Row reductions in two phases -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The row reduction of the small-cache schedule (docs/CostModel.md), in
// attn_tile ops. Phase 1 takes each tile of scores by itself; with softmax:
//
//   m_t = max S               of each row of tile t
//   P   = 2^(c (S - m_t))     in [0, 1], the largest 1: 16 bits
//   s_t = sum P               in f32
//
// Phase 2 combines the tiles of a row, with m the largest m_t so far:
//
//   O   = 2^(c (m_before - m)) O + (2^(c (m_t - m)) P) V
//   sum = 2^(c (m_before - m)) sum + 2^(c (m_t - m)) s_t
//
// The weight of P is rounded with it, but where the tile has the row's maximum:
// a row of one key, or whose keys are in one tile, is as exact as an unfused
// one. m_t and s_t are kept apart, since their product's logarithm has no room
// for s_t beside the large scores of finite masks. Without a maximum the powers
// of two are 1.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_SMALLCACHE_TWOPHASESTEP_H
#define LIB_CONVERSION_ATTNTOTILE_SMALLCACHE_TWOPHASESTEP_H

#include "Forward/OnlineStep.h"

namespace attn {

/// What phase 1 spills of a tile of scores.
struct TileWeights {
  mlir::Value weights; ///< P, [tile_m, tile_n], f32
  /// [tile_m] of each row value, over the tile's keys; in all lanes of a row.
  llvm::SmallVector<mlir::Value> rows;
};

TileWeights buildTileWeights(mlir::OpBuilder &builder, OnlineAttentionOp step,
                             mlir::Value scores);

/// The state of phase 2 before a tile, and the factors of the tile's rows.
struct OutputState {
  RunningState row;
  /// 2^(c (m_t - m)) of the tile that is being added; null without a maximum.
  mlir::Value weight;
};

OutputState buildInitialOutputState(mlir::OpBuilder &builder,
                                    OnlineAttentionOp step, int64_t rows,
                                    int64_t cols);

/// Rescales the state for a tile with row values `tile`, of which each lane of
/// a quad has a part (attn_tile.load_row first_lane), and gives the weight of
/// its rows.
OutputState buildRescale(mlir::OpBuilder &builder, OnlineAttentionOp step,
                         mlir::ValueRange tile, RunningState state);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_SMALLCACHE_TWOPHASESTEP_H
