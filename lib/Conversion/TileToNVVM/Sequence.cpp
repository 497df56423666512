//===- Sequence.cpp - One of the sequences of a tensor --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {
struct SequenceLowering : TileOpLowering<SequenceOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(SequenceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    GlobalType type = op.getPacked().getType();
    GlobalView packed(type, adaptor.getPacked());
    unsigned rowDim = SequenceOp::getRowDim(type);
    SmallVector<Value> first(rowDim, index.i32(0));
    first.push_back(adaptor.getFirst().front());
    SmallVector<Value> parts = {packed.address(index, first)};
    // Sizes of [1, (H, )rows(, D)], then the strides of all but the last.
    bool hasHeads = type.getRank() > 1;
    if (hasHeads && type.isDynamicDim(1 - rowDim))
      parts.push_back(packed.size(index, 1 - rowDim));
    parts.push_back(index.toI32(adaptor.getRows().front()));
    if (type.getRank() == 3 && type.isDynamicDim(2))
      parts.push_back(packed.size(index, 2));
    parts.push_back(index.i64(0));
    if (hasHeads)
      parts.push_back(packed.stride(index, 1 - rowDim));
    if (type.getRank() == 3)
      parts.push_back(packed.stride(index, rowDim));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};
} // namespace

void attn::tile::populateSequencePatterns(TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<SequenceLowering>(converter, patterns.getContext());
}
