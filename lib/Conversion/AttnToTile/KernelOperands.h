//===- KernelOperands.h - What a kernel reads and writes -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensors that a tiled attention takes from outside its scf.forall, in the
// order of the kernel's parameters, with the names that the manifest gives
// them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNELOPERANDS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNELOPERANDS_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
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
};

/// The parts of one tiled attention (docs/Forms.md).
struct TiledAttention {
  mlir::scf::ForallOp forall;
  OnlineAttentionOp first; ///< any online step: all agree on the operands
  NormalizeOp normalize;
  ScheduleAttr schedule;
  llvm::SmallVector<KernelOperand> operands;

  /// Index among `operands` of the tensor `value`, which must be one.
  unsigned indexOf(mlir::Value value) const;
};

/// Finds the tiled attention of a function. Fails with a diagnostic where the
/// function is not of the tiled form or the target cannot take it.
mlir::FailureOr<TiledAttention> findTiledAttention(mlir::Operation *function);

/// A head dimension as the matrix instructions see it: a multiple of 16.
inline int64_t padHeadDim(int64_t size) { return llvm::alignTo(size, 16); }

/// The type of `operand` as a kernel parameter.
tile::GlobalType getGlobalType(const KernelOperand &operand);

/// What a launcher needs (docs/Manifest.md), in the keys of the JSON form.
mlir::DictionaryAttr buildManifest(TiledAttention &attention,
                                   llvm::StringRef kernelName);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNELOPERANDS_H
