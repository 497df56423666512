//===- ChangeRows.cpp - Rows of a tile that change --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop of each warp over its own rows, and elements of tiles by their place
// (TileTypes.td, SharedType).
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kPlaceBytes = 16;

/// The address of the element at (`row`, `col`), both i32.
Value addressOfElement(IndexBuilder &index, SharedType type, Value base,
                       Value row, Value col) {
  int64_t swizzle = type.getSwizzle();
  Value bytes = index.mul(col, type.getElementBytes());
  Value panel = index.div(bytes, swizzle);
  Value chunk = index.div(index.rem(bytes, swizzle), kPlaceBytes);
  Value place = index.bitXor(chunk, swizzlePermutation(index, type, row));
  Value rows = index.add(index.mul(panel, type.getRows()), row);
  Value ofRow = index.mul(rows, swizzle),
        ofPlace = index.mul(place, kPlaceBytes);
  Value inRow = index.add(ofPlace, index.rem(bytes, kPlaceBytes));
  return index.offset(base, index.add(ofRow, inRow));
}

/// Of the element that `op` reads or writes.
template <typename OpTy, typename AdaptorTy>
Value addressOf(OpTy op, AdaptorTy adaptor, OpBuilder &builder) {
  IndexBuilder index(builder, op.getLoc());
  Value row = index.toI32(adaptor.getRow().front());
  return addressOfElement(index, op.getTile().getType(),
                          adaptor.getTile().front(), row,
                          index.toI32(adaptor.getCol().front()));
}

struct LoadElementLowering : TileOpLowering<LoadElementOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(LoadElementOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
        op, op.getElement().getType(), addressOf(op, adaptor, rewriter),
        op.getTile().getType().getElementBytes());
    return success();
  }
};

struct StoreElementLowering : TileOpLowering<StoreElementOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(StoreElementOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, adaptor.getValue().front(), addressOf(op, adaptor, rewriter),
        op.getTile().getType().getElementBytes());
    return success();
  }
};

struct ChangeRowsLowering : TileOpLowering<ChangeRowsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(ChangeRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    int64_t rowsPerWarp = op.getTile().getType().getRows() / getWarps();
    int64_t atOnce = op.getBody().getNumArguments();
    Value warp = arith::IndexCastOp::create(
        rewriter, loc, rewriter.getIndexType(), index.warp());
    Value first =
        arith::MulIOp::create(rewriter, loc, warp, constant(rowsPerWarp));
    Value lower = constant(0), upper = constant(rowsPerWarp);
    auto loop =
        scf::ForOp::create(rewriter, loc, lower, upper, constant(atOnce));
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      Value next =
          arith::AddIOp::create(rewriter, loc, first, loop.getInductionVar());
      SmallVector<Value> rows = {next};
      for (int64_t i = 1; i < atOnce; ++i)
        rows.push_back(arith::AddIOp::create(rewriter, loc, next, constant(i)));
      rewriter.inlineBlockBefore(&op.getBody().front(),
                                 loop.getBody()->getTerminator(), rows);
    }
    if (op.getWarpgroup()) {
      fenceSharedWrites(rewriter, loc);
      syncWarpgroup(rewriter, loc, adaptor.getWarpgroup().front());
    } else {
      NVVM::SyncWarpOp::create(rewriter, loc, index.i32(-1));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void attn::tile::populateChangeRowsPatterns(TypeConverter &converter,
                                            RewritePatternSet &patterns) {
  patterns.add<LoadElementLowering, StoreElementLowering, ChangeRowsLowering>(
      converter, patterns.getContext());
}
