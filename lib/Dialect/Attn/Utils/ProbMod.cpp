//===- ProbMod.cpp - An attention with a prob_mod as two ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/ProbMod.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"
#include "attn/Dialect/Attn/IR/ProbFactor.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace attn;

/// Columns of a product that nobody reads: one step of a tensor core.
static constexpr int64_t kUnreadColumns = 16;

Value attn::getValueOfLse(OpBuilder &builder, AttentionOp op) {
  Value key = op.getKey();
  bool isView =
      isa_and_present<PagedOp, AppendOp, RaggedOp>(key.getDefiningOp());
  int64_t columns = std::min(AttentionDims::get(op).headDim, kUnreadColumns);
  // Nothing has no slices.
  bool isEmpty =
      llvm::is_contained(cast<ShapedType>(key.getType()).getShape(), 0);
  if (isView || isEmpty || AttentionDims::get(op).valueDim <= columns)
    return op.getValue();
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0)),
      strides(4, builder.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(builder, op.getLoc(), key);
  sizes[kHeadDim] = builder.getIndexAttr(columns);
  SmallVector<int64_t> shape(cast<ShapedType>(key.getType()).getShape());
  shape[kHeadDim] = columns;
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(key));
  return tensor::ExtractSliceOp::create(builder, op.getLoc(), type, key,
                                        offsets, sizes, strides);
}

AttentionOp attn::buildLseAttention(OpBuilder &builder, AttentionOp op,
                                    Value value) {
  auto output = cast<RankedTensorType>(op.getOutput().getType());
  SmallVector<int64_t> shape(output.getShape());
  auto lse =
      RankedTensorType::get(ArrayRef(shape).drop_back(), op.getScoreType());
  shape[kHeadDim] = cast<ShapedType>(value.getType()).getDimSize(kHeadDim);
  auto made = AttentionOp::create(
      builder, op.getLoc(),
      RankedTensorType::get(shape, output.getElementType()), lse, op.getQuery(),
      op.getKey(), value, op.getBias(), op.getSink(), op.getDescales(),
      op.getKeyLengths(), op.getQueryLengths(), /*dropoutSeed=*/Value(),
      /*dropoutOffset=*/Value(), /*dropoutRate=*/FloatAttr(), op.getScaleAttr(),
      op.getNormalizationAttr(), op.getScheduleAttr());
  IRMapping mapping;
  op.getScoreMod().cloneInto(&made.getScoreMod(), mapping);
  op.getMaskMod().cloneInto(&made.getMaskMod(), mapping);
  return made;
}

/// What `mod` yields for `arguments`, computed where the builder is.
static Value inlineMod(OpBuilder &builder, Region &mod, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(mod.getArguments(), arguments);
  for (Operation &op : mod.front().without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(mod.front().getTerminator()->getOperand(0));
}

/// True in a row without keys.
static Value buildIsEmpty(ImplicitLocOpBuilder &b, Value lse) {
  auto type = cast<FloatType>(lse.getType());
  Value none = arith::ConstantOp::create(
      b, b.getFloatAttr(type, -std::numeric_limits<double>::infinity()));
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, lse, none);
}

/// Subtracts lse[b, h, i] from the scores of `op`, in rows with keys.
static void shiftScores(AttentionOp op, Value lse) {
  Region &mod = op.getScoreMod();
  if (mod.empty()) {
    OpBuilder builder(op.getContext());
    Block *block =
        addScoreModBlock(builder, op.getLoc(), mod, op.getScoreType());
    auto b = ImplicitLocOpBuilder::atBlockEnd(op.getLoc(), block);
    YieldOp::create(b, block->getArgument(0));
  }
  Operation *yield = mod.front().getTerminator();
  ImplicitLocOpBuilder b(op.getLoc(), yield);
  ValueRange at = mod.getArguments().drop_front();
  Value own = tensor::ExtractOp::create(b, lse, at.drop_back());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(op.getScoreType()));
  Value shift = arith::SelectOp::create(b, buildIsEmpty(b, own), zero, own);
  yield->setOperand(0, arith::SubFOp::create(b, yield->getOperand(0), shift));
}

Value attn::buildWeightLse(OpBuilder &builder, AttentionOp op, Value lse) {
  if (op.getSink() || (!op.getBias() && !op.hasScoreMod()))
    return lse;
  shiftScores(op, lse);
  return buildLseAttention(builder, op, getValueOfLse(builder, op)).getLse();
}

void attn::buildWeightMod(AttentionOp op, Value lse, Region &scoreMod) {
  OpBuilder builder(op.getContext());
  Block *block =
      addScoreModBlock(builder, op.getLoc(), scoreMod, op.getScoreType());
  auto b = ImplicitLocOpBuilder::atBlockEnd(op.getLoc(), block);
  Value score = block->getArgument(0);
  ValueRange at = block->getArguments().drop_front();
  if (op.hasScoreMod())
    score = inlineMod(b, op.getScoreMod(), block->getArguments());
  Value own = tensor::ExtractOp::create(b, lse, at.drop_back());
  Value probability =
      math::ExpOp::create(b, arith::SubFOp::create(b, score, own));
  SmallVector<Value> arguments = {probability};
  llvm::append_range(arguments, at);
  Value weight = inlineMod(b, op.getProbMod(), arguments);
  // What is computed of such a row is NaN.
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(op.getScoreType()));
  YieldOp::create(
      b, arith::SelectOp::create(b, buildIsEmpty(b, own), zero, weight));
}

/// Replaces `op` by attentions without a prob_mod.
static void decompose(AttentionOp op) {
  OpBuilder builder(op);
  AttentionOp rows = buildLseAttention(builder, op, getValueOfLse(builder, op));
  Value lse = buildWeightLse(builder, op, rows.getLse());
  auto made = AttentionOp::create(
      builder, op.getLoc(), op.getOutput().getType(), /*lse=*/Type(),
      op.getQuery(), op.getKey(), op.getValue(), op.getBias(), /*sink=*/Value(),
      op.getDescales(), op.getKeyLengths(), op.getQueryLengths(),
      op.getDropoutSeed(), op.getDropoutOffset(), op.getDropoutRateAttr(),
      op.getScaleAttr(), NoneAttr::get(op.getContext()), op.getScheduleAttr());
  buildWeightMod(op, lse, made.getScoreMod());
  IRMapping mapping;
  op.getMaskMod().cloneInto(&made.getMaskMod(), mapping);
  op.getOutput().replaceAllUsesWith(made.getOutput());
  if (op.getLse())
    op.getLse().replaceAllUsesWith(rows.getLse());
  op.erase();
}

bool attn::isOfSteps(AttentionOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  bool isSmallCache =
      schedule && schedule.getValues().kind == ScheduleKind::SmallCache;
  return isProbFactor(op.getProbMod()) && !isSmallCache;
}

unsigned attn::decomposeProbMods(Operation *root, bool keepsOfSteps) {
  SmallVector<AttentionOp> found;
  root->walk([&](AttentionOp op) {
    if (op.hasProbMod() && !(keepsOfSteps && isOfSteps(op)))
      found.push_back(op);
  });
  llvm::for_each(found, decompose);
  return found.size();
}

LogicalResult attn::verifyNoProbMod(AttentionOp op) {
  if (!op.hasProbMod() || isOfSteps(op))
    return success();
  return op.emitOpError() << "expected no prob_mod but a factor behind "
                             "--attn-decompose-prob-mod";
}
