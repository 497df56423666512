//===- TileBuffers.cpp - Tiles in the layout that products want -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileBuffers.h"
#include "VectorMath.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Rows and columns of the block that is transposed in registers.
static constexpr int64_t kTransposeBlock = 16;
/// Elements that are copied at a time.
static constexpr int64_t kCopyWidth = 32;

static Value createIndex(ImplicitLocOpBuilder &b, int64_t number) {
  return arith::ConstantIndexOp::create(b, number);
}

/// A loop over [0, size) with step `step`, whose body `body` fills.
static void createLoop(ImplicitLocOpBuilder &b, int64_t size, int64_t step,
                       llvm::function_ref<void(Value)> body) {
  auto loop = createFor(b, size, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// `body` for blocks of kCopyWidth columns, and for the rest.
static void createBlocks(ImplicitLocOpBuilder &b, int64_t columns,
                         llvm::function_ref<void(Value, int64_t)> body) {
  int64_t rest = columns % kCopyWidth;
  if (columns > rest)
    createLoop(b, columns - rest, kCopyWidth,
               [&](Value column) { body(column, kCopyWidth); });
  if (rest)
    body(createIndex(b, columns - rest), rest);
}

Value TileBuffers::createBuffer(ImplicitLocOpBuilder &b,
                                ArrayRef<int64_t> shape, Type element) {
  OpBuilder::InsertionGuard guard(b);
  Operation *parent = b.getInsertionBlock()->getParentOp();
  while (!isa<scf::ForallOp, FunctionOpInterface>(parent))
    parent = parent->getParentOp();
  b.setInsertionPointToStart(&parent->getRegion(0).front());
  return memref::AllocaOp::create(b, MemRefType::get(shape, element),
                                  b.getI64IntegerAttr(64));
}

Value TileBuffers::readRow(ImplicitLocOpBuilder &b, Value tensor,
                           ValueRange place, int64_t width) {
  Type element = getElementTypeOrSelf(tensor.getType());
  Value padding =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(element)));
  return vector::TransferReadOp::create(b, VectorType::get({width}, element),
                                        tensor, place, padding,
                                        ArrayRef<bool>{true});
}

Value TileBuffers::writeRow(ImplicitLocOpBuilder &b, Value row, Value tensor,
                            ValueRange place) {
  return vector::TransferWriteOp::create(b, row, tensor, place,
                                         ArrayRef<bool>{true})
      .getResult();
}

Value TileBuffers::extend(ImplicitLocOpBuilder &b, Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType() == element)
    return vector;
  if (type.getElementType().isInteger())
    return arith::SIToFPOp::create(b, type.clone(element), vector);
  return arith::ExtFOp::create(b, type.clone(element), vector);
}

Value TileBuffers::packColumns(ImplicitLocOpBuilder &b, Value tile,
                               FloatType element, Value first, int64_t count,
                               double scale) {
  int64_t rows = cast<RankedTensorType>(tile.getType()).getDimSize(kSequence);
  Value buffer = createBuffer(b, {rows, count}, element);
  Value zero = createIndex(b, 0);
  createLoop(b, rows, 1, [&](Value row) {
    auto copy = [&](Value at, int64_t width) {
      Value from = b.createOrFold<arith::AddIOp>(first, at);
      Value part = readRow(b, tile, {zero, zero, row, from}, width);
      part = extend(b, part, element);
      if (scale != 1.0)
        part = arith::MulFOp::create(b, part,
                                     createSplat(b, part.getType(), scale));
      vector::StoreOp::create(b, part, buffer, ValueRange{row, at});
    };
    createBlocks(b, count, copy);
  });
  return buffer;
}

Value TileBuffers::packTransposedBlocks(
    ImplicitLocOpBuilder &b, Value tile, Type element, Value first,
    int64_t count, int64_t packing,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value)> convert) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t rows = type.getDimSize(kSequence);
  int64_t paddedRows = llvm::alignTo(rows, kTransposeBlock);
  int64_t paddedCount = llvm::alignTo(count / packing, kTransposeBlock);
  Value buffer = createBuffer(b, {paddedCount, paddedRows}, element);
  auto block = VectorType::get({kTransposeBlock, packing * kTransposeBlock},
                               type.getElementType());
  bool inBounds[] = {rows == paddedRows, count == packing * paddedCount};
  Value zero = createIndex(b, 0);
  Value padding = arith::ConstantOp::create(
      b, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  createLoop(b, paddedRows, kTransposeBlock, [&](Value row) {
    createLoop(b, paddedCount, kTransposeBlock, [&](Value column) {
      Value from =
          b.createOrFold<arith::MulIOp>(column, createIndex(b, packing));
      from = b.createOrFold<arith::AddIOp>(first, from);
      Value part = vector::TransferReadOp::create(
          b, block, tile, ValueRange{zero, zero, row, from}, padding,
          ArrayRef<bool>(inBounds));
      part = convert(b, part);
      part = vector::TransposeOp::create(b, part, ArrayRef<int64_t>{1, 0});
      vector::TransferWriteOp::create(b, part, buffer, ValueRange{column, row},
                                      ArrayRef<bool>{true, true});
    });
  });
  return buffer;
}

Value TileBuffers::packTransposedColumns(ImplicitLocOpBuilder &b, Value tile,
                                         FloatType element, Value first,
                                         int64_t count) {
  return packTransposedBlocks(b, tile, element, first, count, /*packing=*/1,
                              [&](ImplicitLocOpBuilder &b, Value part) {
                                return extend(b, part, element);
                              });
}

/// Columns of a tile [1, 1, rows, columns].
static int64_t countColumns(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getDimSize(kHeadDim);
}

Value TileBuffers::getPacked(ImplicitLocOpBuilder &b, Value tile, Type element,
                             double scale, Layout layout,
                             llvm::function_ref<Value()> create) {
  Value &buffer = packed[{tile.getAsOpaquePointer(),
                          element.getAsOpaquePointer(), scale, layout}];
  if (buffer)
    return buffer;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(tile);
  return buffer = create();
}

Value TileBuffers::pack(ImplicitLocOpBuilder &b, Value tile, FloatType element,
                        double scale) {
  return getPacked(b, tile, element, scale, Layout::Rows, [&] {
    return packColumns(b, tile, element, createIndex(b, 0), countColumns(tile),
                       scale);
  });
}

Value TileBuffers::packTransposed(ImplicitLocOpBuilder &b, Value tile,
                                  FloatType element) {
  return getPacked(b, tile, element, 1, Layout::Columns, [&] {
    return packTransposedColumns(b, tile, element, createIndex(b, 0),
                                 countColumns(tile));
  });
}

/// The vector's 16-bit elements two by two, along the last dimension.
static Value castToPairs(ImplicitLocOpBuilder &b, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() /= 2;
  return vector::BitCastOp::create(b, VectorType::get(shape, b.getI32Type()),
                                   vector);
}

Value TileBuffers::packColumnPairs(ImplicitLocOpBuilder &b, Value tile) {
  return getPacked(b, tile, b.getI32Type(), 1, Layout::ColumnPairs, [&] {
    return packTransposedBlocks(b, tile, b.getI32Type(), createIndex(b, 0),
                                countColumns(tile), /*packing=*/2, castToPairs);
  });
}

Value TileBuffers::packRowPairs(ImplicitLocOpBuilder &b, Value tile) {
  return getPacked(b, tile, b.getI32Type(), 1, Layout::RowPairs, [&] {
    int64_t rows = cast<RankedTensorType>(tile.getType()).getDimSize(kSequence);
    int64_t columns = countColumns(tile);
    Value buffer = createBuffer(b, {rows / 2, columns}, b.getI32Type());
    Value zero = createIndex(b, 0), one = createIndex(b, 1);
    createLoop(b, rows / 2, 1, [&](Value pair) {
      Value row = arith::MulIOp::create(b, pair, createIndex(b, 2));
      Value next = arith::AddIOp::create(b, row, one);
      createBlocks(b, columns, [&](Value column, int64_t width) {
        Value even = readRow(b, tile, {zero, zero, row, column}, width);
        Value odd = readRow(b, tile, {zero, zero, next, column}, width);
        Value both = vector::InterleaveOp::create(b, even, odd);
        vector::StoreOp::create(b, castToPairs(b, both), buffer,
                                ValueRange{pair, column});
      });
    });
    return buffer;
  });
}
