//===- ClearRows.cpp - Zeros where no row exists ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of a panel follow each other (TileTypes.td, SharedType), and a
// swizzle permutes chunks of a row: neighbouring rows are one range of bytes.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kStoreBytes = 16;

struct ClearRowsLowering : TileOpLowering<ClearRowsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(ClearRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value rows = index.toI32(adaptor.getRows().front());
    SharedType type = op.getTile().getType();
    Value isShort =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, rows,
                              index.i32(type.getRows()));
    Value first;
    if (op.getFirst()) {
      first = index.toI32(adaptor.getFirst().front());
      Value isLate = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::sgt, first, index.i32(0));
      isShort = arith::OrIOp::create(rewriter, loc, isShort, isLate);
    }
    auto guarded = scf::IfOp::create(rewriter, loc, isShort);
    rewriter.setInsertionPointToStart(guarded.thenBlock());
    // Where values are columns of the keys, others may still read these.
    if (getRowWarps().areShared)
      syncConsumers(rewriter, loc, getConsumerWarps());
    Value tile = adaptor.getTile().front();
    int64_t rowBytes = type.getSwizzle();
    Value begin = index.mul(rows, rowBytes);
    Value end = index.i32(type.getRows() * rowBytes);
    clearPanels(op, tile, begin, end, rewriter);
    if (first) {
      begin = index.i32(0);
      end = index.mul(first, rowBytes);
      clearPanels(op, tile, begin, end, rewriter);
    }
    fenceSharedWrites(rewriter, loc);
    syncConsumers(rewriter, loc, getConsumerWarps());
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Clears the bytes [begin, end) of each panel, of which the threads take
  /// chunks in turn.
  void clearPanels(ClearRowsOp op, Value tile, Value begin, Value end,
                   ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    SharedType type = op.getTile().getType();
    int64_t panelBytes = type.getRows() * type.getSwizzle();
    Value first = index.add(begin, index.mul(index.thread(), kStoreBytes));
    auto loop =
        scf::ForOp::create(rewriter, loc, first, end,
                           index.i32(getConsumerWarps() * 32 * kStoreBytes));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    auto chunk = VectorType::get(kStoreBytes / 4, rewriter.getI32Type());
    Value zeros = LLVM::ZeroOp::create(rewriter, loc, chunk);
    Value place = index.offset(tile, loop.getInductionVar());
    for (int64_t panel = 0; panel < type.getCols() / type.getPanelCols();
         ++panel)
      LLVM::StoreOp::create(rewriter, loc, zeros,
                            index.offset(place, panel * panelBytes),
                            kStoreBytes);
  }
};

} // namespace

void attn::tile::populateClearRowsPatterns(TypeConverter &converter,
                                           RewritePatternSet &patterns) {
  patterns.add<ClearRowsLowering>(converter, patterns.getContext());
}
