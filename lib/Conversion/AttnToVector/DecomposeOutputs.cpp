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

/// Where the tile goes, so that its rows are written at their place.
static Value createDestination(ImplicitLocOpBuilder &b, OutputModOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto insert = op.getResult().hasOneUse()
                    ? dyn_cast<tensor::ParallelInsertSliceOp>(*op->user_begin())
                    : tensor::ParallelInsertSliceOp();
  if (insert)
    return tensor::ExtractSliceOp::create(
        b, type, insert.getDest(), insert.getMixedOffsets(),
        insert.getMixedSizes(), insert.getMixedStrides());
  return tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), op.getSource()),
      type.getElementType());
}

/// `columns` of row `row` of the tile, in the type of the result.
static Value emitColumns(ImplicitLocOpBuilder &b, OutputModOp op,
                         TileBuffers &buffers, Value row, Columns columns) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  ValueRange offsets = op.getOffsets();
  Value part = buffers.readRow(b, op.getSource(),
                               {zero, zero, row, columns.begin}, columns.width);
  part = buffers.extend(b, part, getScoreType(op.getSource()));
  auto places = VectorType::get({columns.width}, b.getIndexType());
  Value first = arith::AddIOp::create(b, offsets[kHeadDim], columns.begin);
  Value column =
      arith::AddIOp::create(b, vector::StepOp::create(b, places),
                            vector::BroadcastOp::create(b, places, first));
  Value arguments[] = {part, offsets[kBatch], offsets[kHead],
                       arith::AddIOp::create(b, offsets[kSequence], row),
                       column};
  Value result = inlineMod(b, op.getMod(), arguments, columns.width);
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

Value attn::emitOutputMod(OutputModOp op, TileBuffers &buffers) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, number);
  };
  Value destination = createDestination(b, op);
  Value rows = getValueOrCreateConstantIndexOp(
      b, b.getLoc(), getDim(b, b.getLoc(), op.getSource(), kSequence));
  auto loop = scf::ForOp::create(b, index(0), rows, index(1), destination);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  int64_t columns =
      cast<ShapedType>(op.getSource().getType()).getDimSize(kHeadDim);
  auto emit = [&](Columns some, ValueRange result) -> SmallVector<Value> {
    Value part = emitColumns(b, op, buffers, row, some);
    Value zero = index(0);
    return {buffers.writeRow(b, part, result.front(),
                             {zero, zero, row, some.begin})};
  };
  scf::YieldOp::create(
      b, forColumns(b, columns, loop.getRegionIterArgs().front(), emit));
  return loop.getResult(0);
}
