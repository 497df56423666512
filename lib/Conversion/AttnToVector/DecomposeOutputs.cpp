//===- DecomposeOutputs.cpp - What follows an attention, as vector code ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecomposeOutputs.h"

#include "InlineMod.h"
#include "TileEmitter.h"

#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// Where the tile of a result goes, so that its rows are written at their
/// place.
static Value createDestination(ImplicitLocOpBuilder &b, OutputModOp op,
                               Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  auto insert =
      result.hasOneUse()
          ? dyn_cast<tensor::ParallelInsertSliceOp>(*result.user_begin())
          : tensor::ParallelInsertSliceOp();
  if (insert)
    return tensor::ExtractSliceOp::create(
        b, type, insert.getDest(), insert.getMixedOffsets(),
        insert.getMixedSizes(), insert.getMixedStrides());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), op.getSource());
  sizes.resize(type.getRank());
  return tensor::EmptyOp::create(b, sizes, type.getElementType());
}

/// What the region yields for `columns` of row `row` of the tile.
static Value emitColumns(ImplicitLocOpBuilder &b, OutputModOp op,
                         TileBuffers &buffers, Value row, Columns columns) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  ValueRange offsets = op.getOffsets();
  Value part = buffers.readRow(b, op.getSource(),
                               {zero, zero, row, columns.begin}, columns.width);
  part = buffers.extend(b, part, getScoreType(op.getSource()));
  auto places = VectorType::get({columns.width}, b.getIndexType());
  Value first = arith::AddIOp::create(b, offsets[kHeadDim], columns.begin);
  Value column = vector::StepOp::create(b, places);
  column = arith::AddIOp::create(b, column,
                                 vector::BroadcastOp::create(b, places, first));
  Value arguments[] = {part, offsets[kBatch], offsets[kHead],
                       arith::AddIOp::create(b, offsets[kSequence], row),
                       column};
  return inlineMod(b, op.getMod(), arguments, columns.width);
}

/// A vector in the type of the elements of the result.
static Value round(ImplicitLocOpBuilder &b, OutputModOp op, Value result) {
  Type element = getElementTypeOrSelf(op.getResult().getType());
  auto type = cast<VectorType>(result.getType());
  if (isFloat8(element))
    return roundToFloat8(b, b.getLoc(), result, cast<FloatType>(element));
  if (type.getElementType().getIntOrFloatBitWidth() <
      element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, type.clone(element), result);
  if (type.getElementType() != element)
    return arith::TruncFOp::create(b, type.clone(element), result);
  return result;
}

/// The larger of `largest` and the magnitudes of `part`; NaN if one is.
static Value emitLargest(ImplicitLocOpBuilder &b, Value largest, Value part) {
  Value magnitudes = math::AbsFOp::create(b, part);
  return vector::ReductionOp::create(b, vector::CombiningKind::MAXIMUMF,
                                     magnitudes, largest);
}

SmallVector<Value> attn::emitOutputMod(OutputModOp op, TileBuffers &buffers) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, number);
  };
  SmallVector<Value> destinations;
  for (Value result : op->getResults())
    destinations.push_back(createDestination(b, op, result));
  Value rows = getValueOrCreateConstantIndexOp(
      b, b.getLoc(), getDim(b, b.getLoc(), op.getSource(), kSequence));
  Value lower = index(0);
  auto loop = scf::ForOp::create(b, lower, rows, index(1), destinations);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value zero = index(0), row = loop.getInductionVar();
  int64_t columns =
      cast<ShapedType>(op.getSource().getType()).getDimSize(kHeadDim);
  // The row, and the largest magnitude so far.
  SmallVector<Value> init = {loop.getRegionIterArgs().front()};
  if (op.getAmax())
    init.push_back(arith::ConstantOp::create(
        b, b.getFloatAttr(getScoreType(op.getSource()), 0.0)));
  auto emit = [&](Columns some, ValueRange before) -> SmallVector<Value> {
    Value part = emitColumns(b, op, buffers, row, some);
    SmallVector<Value> after = {buffers.writeRow(
        b, round(b, op, part), before.front(), {zero, zero, row, some.begin})};
    if (op.getAmax())
      after.push_back(emitLargest(b, before.back(), part));
    return after;
  };
  SmallVector<Value> results = forColumns(b, columns, init, emit);
  if (op.getAmax())
    results.back() =
        tensor::InsertOp::create(b, results.back(), loop.getRegionIterArgs()[1],
                                 ValueRange{zero, zero, row});
  scf::YieldOp::create(b, results);
  return llvm::to_vector_of<Value>(loop.getResults());
}
