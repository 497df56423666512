//===- RowOps.cpp - What happens to rows before an attention, in linalg ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads in parallel: the rows of a head are a matrix [N, D]. A rotation is two
// generics over slices of its columns, which have no branch and no gather.
//
//===----------------------------------------------------------------------===//

#include "RowOps.h"

#include "Ragged.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

using Sizes = SmallVector<OpFoldResult>;

/// `value` in `type`, wider or narrower.
static Value convert(OpBuilder &b, Location loc, Value value, Type type) {
  if (isa<IntegerType>(value.getType()))
    return arith::SIToFPOp::create(b, loc, type, value);
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return arith::ExtFOp::create(b, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(b, loc, type, value);
  Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  return arith::TruncFOp::create(b, loc, type, wide);
}

//===----------------------------------------------------------------------===//
// Heads in parallel
//===----------------------------------------------------------------------===//

namespace {
/// What the ops share: `emit` takes the rows of each head, (batch, head), or
/// (head) of packed rows, to those of the result.
class RowEmitter {
public:
  RowEmitter(OpBuilder &builder, Operation *op)
      : b(op->getLoc(), builder), source(getRowSource(op)),
        element(getElementTypeOrSelf(op->getResult(0).getType())),
        type(getScoreType(source)) {}

protected:
  Value emit(function_ref<Value(Value rows, Value into, ValueRange head)> body);

  /// `into`, with what `math` makes of elements of `inputs` in the score type.
  Value map(ValueRange inputs, ArrayRef<AffineMap> maps, Value into,
            function_ref<Value(OpBuilder &, Location, ValueRange)> math);

  AffineMap identity() { return b.getMultiDimIdentityMap(2); }
  AffineMap dims(ArrayRef<unsigned> positions) {
    return AffineMap::getMultiDimMapWithTargets(2, positions, b.getContext());
  }
  OpFoldResult index(int64_t value) { return b.getIndexAttr(value); }

  ImplicitLocOpBuilder b;
  Value source;
  Type element, type; ///< of the result, and to compute in
  OpFoldResult numRows;
  int64_t headDim = 0;
};
} // namespace

Value RowEmitter::emit(
    function_ref<Value(Value rows, Value into, ValueRange head)> body) {
  auto tensor = cast<RankedTensorType>(source.getType());
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), source);
  bool isPacked = isPackedRows(tensor);
  unsigned rowDim = getRowDim(tensor);
  numRows = sizes[rowDim];
  headDim = tensor.getShape().back();
  Value init = tensor::EmptyOp::create(b, sizes, element);
  ArrayRef<OpFoldResult> heads = ArrayRef(sizes).take_front(2);
  if (isPacked)
    heads = heads.drop_front();
  auto forall = scf::ForallOp::create(b, heads, ValueRange(init),
                                      /*mapping=*/std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    SmallVector<Value> head = forall.getInductionVars();
    Sizes offsets(sizes.size(), index(0)), one(sizes.size(), index(1));
    Sizes strides(sizes.size(), index(1));
    for (auto [i, number] : llvm::enumerate(head))
      offsets[isPacked ? unsigned(kHead) : i] = number;
    one[rowDim] = numRows;
    one.back() = index(headDim);
    auto slice = [&](Value whole) -> Value {
      auto matrix =
          RankedTensorType::get({tensor.getDimSize(rowDim), headDim},
                                getElementTypeOrSelf(whole.getType()));
      return tensor::ExtractSliceOp::create(b, matrix, whole, offsets, one,
                                            strides);
    };
    Value rows = slice(source);
    Value result = body(rows, slice(forall.getRegionIterArgs()[0]), head);
    b.setInsertionPointToEnd(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(
        b, result, forall.getRegionIterArgs()[0], offsets, one, strides);
  }
  Value result = forall.getResult(0);
  auto type = tensor.clone(element);
  if (result.getType() != type)
    result = tensor::CastOp::create(b, type, result);
  return result;
}

Value RowEmitter::map(
    ValueRange inputs, ArrayRef<AffineMap> maps, Value into,
    function_ref<Value(OpBuilder &, Location, ValueRange)> math) {
  SmallVector<AffineMap> all(maps);
  all.push_back(identity());
  utils::IteratorType loops[] = {utils::IteratorType::parallel,
                                 utils::IteratorType::parallel};
  return linalg::GenericOp::create(
             b, TypeRange(into.getType()), inputs, ValueRange(into), all, loops,
             [&](OpBuilder &nested, Location loc, ValueRange arguments) {
               SmallVector<Value> wide;
               for (Value argument : arguments.drop_back())
                 wide.push_back(convert(nested, loc, argument, type));
               Value result = math(nested, loc, wide);
               linalg::YieldOp::create(nested, loc,
                                       convert(nested, loc, result, element));
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// attn.rotary
//===----------------------------------------------------------------------===//

namespace {
class RotaryEmitter : RowEmitter {
public:
  RotaryEmitter(OpBuilder &builder, RotaryOp op)
      : RowEmitter(builder, op), op(op), layout(RotaryLayout::get(op)) {}

  Value run();

private:
  Value gatherRows(Value table);
  Value sliceTable(Value table, Value batch, int64_t first);
  Value sliceColumns(Value rows, int64_t first);
  Value insertColumns(Value columns, Value rows, int64_t first);
  Value turn(Value rows, Value into, Value batch);

  RotaryOp op;
  RotaryLayout layout;
  Value cos, sin; ///< [1 or B, N, w], or [.., w] of more rows
};
} // namespace

/// The rows of a table that positions say, [1 or B, N, w].
Value RotaryEmitter::gatherRows(Value table) {
  Value positions = op.getPositions();
  auto type = cast<RankedTensorType>(table.getType());
  bool isOfBatches = type.getRank() == 3;
  auto positionsType = cast<RankedTensorType>(positions.getType());
  auto rowType = cast<RankedTensorType>(source.getType());
  bool isPacked = isPackedRows(rowType);
  // One for all, or each batch its own.
  bool isShared = isPacked || (positionsType.getDimSize(0) == 1 &&
                               (!isOfBatches || type.getDimSize(0) == 1));
  OpFoldResult batches =
      isShared ? index(1) : tensor::getMixedSize(b, b.getLoc(), source, kBatch);
  int64_t width = type.getShape().back();
  auto gathered =
      RankedTensorType::get({isShared ? 1 : rowType.getDimSize(kBatch),
                             rowType.getDimSize(getRowDim(rowType)), width},
                            type.getElementType());
  Value rows = getValueOrCreateConstantIndexOp(
      b, b.getLoc(),
      tensor::getMixedSize(b, b.getLoc(), table, type.getRank() - 2));
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value last = arith::SubIOp::create(b, rows, one);
  return emitElements(
      b, b.getLoc(), gathered, {batches, numRows, index(width)},
      [&](OpBuilder &nested, Location loc, ValueRange at) {
        auto batchOf = [&](ShapedType of) {
          return of.getDimSize(0) == 1 ? zero : at[0];
        };
        SmallVector<Value> row = {at[1]};
        if (!isPacked)
          row.insert(row.begin(), batchOf(positionsType));
        Value position = tensor::ExtractOp::create(nested, loc, positions, row);
        position = arith::IndexCastOp::create(nested, loc,
                                              nested.getIndexType(), position);
        position = arith::MinUIOp::create(nested, loc, position, last);
        SmallVector<Value> place = {position, at[2]};
        if (isOfBatches)
          place.insert(place.begin(), batchOf(type));
        Value entry = tensor::ExtractOp::create(nested, loc, table, place);
        linalg::YieldOp::create(nested, loc, entry);
      });
}

/// The columns of the table for one column of each pair, [N, pairs].
Value RotaryEmitter::sliceTable(Value table, Value batch, int64_t first) {
  auto type = cast<RankedTensorType>(table.getType());
  Sizes offsets = {index(0), index(first)};
  Sizes sizes = {numRows, index(layout.pairs)};
  Sizes strides = {index(1), index(layout.tableStride)};
  if (type.getRank() == 3) {
    offsets.insert(offsets.begin(),
                   type.getDimSize(0) == 1 ? index(0) : OpFoldResult(batch));
    sizes.insert(sizes.begin(), index(1));
    strides.insert(strides.begin(), index(1));
  }
  auto rows = cast<RankedTensorType>(source.getType());
  auto columns = RankedTensorType::get(
      {rows.getDimSize(getRowDim(rows)), layout.pairs}, type.getElementType());
  return tensor::ExtractSliceOp::create(b, columns, table, offsets, sizes,
                                        strides);
}

Value RotaryEmitter::sliceColumns(Value rows, int64_t first) {
  return tensor::ExtractSliceOp::create(b, rows, Sizes{index(0), index(first)},
                                        Sizes{numRows, index(layout.pairs)},
                                        Sizes{index(1), index(layout.stride)});
}

Value RotaryEmitter::insertColumns(Value columns, Value rows, int64_t first) {
  return tensor::InsertSliceOp::create(b, columns, rows,
                                       Sizes{index(0), index(first)},
                                       Sizes{numRows, index(layout.pairs)},
                                       Sizes{index(1), index(layout.stride)});
}

Value RotaryEmitter::turn(Value rows, Value into, Value batch) {
  if (2 * layout.pairs != headDim)
    into = linalg::CopyOp::create(b, ValueRange(rows), ValueRange(into))
               .getResult(0);
  Value inputs[] = {sliceColumns(rows, layout.first),
                    sliceColumns(rows, layout.second),
                    sliceTable(cos, batch, layout.tableFirst),
                    sliceTable(cos, batch, layout.tableSecond),
                    sliceTable(sin, batch, layout.tableFirst),
                    sliceTable(sin, batch, layout.tableSecond)};
  SmallVector<AffineMap> maps(6, identity());
  for (bool isFirst : {true, false}) {
    int64_t column = isFirst ? layout.first : layout.second;
    Value turned = map(inputs, maps, sliceColumns(into, column),
                       [&](OpBuilder &nested, Location loc, ValueRange in) {
                         auto [x, y] =
                             turnPair(nested, loc, in[0], in[1], {in[2], in[3]},
                                      {in[4], in[5]}, op.getTransposed());
                         return isFirst ? x : y;
                       });
    into = insertColumns(turned, into, column);
  }
  return into;
}

Value RotaryEmitter::run() {
  cos = op.getCos();
  sin = op.getSin();
  if (op.getPositions()) {
    numRows = tensor::getMixedSize(
        b, b.getLoc(), source, getRowDim(cast<ShapedType>(source.getType())));
    cos = gatherRows(cos);
    sin = gatherRows(sin);
  }
  return emit([&](Value rows, Value into, ValueRange head) {
    return turn(rows, into, head[0]);
  });
}

Value attn::emitRotary(OpBuilder &builder, RotaryOp op) {
  return RotaryEmitter(builder, op).run();
}

//===----------------------------------------------------------------------===//
// attn.qk_norm
//===----------------------------------------------------------------------===//

namespace {
class NormEmitter : RowEmitter {
public:
  NormEmitter(OpBuilder &builder, QkNormOp op)
      : RowEmitter(builder, op), op(op) {}

  Value run() {
    return emit([&](Value rows, Value into, ValueRange) {
      return scale(rows, sumSquares(rows), into);
    });
  }

private:
  Value sumSquares(Value rows);
  Value scale(Value rows, Value sums, Value into);

  QkNormOp op;
};
} // namespace

/// Of each row, [N].
Value NormEmitter::sumSquares(Value rows) {
  Value init = tensor::EmptyOp::create(b, Sizes{numRows}, type);
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(type, 0));
  init = linalg::FillOp::create(b, zero, init).getResult(0);
  utils::IteratorType loops[] = {utils::IteratorType::parallel,
                                 utils::IteratorType::reduction};
  return linalg::GenericOp::create(
             b, TypeRange(init.getType()), ValueRange(rows), ValueRange(init),
             ArrayRef<AffineMap>{identity(), dims({0})}, loops,
             [&](OpBuilder &nested, Location loc, ValueRange arguments) {
               Value x = convert(nested, loc, arguments[0], type);
               Value square = arith::MulFOp::create(nested, loc, x, x);
               Value sum =
                   arith::AddFOp::create(nested, loc, arguments[1], square);
               linalg::YieldOp::create(nested, loc, sum);
             })
      .getResult(0);
}

Value NormEmitter::scale(Value rows, Value sums, Value into) {
  SmallVector<Value> inputs = {rows, sums};
  SmallVector<AffineMap> maps = {identity(), dims({0})};
  if (op.getWeight()) {
    inputs.push_back(op.getWeight());
    maps.push_back(dims({1}));
  }
  double epsilon = op.getEpsilon().convertToDouble();
  return map(inputs, maps, into,
             [&](OpBuilder &nested, Location loc, ValueRange in) -> Value {
               Value factor =
                   buildRowScale(nested, loc, in[1], headDim, epsilon);
               Value scaled = arith::MulFOp::create(nested, loc, in[0], factor);
               return in.size() < 3
                          ? scaled
                          : arith::MulFOp::create(nested, loc, scaled, in[2]);
             });
}

Value attn::emitQkNorm(OpBuilder &builder, QkNormOp op) {
  return NormEmitter(builder, op).run();
}

//===----------------------------------------------------------------------===//
// attn.dequantize
//===----------------------------------------------------------------------===//

namespace {
class DequantizeEmitter : RowEmitter {
public:
  DequantizeEmitter(OpBuilder &builder, DequantizeOp op)
      : RowEmitter(builder, op), op(op) {}

  Value run() {
    Value group;
    if (op.getDescale())
      group = getGroupSize(b, b.getLoc(), op.getDescale(),
                           tensor::getMixedSize(b, b.getLoc(), source, kHead));
    return emit([&](Value rows, Value into, ValueRange head) {
      Value factor;
      if (op.getDescale())
        factor = convert(b, b.getLoc(),
                         readDescale(b, b.getLoc(), op.getDescale(), head[0],
                                     head[1], group),
                         type);
      return map(rows, {identity()}, into,
                 [&](OpBuilder &nested, Location loc, ValueRange in) -> Value {
                   return factor ? arith::MulFOp::create(nested, loc, in[0],
                                                         factor)
                                 : in[0];
                 });
    });
  }

private:
  DequantizeOp op;
};
} // namespace

Value attn::emitDequantize(OpBuilder &builder, DequantizeOp op) {
  return DequantizeEmitter(builder, op).run();
}
