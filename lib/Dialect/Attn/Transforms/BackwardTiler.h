//===- BackwardTiler.h - Tiles and loops of a backward ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --attn-tile-backward builds one op with. Private to
// lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDTILER_H
#define LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDTILER_H

#include "BackwardMask.h"
#include "Padding.h"
#include "attn/Dialect/Attn/Utils/ScoreGradients.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace attn {

/// Where a tile is: (b, h), the first row, and the first key.
struct Place {
  mlir::Value b, h, m, n;
};

/// The operands of a step that have rows, or keys; all of static size.
struct RowTile {
  mlir::Value query, dOutput, lse, delta;
};
struct KeyTile {
  mlir::Value key, value;
};

struct ScoreTiles {
  RowTile rows;
  KeyTile keys;
};

/// One of the reads of a captured tensor.
struct Scatter {
  const ScoreGradient &gradient;
  unsigned number;

  mlir::tensor::ExtractOp getRead() const { return gradient.reads[number]; }
};

/// Rows and keys of the tiles of a nest.
struct TileSizes {
  int64_t m, n;
  /// CTAs of a cluster, which have neighbouring tiles of what stays and share
  /// what streams.
  int64_t ctas = 1;
};

/// The gradients that a nest over keys gives, in this order; dQ as the sum in
/// memory of what each key tile adds.
struct KeyGradients {
  bool key, value, query;
  ScheduleAttr schedule;
};

/// What a step adds to; null what it does not give.
struct StepGradients {
  mlir::Value query, key, value, scores, amax;
};

/// The row tiles of all query heads of a group as one loop from `lower` to
/// `upper`: `perHead` of `rows` for each head, at least 1.
struct GroupWalk {
  TileRange rows;
  mlir::Value lower, upper, perHead;
};

/// True if the op has the schedule of a GPU.
bool hasTensorCores(AttentionBackwardOp op);

/// Builds the loop nests of one op.
class BackwardTiler {
public:
  BackwardTiler(AttentionBackwardOp op, TileSizes queryTiles,
                TileSizes keyTiles, TileSizes valueTiles)
      : op(op), queryTiles(queryTiles), keyTiles(keyTiles),
        valueTiles(valueTiles), scoreTiles(queryTiles), tiles(queryTiles),
        builder(op), loc(op.getLoc()) {}

  void run();

private:
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

  void readSizes();
  void prepareRegions();

  // Tiles.
  mlir::OpFoldResult countInTile(int64_t tile, mlir::Value first,
                                 mlir::OpFoldResult total);
  mlir::Value getTile(mlir::Value from, const Place &place, unsigned loop,
                      mlir::Value head, double padding = 0);
  RowTile getRowTile(const Place &place);
  KeyTile getKeyTile(const Place &place);
  mlir::Value getBiasTile(const Place &place);
  /// A tile, and which part of a tensor it is.
  struct Slice {
    mlir::Value tile;
    Sizes offsets, sizes, strides;
  };
  Slice cutTile(mlir::Value tile, mlir::Value into, const Place &place,
                unsigned loop, mlir::Value head);
  void insertTile(mlir::Value tile, mlir::Value into, const Place &place,
                  unsigned loop, mlir::Value head, mlir::scf::ForallOp forall);
  mlir::Value createOutput(mlir::Value like, mlir::Type element);
  mlir::Value createZeroTile(mlir::Value like, int64_t rows);
  mlir::Value createZeroRows(int64_t rows);
  mlir::Value getDOutputDescale(const Place &place);

  // Loops.
  RowRange getStaying(mlir::Value first, int64_t tile,
                      mlir::OpFoldResult total);
  RowRange getStayingOfCluster(mlir::Value first, int64_t tile,
                               mlir::OpFoldResult total);
  BackwardStepOp createStep(const RowTile &rows, const KeyTile &keys,
                            const Place &place, const TileRange &range,
                            mlir::Region &maskMod,
                            const StepGradients &gradients);
  mlir::scf::ForallOp createRowForall(llvm::ArrayRef<mlir::Value> outputs);
  void createQueryNest();
  void createKeyNest(TileSizes sizes, const KeyGradients &wanted);
  llvm::SmallVector<mlir::Value>
  createRowStep(const KeyTile &keys, const Place &place, const TileRange &range,
                mlir::ValueRange state, const KeyGradients &wanted);
  llvm::SmallVector<mlir::Value> createRowLoops(const KeyTile &keys,
                                                Place place,
                                                mlir::ValueRange init,
                                                const KeyGradients &wanted);
  llvm::SmallVector<mlir::Value> createRowLoop(const TileRange &range,
                                               const KeyTile &keys, Place place,
                                               mlir::ValueRange init,
                                               const KeyGradients &wanted);
  llvm::SmallVector<mlir::Value>
  createGroupLoop(const GroupWalk &walk, const KeyTile &keys, Place place,
                  mlir::ValueRange init, const KeyGradients &wanted);
  llvm::SmallVector<mlir::Value>
  createHeadLoop(llvm::ArrayRef<TileRange> ranges, const KeyTile &keys,
                 Place place, mlir::ValueRange init,
                 const KeyGradients &wanted);
  llvm::SmallVector<GroupWalk>
  countGroupTiles(llvm::ArrayRef<TileRange> ranges);
  mlir::Value countTiles(const TileRange &range);

  // All gradients in one nest.
  void createDeltaNest();
  void createFusedNest(ScheduleAttr keySchedule);
  mlir::scf::ForOp createKeyLoop(mlir::Value b, mlir::Value h,
                                 mlir::ValueRange init);
  Slice getHeads(mlir::Value whole, mlir::Value b, mlir::Value first,
                 mlir::OpFoldResult heads);
  void createRoundingNest();
  Place getPlaceInSums(const Place &place);
  mlir::Value getSumTile(mlir::Value sums, const Place &place);
  mlir::Value addToSums(mlir::Value tile, mlir::Value sums, const Place &place);
  // Gradients of scores (BackwardScoreNests.cpp).
  void findScoreNests();
  RowTile getWholeRowTile(const Place &place);
  mlir::Value createZeroScores();
  mlir::Value createScoreStep(const ScoreGradient &gradient,
                              const ScoreTiles &operands, const Place &place,
                              const TileRange &range, mlir::Value sum);
  mlir::Value sumScores(mlir::Value scores, unsigned loop);
  mlir::Value createVectorNest(const ScoreGradient &gradient);
  TileRange getSharers(const ScoreGradient &gradient, mlir::ValueRange at,
                       mlir::Value &step);
  void insertScores(mlir::Value scores, mlir::scf::ForallOp forall);
  mlir::Value createTileNest(const ScoreGradient &gradient);
  mlir::Value createSum(const ScoreGradient &gradient);
  mlir::Value
  createTileLoops(llvm::ArrayRef<TileRange> ranges, int64_t tile,
                  mlir::Value init,
                  llvm::function_ref<mlir::Value(const TileRange &, mlir::Value,
                                                 mlir::Value)>
                      body);
  // Of elements that any index finds (BackwardScatterNest.cpp).
  void findScatterWalks();
  mlir::Value createScatterStep(const Scatter &scatter,
                                const ScoreTiles &operands, const Place &place,
                                const TileRange &range, mlir::Value sum);
  mlir::Value createScatter(const Scatter &scatter, mlir::Value scores,
                            const Place &place, mlir::Value table);
  mlir::Value scatterRows(const ScoreGradient &gradient, Place place,
                          mlir::Value table);
  mlir::Value countAll(mlir::OpFoldResult total, int64_t tile);
  mlir::Value scatterDiagonal(const ScoreGradient &gradient, Place place,
                              mlir::Value diagonal, mlir::Value table);
  mlir::Value createScatterLoop(const ScoreGradient &gradient,
                                mlir::Value table);
  mlir::Value createScatterNest(const ScoreGradient &gradient);
  void createScoreNests(llvm::SmallVectorImpl<mlir::Value> &results);

  mlir::Value asValue(mlir::OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  }
  mlir::Value index(int64_t n) { return asValue(builder.getIndexAttr(n)); }

  AttentionBackwardOp op;
  TileSizes queryTiles, keyTiles, valueTiles, scoreTiles;
  llvm::SmallVector<ScoreGradient> scoreGradients;
  /// The only reads of a tensor whose element is the same for all keys of a
  /// row, or for all scores on a diagonal.
  llvm::SmallPtrSet<mlir::Operation *, 2> readsOfRows, readsOfDiagonals;
  TileSizes tiles; ///< of the nest that is built
  ScheduleAttr schedule;
  mlir::OpBuilder builder;
  mlir::Location loc;

  mlir::OpFoldResult batch, queryHeads, keyHeads, rows, keys;
  /// Query heads of a key head.
  mlir::Value group;
  /// The mask where keys stay and rows stream.
  std::unique_ptr<mlir::Region> maskByKey = std::make_unique<mlir::Region>();
  /// Whether maskByKey hides the padded rows of a tile: their dO is 0, but
  /// without an LSE their P is whatever score_mod makes of them, infinite, too.
  bool hidesRows = false;
  /// Of the masks without what is for padded tiles.
  std::optional<VisitedTiles> visitedKeys, visitedRows;
  /// delta [B, Hq, M], and the gradients.
  mlir::Value delta, dQuery, dKey, dValue, amaxDs;
  /// dQ [B, Hq, M, D] in the score type, and of the key head at hand the first
  /// query head.
  mlir::Value sums, firstHead;
};
} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDTILER_H
