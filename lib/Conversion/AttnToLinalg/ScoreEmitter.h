//===- ScoreEmitter.h - Scores of attention in linalg -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What forward and backward share: the loops of attention and its scores.
//
// The loops are (b, h, i, j, d), or (b, hk, g, i, j, d) where G = Hq / Hkv
// query heads share a key head: the query's head dimension is then expanded to
// [Hkv, G] and that of everything with the query's rows with it, so that every
// indexing map is a projected permutation and upstream transformations apply.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_SCOREEMITTER_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_SCOREEMITTER_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Utils/DropoutBuilder.h"

namespace attn {

/// What the scores of any attention are made of; a view of the op.
struct ScoreInputs {
  mlir::Value query, key, value;
  /// Null if there is none.
  mlir::Value bias;
  /// Global coordinates (b, h, i, j) of the first element; empty: zeros.
  llvm::SmallVector<mlir::Value> offsets;
  mlir::Region *scoreMod;
  mlir::Region *maskMod;
  double scale;
  mlir::FloatType scoreType;
  std::optional<Dropout> dropout;
  RowReductionInterface normalization;
  mlir::Region *probMod = nullptr; ///< of a step; null if there is none

  /// Of an attn.attention or attn.attention_backward.
  template <typename OpTy>
  static ScoreInputs get(OpTy op) {
    return {op.getQuery(),        op.getKey(),       op.getValue(),
            op.getBias(),
            /*offsets=*/{},       &op.getScoreMod(), &op.getMaskMod(),
            op.getScaleValue(),   op.getScoreType(), Dropout::get(op),
            op.getNormalization()};
  }
};

/// `value` as `type`, by arith.extf or arith.truncf; `value` itself if it has
/// that type.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::FloatType type);

mlir::Value constantFloat(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::FloatType type, double value);

mlir::Value negativeInfinity(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::FloatType type);

/// select(condition == `special`, `ifSpecial`, value)
mlir::Value selectIfEqual(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value condition, double special,
                          double ifSpecial, mlir::Value value);

/// A tensor of `sizes` full of `element`.
mlir::Value filled(mlir::OpBuilder &builder, mlir::Location loc,
                   llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   mlir::Value element);

/// A tensor as large as `like`, full of `number`.
mlir::Value filledLike(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value like, mlir::FloatType type, double number);

/// Emits parts of an attention; holds what they share.
class ScoreEmitter {
protected:
  using Value = mlir::Value;
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;
  using BodyFn = llvm::function_ref<Value(mlir::OpBuilder &, mlir::Location,
                                          mlir::ValueRange)>;

  ScoreEmitter(mlir::OpBuilder &builder, mlir::Location loc,
               const ScoreInputs &inputs)
      : builder(builder), loc(loc), inputs(inputs), type(inputs.scoreType) {
    findGroup();
    nameLoops();
    readLengths();
  }

  /// [B, Hq, ...] as [B, Hkv, G, ...] where the heads are grouped.
  Value expandHeads(Value tensor);
  /// The inverse, as `resultType` (null: whatever comes out).
  Value collapseHeads(Value tensor, mlir::Type resultType);

  /// Sizes of the loops over rows: [B, Hq, M] or [B, Hkv, G, M].
  Sizes rowSizes() const;
  llvm::SmallVector<unsigned> rowLoops() const;
  /// The row loops and `last`.
  llvm::SmallVector<unsigned> rowLoopsAnd(unsigned last) const;
  /// The projection of the six (five) loops to `loops`.
  mlir::AffineMap map(llvm::ArrayRef<unsigned> loops) const;
  /// A size of 1 of the bias is broadcast.
  mlir::AffineMap biasMap() const;

  /// A linalg.generic over `loops`; the maps may name those loops only. The
  /// last value the body gets is the element of `init`.
  Value generic(mlir::ValueRange operands, llvm::ArrayRef<mlir::AffineMap> maps,
                Value init, llvm::ArrayRef<unsigned> loops,
                llvm::ArrayRef<unsigned> reductions, BodyFn body);
  /// Global coordinates (b, h, i, j) inside a body whose loops begin with the
  /// row loops and j.
  llvm::SmallVector<Value> coordinates(mlir::OpBuilder &b, mlir::Location l);
  /// What the prob_mod makes of a weight; 0 of 0, which a mask may hide.
  Value emitProbMod(mlir::OpBuilder &b, mlir::Location l, Value p);
  /// `p` times `factor` where dropout keeps the element of the body, else 0;
  /// `p` without dropout.
  Value emitDropout(mlir::OpBuilder &b, mlir::Location l, Value p,
                    double factor);
  /// Clones the body of a score_mod or mask_mod; returns what it yields, or the
  /// copy of its value `wanted`.
  Value inlineMod(mlir::OpBuilder &b, mlir::Region &region,
                  mlir::ValueRange arguments, Value wanted = Value());

  /// `score` after the score_mod, if there is one, at coordinates `at`.
  Value emitScoreMod(mlir::OpBuilder &b, Value score, mlir::ValueRange at);

  /// left right^T over D or Dv, with rows [.., M, d] on the left (expanded) and
  /// [.., N, d] on the right.
  Value emitProducts(Value left, Value right);
  /// Scale and bias, then `change`, of unscaled products.
  Value emitScores(Value products, BodyFn change);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const ScoreInputs &inputs;
  mlir::FloatType type;

  bool grouped = false;
  mlir::OpFoldResult keyHeads, group;
  /// The query, expanded.
  Value query;
  Value lengths[2];
  // Loop numbers; loopG is used only where grouped.
  unsigned loopB, loopH, loopG, loopI, loopJ, loopD;

private:
  void findGroup();
  void nameLoops();
  void readLengths();
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_SCOREEMITTER_H
