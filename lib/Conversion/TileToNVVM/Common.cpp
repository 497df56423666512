//===- Common.cpp - Shared pieces of the tile lowering -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "attn/Dialect/Launch/IR/Launch.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::tile;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

TileTypeConverter::TileTypeConverter(int64_t warps, int64_t sharing,
                                     bool hasClusters, bool hasCtaPairs,
                                     bool hasFloatPairs)
    : warps(warps), sharing(sharing), inClusters(hasClusters),
      inPairs(hasCtaPairs), floatPairs(hasFloatPairs) {
  addConversion([](Type type) { return type; });
  // A number of 8 bits is moved, and nothing is computed of one.
  addConversion([](FloatType type) -> Type {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type)
               ? Type(IntegerType::get(type.getContext(), 8))
               : Type(type);
  });
  addConversion([](GlobalType type, SmallVectorImpl<Type> &types) {
    llvm::append_range(types, attn::launch::getParameterTypes(type));
    return success();
  });
  addConversion([](SharedType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext(), kSharedSpace);
  });
  addConversion([](MbarrierType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext(), kSharedSpace);
  });
  // Bits 16 to 31: lane, 0 to 15: column.
  addConversion([](TensorTileType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
  addConversion([](TensorMapType type) -> Type {
    return attn::launch::getParameterTypes(type).front();
  });
  addConversion([this](FragmentType type, SmallVectorImpl<Type> &types) {
    // A register of an operand holds smaller values, or a tf32.
    Type element = type.getElementType();
    if (element.getIntOrFloatBitWidth() < 32 ||
        (!type.isVector() && type.isOperand()))
      element = IntegerType::get(type.getContext(), 32);
    types.append(type.getRegisters(getWarps()), element);
    return success();
  });
}

//===----------------------------------------------------------------------===//
// IndexBuilder
//===----------------------------------------------------------------------===//

Value IndexBuilder::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Value IndexBuilder::i64(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

Value IndexBuilder::constantLike(Value like, int64_t value) {
  return like.getType().isInteger(64) ? i64(value) : i32(value);
}

Value IndexBuilder::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value IndexBuilder::add(Value a, int64_t b) {
  return b == 0 ? a : add(a, constantLike(a, b));
}

Value IndexBuilder::mul(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}

Value IndexBuilder::mul(Value a, int64_t b) {
  return b == 1 ? a : mul(a, constantLike(a, b));
}

Value IndexBuilder::bitAnd(Value a, int64_t b) {
  return builder.createOrFold<arith::AndIOp>(loc, a, constantLike(a, b));
}

Value IndexBuilder::bitXor(Value a, Value b) {
  return builder.createOrFold<arith::XOrIOp>(loc, a, b);
}

Value IndexBuilder::bitXor(Value a, int64_t b) {
  return b == 0 ? a : bitXor(a, constantLike(a, b));
}

Value IndexBuilder::shiftRight(Value a, int64_t b) {
  if (b == 0)
    return a;
  return builder.createOrFold<arith::ShRUIOp>(loc, a, constantLike(a, b));
}

Value IndexBuilder::rem(Value a, int64_t b) {
  if (llvm::isPowerOf2_64(b))
    return bitAnd(a, b - 1);
  return arith::RemUIOp::create(builder, loc, a, i32(b));
}

Value IndexBuilder::div(Value a, int64_t b) {
  if (llvm::isPowerOf2_64(b))
    return shiftRight(a, llvm::Log2_64(b));
  return builder.createOrFold<arith::DivUIOp>(loc, a, constantLike(a, b));
}

Value IndexBuilder::isZero(Value a) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                               i32(0));
}

Value IndexBuilder::shuffle(NVVM::ShflKind kind, Value value, int64_t lane) {
  Value all = i32(-1), from = i32(lane);
  return NVVM::ShflOp::create(builder, loc, value.getType(), all, value, from,
                              i32(31), kind,
                              /*return_value_and_is_valid=*/UnitAttr());
}

Value IndexBuilder::shuffle(Value value, Value lane) {
  Value all = i32(-1), clamp = i32(31);
  return NVVM::ShflOp::create(builder, loc, value.getType(), all, value, lane,
                              clamp, NVVM::ShflKind::idx,
                              /*return_value_and_is_valid=*/UnitAttr());
}

Value IndexBuilder::toI32(Value value) {
  if (value.getType().isInteger(32))
    return value;
  Type i32 = builder.getI32Type();
  if (value.getType().isIndex())
    return builder.createOrFold<arith::IndexCastOp>(loc, i32, value);
  return builder.createOrFold<arith::TruncIOp>(loc, i32, value);
}

Value IndexBuilder::toI64(Value value) {
  if (value.getType().isInteger(64))
    return value;
  Type i64 = builder.getI64Type();
  return builder.createOrFold<arith::ExtSIOp>(loc, i64, toI32(value));
}

Value IndexBuilder::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value IndexBuilder::offset(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(
      builder, loc, pointer.getType(), builder.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value IndexBuilder::thread() {
  return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
}

Value IndexBuilder::lane() { return bitAnd(thread(), 31); }

Value IndexBuilder::warp() { return shiftRight(thread(), 5); }

/// Neighbouring bits whose bases double are one term.
Value IndexBuilder::sumOfBits(Value number, ArrayRef<int64_t> bases) {
  Value sum;
  for (size_t begin = 0, end; begin < bases.size(); begin = end) {
    for (end = begin + 1; end < bases.size(); ++end)
      if (bases[end] != 2 * bases[end - 1])
        break;
    if (bases[begin] == 0)
      continue;
    Value bits = shiftRight(number, static_cast<int64_t>(begin));
    if (end < bases.size())
      bits = bitAnd(bits, (int64_t(1) << (end - begin)) - 1);
    Value term = mul(bits, bases[begin]);
    sum = sum ? add(sum, term) : term;
  }
  return sum ? sum : i32(0);
}

Value IndexBuilder::laneRow(FragmentLayoutAttr layout) {
  return sumOfBits(lane(),
                   llvm::map_to_vector(layout.getLanes(),
                                       [](auto place) { return place.first; }));
}

Value IndexBuilder::laneColumn(FragmentLayoutAttr layout) {
  return sumOfBits(
      lane(), llvm::map_to_vector(layout.getLanes(),
                                  [](auto place) { return place.second; }));
}

/// The bits of a lane that make no difference.
static int64_t getCopyMask(FragmentLayoutAttr layout) {
  int64_t mask = 0;
  for (unsigned bit : layout.getCopies())
    mask |= int64_t(1) << bit;
  return mask;
}

Value IndexBuilder::isFirstCopy(FragmentLayoutAttr layout) {
  return isZero(bitAnd(lane(), getCopyMask(layout)));
}

Value IndexBuilder::firstCopy(FragmentLayoutAttr layout) {
  return bitAnd(lane(), ~getCopyMask(layout));
}

Value IndexBuilder::warpRow(int64_t rows, RowWarps warps) {
  if (warps.areShared && warps.count == 1)
    return i32(0);
  Value owner = warps.areShared ? rem(warp(), warps.count) : warp();
  return mul(owner, rows / warps.count);
}

//===----------------------------------------------------------------------===//
// GlobalView
//===----------------------------------------------------------------------===//

Value GlobalView::size(IndexBuilder &index, unsigned dim) const {
  if (!type.isDynamicDim(dim))
    return index.i32(type.getShape()[dim]);
  ArrayRef<int64_t> before = type.getShape().take_front(dim);
  return parts[1 + llvm::count_if(before, ShapedType::isDynamic)];
}

Value GlobalView::stride(IndexBuilder &index, unsigned dim) const {
  if (dim + 1 == type.getRank())
    return index.i64(1);
  unsigned dynamicSizes =
      llvm::count_if(type.getShape(), ShapedType::isDynamic);
  return parts[1 + dynamicSizes + dim];
}

Value GlobalView::address(IndexBuilder &index, ValueRange indices) const {
  if (indices.empty())
    return pointer();
  Value elements;
  for (auto [dim, position] : llvm::enumerate(indices)) {
    Value term = index.toI64(position);
    term = index.mul(term, stride(index, dim));
    elements = elements ? index.add(elements, term) : term;
  }
  unsigned bytes =
      llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  return index.offset(pointer(), index.mul(elements, bytes));
}

//===----------------------------------------------------------------------===//
// Swizzle
//===----------------------------------------------------------------------===//

Value attn::tile::swizzlePermutation(IndexBuilder &index, SharedType type,
                                     Value row) {
  if (type.getSwizzle() == 128)
    return index.bitAnd(row, 7);
  if (type.getSwizzle() == 64)
    return index.bitAnd(index.shiftRight(row, 1), 3);
  return index.bitAnd(index.shiftRight(row, 2), 1);
}

SwizzledAddress::SwizzledAddress(IndexBuilder &index, SharedType type,
                                 Value base, Value laneRow, Value laneChunk)
    : index(index), type(type) {
  rowAddress = index.offset(base, index.mul(laneRow, type.getSwizzle()));
  Value permutation = swizzlePermutation(index, type, laneRow);
  laneXor = index.mul(index.bitXor(laneChunk, permutation), 16);
}

Value SwizzledAddress::get(int64_t row, int64_t chunk) {
  auto [base, bytes] = split(row, chunk);
  return index.offset(base, bytes);
}

std::pair<Value, int64_t> SwizzledAddress::split(int64_t row, int64_t chunk) {
  int64_t chunksPerRow = type.getSwizzle() / 16;
  int64_t panel = chunk / chunksPerRow, inPanel = chunk % chunksPerRow;
  Value &address = byChunk[inPanel];
  if (!address)
    address = index.offset(rowAddress, index.bitXor(laneXor, inPanel * 16));
  return {address, (panel * type.getRows() + row) * type.getSwizzle()};
}
