//===- GlobalMemory.cpp - Reads and writes of global tensors -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {

struct DimLowering : TileOpLowering<DimOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(DimOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    GlobalView view(op.getSource().getType(), adaptor.getSource());
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(
        op, rewriter.getIndexType(), view.size(index, op.getDim()));
    return success();
  }
};

struct ExtractLowering : TileOpLowering<ExtractOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ExtractOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    GlobalView view(op.getSource().getType(), adaptor.getSource());
    SmallVector<Value> indices = llvm::map_to_vector(
        adaptor.getIndices(), [](ValueRange range) { return range.front(); });
    Value address = view.address(index, indices);
    Type element = op.getElement().getType();
    if (!element.isInteger(1)) {
      rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, element, address);
      return success();
    }
    // i1 tensors have one byte per element.
    Value byte = LLVM::LoadOp::create(rewriter, op.getLoc(),
                                      rewriter.getI8Type(), address);
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(
        op, arith::CmpIPredicate::ne, byte,
        arith::ConstantIntOp::create(rewriter, op.getLoc(), 0, 8));
    return success();
  }
};

/// Each thread writes the pairs of neighbouring columns that it holds; a row
/// fragment is written by the first lane of each quad.
struct StoreLowering : TileOpLowering<StoreOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(StoreOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    FragmentType type = op.getSource().getType();
    int64_t rowsPerWarp = type.getRows() / getWarps();
    GlobalView view(op.getDestination().getType(), adaptor.getDestination());
    SmallVector<Value> indices = llvm::map_to_vector(
        adaptor.getIndices(), [](ValueRange range) { return range.front(); });
    unsigned rowDim = indices.size() - 1;
    Value lane = index.lane();
    Value quadLane = index.bitAnd(lane, 3);
    Value warpRow = index.add(index.mul(index.warp(), rowsPerWarp),
                              index.shiftRight(lane, 2));
    Value firstRow = index.add(index.toI32(indices.back()), warpRow);

    for (int64_t row = 0; row < rowsPerWarp; row += 8) {
      Value globalRow = index.add(firstRow, row);
      Value writes =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                globalRow, view.size(index, rowDim));
      if (type.isRow()) {
        Value first = arith::CmpIOp::create(
            rewriter, loc, arith::CmpIPredicate::eq, quadLane, index.i32(0));
        writes = arith::AndIOp::create(rewriter, loc, writes, first);
      }
      auto guarded = scf::IfOp::create(rewriter, loc, writes);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(guarded.thenBlock());
      indices.back() = globalRow;
      Value address = view.address(index, indices);
      storeRow(rewriter, op, adaptor.getSource(), row / 8, address, quadLane);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Writes this thread's part of row 8 * `half` + g of its warp's rows.
  static void storeRow(OpBuilder &builder, StoreOp op, ValueRange registers,
                       int64_t half, Value address, Value quadLane) {
    Location loc = op.getLoc();
    IndexBuilder index(builder, loc);
    FragmentType type = op.getSource().getType();
    Type element = op.getDestination().getType().getElementType();
    if (type.isRow()) {
      LLVM::StoreOp::create(builder, loc, registers[half], address);
      return;
    }
    int64_t colBlocks = type.getShape()[1] / 8;
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    Value base = index.offset(address, index.mul(quadLane, 2 * bytes));
    for (int64_t block = 0; block < colBlocks; ++block) {
      size_t first = ((half / 2) * colBlocks + block) * 4 + (half % 2) * 2;
      Value pair = LLVM::PoisonOp::create(
          builder, loc, VectorType::get(2, builder.getF32Type()));
      for (int64_t k = 0; k < 2; ++k)
        pair = LLVM::InsertElementOp::create(
            builder, loc, pair, registers[first + k], index.i32(k));
      if (!element.isF32())
        pair = LLVM::FPTruncOp::create(builder, loc,
                                       VectorType::get(2, element), pair);
      LLVM::StoreOp::create(builder, loc, pair,
                            index.offset(base, block * 8 * bytes),
                            /*alignment=*/2 * bytes);
    }
  }
};

} // namespace

void attn::tile::populateGlobalMemoryPatterns(TypeConverter &converter,
                                              RewritePatternSet &patterns) {
  patterns.add<DimLowering, ExtractLowering, StoreLowering>(
      converter, patterns.getContext());
}
