//===- RowOps.cpp - What happens to rows before an attention --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/RowOps.h"

#include "AttnVerifiers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// rotary_c1, qk_norm_c1: a row has columns whose number is known.
static LogicalResult verifyHeadDim(Operation *op, ShapedType source) {
  int64_t headDim = source.getShape().back();
  if (!ShapedType::isDynamic(headDim) && headDim > 0)
    return success();
  return op->emitOpError() << "expected D to be static and positive, got "
                           << source;
}

/// rotary_c2
static LogicalResult verifyColumns(RotaryOp op, int64_t headDim) {
  std::optional<ArrayRef<int64_t>> columns = op.getColumns();
  if (columns && columns->size() != 2)
    return op.emitOpError()
           << "expected columns to be two numbers, the first column that turns "
              "and the first behind, got "
           << columns->size();
  int64_t begin = columns ? (*columns)[0] : 0;
  int64_t end = columns ? (*columns)[1] : headDim;
  if (begin < 0 || begin >= end || end > headDim)
    return op.emitOpError()
           << "expected columns from 0 to D = " << headDim
           << ", at least two of them, got [" << begin << ", " << end << "]";
  if ((end - begin) % 2 != 0)
    return op.emitOpError()
           << "expected an even number of columns that turn, got "
           << end - begin;
  return success();
}

/// `size` is 1 or that of the source's batches.
static LogicalResult verifyBatches(RotaryOp op, StringRef name, int64_t size) {
  int64_t batches =
      cast<ShapedType>(op.getSource().getType()).getDimSize(kBatch);
  if (size == 1)
    return success();
  return verifyEqual(op, {"source", "0", batches}, {name, "0", size});
}

/// rotary_c3
static LogicalResult verifyTables(RotaryOp op) {
  auto table = cast<ShapedType>(op.getCos().getType());
  RotaryLayout layout = RotaryLayout::get(op);
  int64_t width = table.getShape().back();
  if (width != layout.pairs && width != 2 * layout.pairs)
    return op.emitOpError() << "expected tables with " << layout.pairs
                            << " columns, one for each pair, or "
                            << 2 * layout.pairs << ", got " << table;
  auto source = cast<ShapedType>(op.getSource().getType());
  if (table.getRank() == 3 && isPackedRows(source))
    return op.emitOpError() << "expected tables [T, w] beside packed rows "
                               "[rows, H, D], got "
                            << table;
  if (table.getRank() == 3 &&
      failed(verifyBatches(op, "cos", table.getDimSize(0))))
    return failure();
  int64_t rows = table.getShape().end()[-2];
  int64_t needed = source.getDimSize(getRowDim(source));
  if (op.getPositions())
    needed = needed == 0 ? 0 : 1;
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(needed) ||
      rows >= needed)
    return success();
  return op.emitOpError() << "expected tables with at least " << needed
                          << " rows, got " << rows;
}

/// rotary_c4: of packed rows nothing else says where in a sequence they are.
static LogicalResult verifyPositions(RotaryOp op) {
  auto source = cast<ShapedType>(op.getSource().getType());
  bool isPacked = isPackedRows(source);
  if (!op.getPositions())
    return isPacked ? op.emitOpError() << "expected positions [rows] of packed "
                                          "rows [rows, H, D], got none"
                    : success();
  auto positions = cast<ShapedType>(op.getPositions().getType());
  if (positions.getRank() != (isPacked ? 1 : 2))
    return op.emitOpError()
           << "expected positions " << (isPacked ? "[rows]" : "[1 or B, N]")
           << " of a source " << source << ", got " << positions;
  if (!isPacked &&
      failed(verifyBatches(op, "positions", positions.getDimSize(0))))
    return failure();
  unsigned dim = getRowDim(source), last = positions.getRank() - 1;
  return verifyEqual(
      op, {"source", Twine(dim).str(), source.getDimSize(dim)},
      {"positions", Twine(last).str(), positions.getDimSize(last)});
}

LogicalResult RotaryOp::verify() {
  auto source = cast<ShapedType>(getSource().getType());
  if (failed(verifyHeadDim(*this, source)) ||
      failed(verifyColumns(*this, source.getShape().back())) ||
      failed(verifyTables(*this)))
    return failure();
  return verifyPositions(*this);
}

LogicalResult QkNormOp::verify() {
  auto source = cast<ShapedType>(getSource().getType());
  if (failed(verifyHeadDim(*this, source)))
    return failure();
  // qk_norm_c2
  if (getWeight() &&
      failed(
          verifyEqual(*this,
                      {"source", Twine(source.getRank() - 1).str(),
                       source.getShape().back()},
                      {"weight", "0",
                       cast<ShapedType>(getWeight().getType()).getDimSize(0)})))
    return failure();
  if (getWeight() && ShapedType::isDynamic(
                         cast<ShapedType>(getWeight().getType()).getDimSize(0)))
    return emitOpError() << "expected a weight of a static size, got "
                         << getWeight().getType();
  // qk_norm_c3
  if (!getEpsilon().isFinite() || getEpsilon().isNegative())
    return emitOpError() << "expected epsilon to be finite and at least 0, got "
                         << getEpsilon().convertToDouble();
  return success();
}

LogicalResult DequantizeOp::verify() {
  auto source = cast<ShapedType>(getSource().getType());
  auto result = cast<ShapedType>(getResult().getType());
  if (failed(verifyHeadDim(*this, source)))
    return failure();
  // dequantize_c1: an f64 is what a reference makes of any type.
  if (!isByte(source) && !source.getElementType().isF64())
    return emitOpError() << "expected a source of f8E4M3FN, f8E5M2 or i8, got "
                         << source.getElementType();
  if (failed(verifyCompatibleShape(source, result)) ||
      result.isDynamicDim(kHeadDim))
    return emitOpError() << "expected a result of the source's shape, "
                         << source << ", got " << result;
  // dequantize_c2
  if (!getDescale())
    return success();
  auto descale = cast<ShapedType>(getDescale().getType());
  int64_t heads = source.getDimSize(kHead);
  if (descale.getRank() == 1)
    return verifyDescale(*this, "descale", descale, 0, 0);
  int64_t groups = descale.getDimSize(kHead);
  bool isKnown =
      !ShapedType::isDynamic(heads) && !ShapedType::isDynamic(groups);
  if (isKnown && (groups == 0 ? heads != 0 : heads % groups != 0))
    return emitOpError()
           << "expected a descale for each of H / G heads, got H = " << heads
           << " and G = " << groups;
  return verifyEqual(*this, {"source", "0", source.getDimSize(kBatch)},
                     {"descale", "0", descale.getDimSize(kBatch)});
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static LogicalResult reifyRowShapes(OpBuilder &builder, Operation *op,
                                    ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes;
  Value source = getRowSource(op);
  for (int64_t dim = 0, rank = cast<ShapedType>(source.getType()).getRank();
       dim < rank; ++dim)
    sizes.push_back(getDim(builder, op->getLoc(), source, dim));
  shapes.push_back(sizes);
  return success();
}

LogicalResult RotaryOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  return reifyRowShapes(builder, *this, shapes);
}

LogicalResult QkNormOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  return reifyRowShapes(builder, *this, shapes);
}

LogicalResult
DequantizeOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  return reifyRowShapes(builder, *this, shapes);
}

RotaryLayout RotaryLayout::get(RotaryOp op) {
  std::optional<ArrayRef<int64_t>> columns = op.getColumns();
  int64_t begin = columns ? (*columns)[0] : 0;
  int64_t end =
      columns ? (*columns)[1]
              : cast<ShapedType>(op.getSource().getType()).getShape().back();
  RotaryLayout layout;
  layout.pairs = (end - begin) / 2;
  layout.stride = op.getInterleaved() ? 2 : 1;
  int64_t distance = op.getInterleaved() ? 1 : layout.pairs;
  layout.first = begin;
  layout.second = begin + distance;
  bool isOfPairs =
      cast<ShapedType>(op.getCos().getType()).getShape().back() == layout.pairs;
  layout.tableFirst = 0;
  layout.tableSecond = isOfPairs ? 0 : distance;
  layout.tableStride = isOfPairs ? 1 : layout.stride;
  return layout;
}

//===----------------------------------------------------------------------===//
// What lowerings share
//===----------------------------------------------------------------------===//

bool attn::isPackedRows(ShapedType rows) { return rows.getRank() == 3; }

unsigned attn::getRowDim(ShapedType rows) {
  return isPackedRows(rows) ? 0 : unsigned(kSequence);
}

Value attn::getRowSource(Operation *op) {
  if (auto rotary = dyn_cast_or_null<RotaryOp>(op))
    return rotary.getSource();
  if (auto norm = dyn_cast_or_null<QkNormOp>(op))
    return norm.getSource();
  if (auto wide = dyn_cast_or_null<DequantizeOp>(op))
    return wide.getSource();
  return Value();
}

Value attn::skipRowOps(Value tensor) {
  while (Value source = getRowSource(tensor.getDefiningOp()))
    tensor = source;
  return tensor;
}

/// True if a lane that has the pairs of one has those of the other.
static bool fitTogether(const RotaryLayout &a, const RotaryLayout &b) {
  return a.hasPairsOf(b) || a.end() <= b.begin() || b.end() <= a.begin();
}

RowChain RowChain::get(Operation *last) {
  RowChain chain;
  SmallVector<RotaryLayout> layouts;
  for (Operation *op = last; getRowSource(op);
       op = chain.source.getDefiningOp()) {
    if (auto rotary = dyn_cast<RotaryOp>(op)) {
      RotaryLayout layout = RotaryLayout::get(rotary);
      if (!llvm::all_of(layouts, [&](const RotaryLayout &other) {
            return fitTogether(layout, other);
          }))
        break;
      layouts.push_back(layout);
    }
    chain.ops.insert(chain.ops.begin(), op);
    chain.source = getRowSource(op);
  }
  return chain;
}

Operation *attn::getOnlyRowChain(Value rows) {
  Operation *last = rows.getDefiningOp();
  bool isOne = getRowSource(last) &&
               !getRowSource(RowChain::get(last).source.getDefiningOp());
  return isOne ? last : nullptr;
}

std::pair<Value, Value> attn::turnPair(OpBuilder &builder, Location loc,
                                       Value x, Value y,
                                       std::pair<Value, Value> cos,
                                       std::pair<Value, Value> sin,
                                       bool transposed) {
  auto mul = [&](Value a, Value b) -> Value {
    return arith::MulFOp::create(builder, loc, a, b);
  };
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddFOp::create(builder, loc, a, b);
  };
  auto sub = [&](Value a, Value b) -> Value {
    return arith::SubFOp::create(builder, loc, a, b);
  };
  Value ownX = mul(x, cos.first), ownY = mul(y, cos.second);
  if (transposed)
    return {add(ownX, mul(y, sin.second)), sub(ownY, mul(x, sin.first))};
  return {sub(ownX, mul(y, sin.first)), add(ownY, mul(x, sin.second))};
}

Value attn::buildRowScale(OpBuilder &builder, Location loc, Value sum,
                          int64_t columns, double epsilon) {
  Type type = sum.getType();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  };
  Value mean = arith::DivFOp::create(builder, loc, sum,
                                     constant(static_cast<double>(columns)));
  Value square = arith::AddFOp::create(builder, loc, mean, constant(epsilon));
  Value one = constant(1);
  return arith::DivFOp::create(builder, loc, one,
                               math::SqrtOp::create(builder, loc, square));
}

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/RowOps.cpp.inc"
