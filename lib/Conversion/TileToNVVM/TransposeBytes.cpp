//===- TransposeBytes.cpp - 8-bit operands K-major --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ldmatrix transposes pairs of bytes: lane 4g + t then has the columns 2g and
// 2g + 1 of the rows 2t and 2t + 1 of a matrix of eight. Of two matrices prmt
// makes four rows of one column, which stmatrix writes side by side: rows 2t,
// 2t + 1, 8 + 2t, 9 + 2t, the order of to_operand (TileTypes.td). A warp reads
// chunks of its own, in which it has cleared the rows that do not exist.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "attn/Dialect/PTX/IR/PTX.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// Warps that share a tile; rows (four matrices of eight) and columns (a chunk)
/// of a block.
constexpr int64_t kTransposers = 4, kBlockRows = 32, kBlockCols = 16;

struct StoreTransposedLowering : TileOpLowering<StoreTransposedOp> {
  using TileOpLowering::TileOpLowering;

  /// Warp w takes the chunks w, w + 4, ... of the columns.
  LogicalResult
  matchAndRewrite(StoreTransposedOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value warp = index.add(index.warp(), -getConsumerWarps());
    int64_t chunks = op.getSource().getType().getCols() / kBlockCols;
    for (int64_t first = 0; first < chunks; first += kTransposers) {
      OpBuilder::InsertionGuard guard(rewriter);
      if (first + kTransposers > chunks) {
        Value exists =
            arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                  warp, index.i32(chunks - first));
        auto guarded = scf::IfOp::create(rewriter, loc, exists);
        rewriter.setInsertionPointToStart(guarded.thenBlock());
      }
      transposeChunk(op, adaptor, index.add(warp, first), rewriter);
    }
    fenceSharedWrites(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// All rows of column chunk `chunk`.
  static void transposeChunk(StoreTransposedOp op, Adaptor adaptor, Value chunk,
                             OpBuilder &builder) {
    IndexBuilder index(builder, op.getLoc());
    SharedType from = op.getSource().getType(), to = op.getTile().getType();
    Value lane = index.lane();
    // Lane l has the address of row l: of matrix l / 8, row l mod 8.
    int64_t chunksOfPanel = from.getSwizzle() / kBlockCols;
    Value panel = index.offset(adaptor.getSource().front(),
                               index.mul(index.div(chunk, chunksOfPanel),
                                         from.getRows() * from.getSwizzle()));
    SwizzledAddress source(index, from, panel, lane,
                           index.rem(chunk, chunksOfPanel));
    // Matrices are (even columns, rows 0-15), (odd ones, rows 0-15), (even
    // columns, rows 16-31), (odd ones, rows 16-31).
    Value inChunk = index.mul(index.bitAnd(lane, 7), 2);
    inChunk = index.add(inChunk, index.bitAnd(index.shiftRight(lane, 3), 1));
    Value row = index.add(index.mul(chunk, kBlockCols), inChunk);
    SwizzledAddress target(index, to, adaptor.getTile().front(), row,
                           index.shiftRight(lane, 4));
    PtxBlock block(builder, op.getLoc(), builder.getI32Type(),
                   /*numResults=*/0);
    if (op.getRows()) {
      SmallVector<Value> range = {index.toI32(adaptor.getRows().front())};
      if (op.getFirst())
        range.push_back(index.toI32(adaptor.getFirst().front()));
      clearRows(block, from, source, lane, range);
    }
    SmallVector<std::string> rows = block.declare("%row", 4);
    SmallVector<std::string> cols = block.declare("%col", 4);
    for (int64_t row = 0; row < from.getRows(); row += kBlockRows) {
      block.add("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 " +
                PtxBlock::list(rows) + ", " + text(block, source, row, 0));
      for (int64_t i = 0; i < 4; ++i)
        block.add("prmt.b32 " + cols[i] + ", " + rows[i / 2 * 2] + ", " +
                  rows[i / 2 * 2 + 1] + (i % 2 ? ", 0x7531" : ", 0x6420"));
      block.add("stmatrix.sync.aligned.m8n8.x4.shared.b16 " +
                text(block, target, 0, row / kBlockCols) + ", " +
                PtxBlock::list(cols));
    }
    block.create();
  }

  /// Writes 0 to the chunk in the rows from the first number of `range` on, and
  /// before the second, if there is one, each by its lane.
  static void clearRows(PtxBlock &block, SharedType type,
                        SwizzledAddress &chunk, Value lane, ValueRange range) {
    block.add(".reg .pred %missing");
    std::string number = block.declare("%number", 1).front();
    for (int64_t row = 0; row < type.getRows(); row += kBlockRows) {
      block.add("add.s32 " + number + ", " + block.use(lane).front() + ", " +
                std::to_string(row));
      block.add("setp.ge.s32 %missing, " + number + ", " +
                block.use(range[0]).front());
      if (range.size() > 1)
        block.add("setp.lt.or.s32 %missing, " + number + ", " +
                  block.use(range[1]).front() + ", %missing");
      block.add("@%missing st.shared.v4.b32 " + text(block, chunk, row, 0) +
                ", {0, 0, 0, 0}");
    }
    block.add("bar.warp.sync -1");
  }

  static std::string text(PtxBlock &block, SwizzledAddress &address,
                          int64_t row, int64_t chunk) {
    auto [base, bytes] = address.split(row, chunk);
    return "[" + block.use(base).front() + "+" + std::to_string(bytes) + "]";
  }
};

} // namespace

void attn::tile::populateTransposePatterns(TypeConverter &converter,
                                           RewritePatternSet &patterns) {
  patterns.add<StoreTransposedLowering>(converter, patterns.getContext());
}
