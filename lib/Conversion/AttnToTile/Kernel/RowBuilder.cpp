//===- RowBuilder.cpp - The arithmetic of rows that change ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/RowBuilder.h"

#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

RowBuilder::RowBuilder(OpBuilder &builder, Location loc, RowChain chain,
                       const IRMapping &values, Value lane)
    : builder(builder), loc(loc), chain(std::move(chain)), values(values),
      lane(lane),
      type(cast<ShapedType>(this->chain.ops.back()->getResult(0).getType())) {
  shareOutColumns();
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The halves of the pairs of each rotation, and the columns between.
void RowBuilder::shareOutColumns() {
  SmallVector<RotaryLayout> layouts;
  for (Operation *op : chain.ops)
    if (auto rotary = dyn_cast<RotaryOp>(op)) {
      RotaryLayout layout = RotaryLayout::get(rotary);
      if (llvm::none_of(layouts, [&](const RotaryLayout &known) {
            return known.hasPairsOf(layout);
          }))
        layouts.push_back(layout);
    }
  llvm::sort(layouts, [](const RotaryLayout &a, const RotaryLayout &b) {
    return a.begin() < b.begin();
  });
  int64_t next = 0;
  auto skipTo = [&](int64_t column) {
    if (next < column)
      columns.push_back({next, 1, column - next});
  };
  for (const RotaryLayout &layout : layouts) {
    skipTo(layout.begin());
    columns.push_back({layout.first, layout.stride, layout.pairs});
    columns.push_back({layout.second, layout.stride, layout.pairs});
    next = layout.end();
  }
  skipTo(type.getShape().back());
}

size_t RowBuilder::find(int64_t first) const {
  return llvm::find_if(columns,
                       [&](const Columns &c) { return c.first == first; }) -
         columns.begin();
}

Value RowBuilder::getMember(const Columns &columns, size_t number,
                            Value &isThere) {
  auto first = static_cast<int64_t>(number) * kLanes;
  Value member = create<arith::AddIOp>(lane, constant(first));
  isThere = Value();
  if (first + kLanes <= columns.count)
    return member;
  isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                  member, constant(columns.count));
  return create<arith::MinUIOp>(member, constant(columns.count - 1));
}

Value RowBuilder::getColumn(int64_t first, int64_t stride, Value member) {
  Value distance = create<arith::MulIOp>(member, constant(stride));
  return create<arith::AddIOp>(distance, constant(first));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value RowBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value RowBuilder::i64(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

Value RowBuilder::f32(double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

Value RowBuilder::toI64(Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

Value RowBuilder::toF32(Value element) {
  Type f32 = builder.getF32Type();
  if (isa<IntegerType>(element.getType()))
    return arith::SIToFPOp::create(builder, loc, f32, element);
  if (element.getType().getIntOrFloatBitWidth() < 32)
    return arith::ExtFOp::create(builder, loc, f32, element);
  if (element.getType().getIntOrFloatBitWidth() > 32)
    return arith::TruncFOp::create(builder, loc, f32, element);
  return element;
}

Value RowBuilder::extract(Value tensor, ValueRange at) {
  Value source = values.lookup(tensor);
  Type element = cast<tile::GlobalType>(source.getType()).getElementType();
  return toF32(tile::ExtractOp::create(builder, loc, element, source, at));
}

Value RowBuilder::readIf(Value condition, llvm::function_ref<Value()> body) {
  if (!condition)
    return body();
  auto guarded = scf::IfOp::create(builder, loc, builder.getF32Type(),
                                   condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  scf::YieldOp::create(builder, loc, body());
  builder.setInsertionPointToStart(guarded.elseBlock());
  scf::YieldOp::create(builder, loc, f32(0));
  return guarded.getResult(0);
}

void RowBuilder::load(Row &row, llvm::function_ref<Value(Value)> read) {
  for (const Columns &some : columns) {
    SmallVector<Value> &registers = row.registers.emplace_back();
    for (int64_t first = 0; first < some.count; first += kLanes) {
      Value isThere;
      Value member = getMember(some, registers.size(), isThere);
      Value column = getColumn(some.first, some.stride, member);
      registers.push_back(readIf(isThere, [&] { return toF32(read(column)); }));
    }
  }
}

Value RowBuilder::round(Value number) {
  Type element = type.getElementType();
  if (element.isF32())
    return number;
  return arith::TruncFOp::create(builder, loc, element, number);
}

void RowBuilder::store(Row &row, llvm::function_ref<void(Value, Value)> write) {
  for (auto [some, registers] : llvm::zip_equal(columns, row.registers))
    for (auto [number, value] : llvm::enumerate(registers)) {
      OpBuilder::InsertionGuard guard(builder);
      Value isThere, member = getMember(some, number, isThere);
      if (isThere)
        builder.setInsertionPointToStart(
            scf::IfOp::create(builder, loc, isThere).thenBlock());
      Value column = getColumn(some.first, some.stride, member);
      write(column, round(value));
    }
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The row of the tables, i64.
Value RowBuilder::getPosition(const Row &row, RotaryOp op) {
  Value positions = op.getPositions();
  if (!positions)
    return row.place[kSequence];
  auto ids = cast<ShapedType>(positions.getType());
  SmallVector<Value> at = {row.place[kSequence]};
  if (ids.getRank() == 2)
    at.insert(at.begin(), ids.getDimSize(0) == 1 ? i64(0) : row.place[kBatch]);
  Value position = tile::ExtractOp::create(builder, loc, ids.getElementType(),
                                           values.lookup(positions), at);
  if (!position.getType().isInteger(64))
    position =
        arith::ExtSIOp::create(builder, loc, builder.getI64Type(), position);
  int64_t rank = cast<ShapedType>(op.getCos().getType()).getRank();
  Value rows = toI64(
      tile::DimOp::create(builder, loc, values.lookup(op.getCos()), rank - 2));
  return create<arith::MinUIOp>(position, create<arith::SubIOp>(rows, i64(1)));
}

Value RowBuilder::readTable(const Row &row, RotaryOp op, Value table,
                            Value position, Value column) {
  auto tableType = cast<ShapedType>(op.getCos().getType());
  SmallVector<Value> at = {position, toI64(column)};
  if (tableType.getRank() == 3)
    at.insert(at.begin(),
              tableType.getDimSize(0) == 1 ? i64(0) : row.place[kBatch]);
  return extract(table, at);
}

void RowBuilder::turn(Row &row, RotaryOp op) {
  RotaryLayout layout = RotaryLayout::get(op);
  size_t first = find(layout.first), second = find(layout.second);
  Value position = getPosition(row, op);
  for (size_t i = 0; i < row.registers[first].size(); ++i) {
    Value isThere, member = getMember(columns[first], i, isThere);
    auto readPair = [&](Value table) -> std::pair<Value, Value> {
      auto readAt = [&](int64_t start) {
        return readTable(row, op, table, position,
                         getColumn(start, layout.tableStride, member));
      };
      Value own = readAt(layout.tableFirst);
      bool isShared = layout.tableFirst == layout.tableSecond;
      return {own, isShared ? own : readAt(layout.tableSecond)};
    };
    Value &x = row.registers[first][i], &y = row.registers[second][i];
    auto cos = readPair(op.getCos()), sin = readPair(op.getSin());
    std::tie(x, y) = turnPair(builder, loc, x, y, cos, sin, op.getTransposed());
  }
}

void RowBuilder::normalize(Row &row, QkNormOp op) {
  Value sum = f32(0);
  for (ArrayRef<Value> registers : row.registers)
    for (Value value : registers)
      sum = create<arith::AddFOp>(sum, create<arith::MulFOp>(value, value));
  sum = gpu::SubgroupReduceOp::create(
      builder, loc, sum, gpu::AllReduceOperation::ADD, /*uniform=*/true);
  Value scale = buildRowScale(builder, loc, sum, type.getShape().back(),
                              op.getEpsilon().convertToDouble());
  for (auto [some, registers] : llvm::zip_equal(columns, row.registers))
    for (auto [number, value] : llvm::enumerate(registers)) {
      value = create<arith::MulFOp>(value, scale);
      if (!op.getWeight())
        continue;
      Value isThere, member = getMember(some, number, isThere);
      Value weight = extract(op.getWeight(),
                             toI64(getColumn(some.first, some.stride, member)));
      value = create<arith::MulFOp>(value, weight);
    }
}

void RowBuilder::widen(Row &row, DequantizeOp op) {
  if (!op.getDescale())
    return;
  SmallVector<Value> at = {i64(0)};
  if (cast<ShapedType>(op.getDescale().getType()).getRank() == 2) {
    auto heads = [&](Value tensor) {
      return toI64(
          tile::DimOp::create(builder, loc, values.lookup(tensor), kHead));
    };
    // One that no head has is not read, whatever the sizes are.
    Value groups = heads(op.getDescale());
    Value size = create<arith::DivUIOp>(heads(chain.source), groups);
    Value group = create<arith::DivUIOp>(row.place[kHead], size);
    Value last = create<arith::SubIOp>(groups, i64(1));
    at = {row.place[kBatch], create<arith::MinUIOp>(group, last)};
  }
  Value descale = extract(op.getDescale(), at);
  for (SmallVector<Value> &registers : row.registers)
    for (Value &value : registers)
      value = create<arith::MulFOp>(value, descale);
}

/// Rounding keeps the order of magnitudes, so that of the largest is enough.
Value RowBuilder::getLargest(const Row &row) {
  Fragments fragments(builder, loc);
  Value largest = fragments.constant(0);
  for (ArrayRef<Value> registers : row.registers)
    for (Value value : registers)
      largest = create<arith::MaximumFOp>(largest, fragments.absolute(value));
  return toF32(round(largest));
}

void RowBuilder::build(ArrayRef<Place> places, Read read, Write write,
                       Measure measure) {
  SmallVector<Row> rows;
  for (auto [number, place] : llvm::enumerate(places)) {
    rows.push_back({place, {}});
    load(rows.back(),
         [&, number = number](Value column) { return read(number, column); });
  }
  for (Operation *op : chain.ops)
    for (Row &row : rows)
      if (auto rotary = dyn_cast<RotaryOp>(op))
        turn(row, rotary);
      else if (auto norm = dyn_cast<QkNormOp>(op))
        normalize(row, norm);
      else
        widen(row, cast<DequantizeOp>(op));
  for (auto [number, row] : llvm::enumerate(rows)) {
    if (measure)
      measure(number, getLargest(row));
    store(row, [&, number = number](Value column, Value element) {
      write(number, column, element);
    });
  }
}
