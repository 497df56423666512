//===- AttnVerifiers.h - What the verifiers share ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of operands and regions that every attention has, forward or backward,
// whole or tiled; the labels are those of docs/Spec.md. Private to
// lib/Dialect/Attn/IR.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_IR_ATTNVERIFIERS_H
#define LIB_DIALECT_ATTN_IR_ATTNVERIFIERS_H

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

namespace attn {

/// A dimension of an operand, as diagnostics name it.
struct NamedDim {
  llvm::StringRef operand;
  llvm::StringRef dim;
  int64_t size;
};

/// Fails if both sizes are static and differ.
mlir::LogicalResult verifyEqual(mlir::Operation *op, NamedDim a, NamedDim b);

/// Fails unless there is one element of `sink` for each of `heads`.
mlir::LogicalResult verifySinkSize(mlir::Operation *op, mlir::ShapedType sink,
                                   NamedDim heads);

/// Fails unless `type` has the element type `expected`.
mlir::LogicalResult verifyElementType(mlir::Operation *op, llvm::StringRef name,
                                      mlir::Type type, mlir::Type expected);

/// Fails unless the element type of `type` is `element` or `score`.
mlir::LogicalResult verifyElementType(mlir::Operation *op, llvm::StringRef name,
                                      mlir::Type type, mlir::Type element,
                                      mlir::Type score);

/// attention_c22 and c25: the lengths beside views of sequences behind each
/// other, and of pages whose tables are.
mlir::LogicalResult verifyRagged(AttentionOp op);

/// How many sequences `offsets` are of; dynamic where that is not known.
int64_t countSequences(mlir::Value offsets);
mlir::OpFoldResult getNumSequences(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::Value offsets);

/// Of no sequence there is an offset, too.
mlir::LogicalResult verifyOffsets(mlir::Operation *op, mlir::Value offsets);

/// attention_backward_c10: no operand is such a view.
mlir::LogicalResult verifyNoRagged(AttentionBackwardOp op);

/// `type` is [B, Hq, M(, Dv)] of the query and value.
mlir::LogicalResult verifyResultShape(mlir::Operation *op, llvm::StringRef name,
                                      mlir::ShapedType type,
                                      const AttentionDims &dims);

/// The operands of an attention: attention_c2..c6, c9 and c13.
struct AttentionOperands {
  mlir::ShapedType query, key, value;
  /// Null if there is none.
  mlir::ShapedType bias;
  /// Nothing if it is not written.
  std::optional<double> scale;

  template <typename OpTy>
  static AttentionOperands get(OpTy op) {
    auto typeOf = [](mlir::Value value) {
      return value ? mlir::cast<mlir::ShapedType>(value.getType())
                   : mlir::ShapedType();
    };
    AttentionOperands operands{typeOf(op.getQuery()), typeOf(op.getKey()),
                               typeOf(op.getValue()), typeOf(op.getBias()),
                               std::nullopt};
    if (op.getScale())
      operands.scale = op.getScaleValue();
    return operands;
  }
};
mlir::LogicalResult verifyOperands(mlir::Operation *op,
                                   const AttentionOperands &operands);

/// attention_c20: `type` is [1] or [B, Hkv]; sizes may be dynamic.
mlir::LogicalResult verifyDescale(mlir::Operation *op, llvm::StringRef name,
                                  mlir::Type type, int64_t batch,
                                  int64_t keyHeads);

/// attention_c20: the descales of `op`, if there are any.
mlir::LogicalResult verifyDescales(AttentionOp op, const AttentionDims &dims);

/// attention_c21.
mlir::LogicalResult verifyFloat8(AttentionOp op);

/// attention_backward_c11, c12.
mlir::LogicalResult verifyFloat8(AttentionBackwardOp op);

/// Fails unless `type` is of f16, bf16 or f32, as what is computed of `inputs`
/// of 8 bits.
mlir::LogicalResult verifyWideType(mlir::Operation *op, llvm::StringRef name,
                                   mlir::ShapedType type, mlir::Type inputs);

/// attention_c7: the element type of the output, of inputs of `element`.
mlir::LogicalResult verifyOutputType(AttentionOp op, mlir::ShapedType output,
                                     mlir::Type element);

/// attention_c17: the parts of a dropout clause, any of which may be null.
mlir::LogicalResult verifyDropout(mlir::Operation *op, mlir::Value seed,
                                  mlir::Value offset, mlir::FloatAttr rate);

template <typename OpTy>
mlir::LogicalResult verifyDropout(OpTy op) {
  return verifyDropout(op, op.getDropoutSeed(), op.getDropoutOffset(),
                       op.getDropoutRateAttr());
}

/// Fails unless `region` has one block with these argument types that yields
/// `result`.
mlir::LogicalResult verifySignature(mlir::Operation *op, llvm::StringRef name,
                                    mlir::Region &region,
                                    llvm::ArrayRef<mlir::Type> arguments,
                                    mlir::Type result);

/// Fails at an op of the region's block that has side effects.
mlir::LogicalResult verifyPure(llvm::StringRef name, mlir::Region &region);

/// attention_c14: an extract whose index is one of the last arguments of the
/// region, the `coordinates`, stays in the tensor for every value of it.
mlir::LogicalResult verifyReads(llvm::StringRef name, mlir::Region &region,
                                llvm::ArrayRef<NamedDim> coordinates);

/// attention_c15: the block lists that a region looks into are of this problem.
mlir::LogicalResult verifyBlockLists(mlir::Region &region,
                                     const AttentionDims &total);

/// attention_c10..c12, c14 and c15 for one region, which may be empty: it takes
/// what it changes, if `changed` is not null, and the coordinates, which range
/// over `total`.
mlir::LogicalResult verifyMod(mlir::Operation *op, llvm::StringRef name,
                              mlir::Region &region, mlir::Type changed,
                              mlir::Type result, const AttentionDims &total);

/// attention_c23 and c24.
mlir::LogicalResult verifyProbMod(AttentionOp op, const AttentionDims &dims);
/// online_attention_c4 and c5.
mlir::LogicalResult verifyProbMod(OnlineAttentionOp op,
                                  const AttentionDims &dims);

/// attention_c10..c12, c14 and c15 for both regions, either of which may be
/// empty; `total` holds the sizes that the coordinates range over.
mlir::LogicalResult verifyMods(mlir::Operation *op, mlir::Region &scoreMod,
                               mlir::Region &maskMod, mlir::Type scoreType,
                               const AttentionDims &total);

/// Sizes of which nothing is known: the coordinates of a tile are offset.
AttentionDims getUnknownDims();

} // namespace attn

#endif // LIB_DIALECT_ATTN_IR_ATTNVERIFIERS_H
