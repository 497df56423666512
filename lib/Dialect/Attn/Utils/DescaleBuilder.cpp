//===- DescaleBuilder.cpp - What stored numbers stand for -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

static bool isOfHeads(Value descale) {
  return cast<ShapedType>(descale.getType()).getRank() == 2;
}

/// floor(head / (Hq / Hkv)), which is floor(head * Hkv / Hq).
static OpFoldResult getKeyHead(OpBuilder &builder, Location loc, Value descale,
                               OpFoldResult queryHead,
                               OpFoldResult queryHeads) {
  OpFoldResult keyHeads = tensor::getMixedSize(builder, loc, descale, kHead);
  AffineExpr head = builder.getAffineSymbolExpr(0),
             all = builder.getAffineSymbolExpr(1),
             keys = builder.getAffineSymbolExpr(2);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, head.floorDiv(all.floorDiv(keys)),
      {queryHead, queryHeads, keyHeads});
}

Value attn::readDescale(OpBuilder &builder, Location loc, Value descale,
                        Value batch, Value queryHead,
                        OpFoldResult queryHeads) {
  if (!isOfHeads(descale)) {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    return tensor::ExtractOp::create(builder, loc, descale, zero);
  }
  Value keyHead = getValueOrCreateConstantIndexOp(
      builder, loc,
      getKeyHead(builder, loc, descale, queryHead, queryHeads));
  return tensor::ExtractOp::create(builder, loc, descale,
                                   ValueRange{batch, keyHead});
}

Value attn::readDescale(OpBuilder &builder, NormalizeOp normalize) {
  Location loc = normalize.getLoc();
  Value descale = normalize.getDescale();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(isOfHeads(descale) ? 2 : 1, zero);
  return tensor::ExtractOp::create(builder, loc, descale, indices);
}

Value attn::sliceDescale(OpBuilder &builder, Location loc, Value descale,
                         OpFoldResult batch, OpFoldResult queryHead,
                         OpFoldResult queryHeads) {
  if (!isOfHeads(descale))
    return descale;
  OpFoldResult one = builder.getIndexAttr(1);
  OpFoldResult keyHead =
      getKeyHead(builder, loc, descale, queryHead, queryHeads);
  return tensor::ExtractSliceOp::create(
      builder, loc, descale, ArrayRef<OpFoldResult>{batch, keyHead},
      ArrayRef<OpFoldResult>{one, one}, ArrayRef<OpFoldResult>{one, one});
}

Value attn::getValueDescale(AttentionOp op) {
  return op.getDescales().empty() ? Value() : op.getDescales()[2];
}

void attn::scaleScores(AttentionOp op) {
  if (op.getDescales().empty())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  OpFoldResult queryHeads = getDim(builder, loc, op.getQuery(), kHead);
  Region &mod = op.getScoreMod();
  if (mod.empty()) {
    addScoreModBlock(builder, loc, mod, op.getScoreType());
    YieldOp::create(builder, loc, mod.getArgument(0));
  }
  builder.setInsertionPointToStart(&mod.front());
  BlockArgument score = mod.getArgument(0);
  Value factors[2];
  for (auto [factor, descale] : llvm::zip(factors, op.getDescales()))
    factor = readDescale(builder, loc, descale, mod.getArgument(1 + kLoopB),
                         mod.getArgument(1 + kLoopH), queryHeads);
  Value factor =
      arith::MulFOp::create(builder, loc, factors[0], factors[1]);
  auto scaled = arith::MulFOp::create(builder, loc, score, factor);
  score.replaceAllUsesExcept(scaled, scaled);
}
