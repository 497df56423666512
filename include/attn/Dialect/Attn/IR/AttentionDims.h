//===- AttentionDims.h - Names of attention's dimensions -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names the dimensions B, Hq, Hkv, M, N, D, Dv once: everything that needs one
// asks here instead of counting positions in a shape.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTENTIONDIMS_H
#define ATTN_DIALECT_ATTN_IR_ATTENTIONDIMS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace attn {

/// Positions of the dimensions in [B, heads, sequence, head dimension].
enum Dim : unsigned { kBatch = 0, kHead = 1, kSequence = 2, kHeadDim = 3 };

/// Positions of the loops of attention's iteration domain (TilingInterface):
/// batch, query head, query row and, where keys are tiled, key row.
enum Loop : unsigned { kLoopB = 0, kLoopH = 1, kLoopM = 2, kLoopN = 3 };

/// Static sizes of an attention; dynamic ones are ShapedType::kDynamic.
struct AttentionDims {
  int64_t batch;      ///< B
  int64_t queryHeads; ///< Hq
  int64_t keyHeads;   ///< Hkv
  int64_t queryRows;  ///< M
  int64_t keyRows;    ///< N
  int64_t headDim;    ///< D
  int64_t valueDim;   ///< Dv

  /// Reads the sizes off [B,Hq,M,D], [B,Hkv,N,D] and [B,Hkv,N,Dv], taking each
  /// from whichever operand has it static.
  static AttentionDims get(mlir::ShapedType query, mlir::ShapedType key,
                           mlir::ShapedType value);

  /// Sizes of any op with query, key and value operands.
  template <typename OpTy>
  static AttentionDims get(OpTy op) {
    return get(mlir::cast<mlir::ShapedType>(op.getQuery().getType()),
               mlir::cast<mlir::ShapedType>(op.getKey().getType()),
               mlir::cast<mlir::ShapedType>(op.getValue().getType()));
  }
};

/// The value or attribute of dimension `dim` of tensor `value`.
mlir::OpFoldResult getDim(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, unsigned dim);

/// The type of scores and statistics of an attention on `query`: f64 for f64
/// inputs, else f32.
mlir::FloatType getScoreType(mlir::Value query);

/// True for tensors, and elements, of f8E4M3FN and f8E5M2.
bool isFloat8(mlir::Type type);

/// True for those and i8.
bool isByte(mlir::Type type);

/// The element type that weights are rounded to before they meet the values:
/// that of the query, or of the values beside a query of i8.
mlir::Type getWeightType(mlir::Type query, mlir::Type value);

/// The same of any op with query and value operands.
template <typename OpTy>
mlir::Type getWeightType(OpTy op) {
  return getWeightType(op.getQuery().getType(), op.getValue().getType());
}

/// `scale`, or 1/sqrt(D) of `query` (attention_c13).
double getScaleValue(std::optional<llvm::APFloat> scale, mlir::Value query);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_ATTENTIONDIMS_H
