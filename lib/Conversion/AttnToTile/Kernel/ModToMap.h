//===- ModToMap.h - Score and mask regions on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns bias, score_mod, mask_mod and the ragged end into one attn_tile.map
// over the scores.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_MODTOMAP_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_MODTOMAP_H

#include "attn/Analysis/IndexRanges.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Utils/DropoutBuilder.h"
#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/IRMapping.h"

namespace attn {

/// index, i32 or i64 as an integer of `width` bits (sign-extended).
mlir::Value toWidth(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, unsigned width);

/// Builds maps inside a kernel.
class ModToMap {
public:
  /// `values` maps tensors outside the kernel to its parameters, and scalars to
  /// their copies in the kernel.
  ModToMap(mlir::OpBuilder &builder, mlir::IRMapping &values)
      : builder(builder), values(values) {}

  /// True if the scores of `step` are more than scaled products.
  static bool changesScores(OnlineAttentionOp step);

  /// A row fragment of what the step's score_mod multiplies a score by, if that
  /// is all it does, and of a row all keys of a tile alike; null otherwise.
  /// Before the loops if that is where all it needs is. Fails as `apply` does.
  mlir::FailureOr<mlir::Value> buildRowFactor(OnlineAttentionOp step);

  /// `scores` after the masks alone, as `apply` has them.
  mlir::FailureOr<mlir::Value> applyMasks(OnlineAttentionOp step,
                                          mlir::Value scores,
                                          mlir::Value keysInTile);

  /// Scores after `factor`, bias, score_mod and masks. `keysInTile` (index) is
  /// the number of keys that exist, or null if all of them do. Fails with a
  /// diagnostic at an op that has no meaning on the GPU.
  mlir::FailureOr<mlir::Value> apply(OnlineAttentionOp step, mlir::Value scores,
                                     double factor, mlir::Value keysInTile);

  /// What the step's prob_mod makes of the weights `p`, in which 0 stays 0; `p`
  /// itself without one. Fails as `apply` does.
  mlir::FailureOr<mlir::Value>
  applyProbMod(OnlineAttentionOp step, mlir::Value p, mlir::Value keysInTile);

  /// `p` where dropout keeps it, else 0; `p` itself without dropout. The tile
  /// is at the step's offsets, or at `offsets` in the kernel.
  mlir::Value applyDropout(OnlineAttentionOp step, mlir::Value p);
  mlir::Value applyDropout(OnlineAttentionOp step, mlir::Value p,
                           mlir::ValueRange offsets);
  /// attn_tile.dropout of the tile `p` at `offsets` in the kernel.
  mlir::Value createDropout(mlir::Location loc, const Dropout &dropout,
                            mlir::Value p, mlir::ValueRange offsets, bool signs,
                            bool transposed, int64_t heads);

  /// Global coordinates of an element, all i32.
  struct Coordinates {
    mlir::Value batch, head, row, col;
  };
  /// What a score_mod (with `score`) or mask_mod (without) yields there. Fails
  /// as `apply` does.
  mlir::FailureOr<mlir::Value>
  inlineRegion(mlir::Region &region, mlir::Value score, const Coordinates &at);

  /// What any region yields for arguments of index or integer type.
  mlir::FailureOr<mlir::Value> inlineRegion(mlir::Region &region,
                                            mlir::Value score,
                                            mlir::ValueRange coordinates);

  /// Makes fragments of what `regions` compute of the position (kLoopM or
  /// kLoopN) of one of `rows` rows of a tile, which `place` gives, alone;
  /// before the loops if that is where all it needs is. The map that is built
  /// next takes them as inputs, and tells their elements before it inlines a
  /// region.
  using Place = llvm::function_ref<Coordinates(mlir::Value row)>;
  mlir::LogicalResult buildRowTerms(llvm::ArrayRef<mlir::Region *> regions,
                                    unsigned position, bool ofRowsOnly,
                                    int64_t rows, Place place);
  llvm::SmallVector<mlir::Value> getRowTerms();
  void setRowTerms(mlir::ValueRange elements);
  void clearRowTerms() { rowTerms.clear(); }

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::IRMapping &getValues() { return values; }

private:
  struct Limits;

  /// A value of a region that is computed for each row, in a fragment.
  struct RowTerm {
    mlir::Region *region;
    mlir::Value value;
    mlir::Value fragment;
    mlir::Value element; ///< of the fragment, in the map; set with it
  };

  mlir::FailureOr<mlir::Value> inlineValue(mlir::Region &region,
                                           mlir::Value value, mlir::Value score,
                                           mlir::ValueRange coordinates);
  mlir::FailureOr<mlir::Value> buildRowTerm(mlir::Region &region,
                                            mlir::Value value, int64_t rows,
                                            Place place);

  /// What makes an element of a map from that of its first input.
  using Change = llvm::function_ref<mlir::FailureOr<mlir::Value>(
      mlir::Value element, mlir::Value col, const Coordinates &at)>;
  mlir::FailureOr<mlir::Value>
  createMap(OnlineAttentionOp step, mlir::Value source,
            llvm::ArrayRef<mlir::Region *> regions, const Limits &limits,
            mlir::ValueRange offsets, Change change);
  /// Of a row, whatever the key tile.
  Coordinates getRowCoordinates(mlir::Location loc, mlir::ValueRange offsets,
                                mlir::Value row, Limits limits);
  Limits getScoreLimits(OnlineAttentionOp step, mlir::Value keysInTile,
                        llvm::ArrayRef<mlir::Region *> regions,
                        mlir::ValueRange offsets);
  llvm::SmallVector<mlir::Value> getOffsets(OnlineAttentionOp step);
  mlir::Value getLastColumn(OnlineAttentionOp step);
  Limits getLimits(OnlineAttentionOp step, mlir::Value keysInTile,
                   llvm::ArrayRef<mlir::Region *> regions, bool always);
  Coordinates getCoordinates(mlir::Location loc, mlir::ValueRange offsets,
                             mlir::Value row, mlir::Value col,
                             const Limits &limits);
  mlir::FailureOr<mlir::Value> changeScore(OnlineAttentionOp step,
                                           mlir::Value score, double factor,
                                           const Coordinates &at);
  mlir::FailureOr<mlir::Value> hideScore(OnlineAttentionOp step,
                                         mlir::Value score, mlir::Value col,
                                         const Coordinates &at,
                                         const Limits &limits);
  mlir::Value applyBias(OnlineAttentionOp step, mlir::Value score,
                        const Coordinates &at);
  mlir::Value buildSearch(SegmentOp op, mlir::Value position, unsigned width);
  mlir::Value buildSearch(BlockListedOp op, mlir::ValueRange at,
                          unsigned width);
  unsigned getWidth(mlir::Value value);
  unsigned getWidth(mlir::Operation &op);
  mlir::Value buildCast(mlir::Operation &op, mlir::Value source);
  mlir::Value buildRead(mlir::tensor::ExtractOp op,
                        llvm::ArrayRef<mlir::Value> indices);
  mlir::LogicalResult cloneOp(mlir::Operation &op, mlir::IRMapping &mapping);

  void mapKeyBlocks(mlir::Region &region, mlir::IRMapping &mapping);

  /// The columns of the tile whose map is being built.
  struct TileColumns {
    mlir::Value first; ///< position of the first one, i32
    int64_t columns;
  };

  mlir::OpBuilder &builder;
  mlir::IRMapping &values;
  std::optional<TileColumns> tile;
  IndexRanges ranges;                  ///< of the regions
  llvm::SmallVector<RowTerm> rowTerms; ///< of the map that is being built
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_MODTOMAP_H
