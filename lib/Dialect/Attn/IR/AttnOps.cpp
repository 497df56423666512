//===- AttnOps.cpp - Operations of the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders, accessors and shapes of the ops. Verifiers, folders, syntax and
// tiling have files of their own.
//
//===----------------------------------------------------------------------===//

#include "AttnSyntax.h"
#include "AttnVerifiers.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace attn;

/// The sizes of `value`, one per dimension.
static SmallVector<OpFoldResult> sizesOf(OpBuilder &builder, Value value) {
  return tensor::getMixedSizes(builder, value.getLoc(), value);
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

void AttentionOp::build(OpBuilder &builder, OperationState &state,
                        Type outputType, Type lseType, Value query, Value key,
                        Value value, Value bias, Value sink,
                        std::optional<double> scale) {
  FloatAttr scaleAttr = scale ? builder.getF64FloatAttr(*scale) : FloatAttr();
  build(builder, state, outputType, lseType, query, key, value, bias, sink,
        /*descales=*/ValueRange(), /*keyLengths=*/Value(),
        /*queryLengths=*/Value(),
        /*dropoutSeed=*/Value(), /*dropoutOffset=*/Value(),
        /*dropoutRate=*/FloatAttr(), scaleAttr,
        /*normalization=*/RowReductionInterface(), /*schedule=*/ScheduleAttr());
}

double AttentionOp::getScaleValue() {
  return attn::getScaleValue(getScale(), getQuery());
}

FloatType AttentionOp::getScoreType() { return attn::getScoreType(getQuery()); }

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> output = sizesOf(builder, getQuery());
  output[kHeadDim] = getDim(builder, getLoc(), getValue(), kHeadDim);
  shapes.push_back(output);
  if (getLse())
    shapes.push_back({output[kBatch], output[kHead], output[kSequence]});
  return success();
}

//===----------------------------------------------------------------------===//
// OnlineAttentionOp
//===----------------------------------------------------------------------===//

double OnlineAttentionOp::getScaleValue() {
  return attn::getScaleValue(getScale(), getQuery());
}

FloatType OnlineAttentionOp::getScoreType() {
  return attn::getScoreType(getQuery());
}

void OnlineAttentionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getAccResult(), "acc");
  ArrayRef<RowValue> kinds = getNormalization().getRowValues();
  for (auto [kind, row] : llvm::zip(kinds, getRowResults()))
    setName(row, kind.name);
}

MutableOperandRange OnlineAttentionOp::getStateMutable() {
  // The state is the last of the operands.
  unsigned count = 1 + getRows().size();
  return MutableOperandRange(*this, getNumOperands() - count, count);
}

RunningState OnlineAttentionOp::getState() {
  return RunningState(getNormalization(),
                      getOperands().take_back(1 + getRows().size()));
}

RunningState OnlineAttentionOp::getStateResult() {
  return RunningState(getNormalization(), getOperation()->getResults());
}

LogicalResult
OnlineAttentionOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  RunningState state = getState();
  for (Value init : state.getValues())
    shapes.push_back(sizesOf(builder, init));
  return success();
}

//===----------------------------------------------------------------------===//
// NormalizeOp, CombineOp, MergeOp
//===----------------------------------------------------------------------===//

double NormalizeOp::getScaleValue() {
  return getScaleAttr() ? getScaleAttr().getValueAsDouble() : 1;
}

RunningState NormalizeOp::getState() {
  return RunningState(getNormalization(),
                      getOperands().take_front(1 + getRows().size()));
}

LogicalResult
NormalizeOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(sizesOf(builder, getAcc()));
  if (getLse())
    shapes.push_back(sizesOf(builder, getRows().front()));
  return success();
}

/// The sizes of one element of a stack.
static SmallVector<OpFoldResult> sizesOfPart(OpBuilder &builder, Value stack) {
  SmallVector<OpFoldResult> sizes = sizesOf(builder, stack);
  sizes.erase(sizes.begin());
  return sizes;
}

RunningState CombineOp::getState() {
  return RunningState(getNormalization(), getOperands());
}

RunningState CombineOp::getStateResult() {
  return RunningState(getNormalization(), getOperation()->getResults());
}

LogicalResult
CombineOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &shapes) {
  for (Value stack : getOperands())
    shapes.push_back(sizesOfPart(builder, stack));
  return success();
}

bool MergeOp::isStacked() {
  return getOutputs().size() == 1 &&
         cast<ShapedType>(getOutputs().front().getType()).getRank() == 5;
}

LogicalResult MergeOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  for (Value part : {getOutputs().front(), getLses().front()})
    shapes.push_back(isStacked() ? sizesOfPart(builder, part)
                                 : sizesOf(builder, part));
  return success();
}

//===----------------------------------------------------------------------===//
// PagedOp
//===----------------------------------------------------------------------===//

LogicalResult PagedOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> pool = sizesOf(builder, getPool());
  SmallVector<OpFoldResult> table = sizesOf(builder, getTable());
  OpFoldResult capacity = affine::makeComposedFoldedAffineApply(
      builder, getLoc(), builder.getAffineSymbolExpr(0) * getPageSize(),
      {table[getEntryDim()]});
  OpFoldResult batches = getOffsets()
                             ? getNumSequences(builder, getLoc(), getOffsets())
                             : table.front();
  shapes.push_back({batches, pool[kHead], capacity, pool[kHeadDim]});
  return success();
}

//===----------------------------------------------------------------------===//
// AppendOp
//===----------------------------------------------------------------------===//

LogicalResult AppendOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  for (Value init : getDpsInits())
    shapes.push_back(sizesOf(builder, init));
  return success();
}

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
