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

  /// Leaves out what is past the first `rows` of the tile, and before row
  /// number `first`, if given.
  void limitRows(Value rows, Value first);
  /// Reads rows where `table` says they are, of which there are `rows`.
  void lookUpPages(ValueRange table, Value rows);

  void emit();

private:
  /// A chunk's address, its row from firstRow on (from 0 on with packed heads),
  /// and the bytes of a chunk, 0 of what is no page of the pool; null if there
  /// are no pages.
  struct Place {
    Value from, row, bytes;
  };

  void copyPass(int64_t row, const Place &place);
  Value getTarget(int64_t row);
  Value getNext(Value from);
  Place locate(int64_t row);
  bool hasPassesInPage();
  Place lookUp(Value tileRow);
  SmallVector<Place> lookUpAll();
  Place locateInPages(int64_t row, ArrayRef<Place> pages);
  Place locateInHeads(int64_t row);
  Value sourceBytes(const Place &place, int64_t panel);
  bool hasWholePanel(int64_t panel);

  OpBuilder &builder;
  CopyAsyncOp op;
  IndexBuilder index;
  SharedType type;
  GlobalView source;
  Value tile;
  int64_t chunksPerRow, rowsPerPass;
  /// Of this thread: its chunk of a panel's row, its first row in the tile, and
  /// the address of that chunk in the first panel, of the pass at hand without
  /// packed heads and pages.
  Value chunk, firstRow, from;
  /// Where it goes, of a first row of a swizzle's period.
  llvm::SmallDenseMap<int64_t, Value> targets;
  Value rowBytes;           ///< from one row of the matrix to the next
  Value headBytes;          ///< from one head to the next, of packed heads
  Value rowsLeft, colsLeft; ///< of the matrix, from firstRow and chunk on
  Value missing; ///< rows that do not exist at the front of the tile, or null
  Value sinceFirst;  ///< rows from the first that exists to firstRow, if some
                     ///< are missing; then rowsLeft counts from there, too
  int64_t positions; ///< rows of a head
  /// With pages: the batch, the first key, the bytes from a page to the next,
  /// the first row that is looked up, or null for all, the last row that
  /// exists, and the batch's entries.
  Value batch, position, pageBytes, firstPageRow, lastRow, firstEntry;
  Type entryType;
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
  position = index.toI32(indices[rowDim]);
  batch = indices[0];
  if (op.getTable()) // The address is that of the head in the first page.
    indices[0] = indices[rowDim] = index.i32(0);
  Value firstCol = index.mul(chunk, kChunkBytes / elementBytes);
  if (static_cast<int64_t>(indices.size()) == rank)
    firstCol = index.add(index.toI32(indices.pop_back_val()), firstCol);
  positions = type.getRows() / op.getHeads();
  indices.back() = index.toI32(indices.back());
  // In pages each row is found for itself, unless they are neighbours.
  if (op.getHeads() == 1 && (!op.getTable() || hasPassesInPage()))
    indices.back() = index.add(indices.back(), firstRow);
  else if (op.getHeads() > 1)
    headBytes = index.mul(source.stride(index, rowDim - 1), elementBytes);
  from = source.address(index, indices);
  from = index.offset(from, index.toI64(index.mul(firstCol, elementBytes)));
  rowBytes = index.mul(source.stride(index, rowDim), elementBytes);
  rowsLeft = source.size(index, rowDim);
  rowsLeft = index.add(rowsLeft, index.mul(indices.back(), -1));
  colsLeft = source.size(index, rowDim + 1);
  colsLeft = index.add(colsLeft, index.mul(firstCol, -1));
}

void TileCopy::limitRows(Value rows, Value first) {
  Value left = index.toI32(rows);
  left = index.add(left, index.mul(firstRow, -1));
  rowsLeft = op.getTable()
                 ? left
                 : arith::MinSIOp::create(builder, op.getLoc(), rowsLeft, left);
  if (!first)
    return;
  missing = index.toI32(first);
  sinceFirst = index.add(firstRow, index.mul(missing, -1));
  rowsLeft = index.add(rowsLeft, sinceFirst);
}

void TileCopy::lookUpPages(ValueRange table, Value rows) {
  GlobalView view(op.getTable().getType(), table);
  entryType = op.getTable().getType().getElementType();
  firstEntry = view.address(index, batch);
  pageBytes = index.mul(source.stride(index, 0), type.getElementBytes());
  lastRow = index.add(index.toI32(rows), -1);
  if (!missing)
    return;
  int64_t page = op.getSource().getType().getShape()[2];
  firstPageRow = missing;
  // Where one entry serves all rows of a page, its first row is looked up; a
  // tile that is a part of a page has no other.
  if (hasPassesInPage())
    firstPageRow = type.getRows() % page == 0
                       ? index.mul(index.div(missing, page), page)
                       : Value();
}

void TileCopy::emit() {
  SmallVector<Place> pages;
  if (op.getTable())
    pages = lookUpAll();
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
    copyPass(row, op.getTable() ? locateInPages(row, pages) : locate(row));
  }
}

/// Where this thread's chunk of row `row` + firstRow goes, in the first panel.
/// A swizzle repeats every eight rows.
Value TileCopy::getTarget(int64_t row) {
  constexpr int64_t kPeriod = 8;
  int64_t inPeriod = row % kPeriod;
  Value &target = targets[inPeriod];
  if (!target) {
    Value tileRow = index.add(firstRow, inPeriod);
    Value permuted =
        index.bitXor(chunk, swizzlePermutation(index, type, tileRow));
    Value ofRow = index.mul(tileRow, type.getSwizzle());
    target =
        index.offset(tile, index.add(ofRow, index.mul(permuted, kChunkBytes)));
  }
  return index.offset(target, (row - inPeriod) * type.getSwizzle());
}

/// The address of the same chunk in the rows of the next pass.
Value TileCopy::getNext(Value from) {
  return index.offset(from, index.mul(rowBytes, rowsPerPass));
}

/// Copies rows `row` + firstRow of all threads.
void TileCopy::copyPass(int64_t row, const Place &place) {
  Value first = getTarget(row);
  for (int64_t panel = 0; panel < type.getCols() / type.getPanelCols();
       ++panel) {
    Value to = index.offset(first, panel * type.getRows() * type.getSwizzle());
    Value from = index.offset(place.from, panel * type.getSwizzle());
    NVVM::CpAsyncOp::create(builder, op.getLoc(), to, from, kChunkBytes,
                            NVVM::LoadCacheModifierKind::CG,
                            sourceBytes(place, panel));
  }
}

/// True if the rows of a pass are neighbours in one page: tiles begin at a
/// multiple of their rows.
bool TileCopy::hasPassesInPage() {
  int64_t page = op.getSource().getType().getShape()[2], rows = type.getRows();
  return page % rowsPerPass == 0 && (rows % page == 0 || page % rows == 0);
}

/// Where this thread's chunk of a row of the tile is, in its page. Of rows that
/// do not exist the nearest one's entry is read in their place, with
/// neighbours in one page that of the nearest page; what is no page is not
/// read.
TileCopy::Place TileCopy::lookUp(Value tileRow) {
  Location loc = op.getLoc();
  int64_t page = op.getSource().getType().getShape()[2];
  if (firstPageRow)
    tileRow = arith::MaxSIOp::create(builder, loc, tileRow, firstPageRow);
  tileRow = arith::MinSIOp::create(builder, loc, tileRow, lastRow);
  Value key = index.add(position, tileRow);
  int64_t entryBytes = entryType.getIntOrFloatBitWidth() / 8;
  Value at = index.offset(
      firstEntry, index.mul(index.toI64(index.div(key, page)), entryBytes));
  Value entry = index.toI64(
      LLVM::LoadOp::create(builder, loc, entryType, at, entryBytes));
  Value isPage =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, entry,
                            index.toI64(source.size(index, 0)));
  entry = arith::SelectOp::create(builder, loc, isPage, entry, index.i64(0));
  Value bytes = index.mul(entry, pageBytes);
  bytes =
      index.add(bytes, index.mul(index.toI64(index.rem(key, page)), rowBytes));
  Value ofChunk = arith::SelectOp::create(builder, loc, isPage,
                                          index.i32(kChunkBytes), index.i32(0));
  return {index.offset(from, bytes), Value(), ofChunk};
}

/// Looks up the pages of the rows of all passes, before the first copy, so that
/// no entry waits for it: those of each pass, or once for the rows of a page.
SmallVector<TileCopy::Place> TileCopy::lookUpAll() {
  int64_t page = op.getSource().getType().getShape()[2];
  SmallVector<Place> pages;
  if (hasPassesInPage())
    for (int64_t row = 0; row < type.getRows(); row += page)
      pages.push_back(lookUp(index.i32(row)));
  else
    for (int64_t row = 0; row < type.getRows(); row += rowsPerPass)
      pages.push_back(lookUp(index.add(firstRow, row)));
  return pages;
}

/// Where this thread's chunk of row `row` + firstRow of the tile is, in its
/// page.
TileCopy::Place TileCopy::locateInPages(int64_t row, ArrayRef<Place> pages) {
  Place place;
  if (!hasPassesInPage()) {
    place = pages[row / rowsPerPass];
  } else {
    int64_t page = op.getSource().getType().getShape()[2];
    place = pages[row / page];
    from = row % page == 0 ? place.from : getNext(from);
    place.from = from;
  }
  place.row = index.i32(row);
  return place;
}

/// Where this thread's chunk of row `row` + firstRow of the tile is. Packed
/// heads follow each other in the tile.
TileCopy::Place TileCopy::locate(int64_t row) {
  if (!headBytes) {
    if (row != 0)
      from = getNext(from);
    return {from, index.i32(row), Value()};
  }
  return locateInHeads(row);
}

/// The same of packed heads. Where a pass has whole heads, the next one's rows
/// have the same positions in others.
TileCopy::Place TileCopy::locateInHeads(int64_t row) {
  auto times = [&](Value bytes, Value count) -> Value {
    return arith::MulIOp::create(builder, op.getLoc(), bytes,
                                 index.toI64(count));
  };
  bool hasWholeHeads = rowsPerPass % positions == 0;
  Value tileRow = hasWholeHeads ? firstRow : index.add(firstRow, row);
  Value position = index.rem(tileRow, positions);
  if (hasWholeHeads && row > 0) {
    from = index.offset(from, index.mul(headBytes, rowsPerPass / positions));
    return {from, position, Value()};
  }
  Value ofRow =
      index.offset(from, times(headBytes, index.div(tileRow, positions)));
  ofRow = index.offset(ofRow, times(rowBytes, position));
  if (hasWholeHeads)
    from = ofRow;
  return {ofRow, position, Value()};
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
Value TileCopy::sourceBytes(const Place &place, int64_t panel) {
  if (op.getInBounds())
    return Value();
  Location loc = op.getLoc();
  Value all = place.bytes ? place.bytes : index.i32(kChunkBytes);
  Value none = index.i32(0), bytes = all;
  if (!hasWholePanel(panel)) {
    bytes = index.mul(index.add(colsLeft, -panel * type.getPanelCols()),
                      type.getElementBytes());
    bytes = arith::MinSIOp::create(builder, loc, bytes, all);
    bytes = arith::MaxSIOp::create(builder, loc, bytes, none);
  }
  // As numbers without a sign those before the first row are large.
  Value row = sinceFirst ? index.add(sinceFirst, place.row) : place.row;
  Value exists = arith::CmpIOp::create(builder, loc,
                                       sinceFirst ? arith::CmpIPredicate::ugt
                                                  : arith::CmpIPredicate::sgt,
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
                  adaptor.getTile().front(), 32 * getConsumerWarps());
    if (op.getRows())
      copy.limitRows(adaptor.getRows().front(),
                     op.getFirst() ? adaptor.getFirst().front() : Value());
    if (op.getTable())
      copy.lookUpPages(adaptor.getTable(), adaptor.getRows().front());
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
