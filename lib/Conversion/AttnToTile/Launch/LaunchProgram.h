//===- LaunchProgram.h - How an attention is launched -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the attn_launch.program of an attention or a backward: operands first,
// then workspaces and sizes as its parts ask for them, and the launches at the
// end, when all workspaces are known.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_LAUNCH_LAUNCHPROGRAM_H
#define LIB_CONVERSION_ATTNTOTILE_LAUNCH_LAUNCHPROGRAM_H

#include "Kernel/KernelOperands.h"
#include "attn/Dialect/Launch/IR/Launch.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <array>
#include <memory>

namespace attn {

/// A size, in a program: what is known is computed at once.
class Size {
public:
  Size(mlir::ImplicitLocOpBuilder &builder, mlir::Value value)
      : builder(&builder), value(value) {}

  mlir::Value getValue() const { return value; }
  std::optional<int64_t> getConstant() const;

  Size operator+(Size other) const;
  Size operator-(Size other) const;
  Size operator*(Size other) const;
  Size operator*(int64_t other) const { return *this * constant(other); }
  Size ceilDiv(Size other) const;
  Size ceilDiv(int64_t other) const { return ceilDiv(constant(other)); }
  Size floorDiv(Size other) const;
  Size floorDiv(int64_t other) const { return floorDiv(constant(other)); }
  Size mod(Size other) const;
  Size min(Size other) const;
  Size min(int64_t other) const { return min(constant(other)); }
  Size max(Size other) const;
  Size max(int64_t other) const { return max(constant(other)); }
  /// A multiple of `other` that is not less.
  Size alignTo(int64_t other) const { return ceilDiv(other) * other; }
  Size operator-() const { return constant(0) - *this; }

private:
  Size constant(int64_t number) const;
  template <typename OpTy>
  Size compute(Size other) const;

  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;
};

/// What a program says of what it computes.
struct ProgramHeader {
  mlir::Operation *op; ///< in the function that gives the name
  llvm::ArrayRef<KernelOperand> operands;
  llvm::StringRef semantics;
  double scale = 1;
  bool deterministic = true;
  ScheduleAttr schedule;
};

class LaunchProgram {
public:
  /// A kernel that is launched once, or in each round.
  struct Kernel {
    std::string entry;
    std::array<Size, 3> grid;
    /// Takes the views of the prologue alone, and no round.
    bool isPrologue = false;
  };

  /// A program without launches at the builder's insertion point, with the name
  /// of the attention's function.
  LaunchProgram(mlir::OpBuilder &builder, const TiledAttention &attention);
  LaunchProgram(mlir::OpBuilder &builder, const ProgramHeader &header);

  Size constant(int64_t number);
  /// The size of an operand's dimension; of the key, also where it is the query
  /// and no operand of its own.
  Size dim(llvm::StringRef operand, int64_t dim);
  /// The rows of all sequences of an operand that has them behind each other.
  Size getPackedRows(llvm::StringRef operand) {
    return getSizeOf(getOperand(operand), /*dim=*/0);
  }
  /// The heads of the keys as the attention sees them: by a map, one for each
  /// query head.
  Size getKeyHeads();
  /// A size that the tiled form computes of those of operands, which is
  /// `otherwise` where nothing is known of it.
  Size getSize(mlir::Value value, std::optional<Size> otherwise = {});
  /// That of an expression of one operand; nothing if it is none that the tiler
  /// makes.
  std::optional<Size> getSize(mlir::AffineExpr expr, mlir::Value operand,
                              std::optional<Size> otherwise);
  /// Ranges of keys that CTAs of their own take; 1 if keys are not split.
  Size getSplits(const TiledAttention &attention);
  /// Of ranges that a plan chooses, how many entries of its list are whole ones
  /// at most (Launch/PlanKernel.cpp).
  Size getPlannedTiles(const TiledAttention &attention);
  /// The product of an operand's first `rank` sizes.
  Size getProduct(llvm::StringRef operand, int64_t rank);
  bool hasOperand(llvm::StringRef name) const {
    return static_cast<bool>(getOperand(name));
  }

  /// `value` must be 0 for a launch.
  void addConstraint(Size value, llvm::StringRef message);
  /// A workspace of `type`, row-major and of these `sizes`.
  void addWorkspace(WorkspaceView view, llvm::ArrayRef<Size> sizes);
  /// One of `bytes`, whose first element would be at `offset` (bytes). `sizes`
  /// of all dimensions, `strides` of all but the last.
  void addWorkspace(WorkspaceView view, Size bytes, Size offset,
                    llvm::ArrayRef<Size> sizes, llvm::ArrayRef<Size> strides);
  /// What is added from now on is of one of `count` rounds; returns its number.
  Size beginRounds(Size count);
  /// The last parameter (i32) of each kernel in a round.
  void setRoundParameter(Size value) { roundParameter = value; }
  void addKernel(const llvm::Twine &entry, Size x, Size y, Size z);
  void addKernel(const llvm::Twine &entry, Size x);
  /// Kernels and workspaces that are there belong to the prologue.
  void endPrologue();
  /// Adds the launches of all kernels.
  void finish();

  llvm::ArrayRef<Kernel> getKernels() const { return kernels; }
  /// The views of workspaces, as kernels see them: all, and those that are not
  /// of the prologue.
  llvm::ArrayRef<tile::GlobalType> getOwnViews() const {
    return llvm::ArrayRef(viewTypes).drop_front(numPrologueViews);
  }

  /// The name of the operand that `tensor` is.
  llvm::StringRef getName(mlir::Value tensor) const;

private:
  /// The size of the dimension of an operand as it is.
  Size getSizeOf(mlir::Value tensor, int64_t dim);
  bool isMapped(llvm::StringRef name) const;
  mlir::Value getOperand(llvm::StringRef name) const;
  /// The operand of that name if it is of sequences behind each other, or null.
  const KernelOperand *getRagged(llvm::StringRef name) const;
  void addOffsetConstraints();
  mlir::Value skipClamp(mlir::Value index) const;
  void addReadConstraints(mlir::Operation *function);
  void addLaunch(const Kernel &kernel);

  /// Sizes refer to it, wherever the program moves.
  std::unique_ptr<mlir::ImplicitLocOpBuilder> builder;
  launch::ProgramOp program;
  llvm::SmallVector<KernelOperand> known;
  llvm::SmallVector<mlir::Value> operands; ///< of those
  llvm::SmallVector<mlir::Value> views;
  llvm::SmallVector<tile::GlobalType> viewTypes;
  llvm::SmallVector<Kernel, 0> kernels;
  unsigned numPrologueViews = 0;
  std::optional<Size> roundParameter;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_LAUNCH_LAUNCHPROGRAM_H
