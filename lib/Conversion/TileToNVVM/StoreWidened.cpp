//===- StoreWidened.cpp - 8-bit tiles as tiles of 16 bits -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread of the producer makes chunks of 16 bytes of a row two of 16
// bytes.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "WidenBytes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kThreads = 128, kChunkBytes = 16;

struct StoreWidenedLowering : TileOpLowering<StoreWidenedOp> {
  StoreWidenedLowering(const TypeConverter &converter, MLIRContext *context,
                       bool hasFloat8)
      : TileOpLowering(converter, context), hasFloat8(hasFloat8) {}

  LogicalResult
  matchAndRewrite(StoreWidenedOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    SharedType from = op.getSource().getType();
    // Chunks of a row in one panel of either tile.
    int64_t lanes = std::min<int64_t>(from.getSwizzle(),
                                      op.getTile().getType().getSwizzle() / 2) /
                    kChunkBytes;
    int64_t rows = kThreads / lanes;
    Value thread = index.add(index.thread(), -32 * getConsumerWarps());
    Value row = index.div(thread, lanes), chunk = index.rem(thread, lanes);
    if (lanes == 4)
      row = pairRows(index, row);
    OpBuilder::InsertionGuard guard(rewriter);
    for (int64_t first = 0; first < from.getRows(); first += rows) {
      if (first + rows > from.getRows()) {
        Value exists =
            arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, row,
                                  index.i32(from.getRows() - first));
        auto guarded = scf::IfOp::create(rewriter, loc, exists);
        rewriter.setInsertionPointToStart(guarded.thenBlock());
      }
      for (int64_t column = 0; column < from.getCols() / kChunkBytes;
           column += lanes)
        widenChunk(op, adaptor, {row, chunk, first, column}, rewriter);
    }
    rewriter.setInsertionPoint(op);
    fenceSharedWrites(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// A chunk of a thread, as what the thread adds to a first row and chunk.
  struct Place {
    Value row, chunk;
    int64_t firstRow, firstChunk;
  };

  /// Rows of eight lanes that access shared memory at once are r and r xor 5:
  /// then swizzles of 64 and 128 bytes have what they read and what they write
  /// in different banks.
  static Value pairRows(IndexBuilder &index, Value row) {
    Value inGroup = index.rem(row, 8), second = index.rem(row, 2);
    Value first = index.mul(index.div(row, 8), 8);
    Value pair = index.div(inGroup, 2);
    return index.add(first, index.bitXor(pair, index.mul(second, 5)));
  }

  void widenChunk(StoreWidenedOp op, Adaptor adaptor, Place place,
                  OpBuilder &builder) const {
    IndexBuilder index(builder, op.getLoc());
    SharedType from = op.getSource().getType(), to = op.getTile().getType();
    SwizzledAddress source(index, from, adaptor.getSource().front(), place.row,
                           place.chunk);
    SwizzledAddress target(index, to, adaptor.getTile().front(), place.row,
                           index.mul(place.chunk, 2));
    PtxBlock block(builder, op.getLoc(), builder.getI32Type(),
                   /*numResults=*/0);
    declareWidened(block, from.getElementType(), hasFloat8);
    SmallVector<std::string> bytes = block.declare("%bytes", 4);
    SmallVector<std::string> wide = block.declare("%pair", 8);
    block.add("ld.shared.v4.b32 " + PtxBlock::list(bytes) + ", " +
              text(block, source, place.firstRow, place.firstChunk));
    if (op.getRows()) {
      Value row = index.add(place.row, place.firstRow);
      SmallVector<Value> range = {index.toI32(adaptor.getRows().front())};
      if (op.getFirst())
        range.push_back(index.toI32(adaptor.getFirst().front()));
      clearMissing(block, bytes, row, range);
    }
    for (auto [i, four] : llvm::enumerate(bytes))
      widenBytes(block, from.getElementType(), to.getElementType(),
                 ArrayRef(wide).slice(2 * i, 2), four, BytePairs::Neighbours,
                 hasFloat8);
    for (int64_t half : {0, 1})
      block.add(
          "st.shared.v4.b32 " +
          text(block, target, place.firstRow, 2 * place.firstChunk + half) +
          ", " + PtxBlock::list(ArrayRef(wide).slice(4 * half, 4)));
    block.create();
  }

  /// Makes `bytes` 0 if row `row` is not before the first number of `range`, or
  /// is before the second, if there is one.
  static void clearMissing(PtxBlock &block, ArrayRef<std::string> bytes,
                           Value row, ValueRange range) {
    block.add(".reg .pred %missing");
    std::string number = block.use(row).front();
    SmallVector<std::string> numbers = block.use(range);
    block.add("setp.ge.s32 %missing, " + number + ", " + numbers[0]);
    if (range.size() > 1)
      block.add("setp.lt.or.s32 %missing, " + number + ", " + numbers[1] +
                ", %missing");
    for (const std::string &four : bytes)
      block.add("@%missing mov.b32 " + four + ", 0");
  }

  static std::string text(PtxBlock &block, SwizzledAddress &address,
                          int64_t row, int64_t chunk) {
    auto [base, bytes] = address.split(row, chunk);
    return "[" + block.use(base).front() + "+" + std::to_string(bytes) + "]";
  }

  bool hasFloat8;
};

} // namespace

void attn::tile::populateStoreWidenedPatterns(TypeConverter &converter,
                                              RewritePatternSet &patterns,
                                              bool hasFloat8) {
  patterns.add<StoreWidenedLowering>(converter, patterns.getContext(),
                                     hasFloat8);
}
