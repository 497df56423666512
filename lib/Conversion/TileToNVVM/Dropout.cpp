//===- Dropout.cpp - What dropout keeps of a fragment -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of Philox for four registers of an accumulator: of rows g and g + 8,
// in blocks of 8 columns 2k and 2k + 1. Seed, offset, batch and head are the
// same for a tile: LLVM moves what follows from them out of the key loop.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "attn/Dialect/Attn/Utils/DropoutBuilder.h"

using namespace mlir;
using namespace attn;
using namespace attn::tile;

namespace {

/// Builds the registers of one op.
class DropoutBuilder {
public:
  DropoutBuilder(OpBuilder &builder, DropoutOp op,
                 DropoutOp::GenericAdaptor<ArrayRef<ValueRange>> operands,
                 RowWarps warps)
      : builder(builder), loc(op.getLoc()), index(builder, loc), op(op),
        type(op.getSource().getType()), source(operands.getSource()),
        seed(operands.getSeed().front()), offset(operands.getOffset().front()),
        b(index.toI32(operands.getB().front())),
        h(index.toI32(operands.getH().front())),
        i(index.toI32(operands.getI().front())),
        j(index.toI32(operands.getJ().front())),
        rowsPerHead(type.getRows() / op.getHeads()),
        rowBlocks(type.getRows() / warps.count / 16) {
    Value lane = index.lane();
    laneRow = index.shiftRight(lane, 2);
    laneCol = index.mul(index.bitAnd(lane, 3), 2);
    warpRow = index.warpRow(type.getRows(), warps);
  }

  SmallVector<Value> build();

private:
  PhiloxWords buildUniformHead();
  void buildBlock(int64_t rowBlock, int64_t colPair, int64_t parity);
  void buildRow(int64_t rowBlock, int64_t rowHalf);
  PhiloxWords buildWords(Value row, Value col);
  /// Sets the register of row g + 8 * rowHalf and column block 2 * colPair +
  /// colHalf.
  void set(int64_t rowBlock, int64_t rowHalf, int64_t colPair, int64_t colHalf,
           int64_t parity, Value word);

  OpBuilder &builder;
  Location loc;
  IndexBuilder index;
  DropoutOp op;
  FragmentType type;
  ValueRange source;
  Value seed, offset, b, h, i, j;
  int64_t rowsPerHead, rowBlocks;
  Value laneRow, laneCol, warpRow;
  PhiloxWords head;
  SmallVector<Value> registers;
};

} // namespace

void DropoutBuilder::set(int64_t rowBlock, int64_t rowHalf, int64_t colPair,
                         int64_t colHalf, int64_t parity, Value word) {
  int64_t colBlocks = type.getShape()[1] / 8;
  int64_t block = rowBlock * colBlocks + 2 * colPair + colHalf;
  int64_t number = block * 4 + rowHalf * 2 + parity;
  Value threshold = index.i32(static_cast<int32_t>(op.getThreshold()));
  Value isKept = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                       word, threshold);
  Value element = source[number], dropped;
  if (op.getSigns())
    dropped = arith::NegFOp::create(builder, loc, element);
  else
    dropped =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0f));
  registers[number] =
      arith::SelectOp::create(builder, loc, isKept, element, dropped);
}

/// The words of four elements, of which (row, col) of the tile is the first.
PhiloxWords DropoutBuilder::buildWords(Value row, Value col) {
  if (op.getTransposed())
    std::swap(row, col);
  row = index.add(i, row);
  return buildElementWords(builder, loc, head, row, index.add(j, col));
}

/// Four registers, whose rows are of one head.
void DropoutBuilder::buildBlock(int64_t rowBlock, int64_t colPair,
                                int64_t parity) {
  Value firstRow = index.add(warpRow, rowBlock * 16);
  if (op.getHeads() > 1)
    firstRow = index.rem(firstRow, rowsPerHead);
  Value row = index.add(firstRow, laneRow);
  PhiloxWords words =
      buildWords(row, index.add(laneCol, colPair * 16 + parity));
  for (int64_t rowHalf : {0, 1})
    for (int64_t colHalf : {0, 1})
      set(rowBlock, rowHalf, colPair, colHalf, parity,
          words[op.getTransposed() ? 2 * colHalf + rowHalf
                                   : 2 * rowHalf + colHalf]);
}

/// The registers of one row, for tiles in which row g + 8 may be of another
/// head than row g: which two of four words a row has is known at run time.
void DropoutBuilder::buildRow(int64_t rowBlock, int64_t rowHalf) {
  Value row =
      index.add(index.add(warpRow, rowBlock * 16 + rowHalf * 8), laneRow);
  head = buildHeadWords(builder, loc, seed, offset, b,
                        index.add(h, index.div(row, rowsPerHead)));
  Value position = index.add(i, index.rem(row, rowsPerHead));
  Value isSecond = index.bitAnd(position, 8);
  isSecond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                   isSecond, index.i32(0));
  position = index.bitAnd(position, ~int64_t(8));
  for (int64_t colPair = 0; colPair < type.getShape()[1] / 16; ++colPair)
    for (int64_t parity : {0, 1}) {
      Value col = index.add(laneCol, colPair * 16 + parity);
      PhiloxWords words =
          buildElementWords(builder, loc, head, position, index.add(j, col));
      for (int64_t colHalf : {0, 1})
        set(rowBlock, rowHalf, colPair, colHalf, parity,
            arith::SelectOp::create(builder, loc, isSecond, words[2 + colHalf],
                                    words[colHalf]));
    }
}

/// The words of a head that all lanes share, in a form from which ptxas knows
/// that they do (PTX ISA, redux.sync): what follows from them, the keys of ten
/// rounds, then takes uniform registers.
PhiloxWords DropoutBuilder::buildUniformHead() {
  PhiloxWords words = buildHeadWords(builder, loc, seed, offset, b, h);
  for (Value &word : words)
    word = NVVM::ReduxOp::create(builder, loc, word.getType(), word,
                                 NVVM::ReduxKind::UMIN, index.i32(-1));
  return words;
}

SmallVector<Value> DropoutBuilder::build() {
  registers.resize(rowBlocks * (type.getShape()[1] / 8) * 4);
  bool isShared = rowsPerHead % 16 == 0;
  if (op.getHeads() == 1)
    head = buildUniformHead();
  for (int64_t rowBlock = 0; rowBlock < rowBlocks; ++rowBlock) {
    if (!isShared) {
      buildRow(rowBlock, 0);
      buildRow(rowBlock, 1);
      continue;
    }
    if (op.getHeads() > 1) {
      Value first = index.add(warpRow, rowBlock * 16);
      head = buildHeadWords(builder, loc, seed, offset, b,
                            index.add(h, index.div(first, rowsPerHead)));
    }
    for (int64_t colPair = 0; colPair < type.getShape()[1] / 16; ++colPair)
      for (int64_t parity : {0, 1})
        buildBlock(rowBlock, colPair, parity);
  }
  return registers;
}

namespace {
struct DropoutLowering : TileOpLowering<DropoutOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(DropoutOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(
        op, {DropoutBuilder(rewriter, op, adaptor, getRowWarps()).build()});
    return success();
  }
};
} // namespace

void attn::tile::populateDropoutPatterns(TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<DropoutLowering>(converter, patterns.getContext());
}
