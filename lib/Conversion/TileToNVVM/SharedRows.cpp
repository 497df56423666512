//===- SharedRows.cpp - Rows through shared memory --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One value for each row, to a vector in shared memory and back.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kBytes = 4; // of f32

/// Where element `i` of what the calling lane has of `rows` is.
class RowAddress {
public:
  RowAddress(IndexBuilder &index, FragmentType rows, RowWarps warps,
             Value vector)
      : index(index), rows(rows) {
    Value first = index.add(index.warpRow(rows.getRows(), warps),
                            index.laneRow(rows.getLayout()));
    lane = index.offset(vector, index.mul(first, kBytes));
  }
  Value get(int64_t i) {
    return index.offset(lane, rows.getPlace(i).first * kBytes);
  }

private:
  IndexBuilder &index;
  FragmentType rows;
  Value lane;
};

/// Lanes that have copies of a row write one value to one place.
struct StoreSharedRowsLowering : TileOpLowering<StoreSharedRowsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(StoreSharedRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    RowAddress address(index, op.getSource().getType(), getRowWarps(),
                       adaptor.getVector().front());
    for (auto [i, value] : llvm::enumerate(adaptor.getSource()))
      LLVM::StoreOp::create(rewriter, op.getLoc(), value,
                            address.get(static_cast<int64_t>(i)));
    rewriter.eraseOp(op);
    return success();
  }
};

struct LoadSharedRowsLowering : TileOpLowering<LoadSharedRowsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(LoadSharedRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    FragmentType rows = op.getResult().getType();
    RowAddress address(index, rows, getRowWarps(), adaptor.getVector().front());
    SmallVector<Value> registers;
    for (int64_t i = 0, e = rows.countElements(getWarps()); i < e; ++i)
      registers.push_back(LLVM::LoadOp::create(
          rewriter, op.getLoc(), rows.getElementType(), address.get(i)));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

void attn::tile::populateSharedRowsPatterns(TypeConverter &converter,
                                            RewritePatternSet &patterns) {
  patterns.add<LoadSharedRowsLowering, StoreSharedRowsLowering>(
      converter, patterns.getContext());
}
