//===- ModRegions.cpp - Ops of score and mask regions in kernels ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of ModToMap that inlines regions: their ops on scalars, index values
// in 32 bits where these suffice, and what of them is computed once for a row.
//
//===----------------------------------------------------------------------===//

#include "Kernel/ModToMap.h"

#include "Kernel/Fragments.h"
#include "Kernel/RowTerms.h"

#include "attn/Dialect/Attn/IR/ModRegion.h"
#include "attn/Dialect/Attn/Utils/LookupBuilder.h"

using namespace mlir;
using namespace attn;

Value attn::toWidth(OpBuilder &builder, Location loc, Value value,
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

/// Element [at..., position] of a global tensor of i32, with `width` bits.
static Value readEntry(OpBuilder &builder, Location loc, Value source,
                       ArrayRef<Value> at, Value position, unsigned width) {
  SmallVector<Value> indices(at);
  indices.push_back(position);
  for (Value &index : indices)
    index = toWidth(builder, loc, index, 64);
  Value entry = tile::ExtractOp::create(builder, loc, builder.getI32Type(),
                                        source, indices);
  return toWidth(builder, loc, entry, width);
}

Value ModToMap::buildSearch(SegmentOp op, Value position, unsigned width) {
  Location loc = op.getLoc();
  Value source = values.lookup(op.getOffsets());
  Value entries = toWidth(builder, loc,
                          tile::DimOp::create(builder, loc, source, 0), width);
  return buildSegment(builder, loc, entries, position,
                      [&](OpBuilder &inner, Value at) {
                        return readEntry(inner, loc, source, {}, at, width);
                      });
}

/// `at` are the operands (b, h, i, j) as integers.
Value ModToMap::buildSearch(BlockListedOp op, ValueRange at, unsigned width) {
  Location loc = op.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, width);
  };
  SmallVector<Value> row(at.take_front(2));
  auto type = op.getNumBlocks().getType();
  for (auto [dim, position] : llvm::enumerate(row))
    if (type.getDimSize(dim) == 1)
      position = number(0);
  Value rowBlock =
      arith::DivUIOp::create(builder, loc, at[2], number(op.getBlock()[0]));
  Value block =
      arith::DivUIOp::create(builder, loc, at[3], number(op.getBlock()[1]));
  Value count = readEntry(builder, loc, values.lookup(op.getNumBlocks()), row,
                          rowBlock, width);
  row.push_back(rowBlock);
  Value indices = values.lookup(op.getIndices());
  return buildBlockListed(
      builder, loc, count, block, [&](OpBuilder &inner, Value position) {
        return readEntry(inner, loc, indices, row, position, width);
      });
}

/// The bits of an index value in a map.
unsigned ModToMap::getWidth(Value value) {
  return ranges.fits32Bits(value) ? 32 : 64;
}

/// The bits that `op` computes index values in: those of the widest.
unsigned ModToMap::getWidth(Operation &op) {
  unsigned width = ranges.needs64Bits(op) ? 64 : 32;
  auto take = [&](Value value) {
    if (value.getType().isIndex())
      width = std::max(width, getWidth(value));
  };
  llvm::for_each(op.getOperands(), take);
  llvm::for_each(op.getResults(), take);
  return width;
}

/// `source` as the result of `op`, a cast from or to index. An index has the
/// sign of its 64 bits already.
Value ModToMap::buildCast(Operation &op, Value source) {
  Value result = op.getResult(0);
  Type type = result.getType();
  if (isa<arith::IndexCastUIOp>(op) && type.isIndex() &&
      source.getType().getIntOrFloatBitWidth() < 64)
    source = arith::ExtUIOp::create(builder, op.getLoc(), builder.getI64Type(),
                                    source);
  return toWidth(builder, op.getLoc(), source,
                 type.isIndex() ? getWidth(result)
                                : type.getIntOrFloatBitWidth());
}

/// The element of a captured tensor at `indices`.
Value ModToMap::buildRead(tensor::ExtractOp op, ArrayRef<Value> indices) {
  SmallVector<Value> wide = llvm::map_to_vector(indices, [&](Value index) {
    return toWidth(builder, op.getLoc(), index, 64);
  });
  return tile::ExtractOp::create(builder, op.getLoc(), op.getType(),
                                 values.lookup(op.getTensor()), wide);
}

/// Clones one op of a region, with index values as integers of getWidth bits.
LogicalResult ModToMap::cloneOp(Operation &op, IRMapping &mapping) {
  Location loc = op.getLoc();
  unsigned width = getWidth(op);
  auto lookupAsIs = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    return values.lookupOrNull(value);
  };
  auto lookup = [&](Value value) -> Value {
    Value mapped = lookupAsIs(value);
    if (mapped && value.getType().isIndex())
      return toWidth(builder, loc, mapped, width);
    return mapped;
  };
  auto setResult = [&](Value result, Value mapped) {
    if (result.getType().isIndex())
      mapped = toWidth(builder, loc, mapped, getWidth(result));
    mapping.map(result, mapped);
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
    mapping.map(op.getResult(0), buildCast(op, lookupAsIs(op.getOperand(0))));
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> indices =
        llvm::map_to_vector(extract.getIndices(), lookupAsIs);
    mapping.map(extract.getResult(), buildRead(extract, indices));
    return success();
  }
  if (auto size = dyn_cast<tensor::DimOp>(op);
      size && size.getConstantIndex()) {
    Value source = values.lookupOrNull(size.getSource());
    if (!source)
      return size.emitOpError()
             << "expected the size of an operand of the attention";
    setResult(size.getResult(), tile::DimOp::create(builder, loc, source,
                                                    *size.getConstantIndex()));
    return success();
  }
  if (auto segment = dyn_cast<SegmentOp>(op)) {
    setResult(segment.getResult(),
              buildSearch(segment, lookup(segment.getPosition()), width));
    return success();
  }
  if (auto listed = dyn_cast<BlockListedOp>(op)) {
    SmallVector<Value> at =
        llvm::map_to_vector(listed->getOperands().drop_front(2), lookup);
    mapping.map(listed.getResult(), buildSearch(listed, at, width));
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
  for (auto [result, mapped] :
       llvm::zip_equal(op.getResults(), copy->getResults()))
    setResult(result, mapped);
  return success();
}

FailureOr<Value> ModToMap::inlineRegion(Region &region, Value score,
                                        const Coordinates &at) {
  Value coordinates[] = {at.batch, at.head, at.row, at.col};
  return inlineRegion(region, score, ValueRange(coordinates));
}

/// A value of a row in 32 bits; a longer one is cut to the nearest
/// (RowTerms.h).
static Value toRegister(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (type.isF32())
    return value;
  if (type.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
  if (type.isInteger(64))
    value = cutTo32Bits(builder, loc, value);
  return toWidth(builder, loc, value, 32);
}

/// Back from toRegister; index stays in 32 bits.
static Value fromRegister(OpBuilder &builder, Location loc, Value element,
                          Type type) {
  if (!type.isInteger(1))
    return element;
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, element,
                               zero);
}

/// Of a block of keys that whole tiles are part of, the number is that of the
/// tile's first key, for all columns.
void ModToMap::mapKeyBlocks(Region &region, IRMapping &mapping) {
  if (!tile)
    return;
  for (Operation &op : region.front())
    if (std::optional<int64_t> keys = getKeyBlock(&op);
        keys && *keys % tile->columns == 0) {
      Location loc = op.getLoc();
      Value size = arith::ConstantIntOp::create(builder, loc, *keys, 32);
      Value block = arith::DivUIOp::create(builder, loc, tile->first, size);
      mapping.map(op.getResult(0),
                  toWidth(builder, loc, block, getWidth(op.getResult(0))));
    }
}

/// What `value` of a region is for a score, if the region takes one, and
/// coordinates.
FailureOr<Value> ModToMap::inlineValue(Region &region, Value value, Value score,
                                       ValueRange coordinates) {
  Location loc = region.front().getTerminator()->getLoc();
  // Regions come and go: what is known of one says nothing of the next.
  ranges = IndexRanges();
  for (const RowTerm &term : rowTerms)
    if (term.value.getType().isIndex() && !ranges.fits32Bits(term.value))
      ranges.setSaturated(term.value);
  IRMapping mapping;
  SmallVector<Value> arguments;
  if (score)
    arguments.push_back(score);
  for (auto [argument, coordinate] : llvm::zip_equal(
           region.getArguments().take_back(coordinates.size()), coordinates))
    arguments.push_back(
        argument.getType().isIndex()
            ? toWidth(builder, loc, coordinate, getWidth(argument))
            : coordinate);
  mapping.map(region.getArguments(), arguments);
  for (const RowTerm &term : rowTerms)
    if (term.region == &region)
      mapping.map(term.value, fromRegister(builder, loc, term.element,
                                           term.value.getType()));
  mapKeyBlocks(region, mapping);
  auto isKnown = [&](Value known) { return mapping.contains(known); };
  for (Operation *op : getProducers(region, value, isKnown))
    if (failed(cloneOp(*op, mapping)))
      return failure();
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  return values.lookup(value);
}

FailureOr<Value> ModToMap::inlineRegion(Region &region, Value score,
                                        ValueRange coordinates) {
  Value yielded = cast<YieldOp>(region.front().getTerminator()).getValue();
  return inlineValue(region, yielded, score, coordinates);
}

//===----------------------------------------------------------------------===//
// Values of rows
//===----------------------------------------------------------------------===//

/// A fragment of row term `value`.
FailureOr<Value> ModToMap::buildRowTerm(Region &region, Value value,
                                        int64_t rows, Place place) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = value.getLoc();
  Type i32 = builder.getI32Type();
  auto type = tile::FragmentType::getRow(
      rows, value.getType().isF32() ? value.getType() : i32);
  auto map = tile::MapOp::create(builder, loc, type, ValueRange());
  Block *body = createMapBody(builder, map);
  Coordinates at = place(body->getArgument(0));
  Value coordinates[] = {at.batch, at.head, at.row, at.col};
  // A term of rows does not depend on the score.
  Value score;
  if (region.getNumArguments() > std::size(coordinates))
    score =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0f));
  FailureOr<Value> element = inlineValue(region, value, score, coordinates);
  if (failed(element))
    return failure();
  tile::YieldOp::create(builder, loc, toRegister(builder, loc, *element));
  hoistInvariant(map);
  return map.getResult();
}

LogicalResult ModToMap::buildRowTerms(ArrayRef<Region *> regions,
                                      unsigned position, bool ofRowsOnly,
                                      int64_t rows, Place place) {
  SmallVector<RowTerm> terms;
  ranges = IndexRanges();
  rowTerms.clear();
  for (Region *region : regions)
    for (Value value : findRowTerms(*region, position, ofRowsOnly, ranges)) {
      FailureOr<Value> fragment = buildRowTerm(*region, value, rows, place);
      if (failed(fragment))
        return failure();
      terms.push_back({region, value, *fragment, Value()});
    }
  rowTerms = std::move(terms);
  return success();
}

SmallVector<Value> ModToMap::getRowTerms() {
  return llvm::map_to_vector(rowTerms,
                             [](const RowTerm &term) { return term.fragment; });
}

void ModToMap::setRowTerms(ValueRange elements) {
  for (auto [term, element] : llvm::zip_equal(rowTerms, elements))
    term.element = element;
}
