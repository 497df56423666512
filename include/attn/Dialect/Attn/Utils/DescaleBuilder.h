//===- DescaleBuilder.h - What stored numbers stand for ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Descales never touch a tile: those of query and key are a factor of the
// scores, that of the value a factor of the output. New rows of a cache are
// divided by them.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_DESCALEBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_DESCALEBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/Builders.h"

namespace attn {

/// Multiplies what score_mod takes by the descales of query and key, and by the
/// scale, which is 1 then; `op` gets a score_mod if it has none.
void scaleScores(AttentionOp op);

/// Query heads of a key head, an index; null if `descale` is [1], and needs
/// none.
mlir::Value getGroupSize(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value descale, mlir::OpFoldResult queryHeads);

/// The element of `descale`, [1] or [B, Hkv], for a batch and a query head
/// (both index); `group` as getGroupSize gives it.
mlir::Value readDescale(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value descale, mlir::Value batch,
                        mlir::Value queryHead, mlir::Value group);

/// The descale of an attn.normalize whose rows are of one batch and key head.
mlir::Value readDescale(mlir::OpBuilder &builder, NormalizeOp normalize);

/// The part of `descale` for a tile of one batch and heads of one key head, of
/// which `queryHead` is the first: [1] or [1, 1].
mlir::Value sliceDescale(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value descale, mlir::OpFoldResult batch,
                         mlir::OpFoldResult queryHead, mlir::Value group);

/// `number`, f32 or a vector of it, no further than the largest finite number
/// of `to`, f8E4M3FN or f8E5M2, rounded to nearest, ties to even. NaN stays
/// NaN.
mlir::Value roundToFloat8(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value number, mlir::FloatType to);

/// `number`, f16, bf16 or f32, divided by `descale`, f32, in f32, no further
/// than the largest finite number of `to`, f8E4M3FN or f8E5M2, rounded to
/// nearest, ties to even. NaN stays NaN.
mlir::Value quantize(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value number, mlir::Value descale, mlir::Type to);

/// The f32 that a row of the largest magnitude `largest`, an f32, is divided by
/// to be stored in `to`, of 8 bits: see reference::getTokenScale.
mlir::Value buildTokenScale(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value largest, mlir::Type to);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_DESCALEBUILDER_H
