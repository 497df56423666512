//===- TileVerifiers.cpp - Verifiers of the attn_tile dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace attn::tile;

/// Fails unless `actual == expected`.
static LogicalResult verifyEqual(Operation *op, const Twine &what,
                                 int64_t expected, int64_t actual) {
  if (expected == actual)
    return success();
  return op->emitOpError() << "expected " << what << " to be " << expected
                           << ", got " << actual;
}

LogicalResult KernelOp::verify() {
  if (getWarps() < 1 || getWarps() > 32)
    return emitOpError() << "expected 1 to 32 warps, got " << getWarps();
  if (!isa<ReturnOp>(getBody().front().back()))
    return emitOpError() << "expected the body to end in attn_tile.return";
  return success();
}

/// A tile of a matrix is addressed by its first row, or by its first row and
/// column: without a column it has all of them.
static LogicalResult verifyMatrixIndices(Operation *op, GlobalType global,
                                         int64_t cols, unsigned indices) {
  if (indices == global.getRank())
    return success();
  if (failed(verifyEqual(op, "the number of indices", global.getRank() - 1,
                         indices)))
    return failure();
  int64_t all = global.getShape().back();
  if (!ShapedType::isDynamic(all) && cols < all)
    return op->emitOpError() << "expected " << all
                             << " tile columns or the index of the first "
                                "column, got "
                             << cols << " columns";
  return success();
}

/// A tile is part of a matrix of the tensor: the last two dimensions.
static LogicalResult verifyTileOf(Operation *op, GlobalType global,
                                  SharedType tile, OperandRange indices) {
  if (tile.isRing())
    return op->emitOpError() << "expected one tile, got a ring";
  if (global.getElementType() != tile.getElementType())
    return op->emitOpError()
           << "expected element type " << global.getElementType() << ", got "
           << tile.getElementType();
  return verifyMatrixIndices(op, global, tile.getCols(), indices.size());
}

LogicalResult LoadOp::verify() {
  return verifyTileOf(*this, getSource().getType(), getTile().getType(),
                      getIndices());
}

LogicalResult CopyAsyncOp::verify() {
  return verifyTileOf(*this, getSource().getType(), getTile().getType(),
                      getIndices());
}

LogicalResult LoadOperandOp::verify() {
  SharedType tile = getTile().getType();
  FragmentType operand = getOperand().getType();
  if (operand.getLayout() != FragmentLayout::OperandA)
    return emitOpError() << "expected an operand_a fragment, got " << operand;
  if (failed(verifyEqual(*this, "rows", tile.getRows(), operand.getRows())))
    return failure();
  return verifyEqual(*this, "columns", tile.getCols(), operand.getShape()[1]);
}

LogicalResult MmaOp::verify() {
  int64_t m, k;
  if (auto a = dyn_cast<FragmentType>(getA().getType())) {
    if (a.getLayout() != FragmentLayout::OperandA)
      return emitOpError() << "expected a to be an operand_a fragment, got "
                           << a;
    m = a.getRows(), k = a.getShape()[1];
  } else {
    auto shared = cast<SharedType>(getA().getType());
    m = shared.getRows(), k = shared.getCols();
  }
  SharedType b = getB().getType();
  FragmentType acc = getAcc().getType();
  if (acc.getLayout() != FragmentLayout::Accumulator)
    return emitOpError() << "expected acc to be an accumulator, got " << acc;
  bool transposed = getTransposeB();
  if (failed(verifyEqual(*this, "rows of acc", m, acc.getRows())) ||
      failed(verifyEqual(*this, transposed ? "columns of b" : "rows of b", k,
                         transposed ? b.getCols() : b.getRows())))
    return failure();
  return verifyEqual(*this, "columns of acc",
                     transposed ? b.getRows() : b.getCols(), acc.getShape()[1]);
}

LogicalResult MapOp::verify() {
  FragmentType result = getResult().getType();
  SmallVector<Type> expected;
  for (Value input : getInputs()) {
    auto type = cast<FragmentType>(input.getType());
    if (type.getRows() != result.getRows() || (!type.isRow() && type != result))
      return emitOpError() << "expected inputs to be " << result
                           << " or a row fragment of as many rows, got "
                           << type;
    expected.push_back(type.getElementType());
  }
  Type i32 = IntegerType::get(getContext(), 32);
  expected.append(result.isRow() ? 1 : 2, i32);
  if (getBody().getArgumentTypes() != TypeRange(expected))
    return emitOpError() << "expected the region to take " << expected.size()
                         << " arguments: elements, then "
                         << "coordinates as i32";
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield || yield.getValue().getType() != result.getElementType())
    return emitOpError() << "expected the region to yield "
                         << result.getElementType();
  return success();
}

LogicalResult RowReduceOp::verify() {
  FragmentType source = getSource().getType(), init = getInit().getType();
  if (source.isRow() || !init.isRow())
    return emitOpError() << "expected an accumulator and a row fragment, got "
                         << source << " and " << init;
  return verifyEqual(*this, "rows of init", source.getRows(), init.getRows());
}

LogicalResult ScaleRowsOp::verify() {
  FragmentType source = getSource().getType(), factor = getFactor().getType();
  if (source.getLayout() != FragmentLayout::OperandA || !factor.isRow())
    return emitOpError()
           << "expected an operand_a fragment and a row fragment, got "
           << source << " and " << factor;
  return verifyEqual(*this, "rows of factor", source.getRows(),
                     factor.getRows());
}

LogicalResult LoadRowOp::verify() {
  FragmentType result = getResult().getType();
  GlobalType source = getSource().getType();
  if (!result.isRow() || source.getElementType() != result.getElementType())
    return emitOpError() << "expected a row fragment of "
                         << source.getElementType() << ", got " << result;
  return verifyEqual(*this, "the number of indices", source.getRank(),
                     getIndices().size());
}

LogicalResult StoreOp::verify() {
  FragmentType source = getSource().getType();
  GlobalType destination = getDestination().getType();
  if (source.isRow())
    return verifyEqual(*this, "the number of indices", destination.getRank(),
                       getIndices().size());
  return verifyMatrixIndices(*this, destination, source.getShape()[1],
                             getIndices().size());
}
