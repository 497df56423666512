//===- CpAsync.cpp - Copies from global to shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async (PTX ISA, "Data Movement and Conversion Instructions: cp.async"):
// each thread copies 16-byte chunks; what lies past the ends of the matrix is
// filled with zero.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kChunkBytes = 16;

/// One copy of a tile, panel by panel: within a panel, thread t takes chunk
/// t mod (chunks of a row) of rows t div (chunks of a row) + k * rowsPerPass.
class TileCopy {
public:
  TileCopy(OpBuilder &builder, CopyAsyncOp op, ValueRange source,
           SmallVector<Value> indices, Value tile, int64_t threads);

  /// Leaves out what is past the first `rows` of the tile.
  void limitRows(Value rows);

  void emit();

private:
  /// A chunk's address, and its row from firstRow on (from 0 on with packed
  /// heads).
  struct Place {
    Value from, row;
  };

  void copyPass(int64_t row);
  Place locate(int64_t row, Value tileRow);
  Value sourceBytes(Value row, int64_t panel);
  bool hasWholePanel(int64_t panel);

  OpBuilder &builder;
  CopyAsyncOp op;
  IndexBuilder index;
  SharedType type;
  GlobalView source;
  Value tile;
  int64_t chunksPerRow, rowsPerPass;
  /// Of this thread: its chunk of a panel's row, its first row in the tile, and
  /// the address of that chunk in the first panel.
  Value chunk, firstRow, from;
  Value rowBytes;           ///< from one row of the matrix to the next
  Value headBytes;          ///< from one head to the next, of packed heads
  Value rowsLeft, colsLeft; ///< of the matrix, from firstRow and chunk on
  int64_t positions;        ///< rows of a head
};

TileCopy::TileCopy(OpBuilder &builder, CopyAsyncOp op, ValueRange parts,
                   SmallVector<Value> indices, Value tile, int64_t threads)
    : builder(builder), op(op), index(builder, op.getLoc()),
      type(op.getTile().getType()), source(op.getSource().getType(), parts),
      tile(tile), chunksPerRow(type.getSwizzle() / kChunkBytes),
      rowsPerPass(threads / chunksPerRow) {
  int64_t rank = op.getSource().getType().getRank();
  unsigned rowDim = rank - 2;
  chunk = index.bitAnd(index.thread(), chunksPerRow - 1);
  firstRow = index.div(index.thread(), chunksPerRow);
  int64_t elementBytes = type.getElementBytes();
  Value firstCol = index.mul(chunk, kChunkBytes / elementBytes);
  if (static_cast<int64_t>(indices.size()) == rank)
    firstCol = index.add(index.toI32(indices.pop_back_val()), firstCol);
  positions = type.getRows() / op.getHeads();
  indices.back() = index.toI32(indices.back());
  if (op.getHeads() == 1)
    indices.back() = index.add(indices.back(), firstRow);
  else
    headBytes = index.mul(source.stride(index, rowDim - 1), elementBytes);
  from = index.offset(source.address(index, indices),
                      index.toI64(index.mul(firstCol, elementBytes)));
  rowBytes = index.mul(source.stride(index, rowDim), elementBytes);
  rowsLeft =
      index.add(source.size(index, rowDim), index.mul(indices.back(), -1));
  colsLeft = index.add(source.size(index, rowDim + 1), index.mul(firstCol, -1));
}

void TileCopy::limitRows(Value rows) {
  Value left = index.add(index.toI32(rows), index.mul(firstRow, -1));
  rowsLeft = arith::MinSIOp::create(builder, op.getLoc(), rowsLeft, left);
}

void TileCopy::emit() {
  for (int64_t row = 0; row < type.getRows(); row += rowsPerPass) {
    OpBuilder::InsertionGuard guard(builder);
    if (row + rowsPerPass > type.getRows()) {
      // Some threads have no row.
      Value has =
          arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::slt,
                                firstRow, index.i32(type.getRows() - row));
      auto guarded = scf::IfOp::create(builder, op.getLoc(), has);
      builder.setInsertionPointToStart(guarded.thenBlock());
    }
    copyPass(row);
  }
}

/// Copies rows `row` + firstRow of all threads.
void TileCopy::copyPass(int64_t row) {
  Value tileRow = index.add(firstRow, row);
  Place place = locate(row, tileRow);
  Value permuted =
      index.bitXor(chunk, swizzlePermutation(index, type, tileRow));
  Value to = index.offset(tile, index.add(index.mul(tileRow, type.getSwizzle()),
                                          index.mul(permuted, kChunkBytes)));
  for (int64_t panel = 0; panel < type.getCols() / type.getPanelCols(); ++panel)
    NVVM::CpAsyncOp::create(
        builder, op.getLoc(),
        index.offset(to, panel * type.getRows() * type.getSwizzle()),
        index.offset(place.from, panel * type.getSwizzle()), kChunkBytes,
        NVVM::LoadCacheModifierKind::CG, sourceBytes(place.row, panel));
}

/// Where this thread's chunk of row `row` + firstRow = `tileRow` of the tile
/// is. Packed heads follow each other in the tile.
TileCopy::Place TileCopy::locate(int64_t row, Value tileRow) {
  if (!headBytes)
    return {index.offset(from, index.mul(rowBytes, row)), index.i32(row)};
  Value head = index.div(tileRow, positions);
  Value position = index.rem(tileRow, positions);
  auto times = [&](Value bytes, Value count) -> Value {
    return arith::MulIOp::create(builder, op.getLoc(), bytes,
                                 index.toI64(count));
  };
  Value ofHead = index.offset(from, times(headBytes, head));
  return {index.offset(ofHead, times(rowBytes, position)), position};
}

/// True if the matrix is known to have all columns of `panel`.
bool TileCopy::hasWholePanel(int64_t panel) {
  GlobalType matrix = op.getSource().getType();
  int64_t cols = matrix.getShape().back();
  return !ShapedType::isDynamic(cols) &&
         (panel + 1) * type.getPanelCols() <= cols &&
         static_cast<int64_t>(op.getIndices().size()) < matrix.getRank();
}

/// How many of the chunk's 16 bytes exist; the others are filled with zero.
/// Null if all of them do.
Value TileCopy::sourceBytes(Value row, int64_t panel) {
  if (op.getInBounds())
    return Value();
  Location loc = op.getLoc();
  Value all = index.i32(kChunkBytes), none = index.i32(0), bytes = all;
  if (!hasWholePanel(panel)) {
    bytes = index.mul(index.add(colsLeft, -panel * type.getPanelCols()),
                      type.getElementBytes());
    bytes = arith::MinSIOp::create(builder, loc, bytes, all);
    bytes = arith::MaxSIOp::create(builder, loc, bytes, none);
  }
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                       rowsLeft, row);
  return arith::SelectOp::create(builder, loc, exists, bytes, none);
}

struct CopyAsyncLowering : TileOpLowering<CopyAsyncOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(CopyAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> indices = llvm::map_to_vector(
        adaptor.getIndices(), [](ValueRange range) { return range.front(); });
    TileCopy copy(rewriter, op, adaptor.getSource(), indices,
                  adaptor.getTile().front(), getWarps() * 32);
    if (!adaptor.getRows().empty())
      copy.limitRows(adaptor.getRows().front());
    copy.emit();
    rewriter.eraseOp(op);
    return success();
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
