//===- MatrixDescriptors.cpp - Shared tiles as operands ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixDescriptors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::tile;

/// Rows after which the pattern of a swizzle repeats.
static constexpr int64_t kSwizzleRows = 8;

/// The constant part of a descriptor, from bit 16 up. The leading offset
/// separates the panels of an MN-major operand and is not used for a K-major
/// one; the stride offset separates groups of 8 rows.
int64_t MatrixDescriptors::getLayout() const {
  int64_t leading = isMnMajor ? type.getRows() * type.getSwizzle() : 16;
  int64_t stride = kSwizzleRows * type.getSwizzle();
  uint64_t bits = uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32;
  // 1, 2 or 3 for 128, 64 or 32 bytes.
  uint64_t swizzle = 8 - llvm::Log2_64(type.getSwizzle());
  if (format == DescriptorFormat::Wgmma)
    return static_cast<int64_t>(bits | swizzle << 62);
  return static_cast<int64_t>(bits | uint64_t(1) << 46 | 2 * swizzle << 61);
}

/// The descriptor of a tile of which `pointer` is the start. `rowBytes` (null
/// for none) is added to the address.
///
/// A descriptor has 14 bits of address in units of 16 bytes: as many as shared
/// memory has, but in a cluster the CTA's rank is above them, and would become
/// part of the leading offset.
Value MatrixDescriptors::build(Value pointer, Value rowBytes) {
  IndexBuilder index(rewriter, loc);
  Value address =
      LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), pointer);
  if (rowBytes)
    address = index.add(address, rowBytes);
  Value start = index.shiftRight(address, 4);
  if (hasClusters)
    start = index.bitAnd(start, 0x3fff);
  Value wide =
      arith::ExtUIOp::create(rewriter, loc, rewriter.getI64Type(), start);
  return arith::OrIOp::create(rewriter, loc, wide, index.i64(getLayout()));
}

/// Bytes from the start of a tile to the operand of product `product`.
int64_t MatrixDescriptors::getOffset(int64_t product) const {
  int64_t k = product * getProductDepth(type);
  if (isMnMajor)
    return k * type.getSwizzle();
  int64_t panel = k / type.getPanelCols(), inPanel = k % type.getPanelCols();
  return panel * type.getRows() * type.getSwizzle() +
         inPanel * type.getElementBytes();
}

SmallVector<Value> MatrixDescriptors::split(Value descriptor,
                                            int64_t products) {
  IndexBuilder index(rewriter, loc);
  SmallVector<Value> descriptors;
  for (int64_t product = 0; product < products; ++product)
    descriptors.push_back(index.add(descriptor, getOffset(product) >> 4));
  return descriptors;
}

/// Rows of the tile, or columns of the transposed one.
SmallVector<Value> MatrixDescriptors::getRows(Value warpgroup, int64_t rows,
                                              int64_t products) {
  IndexBuilder index(rewriter, loc);
  int64_t stride = type.getSwizzle();
  if (isMnMajor)
    stride *= type.getRows() / type.getPanelCols();
  Value rowBytes = index.mul(index.toI32(warpgroup), rows * stride);
  return split(build(rewriter.getRemappedValue(tile), rowBytes), products);
}

/// A stage of a ring has the ring's descriptor, which does not change in a
/// loop, plus its distance.
SmallVector<Value> MatrixDescriptors::getWhole(int64_t products) {
  IndexBuilder index(rewriter, loc);
  auto stage = tile.getDefiningOp<StageOp>();
  Value start = rewriter.getRemappedValue(stage ? stage.getRing() : tile);
  Value descriptor = build(start, /*rowBytes=*/Value());
  if (stage) {
    Value number = index.toI32(rewriter.getRemappedValue(stage.getIndex()));
    Value distance =
        arith::ExtUIOp::create(rewriter, loc, rewriter.getI64Type(),
                               index.mul(number, type.getTileBytes() >> 4));
    descriptor = index.add(descriptor, distance);
  }
  return split(descriptor, products);
}
