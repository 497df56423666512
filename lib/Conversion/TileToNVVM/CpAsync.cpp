//===- CpAsync.cpp - Copies from global to shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async (PTX ISA, "Data Movement and Conversion Instructions: cp.async"):
// each thread copies 16-byte chunks; rows past the end are filled with zero.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kChunkBytes = 16;

/// A tile is copied panel by panel: within a panel, thread t takes chunk
/// t mod (chunks of a row) of rows t div (chunks of a row) + k * rowsPerPass.
struct CopyAsyncLowering : TileOpLowering<CopyAsyncOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(CopyAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    SharedType type = op.getTile().getType();
    int64_t chunksPerRow = type.getSwizzle() / kChunkBytes;
    int64_t rowsPerPass = getWarps() * 32 / chunksPerRow;
    if (type.getRows() % rowsPerPass != 0 && type.getRows() > rowsPerPass)
      return rewriter.notifyMatchFailure(
          op,
          "rows are not a multiple of the rows that the CTA copies at once");
    Value firstRow = index.div(index.thread(), chunksPerRow);
    if (type.getRows() < rowsPerPass) {
      // Some threads have no row.
      Value has = arith::CmpIOp::create(rewriter, op.getLoc(),
                                        arith::CmpIPredicate::slt, firstRow,
                                        index.i32(type.getRows()));
      auto guarded = scf::IfOp::create(rewriter, op.getLoc(), has);
      rewriter.setInsertionPointToStart(guarded.thenBlock());
    }
    copyRows(rewriter, op, adaptor, firstRow, rowsPerPass);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void copyRows(ConversionPatternRewriter &rewriter, CopyAsyncOp op,
                       Adaptor adaptor, Value firstRow, int64_t rowsPerPass) {
    IndexBuilder index(rewriter, op.getLoc());
    SharedType type = op.getTile().getType();
    GlobalView source(op.getSource().getType(), adaptor.getSource());
    SmallVector<Value> indices = llvm::map_to_vector(
        adaptor.getIndices(), [](ValueRange range) { return range.front(); });
    unsigned rowDim = indices.size() - 1;

    int64_t chunksPerRow = type.getSwizzle() / kChunkBytes;
    Value chunk = index.bitAnd(index.thread(), chunksPerRow - 1);
    Value start = index.toI32(indices.back());
    indices.back() = index.add(start, firstRow);
    Value from = index.offset(source.address(index, indices),
                              index.toI64(index.mul(chunk, kChunkBytes)));
    Value rowBytes = index.mul(source.stride(index, rowDim), 2);
    Value left =
        index.add(source.size(index, rowDim), index.mul(indices.back(), -1));

    for (int64_t row = 0; row < type.getRows(); row += rowsPerPass) {
      Value size = op.getInBounds()
                       ? Value()
                       : chunkSize(rewriter, op.getLoc(), left, row);
      Value rowFrom = index.offset(from, index.mul(rowBytes, row));
      Value to = destination(index, type, adaptor.getTile().front(),
                             index.add(firstRow, row), chunk);
      for (int64_t panel = 0; panel < type.getCols() / type.getPanelCols();
           ++panel)
        NVVM::CpAsyncOp::create(
            rewriter, op.getLoc(),
            index.offset(to, panel * type.getRows() * type.getSwizzle()),
            index.offset(rowFrom, panel * type.getSwizzle()), kChunkBytes,
            NVVM::LoadCacheModifierKind::CG, size);
    }
  }

  /// 16 if `row` is one of the `left` rows, else 0 (which fills with zero).
  static Value chunkSize(OpBuilder &builder, Location loc, Value left,
                         int64_t row) {
    IndexBuilder index(builder, loc);
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sgt, left, index.i32(row));
    return arith::SelectOp::create(builder, loc, exists, index.i32(kChunkBytes),
                                   index.i32(0));
  }

  /// Where `chunk` of `row` goes in the first panel.
  static Value destination(IndexBuilder &index, SharedType type, Value base,
                           Value row, Value chunk) {
    Value permuted = index.bitXor(chunk, swizzlePermutation(index, type, row));
    Value bytes = index.add(index.mul(row, type.getSwizzle()),
                            index.mul(permuted, kChunkBytes));
    return index.offset(base, bytes);
  }
};

struct CommitGroupLowering : TileOpLowering<CommitGroupOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(CommitGroupOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return success();
  }
};

struct WaitGroupLowering : TileOpLowering<WaitGroupOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(WaitGroupOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(
        op, static_cast<uint32_t>(op.getPending()));
    return success();
  }
};

} // namespace

void attn::tile::populateCpAsyncPatterns(TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<CopyAsyncLowering, CommitGroupLowering, WaitGroupLowering>(
      converter, patterns.getContext());
}
