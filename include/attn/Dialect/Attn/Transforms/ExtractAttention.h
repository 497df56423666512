//===- ExtractAttention.h - An attention alone ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_EXTRACTATTENTION_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_EXTRACTATTENTION_H

#include "attn/Dialect/Attn/IR/HeadOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// True for what has kernels of its own: an attention, a linear one, or a
/// backward.
bool isAttention(mlir::Operation *op);

/// Every attention and backward of the module, in its order.
llvm::SmallVector<mlir::Operation *> findAttentions(mlir::ModuleOp module);

/// These, or where there is none every append to a cache, or else every merge.
llvm::SmallVector<mlir::Operation *> findPrograms(mlir::ModuleOp module);

/// A copy of an attention, of a backward, of an append or of a merge, as a
/// function of its own.
struct ExtractedAttention {
  /// With the attributes of the attention's module, and the function in it.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  /// What the function's arguments are around the attention.
  llvm::SmallVector<mlir::Value> arguments;
  /// What its results are: those of the attention, or of what follows it, each
  /// `amax` of that, then pools to which it appends.
  llvm::SmallVector<mlir::Value> results;
  /// What follows the attention that the function has, too: attn.output_mod,
  /// and attn.pack and attn.sum_heads with their destinations.
  llvm::SmallVector<mlir::Operation *> ends;
  /// Behind everything that the function computes or takes, and before every
  /// use of its results.
  mlir::Operation *place;
};

/// Copies `attention` to a function `name`. Its arguments are the tensors that
/// the attention reads, the captures of its regions included; scalars are
/// computed in the function, as far as they follow from tensors and constants.
/// What each attn.output_mod makes of the output is a part of it. With
/// `appends` what is appended to its keys and values before is, too, results
/// are packed as those of `attention` are, and heads of gradients summed: on a
/// GPU kernels of its own program do these.
ExtractedAttention extractAttention(mlir::Operation *attention,
                                    llvm::StringRef name, bool appends);

/// Each attn.sum_heads of a gradient of `attention`, if that is a backward,
/// whose map is there before: kernels on a GPU do it.
llvm::SmallVector<SumHeadsOp> getHeadSums(mlir::Operation *attention);

/// Takes the results of `call` for those of what follows `attention`, or for
/// its own, and erases what follows it.
void replaceResults(mlir::Operation *attention,
                    const ExtractedAttention &extracted, mlir::Operation *call);

/// Takes the results of `call`, one for each of `extracted`, for the pools to
/// which that appends, where they are used behind the call: what it has
/// appended, the next attention reads.
void replacePools(const ExtractedAttention &extracted, mlir::Operation *call);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_EXTRACTATTENTION_H
