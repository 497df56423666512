//===- KernelOperands.h - What a kernel reads and writes -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensors that a tiled attention takes from outside its scf.forall, in the
// order of the kernel's parameters, with the names that a program gives them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELOPERANDS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELOPERANDS_H

#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace attn {

/// One tensor parameter.
struct KernelOperand {
  std::string name;   ///< query, key, value, bias, capture0, output...
  mlir::Value tensor; ///< outside the forall; a result for outputs
  mlir::RankedTensorType type;
  bool isOutput = false;
  /// Elements of the innermost dimension that are read or written at once:
  /// strides are multiples of it and the address is aligned to it.
  int64_t vectorElements = 1;
  bool isPaged = false; ///< a pool of pages, [pages, Hkv, page, D or Dv]
  /// Query heads read its heads by a map; of a gradient: it has one for each.
  bool isMapped = false;
  /// Of sequences behind each other: where each begins; null for others.
  mlir::Value offsets = {};
  /// The tensor of batches that the attention reads or writes in their place.
  mlir::Value batches = {};
  /// What the tensor is after an attn.append in place; null if there is none.
  mlir::Value appended = {};
};

/// A tensor in memory that the launcher allocates, as the kernels see it.
struct WorkspaceView {
  std::string name;
  tile::GlobalType type;
};

/// What kernels before those of the attention compute for it: the op in the
/// tiled form, and the views of its results, in order, then those of what its
/// kernels keep for themselves.
struct PrologueOp {
  mlir::Operation *op;
  llvm::SmallVector<WorkspaceView> views;
  /// The last view is an order of the row tiles: see `TileOrder`.
  bool ordersTiles = false;
};

/// The parts of one tiled attention (docs/Forms.md), or a prologue alone.
struct TiledAttention {
  /// The nest of its loops; null without an attention.
  mlir::scf::ForallOp forall;
  OnlineAttentionOp first; ///< any online step: all agree on the operands
  NormalizeOp normalize;
  /// Of the states of splits, where the schedule splits the keys: `normalize`
  /// is behind it, not in the scf.forall. Null if it does not.
  CombineOp combine;
  /// The workspaces of the states: acc [splits * B, Hq, M, Dv], row values
  /// [splits * B, Hq, M], the batches of one split behind those of another; of
  /// sequences behind each other [splits * rows, Hq, Dv] and [Hq, splits *
  /// rows].
  llvm::SmallVector<WorkspaceView> partials;
  /// Where a plan has the splits in the order in which persistent CTAs take
  /// them (Worklist.h); none if each CTA has one.
  std::optional<WorkspaceView> worklist;
  /// What is made of the output of `normalize` before it is stored, in order.
  llvm::SmallVector<OutputModOp, 1> outputMods;
  ScheduleAttr schedule;
  llvm::SmallVector<KernelOperand> operands;
  llvm::SmallVector<PrologueOp> prologue; ///< Prologue.h
  /// What a launcher computes by it, and the scale.
  llvm::StringRef semantics = "attention";
  double scale = 1;
  bool deterministic = true;
  /// The LSE, and its workspace where it is no output.
  mlir::Value lse;
  std::optional<WorkspaceView> lseView;
  /// Rows with an LSE below are computed, and tiles that have none left out.
  std::optional<double> onlyBelow;

  mlir::Location getLoc() const {
    mlir::Operation *nest = forall;
    return (nest ? nest : prologue.front().op)->getLoc();
  }
  /// The whole query and key tensors.
  mlir::RankedTensorType getQueryType() const;
  mlir::RankedTensorType getKeyType() const;
  /// "amax", of several then "amax1" and so on.
  std::string getAmaxName(OutputModOp mod) const;
  /// The whole tensor of sinks, null if there is none.
  mlir::Value getSink() const;
  /// The whole tensor of the value's descales, null if there is none.
  mlir::Value getDescale() const;
  /// Ranges of keys that CTAs of their own take; with `combine` only.
  mlir::OpFoldResult getSplits() const {
    return mlir::scf::ForallOp(forall).getMixedUpperBound().back();
  }
  /// The output called `name`, null if there is none.
  mlir::Value getOutput(llvm::StringRef name) const;

  /// Head dimensions as the matrix instructions see them: multiples of 16, of
  /// 8-bit types 32.
  int64_t getPadding() const;
  int64_t getPaddedHeadDim() const;
  int64_t getPaddedValueDim() const;
  /// Columns of V and O that a CTA takes at once: all, or a slice of the
  /// schedule.
  int64_t getTileDv() const;
  /// Warps that have the same rows, and each as many of those columns.
  int64_t getSharing() const;
  /// Query heads of a tile: 1, or with pack_gqa those of a group.
  int64_t getTileHeads() const;
  /// Query positions of a tile.
  int64_t getTilePositions() const {
    return schedule.getValues().tileM / getTileHeads();
  }
  int64_t getDvSlices() const {
    return llvm::divideCeil(getPaddedValueDim(), getTileDv());
  }
  /// CTAs of neighbouring row tiles that share key and value tiles.
  int64_t getClusterCtas() const { return schedule.getValues().clusterM; }
  bool isSmallCache() const {
    return schedule.getValues().kind == ScheduleKind::SmallCache;
  }
  /// True if a -0 of the output becomes 0: which it is depends on how many
  /// tiles are visited that a row does not see. The sum of splits is never -0.
  bool hasOneZero() const {
    return schedule.getValues().invariance == Invariance::Prefix;
  }
};

/// The tiled attention of a function, and the one that repairs its rows if
/// there is an attn.repair. Both have the same operands and workspaces.
struct TiledForward {
  TiledAttention main;
  std::optional<TiledAttention> whole;
};

/// Finds the attention of a function. Fails with a diagnostic where the
/// function is not of the tiled form or the target cannot take it; f32 is taken
/// with `allowTf32` only.
mlir::FailureOr<TiledForward> findTiledForward(mlir::Operation *function,
                                               bool allowTf32);

/// Sets `outputMods`, by `normalize`.
void findOutputMods(TiledAttention &attention);

/// Adds `tensor` to the operands unless it is there.
void addInput(TiledAttention &attention, llvm::StringRef name,
              mlir::Value tensor, int64_t vectorElements);

/// Marks the operand that `tile` is a slice of if its head is read by a map.
void markMapped(TiledAttention &attention, mlir::Value tile);

/// The tensors that an attention reads elements of, and what is computed before
/// it, but for what they compute themselves, and constants that only loops
/// read: these are tables of the kernel.
llvm::SetVector<mlir::Value> findTensorsRead(const TiledAttention &attention);

/// Adds to the operands of `attention` those tensors that its function takes
/// and of which `nest` reads a size alone.
void addSizes(TiledAttention &attention, const TiledAttention &nest);

/// True if the tiles of values are columns of those of keys, in shared memory.
bool readsValueInKey(const TiledAttention &attention);

/// The type of `operand` as a kernel parameter.
tile::GlobalType getGlobalType(const KernelOperand &operand);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_KERNELOPERANDS_H
