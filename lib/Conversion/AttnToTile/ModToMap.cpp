//===- ModToMap.cpp - Score and mask regions on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModToMap.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include <limits>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// index, i32 or i64 as an integer of `width` bits (sign-extended).
static Value toWidth(OpBuilder &builder, Location loc, Value value,
                     unsigned width) {
  Type type = builder.getIntegerType(width);
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (value.getType().getIntOrFloatBitWidth() > width)
    return arith::TruncIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}

/// True if index arithmetic of `region` could leave 32 bits: coordinates and
/// lengths are below 2^31 and sums of a few of them with constants are compared
/// only, but a product (row * N + col) can be larger.
static bool needs64Bits(Region &region) {
  WalkResult result = region.walk([](Operation *op) {
    if (isa<arith::MulIOp, arith::ShLIOp>(op) &&
        op->getResult(0).getType().isIndex())
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

static bool hasReads(Region &region) {
  return !region.getOps<tensor::ExtractOp>().empty();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Clones one op of a region with index as an integer of `width` bits.
LogicalResult ModToMap::cloneOp(Operation &op, IRMapping &mapping,
                                unsigned width) {
  Location loc = op.getLoc();
  auto lookup = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    Value outer = values.lookupOrNull(value);
    if (outer && outer.getType().isIndex())
      return toWidth(builder, loc, outer, width);
    return outer;
  };
  Type integer = builder.getIntegerType(width);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (!constant.getType().isIndex()) {
      builder.clone(op, mapping);
      return success();
    }
    int64_t number = cast<IntegerAttr>(constant.getValue()).getInt();
    mapping.map(
        constant.getResult(),
        arith::ConstantIntOp::create(builder, loc, number, width).getResult());
    return success();
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Value source = lookup(op.getOperand(0));
    Type type = op.getResult(0).getType();
    unsigned bits = type.isIndex() ? width : type.getIntOrFloatBitWidth();
    mapping.map(op.getResult(0), toWidth(builder, loc, source, bits));
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> indices =
        llvm::map_to_vector(extract.getIndices(), [&](Value index) {
          return toWidth(builder, loc, lookup(index), 64);
        });
    Value source = values.lookup(extract.getTensor());
    mapping.map(extract.getResult(),
                tile::ExtractOp::create(builder, loc, extract.getType(), source,
                                        indices)
                    .getResult());
    return success();
  }
  bool isScalar = isa<arith::ArithDialect, math::MathDialect>(op.getDialect());
  if (!isScalar || op.getNumRegions() != 0)
    return op.emitOpError() << "expected arith, math or tensor.extract in a "
                               "region on the GPU";
  SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), lookup);
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(type.isIndex() ? integer : type);
  Operation *copy = builder.create(
      OperationState(loc, op.getName(), operands, types, op.getAttrs()));
  mapping.map(op.getResults(), copy->getResults());
  return success();
}

FailureOr<Value> ModToMap::inlineRegion(Region &region, Value score,
                                        const Coordinates &at) {
  unsigned width = needs64Bits(region) ? 64 : 32;
  Location loc = region.front().getTerminator()->getLoc();
  IRMapping mapping;
  SmallVector<Value> arguments;
  if (score)
    arguments.push_back(score);
  for (Value coordinate : {at.batch, at.head, at.row, at.col})
    arguments.push_back(toWidth(builder, loc, coordinate, width));
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    if (failed(cloneOp(op, mapping, width)))
      return failure();
  Value result = cast<YieldOp>(region.front().getTerminator()).getValue();
  if (Value mapped = mapping.lookupOrNull(result))
    return mapped;
  return values.lookup(result);
}

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

bool ModToMap::changesScores(OnlineAttentionOp step) {
  return step.getBias() || step.hasScoreMod();
}

/// score + bias[b or 0, h or 0, i or 0, j or 0].
Value ModToMap::applyBias(OnlineAttentionOp step, Value score,
                          const Coordinates &at) {
  Location loc = step.getLoc();
  Value source = step.getBias();
  if (auto slice = source.getDefiningOp<tensor::ExtractSliceOp>())
    source = slice.getSource();
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<Value> indices;
  Value coordinates[] = {at.batch, at.head, at.row, at.col};
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    indices.push_back(
        type.getDimSize(dim) == 1
            ? arith::ConstantIntOp::create(builder, loc, 0, 64).getResult()
            : toWidth(builder, loc, coordinate, 64));
  Value bias = tile::ExtractOp::create(builder, loc, type.getElementType(),
                                       values.lookup(source), indices);
  if (!bias.getType().isF32())
    bias = arith::ExtFOp::create(builder, loc, builder.getF32Type(), bias);
  return arith::AddFOp::create(builder, loc, score, bias);
}

/// Where the tensors end; null where no coordinate has to be kept within.
struct ModToMap::Limits {
  Value lastRow;   ///< of the query
  Value lastKey;   ///< of the tile
  Value keys;      ///< of the tile that exist
  Value positions; ///< query positions of a packed tile; null without packing
};

/// Rows and columns past the end exist in the tile, but reads must not leave
/// the tensors: they use the last row and column instead.
ModToMap::Limits ModToMap::getLimits(OnlineAttentionOp step, Value keysInTile) {
  Location loc = step.getLoc();
  bool reads = step.getBias() || hasReads(step.getScoreMod()) ||
               hasReads(step.getMaskMod());
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Limits limits;
  auto queryType = cast<RankedTensorType>(step.getQuery().getType());
  if (int64_t heads = queryType.getDimSize(kHead); heads > 1) {
    ScheduleAttr schedule = *step.getSchedule();
    limits.positions = arith::ConstantIntOp::create(
        builder, loc, schedule.getTileM() / heads, 32);
  }
  if (reads) {
    auto slice = step.getQuery().getDefiningOp<tensor::ExtractSliceOp>();
    Value query = values.lookup(slice ? slice.getSource() : step.getQuery());
    Value rows = tile::DimOp::create(builder, loc, query, kSequence);
    limits.lastRow = arith::SubIOp::create(
        builder, loc, toWidth(builder, loc, rows, 32), one);
  }
  if (keysInTile)
    limits.keys = toWidth(builder, loc, keysInTile, 32);
  if (reads && keysInTile)
    limits.lastKey = arith::SubIOp::create(builder, loc, limits.keys, one);
  return limits;
}

/// The position of the element at `row` and `col` of the tile, both i32.
ModToMap::Coordinates ModToMap::getCoordinates(Location loc, ValueRange offsets,
                                               Value row, Value col,
                                               const Limits &limits) {
  if (limits.lastKey)
    col = arith::MinSIOp::create(builder, loc, col, limits.lastKey);
  Coordinates at;
  at.batch = offsets[0];
  at.head = offsets[1];
  if (limits.positions) {
    // A packed tile: head after head.
    Value heads = arith::DivUIOp::create(builder, loc, row, limits.positions);
    at.head = arith::AddIOp::create(builder, loc, at.head, heads);
    row = arith::RemUIOp::create(builder, loc, row, limits.positions);
  }
  at.row = arith::AddIOp::create(builder, loc, offsets[2], row);
  if (limits.lastRow)
    at.row = arith::MinSIOp::create(builder, loc, at.row, limits.lastRow);
  at.col = arith::AddIOp::create(builder, loc, offsets[3], col);
  return at;
}

/// The score after `factor`, bias and score_mod.
FailureOr<Value> ModToMap::changeScore(OnlineAttentionOp step, Value score,
                                       double factor, const Coordinates &at) {
  Location loc = step.getLoc();
  if (factor != 1.0) {
    Value scale = arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(static_cast<float>(factor)));
    score = arith::MulFOp::create(builder, loc, score, scale);
  }
  if (step.getBias())
    score = applyBias(step, score, at);
  if (step.hasScoreMod())
    return inlineRegion(step.getScoreMod(), score, at);
  return score;
}

/// The score, or -inf where the mask hides it or column `col` of the tile is
/// past the keys.
FailureOr<Value> ModToMap::hideScore(OnlineAttentionOp step, Value score,
                                     Value col, const Coordinates &at,
                                     const Limits &limits) {
  Location loc = step.getLoc();
  Value visible;
  if (step.hasMaskMod()) {
    FailureOr<Value> mask = inlineRegion(step.getMaskMod(), Value(), at);
    if (failed(mask))
      return failure();
    visible = *mask;
  }
  if (limits.keys) {
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, col, limits.keys);
    visible =
        visible
            ? arith::AndIOp::create(builder, loc, visible, exists).getResult()
            : exists;
  }
  if (!visible)
    return score;
  Value hidden = arith::ConstantOp::create(
      builder, loc,
      builder.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  return arith::SelectOp::create(builder, loc, visible, score, hidden)
      .getResult();
}

FailureOr<Value> ModToMap::apply(OnlineAttentionOp step, Value scores,
                                 double factor, Value keysInTile) {
  if (factor == 1.0 && !changesScores(step) && !step.hasMaskMod() &&
      !keysInTile)
    return scores;
  OpBuilder::InsertionGuard guard(builder);
  Location loc = step.getLoc();
  SmallVector<Value> offsets =
      llvm::map_to_vector(step.getOffsets(), [&](Value offset) {
        return toWidth(builder, loc, values.lookup(offset), 32);
      });
  Limits limits = getLimits(step, keysInTile);
  auto map = tile::MapOp::create(builder, loc, scores.getType(), scores);
  Type i32 = builder.getI32Type();
  Block *body = builder.createBlock(
      &map.getBody(), {}, {builder.getF32Type(), i32, i32}, {loc, loc, loc});
  Value row = body->getArgument(1), col = body->getArgument(2);
  Coordinates at = getCoordinates(loc, offsets, row, col, limits);
  FailureOr<Value> score = changeScore(step, body->getArgument(0), factor, at);
  if (succeeded(score))
    score = hideScore(step, *score, col, at, limits);
  if (failed(score))
    return failure();
  tile::YieldOp::create(builder, loc, *score);
  return map.getResult();
}
