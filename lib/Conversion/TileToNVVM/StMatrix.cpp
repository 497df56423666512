//===- StMatrix.cpp - Accumulators to shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// stmatrix (PTX ISA, "Warp-level Matrix Instructions: stmatrix"): four 8x8
// matrices at once, whose rows' addresses the lanes give.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// Rows of an accumulator block, and columns that four matrices cover.
constexpr int64_t kMatrixRows = 16, kMatrixCols = 16;
/// A 16-byte chunk, the row of an 8x8 matrix, holds 8 elements.
constexpr int64_t kChunkElements = 8;

/// Two neighbouring values as one register of 16-bit elements.
Value packPair(OpBuilder &builder, Location loc, Type element, Value low,
               Value high) {
  IndexBuilder index(builder, loc);
  Value pair = LLVM::PoisonOp::create(builder, loc,
                                      VectorType::get(2, builder.getF32Type()));
  pair = LLVM::InsertElementOp::create(builder, loc, pair, low, index.i32(0));
  pair = LLVM::InsertElementOp::create(builder, loc, pair, high, index.i32(1));
  Value rounded =
      LLVM::FPTruncOp::create(builder, loc, VectorType::get(2, element), pair);
  return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), rounded);
}

/// Matrices are (rows 0-7, columns 0-7), (rows 8-15, columns 0-7), (rows 0-7,
/// columns 8-15), (rows 8-15, columns 8-15): two accumulator blocks, whose
/// values are in this order. Transposed, rows and columns are those of the tile
/// the other way round.
struct StoreSharedLowering : TileOpLowering<StoreSharedOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(StoreSharedOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getSource().getType();
    if (type.getShape()[1] % kMatrixCols != 0)
      return rewriter.notifyMatchFailure(op,
                                         "columns are not a multiple of 16");
    if (op.getTranspose() && type.getRows() != kMatrixRows * getWarps())
      return rewriter.notifyMatchFailure(op, "not 16 rows for each warp");
    if (op.getTranspose())
      storeTransposed(op, adaptor, rewriter);
    else if (op.getPairs())
      storePairs(op, adaptor, rewriter);
    else
      storeRows(op, adaptor, rewriter);
    rewriter.eraseOp(op);
    return success();
  }

private:
  void storeRows(StoreSharedOp op, Adaptor adaptor, OpBuilder &builder) const {
    Location loc = op.getLoc();
    IndexBuilder index(builder, loc);
    SharedType type = op.getTile().getType();
    int64_t rows = type.getRows() / getWarps();
    Value lane = index.lane();
    Value row = index.mul(index.warp(), rows);
    row = index.add(row, index.bitAnd(lane, kMatrixRows - 1));
    SwizzledAddress address(index, type, adaptor.getTile().front(), row,
                            index.shiftRight(lane, 4));
    auto first = static_cast<int64_t>(op.getColumn());
    // The tile may be one that other warps of the warpgroup still read.
    if (first == 0)
      syncWarpgroup(builder, loc, index.shiftRight(index.warp(), 2));
    ValueRange source = adaptor.getSource();
    int64_t end = first + op.getSource().getType().getShape()[1];
    for (int64_t block = 0; block < rows; block += kMatrixRows)
      for (int64_t col = first; col < end; col += kMatrixCols)
        storeBlock(builder, loc, type, address.get(block, col / kChunkElements),
                   source, NVVM::MMALayout::row);
  }

  /// The 16 rows of a warp are two chunks of the tile's columns.
  void storeTransposed(StoreSharedOp op, Adaptor adaptor,
                       OpBuilder &builder) const {
    Location loc = op.getLoc();
    IndexBuilder index(builder, loc);
    SharedType type = op.getTile().getType();
    int64_t warpsOfPanel = type.getPanelCols() / kMatrixRows;
    Value lane = index.lane(), warp = index.warp();
    Value panel = index.offset(adaptor.getTile().front(),
                               index.mul(index.div(warp, warpsOfPanel),
                                         type.getRows() * type.getSwizzle()));
    Value row = index.bitAnd(lane, 7);
    row = index.add(row, index.mul(index.shiftRight(lane, 4), 8));
    Value chunk = index.mul(index.rem(warp, warpsOfPanel), 2);
    chunk = index.add(chunk, index.bitAnd(index.shiftRight(lane, 3), 1));
    SwizzledAddress address(index, type, panel, row, chunk);
    ValueRange source = adaptor.getSource();
    for (int64_t block = 0; block < type.getRows(); block += kMatrixCols)
      storeBlock(builder, loc, type, address.get(block, /*chunk=*/0), source,
                 NVVM::MMALayout::col);
  }

  /// Lane 4g + t has columns 2t and 2t + 1 of rows g and g + 8 of a block. The
  /// lanes of a row fill a 16-byte chunk, those of eight rows all banks.
  void storePairs(StoreSharedOp op, Adaptor adaptor, OpBuilder &builder) const {
    Location loc = op.getLoc();
    IndexBuilder index(builder, loc);
    SharedType type = op.getTile().getType();
    int64_t rows = type.getRows() / getWarps();
    Value lane = index.lane();
    Value row = index.mul(index.warp(), rows);
    row = index.add(row, index.shiftRight(lane, 2));
    Value base = index.offset(adaptor.getTile().front(),
                              index.mul(index.bitAnd(lane, 3), 4));
    SwizzledAddress even(index, type, base, row, index.i32(0));
    SwizzledAddress odd(index, type, base, row, index.i32(1));
    ValueRange source = adaptor.getSource();
    for (int64_t block = 0; block < rows; block += kMatrixRows)
      for (int64_t chunk = 0; chunk < type.getCols() / kChunkElements; ++chunk)
        for (int64_t half : {0, 8}) {
          Value pair = packPair(builder, loc, type.getElementType(), source[0],
                                source[1]);
          SwizzledAddress &address = chunk % 2 ? odd : even;
          LLVM::StoreOp::create(builder, loc, pair,
                                address.get(block + half, chunk & ~int64_t(1)));
          source = source.drop_front(2);
        }
  }

  /// Takes the values of two accumulator blocks from `source`.
  void storeBlock(OpBuilder &builder, Location loc, SharedType type,
                  Value address, ValueRange &source,
                  NVVM::MMALayout layout) const {
    SmallVector<Value> registers;
    for (int64_t pair = 0; pair < 4; ++pair, source = source.drop_front(2))
      registers.push_back(
          packPair(builder, loc, type.getElementType(), source[0], source[1]));
    NVVM::StMatrixOp::create(builder, loc, address, registers,
                             NVVM::MMALayoutAttr::get(getContext(), layout),
                             NVVM::LdStMatrixShapeAttr::get(getContext(), 8, 8),
                             NVVM::LdStMatrixEltTypeAttr::get(
                                 getContext(), NVVM::LdStMatrixEltType::B16));
  }
};

} // namespace

void attn::tile::populateStMatrixPatterns(TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<StoreSharedLowering>(converter, patterns.getContext());
}
