//===- TensorOps.cpp - Types and verifiers of tensor memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::tile;

//===----------------------------------------------------------------------===//
// TensorTileType
//===----------------------------------------------------------------------===//

/// What a product may read.
static bool isTensorOperand(Type element) {
  return isa<Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(
             element) ||
         element.isInteger(8);
}

/// What a product may be: integers of i8, floats of others.
static bool isTensorSum(Type element) {
  return element.isF32() || element.isInteger(32);
}

LogicalResult
TensorTileType::verify(function_ref<InFlightDiagnostic()> emitError,
                       ArrayRef<int64_t> shape, Type element) {
  if (shape.size() != 2 || llvm::any_of(shape, ShapedType::isDynamic))
    return emitError() << "expected 2 static dimensions, got " << shape.size();
  if (!isTensorSum(element) && !isTensorOperand(element))
    return emitError() << "expected f32, i32, f16, bf16, f8E4M3FN, f8E5M2 or "
                          "i8 elements, got "
                       << element;
  if (shape[0] < kLanes || shape[0] > 4 * kLanes || shape[0] % kLanes != 0)
    return emitError() << "expected 128 rows for each of up to 4 warpgroups, "
                          "got "
                       << shape[0];
  int64_t multiple = element.getIntOrFloatBitWidth() == 8 ? 32 : 16;
  if (shape[1] < multiple || shape[1] > 256 || shape[1] % multiple != 0)
    return emitError() << "expected " << multiple << " to 256 columns by "
                       << multiple << ", got " << shape[1];
  return success();
}

int64_t TensorTileType::getAllocation(TypeRange types) {
  int64_t columns = 0;
  for (Type type : types)
    columns += cast<TensorTileType>(type).getColumns();
  return std::max<int64_t>(llvm::PowerOf2Ceil(columns), 32);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult AllocTensorsOp::verify() {
  if (getTiles().empty())
    return emitOpError() << "expected at least one tile, got none";
  int64_t columns = TensorTileType::getAllocation(getTiles().getTypes());
  if (columns > TensorTileType::kMostColumns)
    return emitOpError() << "expected at most " << TensorTileType::kMostColumns
                         << " columns of tensor memory, got tiles that need "
                         << columns;
  return success();
}

LogicalResult FreeTensorsOp::verify() {
  auto alloc = getTiles().empty()
                   ? AllocTensorsOp()
                   : getTiles().front().getDefiningOp<AllocTensorsOp>();
  if (!alloc || !llvm::equal(getTiles(), alloc.getTiles()))
    return emitOpError() << "expected all tiles of one alloc_tensors, in order";
  return success();
}

/// Rows are dealt out to warps alike in registers and in tensor memory. A lane
/// has one of them, or parts of several: those of an accumulator, or of what
/// `to_operand` makes of it.
static LogicalResult verifyFragment(Operation *op, const char *name,
                                    FragmentType fragment,
                                    TensorTileType tile) {
  Type element = tile.getElementType();
  FragmentType parts =
      isTensorSum(element)
          ? FragmentType::getAccumulator(tile.getShape(), element)
          : FragmentType::getOperandPairs(tile.getShape(), element);
  auto rows =
      FragmentType::get(tile.getContext(), tile.getShape(), element,
                        FragmentLayoutAttr::getLaneRow(tile.getContext()));
  if (fragment == parts || fragment == rows)
    return success();
  return op->emitOpError() << "expected " << name << " to be " << parts
                           << " or " << rows << ", got " << fragment;
}

LogicalResult NarrowTensorOp::verify() {
  TensorTileType tile = getTile().getType(), result = getResult().getType();
  if (isTensorSum(tile.getElementType()) &&
      !isTensorSum(result.getElementType()) &&
      tile.getShape() == result.getShape())
    return success();
  return emitOpError() << "expected an f32 or i32 tile as one of 16 or 8 bits "
                          "of its shape, got "
                       << tile << " and " << result;
}

/// The part of `tile` that a fragment has from `column` on.
static FailureOr<TensorTileType> getPart(Operation *op, TensorTileType tile,
                                         FragmentType fragment,
                                         int64_t column) {
  if (fragment.isVector())
    return op->emitOpError()
           << "expected an accumulator or an operand, got " << fragment;
  int64_t columns = fragment.getShape()[1];
  if (column < 0 || column > tile.getCols() - columns)
    return op->emitOpError()
           << "expected at most " << tile.getCols() << " columns, got "
           << columns << " from " << column;
  return TensorTileType::get(op->getContext(), {tile.getRows(), columns},
                             tile.getElementType());
}

LogicalResult StoreTensorOp::verify() {
  TensorTileType tile = getTile().getType();
  FragmentType source = getSource().getType();
  FailureOr<TensorTileType> part = getPart(*this, tile, source, getColumn());
  if (failed(part))
    return failure();
  if (getColumn() % 32 != 0)
    return emitOpError() << "expected columns from a multiple of 32 on, got "
                         << getColumn();
  return verifyFragment(*this, "the source", source, *part);
}

LogicalResult LoadTensorOp::verify() {
  TensorTileType tile = getTile().getType();
  if (!isTensorSum(tile.getElementType()))
    return emitOpError() << "expected a tile of f32 or i32, got " << tile;
  if (getAcc() && getAcc().getType() != getResult().getType())
    return emitOpError() << "expected acc to be of type "
                         << getResult().getType() << ", got "
                         << getAcc().getType();
  FragmentType result = getResult().getType();
  FailureOr<TensorTileType> part = getPart(*this, tile, result, getColumn());
  if (failed(part))
    return failure();
  return verifyFragment(*this, "the result", result, *part);
}

LogicalResult ScaleTensorOp::verify() {
  TensorTileType tile = getTile().getType();
  FragmentType factor = getFactor().getType();
  if (!tile.getElementType().isF32())
    return emitOpError() << "expected a tile of f32, got " << tile;
  bool isLayout =
      factor.getLayout() ==
          FragmentLayoutAttr::getAccumulator(getContext()).getRowLayout() ||
      factor.isLaneRow();
  if (factor.isRow() && isLayout && factor.getRows() == tile.getRows() &&
      factor.getElementType().isF32())
    return success();
  return emitOpError() << "expected an f32 for each of the " << tile.getRows()
                       << " rows, got " << factor;
}

LogicalResult CommitTensorsOp::verify() {
  auto roles = (*this)->getParentOfType<RolesOp>();
  if (roles && roles.hasOneThread(*this))
    return success();
  return emitOpError("expected a role of one thread, whose products arrive");
}

Type MmaTensorOp::getElementOfA() {
  return llvm::TypeSwitch<Type, Type>(getA().getType())
      .Case<SharedType, TensorTileType>(
          [](auto a) { return a.getElementType(); });
}

int64_t MmaTensorOp::getWholeDepth() {
  SharedType b = getB().getType();
  return getTransposeB() ? b.getCols() : b.getRows();
}

/// CTAs whose products the thread starts.
static int64_t countCtas(MmaTensorOp op) {
  auto kernel = op->getParentOfType<KernelOp>();
  return kernel && kernel.getCtaPairs() ? 2 : 1;
}

LogicalResult MmaTensorOp::verify() {
  if (getMeet() && getOneThread())
    return emitOpError("expected meet or one_thread, got both");
  TensorTileType tile = getTile().getType();
  SharedType b = getB().getType();
  Type element = b.getElementType();
  if (!isTensorOperand(element))
    return emitOpError() << "expected operands of i8, f16, bf16, f8E4M3FN or "
                            "f8E5M2, got "
                         << b;
  Type sum = element.isInteger() ? IntegerType::get(getContext(), 32)
                                 : Type(Float32Type::get(getContext()));
  if (tile.getElementType() != sum)
    return emitOpError() << "expected a tile of " << sum << ", got " << tile;
  std::pair<int64_t, int64_t> sizes =
      llvm::TypeSwitch<Type, std::pair<int64_t, int64_t>>(getA().getType())
          .Case<SharedType, TensorTileType>(
              [](auto a) { return std::pair(a.getRows(), a.getCols()); });
  auto [rows, depth] = sizes;
  if (!areFactors(getElementOfA(), element))
    return emitOpError() << "expected a and b of one element type, or of 8-bit "
                            "floats, got "
                         << getElementOfA() << " and " << element;
  auto [columnsOfB, depthOfB] = getTransposeB()
                                    ? std::pair(b.getRows(), b.getCols())
                                    : std::pair(b.getCols(), b.getRows());
  int64_t columns = columnsOfB * countCtas(*this);
  if (rows != tile.getRows() || columns != tile.getCols())
    return emitOpError() << "expected a tile of " << rows << " x " << columns
                         << ", got " << tile;
  int64_t multiple = 32 / b.getElementBytes();
  if (depth != depthOfB || depth % multiple != 0)
    return emitOpError() << "expected a and b to have one depth, a multiple of "
                         << multiple << ", got " << depth << " and "
                         << depthOfB;
  if (std::optional<ArrayRef<int64_t>> part = getDepth();
      part && (part->size() != 2 || part->front() < 0 ||
               part->back() <= part->front() || part->back() > depth ||
               part->front() % multiple != 0 || part->back() % multiple != 0))
    return emitOpError() << "expected depth [from, to] in multiples of "
                         << multiple << " up to " << depth << ", got [" << *part
                         << "]";
  if (!getBarrier())
    return success();
  if (MbarrierType barrier = getBarrier().getType();
      barrier.getStages() != tile.getWarpgroups() || barrier.getArrivals() != 1)
    return emitOpError() << "expected a barrier of one arrival for each of "
                         << tile.getWarpgroups() << " warpgroups, got "
                         << barrier;
  return success();
}
