//===- KernelScope.h - From the tiled form into a kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every kernel of a tiled attention needs: its parameters, copies of the
// scalars around it, tiles of its operands.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELSCOPE_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELSCOPE_H

#include "Kernel/KernelOperands.h"
#include "Kernel/ModToMap.h"
#include "Kernel/Prologue.h"

namespace attn {

/// True if `op` computes scalars only, from scalars, a tensor's size or one of
/// its elements.
bool isScalarOp(mlir::Operation *op);

inline constexpr int64_t kLanes = 32; ///< of a warp
/// The loop over splits of the keys, behind those over (b, h, m).
inline constexpr unsigned kLoopSplit = 3;

/// Loads the tile of `rows` x `cols` at `indices` of `tensor`.
mlir::Value loadTile(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value tensor, mlir::ValueRange indices, int64_t rows,
                     int64_t cols, int64_t heads = 1);

/// What a CTA computes: a row tile, or a key tile, and a head, or a group.
struct TileOfHead {
  mlir::Value tile, head;
};

/// Whether a loop in `root` has a bound that is computed from `position`, as
/// under a causal mask, with lengths or without; not one that is read at it, as
/// lists of blocks say and documents.
bool haveLoopsOfTheirPlace(mlir::Operation *root, mlir::Value position);

/// Where a thread is in a grid along x whose warps each work for themselves.
struct WarpOfGrid {
  mlir::Value number; ///< of the warp, counted over all CTAs
  mlir::Value lane;
};
/// `warps`: of a CTA.
WarpOfGrid getWarpOfGrid(mlir::OpBuilder &builder, mlir::Location loc,
                         int64_t warps);

/// The largest of the magnitudes, f32 without a sign, that the lanes of a warp
/// have, in all of them; NaN if one is.
mlir::Value reduceMagnitudes(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value magnitude);

/// The splits of a batch by its length: `whole` ones of the keys of a range,
/// and one of the `rest` (i1 `hasRest`), if there is any, or no key at all.
struct PlannedSplits {
  mlir::Value whole, rest, hasRest;
};

/// Rows of a sequence among those behind each other: from `first` on, `count`
/// of them, below 0 where offsets do not ascend.
struct SequenceRows {
  mlir::Value first, count;
};

/// What tiles of an output, or of a gradient, are stored in.
struct StoredTensor {
  mlir::Value rows;      ///< in the kernel, a tensor with as many rows
  int64_t columns;       ///< that exist
  bool hasPadding;       ///< tiles may have columns past them
  int64_t positions = 0; ///< of each head of a packed tile; 0 for one head
};

/// The base of what builds a kernel.
class KernelScope {
protected:
  KernelScope(mlir::OpBuilder &builder, TiledAttention &attention)
      : builder(builder), attention(attention), mods(builder, values) {}

  /// Makes the kernel with the operands as its first parameters, sets the
  /// builder to its body and copies the scalars from outside the scf.forall.
  /// `warps`: 0 for as many as the schedule says.
  mlir::FailureOr<tile::KernelOp> beginKernel(llvm::StringRef name,
                                              int64_t warps = 0);
  mlir::LogicalResult copyScalar(mlir::Operation *op);
  mlir::LogicalResult copyRead(mlir::tensor::ExtractOp op);
  /// The indices of element `number` of a global tensor's leading `rank`
  /// dimensions; what is left of the number where it is past them is in the
  /// first.
  llvm::SmallVector<mlir::Value> getIndices(mlir::Value number,
                                            mlir::Value tensor, int64_t rank);
  /// The same where the dimensions have `sizes`.
  llvm::SmallVector<mlir::Value> getIndices(mlir::Value number,
                                            mlir::ValueRange sizes);

  /// The value in the kernel of a scalar of the tiled form, copied with what it
  /// is computed from if it is not there yet.
  mlir::FailureOr<mlir::Value> materialize(mlir::Value value);

  /// Copies the scalars from outside that `op` and its regions use.
  mlir::LogicalResult materializeOutside(mlir::Operation *op);
  /// Those that the ops of `region` use.
  mlir::LogicalResult materializeOutside(mlir::Region &region);

  mlir::Value constant(int64_t value);
  /// The batches, heads or rows of the problem, or the splits of the keys.
  mlir::FailureOr<mlir::Value> getExtent(unsigned loop);
  /// Where sequence `number` begins among those behind each other.
  mlir::Value readOffset(mlir::Value offsets, mlir::Value number);
  /// The rows of sequence `batch` by `offsets`, none of them behind the `all`
  /// that there are.
  SequenceRows getSequence(mlir::Value offsets, mlir::Value batch,
                           mlir::Value all);
  /// The number of keys that a batch is said to have.
  mlir::Value getKeyLength(mlir::Value batch);
  /// That number, from 0 to what the splits may have.
  mlir::FailureOr<mlir::Value> getExistingKeys(mlir::Value batch);
  /// Rows of the query that sequence `batch` of those behind each other has.
  mlir::Value getQueryRows(mlir::Value batch);
  /// Number `at` of the worklist (index).
  mlir::Value readWorklist(mlir::Value at);
  /// Words in front of the entries of the worklist.
  mlir::FailureOr<mlir::Value> getWorklistHeader();
  /// The first state of a batch: see plansRanges.
  mlir::Value readFirstState(mlir::Value batch);
  /// What a plan of the splits makes of the length of a batch.
  mlir::FailureOr<PlannedSplits> getPlannedSplits(mlir::Value batch);
  mlir::Value getBlockId(mlir::gpu::Dimension dimension);
  /// A number along x of the grid, counted from the last: under a causal mask
  /// the last row tiles have the most keys.
  mlir::Value countFromLast(mlir::Value tile);
  /// That of this CTA.
  mlir::Value getReversedBlockId();
  /// Of a grid whose x are tiles and whose y are heads, those of this CTA if a
  /// tile of each head comes before the next tile. CTAs start with x ascending,
  /// then y, which would be the tiles of a head after each other, with its keys
  /// and values in L2; but where the first tiles are longer than the last,
  /// those of the last head would run on while other SMs have nothing left to
  /// do. CTAs of a cluster, neighbours in x, have neighbouring tiles of a head.
  TileOfHead getTileOfEachHead(int64_t clusterCtas = 1);

  /// Loads the tile of `rows` x `cols` at `indices` of an operand.
  mlir::Value loadTile(mlir::Value tensor, mlir::ValueRange indices,
                       int64_t rows, int64_t cols, int64_t heads = 1);
  /// Loads a tile at the offsets of a slice of an operand, and from `column` on
  /// if there is one; the rows are those of all heads of the slice.
  mlir::FailureOr<mlir::Value> loadSlice(mlir::Value slice, int64_t rows,
                                         int64_t cols,
                                         mlir::Value column = mlir::Value());
  /// The sink of each row's head as a row fragment; null if there is none.
  mlir::Value loadSink();
  /// The descale of the value, an f32 of the kernel; null if there is none.
  mlir::FailureOr<mlir::Value> loadDescale();
  /// The keys of `step`'s tile that exist, null if all `tile_n` do.
  mlir::FailureOr<mlir::Value> getKeysInTile(OnlineAttentionOp step);

  /// The output of a forward.
  StoredTensor getStoredOutput();
  /// What `op`, or each attn.output_mod in order, makes of `output`, a fragment
  /// whose first element is at `place` (b, h, i), or (b, h, i, c), of `stored`.
  /// The largest magnitudes of its rows are mapped where an op has them. Fails
  /// with a diagnostic at an op that has no meaning on the GPU.
  mlir::FailureOr<mlir::Value> applyOutputMod(OutputModOp op,
                                              mlir::Value output,
                                              mlir::ValueRange place,
                                              const StoredTensor &stored);
  mlir::FailureOr<mlir::Value> applyOutputMods(llvm::ArrayRef<OutputModOp> ops,
                                               mlir::Value output,
                                               mlir::ValueRange place,
                                               const StoredTensor &stored);
  mlir::Value buildAmax(OutputModOp op, mlir::Value output,
                        const StoredTensor &stored);
  /// Where element (`row`, `column`) of such a fragment is.
  ModToMap::Coordinates getOutputPlace(mlir::Location loc,
                                       mlir::ValueRange place, mlir::Value row,
                                       mlir::Value column,
                                       const StoredTensor &stored);

  mlir::OpBuilder &builder;
  TiledAttention &attention;
  /// What is computed before the attention for itself, by number of the op.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> prologueViews;
  mlir::Value worklist;   ///< of a plan; null without one
  mlir::Value rangeKeys;  ///< where the plan is made; read elsewhere
  mlir::IRMapping values; ///< outside tensors and scalars -> in the kernel
  mlir::IRMapping tables; ///< of all batches -> that of the CTA's
  ModToMap mods;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELSCOPE_H
