//===- RowKernel.cpp - The kernel that turns and normalises -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp for each row. Its lanes share out the columns so that both of a pair
// are a lane's: then a rotation is arithmetic on registers, and a norm is one
// sum over the lanes.
//
//===----------------------------------------------------------------------===//

#include "Kernel/RowChains.h"
#include "Launch/ElementKernel.h"
#include "Launch/PrologueKernels.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

namespace {
/// Columns `first + m * stride`, of which lane l has those with m mod 32 = l.
struct Columns {
  int64_t first, stride, count;
  SmallVector<Value> registers; ///< f32; 0 of m past the end
};

class RowKernelBuilder : ElementKernel {
public:
  RowKernelBuilder(OpBuilder &builder, TiledAttention &attention,
                   Operation *last)
      : ElementKernel(builder, attention, last->getLoc()),
        chain(RowChain::get(last)), result(last->getResult(0)) {}

  LogicalResult build(StringRef name);

private:
  void shareOutColumns();
  void load();
  void turn(RotaryOp op);
  void normalize(QkNormOp op);
  void store();

  Value getPosition(RotaryOp op);
  Value readTable(RotaryOp op, Value table, Value position, Value column);

  Value i64(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  }
  Value f32(double value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  /// The element of a tensor as f32.
  Value read(Value tensor, ValueRange at);
  /// `number * 32 + lane`, or the last of `columns`.
  Value getMember(const Columns &columns, size_t number, Value &isThere);
  Value getColumn(int64_t first, int64_t stride, Value member);
  /// The place of a column of the row.
  SmallVector<Value> at(Value column);
  Columns &find(int64_t first);
  /// 0 where `condition`, which may be null, does not hold.
  Value readIf(Value condition, llvm::function_ref<Value()> body);

  RowChain chain;
  Value result;
  SmallVector<Columns> all;
  SmallVector<Value> row; ///< batch, head and position, i64
  Value lane;
};
} // namespace

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The halves of the pairs of each rotation, and the columns between.
void RowKernelBuilder::shareOutColumns() {
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
      all.push_back({next, 1, column - next, {}});
  };
  for (const RotaryLayout &layout : layouts) {
    skipTo(layout.begin());
    all.push_back({layout.first, layout.stride, layout.pairs, {}});
    all.push_back({layout.second, layout.stride, layout.pairs, {}});
    next = layout.end();
  }
  skipTo(cast<ShapedType>(result.getType()).getDimSize(kHeadDim));
}

Columns &RowKernelBuilder::find(int64_t first) {
  return *llvm::find_if(
      all, [&](const Columns &columns) { return columns.first == first; });
}

Value RowKernelBuilder::getMember(const Columns &columns, size_t number,
                                  Value &isThere) {
  auto first = static_cast<int64_t>(number) * kLanes;
  Value member = create<arith::AddIOp>(lane, constant(first));
  isThere = Value();
  if (first + kLanes <= columns.count)
    return member;
  isThere = isBelow(member, constant(columns.count));
  return create<arith::MinUIOp>(member, constant(columns.count - 1));
}

Value RowKernelBuilder::getColumn(int64_t first, int64_t stride, Value member) {
  Value distance = create<arith::MulIOp>(member, constant(stride));
  return toI64(create<arith::AddIOp>(distance, constant(first)));
}

SmallVector<Value> RowKernelBuilder::at(Value column) {
  SmallVector<Value> place(row);
  place.push_back(column);
  return place;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value RowKernelBuilder::read(Value tensor, ValueRange at) {
  Value source = values.lookup(tensor);
  Type type = cast<tile::GlobalType>(source.getType()).getElementType();
  Value element = tile::ExtractOp::create(builder, loc, type, source, at);
  Type f32 = builder.getF32Type();
  if (type.getIntOrFloatBitWidth() < 32)
    return arith::ExtFOp::create(builder, loc, f32, element);
  if (type.getIntOrFloatBitWidth() > 32)
    return arith::TruncFOp::create(builder, loc, f32, element);
  return element;
}

void RowKernelBuilder::load() {
  for (Columns &columns : all)
    for (int64_t first = 0; first < columns.count; first += kLanes) {
      Value isThere;
      Value member = getMember(columns, columns.registers.size(), isThere);
      Value column = getColumn(columns.first, columns.stride, member);
      columns.registers.push_back(
          readIf(isThere, [&] { return read(chain.source, at(column)); }));
    }
}

Value RowKernelBuilder::readIf(Value condition,
                               llvm::function_ref<Value()> body) {
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

void RowKernelBuilder::store() {
  Type type = cast<ShapedType>(result.getType()).getElementType();
  for (const Columns &columns : all)
    for (auto [number, value] : llvm::enumerate(columns.registers)) {
      Value isThere;
      Value member = getMember(columns, number, isThere);
      onlyIf(isThere, [&, value = value] {
        Value element = value;
        if (!type.isF32())
          element = arith::TruncFOp::create(builder, loc, type, element);
        Value column = getColumn(columns.first, columns.stride, member);
        tile::InsertOp::create(builder, loc, element, values.lookup(result),
                               at(column));
      });
    }
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The row of the tables, i64.
Value RowKernelBuilder::getPosition(RotaryOp op) {
  Value positions = op.getPositions();
  if (!positions)
    return row[kSequence];
  auto type = cast<ShapedType>(positions.getType());
  Value batch = type.getDimSize(0) == 1 ? i64(0) : row[kBatch];
  Value position = tile::ExtractOp::create(builder, loc, type.getElementType(),
                                           values.lookup(positions),
                                           ValueRange{batch, row[kSequence]});
  if (!position.getType().isInteger(64))
    position =
        arith::ExtSIOp::create(builder, loc, builder.getI64Type(), position);
  int64_t rank = cast<ShapedType>(op.getCos().getType()).getRank();
  Value rows = toI64(getSize(op.getCos(), rank - 2));
  return create<arith::MinUIOp>(position, create<arith::SubIOp>(rows, i64(1)));
}

Value RowKernelBuilder::readTable(RotaryOp op, Value table, Value position,
                                  Value column) {
  auto type = cast<ShapedType>(op.getCos().getType());
  SmallVector<Value> place = {position, column};
  if (type.getRank() == 3)
    place.insert(place.begin(), type.getDimSize(0) == 1 ? i64(0) : row[kBatch]);
  return read(table, place);
}

void RowKernelBuilder::turn(RotaryOp op) {
  RotaryLayout layout = RotaryLayout::get(op);
  Columns &first = find(layout.first), &second = find(layout.second);
  Value position = getPosition(op);
  for (size_t i = 0; i < first.registers.size(); ++i) {
    Value isThere, member = getMember(first, i, isThere);
    auto readPair = [&](Value table) -> std::pair<Value, Value> {
      auto readAt = [&](int64_t start) {
        return readTable(op, table, position,
                         getColumn(start, layout.tableStride, member));
      };
      Value own = readAt(layout.tableFirst);
      bool isShared = layout.tableFirst == layout.tableSecond;
      return {own, isShared ? own : readAt(layout.tableSecond)};
    };
    std::tie(first.registers[i], second.registers[i]) = turnPair(
        builder, loc, first.registers[i], second.registers[i],
        readPair(op.getCos()), readPair(op.getSin()), op.getTransposed());
  }
}

void RowKernelBuilder::normalize(QkNormOp op) {
  Value sum = f32(0);
  for (const Columns &columns : all)
    for (Value value : columns.registers)
      sum = create<arith::AddFOp>(sum, create<arith::MulFOp>(value, value));
  sum = gpu::SubgroupReduceOp::create(
      builder, loc, sum, gpu::AllReduceOperation::ADD, /*uniform=*/true);
  int64_t headDim = cast<ShapedType>(result.getType()).getDimSize(kHeadDim);
  Value scale = buildRowScale(builder, loc, sum, headDim,
                              op.getEpsilon().convertToDouble());
  for (Columns &columns : all)
    for (auto [number, value] : llvm::enumerate(columns.registers)) {
      value = create<arith::MulFOp>(value, scale);
      if (!op.getWeight())
        continue;
      Value isThere, member = getMember(columns, number, isThere);
      Value weight = read(op.getWeight(),
                          getColumn(columns.first, columns.stride, member));
      value = create<arith::MulFOp>(value, weight);
    }
}

LogicalResult RowKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(beginKernel(name, kPrologueWarps)))
    return failure();
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kPrologueWarps);
  lane = warp.lane;
  Value count = getSize(chain.source, kBatch);
  for (unsigned dim : {kHead, kSequence})
    count = create<arith::MulIOp>(count, getSize(chain.source, dim));
  // The last CTA may have more warps than there are rows.
  onlyIf(isBelow(warp.number, count), [&] {
    for (Value index :
         getIndices(warp.number, values.lookup(chain.source), kHeadDim))
      row.push_back(toI64(index));
    shareOutColumns();
    load();
    for (Operation *op : chain.ops)
      if (auto rotary = dyn_cast<RotaryOp>(op))
        turn(rotary);
      else
        normalize(cast<QkNormOp>(op));
    store();
  });
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildRowKernel(OpBuilder &builder,
                                   TiledAttention &attention, Operation *last,
                                   StringRef name) {
  return RowKernelBuilder(builder, attention, last).build(name);
}
