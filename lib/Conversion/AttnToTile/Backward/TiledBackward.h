//===- TiledBackward.h - What the kernels of a backward take ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the nests of --attn-tile-backward in a function, with their operands,
// their workspace and how they are launched. Private to
// lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_TILEDBACKWARD_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_TILEDBACKWARD_H

#include "Launch/LaunchProgram.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"

namespace attn {

/// A nest of a backward, which becomes a kernel.
struct BackwardNest {
  /// With the operands of all nests; `first` and `normalize` are null.
  TiledAttention attention;
  llvm::SmallVector<BackwardStepOp> steps; ///< one in each loop
  std::string entry;

  /// Tiles of keys stay, and of rows stream past.
  bool keysAreRows();
  /// All gradients: dQ is added up in memory.
  bool isFused() { return steps.front().getDQuery() && hasDKey(); }
  /// Some gradient of scores is wanted, for which the values are needed.
  bool needsScoreGradient() { return !keysAreRows() || hasDKey(); }
  bool hasDKey() { return static_cast<bool>(steps.front().getDKey()); }
  /// Rows and keys of a tile.
  int64_t getTileM();
  int64_t getTileN();
  /// That share what they stream.
  int64_t getClusterCtas() { return attention.schedule.getValues().clusterN; }
  /// Columns of the gradient: all, padded, and those that a CTA has. dK and dV
  /// together are not sliced.
  int64_t getColumns();
  int64_t getTileColumns();
  /// True if the factors of gradients, tiles of bytes [keys, columns], have to
  /// be transposed for products.
  bool transposesTiles();
  /// The fragment that a gradient is summed in, of the shape of `sums`:
  /// products with a tile of bytes [keys, columns] come as quads.
  tile::FragmentType getSumType(tile::FragmentType sums);
  /// "d_query", "d_key" or "d_value", of which `output` of the scf.forall is
  /// the whole; empty of what is no such gradient.
  llvm::StringRef getGradientName(mlir::Value output);
  int64_t getSlices() {
    return llvm::divideCeil(getColumns(), getTileColumns());
  }
};

/// A nest that adds up the gradients of scores, which becomes a kernel.
struct ScoreNest : BackwardNest {
  /// Takes its vectors; null if it writes tiles of the gradient itself, or
  /// scatters.
  BackwardSumOp sum;
  /// The loop over CTAs that add to elements of the gradient; else null.
  mlir::scf::ForOp scatterLoop;
  /// The workspace of its vectors, or exact sums, among the own ones.
  unsigned view = 0;
  /// Of what comes before and behind a scatter: makes the sums 0, rounds them.
  std::string clearEntry, roundEntry;
};

/// An attn.backward_sum, which becomes a kernel.
struct SumKernel {
  BackwardSumOp op;
  std::string entry;
  unsigned view = 0; ///< the workspace of its source, among the own ones
};

/// An attn.sum_heads of the gradients that a nest writes, which becomes a
/// kernel.
struct HeadSum {
  SumHeadsOp op;
  mlir::Value gradient; ///< in the nest, what it writes to
  std::string entry;
  unsigned view = 0; ///< the workspace of the gradients, among the own ones
};

/// The nests of a backward, and what all kernels take.
struct TiledBackward {
  llvm::SmallVector<BackwardNest, 0>
      nests; ///< dQ, then dK and dV or each apart
  llvm::SmallVector<ScoreNest, 0> scoreNests;
  llvm::SmallVector<SumKernel> sums;
  llvm::SmallVector<HeadSum> headSums;
  BackwardDeltaOp delta; ///< null without an LSE
  /// Of a fused one, the nest that rounds dQ; else null.
  mlir::scf::ForallOp rounding;
  /// Its own views are the vectors of the score nests that have any; of a fused
  /// backward the sums of dQ, [B, Hq, M, D] in f32, of each row tile a fragment
  /// as attn_tile.accumulate has it; the gradients of which heads are summed;
  /// lse and delta as RowValues has them, if
  /// there is an LSE. Of a small cache see small_cache::Workspace.
  std::optional<LaunchProgram> program;

  bool isFused() { return nests.front().isFused(); }
  /// True if dP is summed up from -delta on, which saves the registers of
  /// delta: where nothing comes between dP and delta. The scale is left to the
  /// end.
  bool startsFromDelta() {
    return isFused() && !nests.front().steps.front().getDropoutSeed();
  }
  /// Makes the program's own views parameters of a kernel.
  llvm::SmallVector<mlir::Value> addOwnViews(tile::KernelOp kernel);
  /// True if the fragments of dQ are [D, M]: there are as many columns of dQ as
  /// warps take rows. Else they are [M, D].
  bool sumsAreTransposed();
  /// The schedule of the kernels before and behind a fused one, which have a
  /// warp for 16 rows of a tile.
  ScheduleAttr getRowSchedule();

  /// Builds the program, which launches kernels that begin with `name`.
  void buildProgram(mlir::OpBuilder &builder, llvm::StringRef name);

  /// The one backward of `function`, without a program; emits an error for what
  /// the GPU cannot do.
  static mlir::FailureOr<TiledBackward> find(mlir::Operation *function,
                                             llvm::StringRef name);
};

/// Adds the workspace of a vector of f32 for each head [B, Hq, M], with whole
/// tiles of `tileM` rows.
void addRowView(LaunchProgram &program, BackwardStepOp step,
                llvm::StringRef name, int64_t tileM);

/// The slice that a tile is, under its padding; null if it is none.
mlir::tensor::ExtractSliceOp getSlice(mlir::Value tile);

/// The tensor that a tile is sliced from.
mlir::Value getSource(mlir::Value tile);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_TILEDBACKWARD_H
