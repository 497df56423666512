//===- OutputMods.cpp - What follows an attention, on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

/// The attn.output_mod that takes `tile`; null if there is none.
static OutputModOp getTileMod(Value tile) {
  for (Operation *user : tile.getUsers())
    if (auto mod = dyn_cast<OutputModOp>(user))
      return mod;
  return OutputModOp();
}

void attn::findOutputMods(TiledAttention &attention) {
  Value tile = attention.normalize.getOutput();
  while (OutputModOp mod = getTileMod(tile)) {
    attention.outputMods.push_back(mod);
    tile = mod.getResult();
  }
}

static Value toI32(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
}

StoredTensor KernelScope::getStoredOutput() {
  auto queryTile =
      attention.first.getQuery().getDefiningOp<tensor::ExtractSliceOp>();
  int64_t columns = AttentionDims::get(attention.first).valueDim;
  // The last of several slices may be wider than what is left of V.
  bool hasPadding = columns != attention.getPaddedValueDim() ||
                    columns % attention.getTileDv() != 0;
  bool isPacked = attention.getTileHeads() > 1;
  return {values.lookup(queryTile.getSource()), columns, hasPadding,
          isPacked ? attention.getTilePositions() : 0};
}

/// Rows and columns past the end exist in the tile, but reads must not leave
/// the tensors: they read the last row and column instead.
ModToMap::Coordinates KernelScope::getOutputPlace(Location loc,
                                                  ValueRange place, Value row,
                                                  Value column,
                                                  const StoredTensor &stored) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  Value rows = toI32(builder, loc,
                     tile::DimOp::create(builder, loc, stored.rows, kSequence));
  Value head = toI32(builder, loc, place[kHead]);
  // With pack_gqa the rows of a tile are those of one head after another.
  if (stored.positions > 0) {
    Value positions = number(stored.positions);
    head = arith::AddIOp::create(
        builder, loc, head,
        arith::DivUIOp::create(builder, loc, row, positions));
    row = arith::RemUIOp::create(builder, loc, row, positions);
  }
  row = arith::AddIOp::create(builder, loc,
                              toI32(builder, loc, place[kSequence]), row);
  row = arith::MinSIOp::create(
      builder, loc, row, arith::SubIOp::create(builder, loc, rows, number(1)));
  if (place.size() > kHeadDim)
    column = arith::AddIOp::create(
        builder, loc, toI32(builder, loc, place[kHeadDim]), column);
  if (stored.hasPadding)
    column = arith::MinSIOp::create(builder, loc, column,
                                    number(stored.columns - 1));
  return {toI32(builder, loc, place[kBatch]), head, row, column};
}

/// The largest magnitude of each row of `output`, in all lanes that hold it.
/// What the region makes of columns past the end does not count.
Value KernelScope::buildAmax(OutputModOp op, Value output,
                             const StoredTensor &stored) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op.getLoc();
  auto map = tile::MapOp::create(builder, loc, output.getType(), output);
  Block *body = createMapBody(builder, map);
  Fragments fragments(builder, loc);
  Value magnitude = fragments.absolute(body->getArgument(0));
  if (stored.hasPadding) {
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, body->getArgument(2),
        arith::ConstantIntOp::create(builder, loc, stored.columns, 32));
    magnitude = arith::SelectOp::create(builder, loc, exists, magnitude,
                                        fragments.constant(0));
  }
  tile::YieldOp::create(builder, loc, magnitude);
  builder.setInsertionPointAfter(map);
  return fragments.reduce(tile::Reduction::maximum, map.getResult(), 0.0f);
}

FailureOr<Value> KernelScope::applyOutputMod(OutputModOp op, Value output,
                                             ValueRange place,
                                             const StoredTensor &stored) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op.getLoc();
  auto map = tile::MapOp::create(builder, loc, output.getType(), output);
  Block *body = createMapBody(builder, map);
  FailureOr<Value> element =
      mods.inlineRegion(op.getMod(), body->getArgument(0),
                        getOutputPlace(loc, place, body->getArgument(1),
                                       body->getArgument(2), stored));
  if (failed(element))
    return failure();
  tile::YieldOp::create(builder, loc, *element);
  builder.setInsertionPointAfter(map);
  if (op.getAmax())
    values.map(op.getAmax(), buildAmax(op, map.getResult(), stored));
  return map.getResult();
}

FailureOr<Value> KernelScope::applyOutputMods(ArrayRef<OutputModOp> ops,
                                              Value output, ValueRange place,
                                              const StoredTensor &stored) {
  for (OutputModOp op : ops) {
    FailureOr<Value> changed = applyOutputMod(op, output, place, stored);
    if (failed(changed))
      return failure();
    output = *changed;
  }
  return output;
}
