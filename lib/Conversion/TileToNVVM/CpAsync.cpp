//===- CpAsync.cpp - Copies from global to shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async (PTX ISA, "Data Movement and Conversion Instructions: cp.async"):
// each thread copies 16-byte chunks; what lies past the ends of the matrix is
// filled with zero. In pages a chunk that does not exist is left out by a
// predicate, of which ptxas makes that of the copy; a number of bytes it has to
// compare.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kChunkBytes = 16;

/// Sets the builder, which is at `op`, to where what is made of `operands`
/// alone is computed once: in front of the outermost loop around `op` in which
/// they stay the same, if there is one. For more than what a thread's number
/// says that is worth its registers only where pages are looked up.
void setToFront(OpBuilder &builder, CopyAsyncOp op, ValueRange operands) {
  if (!operands.empty() && !op.getTable())
    return;
  auto changeIn = [&](Operation *around) {
    return llvm::any_of(operands, [&](Value operand) {
      return around->isAncestor(operand.getParentRegion()->getParentOp());
    });
  };
  for (Operation *around = op->getParentOp();
       isa<scf::ForOp, scf::IfOp>(around) && !changeIn(around);
       around = around->getParentOp())
    if (isa<scf::ForOp>(around))
      builder.setInsertionPoint(around);
}

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
  /// and rowsLeft, 0 of what is no page of the pool.
  struct Place {
    Value from, row, rowsLeft;
  };
  /// A pointer that passes share, and the bytes from it to where a row goes in
  /// the first panel.
  struct Target {
    Value pointer;
    int64_t bytes;
    int64_t getBytes(SharedType type, int64_t panel) const {
      return bytes + panel * type.getRows() * type.getSwizzle();
    }
  };
  /// What the table says of a row: its page, and the row's number there, null
  /// for 0.
  struct Entry {
    Value page, row;
  };

  void locateFirst(SmallVector<Value> indices);
  void copyPass(int64_t row, const Place &place);
  Value getRow(const Place &place);
  void copyWhole(const Target &to, const Place &place, int64_t panels);
  Value sourceBytes(const Place &place, int64_t panel);
  void copyPart(const Target &to, const Place &place, int64_t panel);
  Target getTarget(int64_t row);
  Value getNext(Value from);
  Place locate(int64_t row);
  bool hasPassesInPage();
  Value readEntry(Value number);
  Entry lookUpRow(Value tileRow);
  Entry lookUpPage(int64_t number);
  SmallVector<Entry> lookUpAll();
  Place locateEntry(const Entry &entry);
  Place locateInPages(int64_t row, ArrayRef<Entry> entries);
  Place locateInHeads(int64_t row);
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
  Value chunkBytes; ///< from the panel's row to the chunk
  /// Where it goes in the tile, of a first row of a swizzle's period.
  llvm::SmallDenseMap<int64_t, Value> targets;
  Value rowBytes;           ///< from one row of the matrix to the next
  Value headBytes;          ///< from one head to the next, of packed heads
  Value rowsLeft, colsLeft; ///< of the matrix, from firstRow and chunk on
  Value missing; ///< rows that do not exist at the front of the tile, or null
  Value sinceFirst;  ///< rows from the first that exists to firstRow, if some
                     ///< are missing; then rowsLeft counts from there, too
  int64_t positions; ///< rows of a head
  /// With pages: the batch, the first key, the bytes from a page to the next,
  /// the last row that exists, and the batch's entries.
  Value batch, position, pageBytes, lastRow, firstEntry;
  Place inPage; ///< of the pass at hand, where a page has whole passes
  Type entryType;
};

TileCopy::TileCopy(OpBuilder &builder, CopyAsyncOp op, ValueRange parts,
                   SmallVector<Value> indices, Value tile, int64_t threads)
    : builder(builder), op(op), index(builder, op.getLoc()),
      type(op.getTile().getType()), source(op.getSource().getType(), parts),
      tile(tile), chunksPerRow(type.getSwizzle() / kChunkBytes),
      rowsPerPass(threads / chunksPerRow) {
  unsigned rowDim = op.getSource().getType().getRank() - 2;
  position = index.toI32(indices[rowDim]);
  batch = indices[0];
  SmallVector<Value> fixed(indices); // what the address is made of
  if (op.getTable())
    fixed[0] = fixed[rowDim] = Value();
  llvm::erase(fixed, Value());
  llvm::append_range(fixed, parts);
  {
    OpBuilder::InsertionGuard guard(builder);
    setToFront(builder, op, {});
    Value thread = index.thread();
    chunk = index.bitAnd(thread, chunksPerRow - 1);
    firstRow = index.div(thread, chunksPerRow);
    chunkBytes = index.toI64(index.mul(chunk, kChunkBytes));
  }
  OpBuilder::InsertionGuard guard(builder);
  setToFront(builder, op, fixed);
  if (op.getTable()) // The address is that of the head in the first page.
    indices[0] = indices[rowDim] = index.i32(0);
  locateFirst(std::move(indices));
}

/// Computes what is the same for all passes, of the tile that begins at
/// `indices`.
void TileCopy::locateFirst(SmallVector<Value> indices) {
  int64_t rank = op.getSource().getType().getRank();
  unsigned rowDim = rank - 2;
  int64_t elementBytes = type.getElementBytes();
  Value firstCol = index.mul(chunk, kChunkBytes / elementBytes), column;
  if (static_cast<int64_t>(indices.size()) == rank) {
    column = index.toI32(indices.pop_back_val());
    firstCol = index.add(column, firstCol);
  }
  positions = type.getRows() / op.getHeads();
  indices.back() = index.toI32(indices.back());
  // In pages each row is found for itself, unless they are neighbours.
  if (op.getHeads() == 1 && (!op.getTable() || hasPassesInPage()))
    indices.back() = index.add(indices.back(), firstRow);
  else if (op.getHeads() > 1)
    headBytes = index.mul(source.stride(index, rowDim - 1), elementBytes);
  from = source.address(index, indices);
  if (column)
    from = index.offset(from, index.toI64(index.mul(column, elementBytes)));
  from = index.offset(from, chunkBytes);
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
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Value> fixed(table);
    fixed.push_back(batch);
    setToFront(builder, op, fixed);
    firstEntry = view.address(index, batch);
  }
  pageBytes = index.mul(source.stride(index, 0), type.getElementBytes());
  lastRow = index.add(index.toI32(rows), -1);
}

void TileCopy::emit() {
  SmallVector<Entry> entries;
  if (op.getTable())
    entries = lookUpAll();
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
    copyPass(row, op.getTable() ? locateInPages(row, entries) : locate(row));
  }
}

/// Where this thread's chunk of row `row` + firstRow goes, in the first panel.
/// A swizzle repeats every eight rows.
TileCopy::Target TileCopy::getTarget(int64_t row) {
  constexpr int64_t kPeriod = 8;
  int64_t inPeriod = row % kPeriod;
  Value &target = targets[inPeriod];
  if (!target) {
    OpBuilder::InsertionGuard guard(builder);
    setToFront(builder, op, {});
    Value tileRow = index.add(firstRow, inPeriod);
    Value permuted =
        index.bitXor(chunk, swizzlePermutation(index, type, tileRow));
    Value ofRow = index.mul(tileRow, type.getSwizzle());
    target = index.add(ofRow, index.mul(permuted, kChunkBytes));
  }
  return {index.offset(tile, target), (row - inPeriod) * type.getSwizzle()};
}

/// The address of the same chunk in the rows of the next pass.
Value TileCopy::getNext(Value from) {
  return index.offset(from, index.mul(rowBytes, rowsPerPass));
}

/// Copies rows `row` + firstRow of all threads.
void TileCopy::copyPass(int64_t row, const Place &place) {
  Target to = getTarget(row);
  int64_t panels = type.getCols() / type.getPanelCols(), whole = 0;
  while (op.getTable() && whole < panels &&
         (op.getInBounds() || hasWholePanel(whole)))
    ++whole;
  copyWhole(to, place, whole);
  for (int64_t panel = whole; panel < panels; ++panel)
    copyPart(to, place, panel);
}

/// The row that rowsLeft is compared with. As numbers without a sign those
/// before the first row are large.
Value TileCopy::getRow(const Place &place) {
  return sinceFirst ? index.add(sinceFirst, place.row) : place.row;
}

/// Copies the chunks of a row in the first `panels` panels, all or none.
void TileCopy::copyWhole(const Target &to, const Place &place, int64_t panels) {
  if (panels == 0)
    return;
  PtxBlock block(builder, op.getLoc(), Type(), /*numResults=*/0);
  std::string target = block.use(to.pointer).front(),
              source = block.use(place.from).front(), ignored;
  if (!op.getInBounds()) {
    ignored = ", %ignored";
    Value row = getRow(place);
    IntegerAttr number;
    std::string limit = matchPattern(row, m_Constant(&number))
                            ? std::to_string(number.getInt())
                            : block.use(row).front();
    block.add(".reg .pred %ignored");
    block.add(sinceFirst ? "setp.ls.u32" : "setp.le.s32",
              {"%ignored", block.use(place.rowsLeft).front(), limit});
  }
  for (int64_t panel = 0; panel < panels; ++panel)
    block.add(llvm::formatv("cp.async.cg.shared.global [{0}+{1}], [{2}+{3}], "
                            "{4}{5}",
                            target, to.getBytes(type, panel), source,
                            panel * type.getSwizzle(), kChunkBytes, ignored));
  block.create();
}

/// As many bytes of the chunk of a row in a panel as there are, or null for
/// all.
Value TileCopy::sourceBytes(const Place &place, int64_t panel) {
  if (op.getInBounds())
    return {};
  Location loc = op.getLoc();
  Value all = index.i32(kChunkBytes), none = index.i32(0), bytes = all;
  if (!hasWholePanel(panel)) {
    bytes = index.mul(index.add(colsLeft, -panel * type.getPanelCols()),
                      type.getElementBytes());
    bytes = arith::MinSIOp::create(builder, loc, bytes, all);
    bytes = arith::MaxSIOp::create(builder, loc, bytes, none);
  }
  Value exists = arith::CmpIOp::create(builder, loc,
                                       sinceFirst ? arith::CmpIPredicate::ugt
                                                  : arith::CmpIPredicate::sgt,
                                       place.rowsLeft, getRow(place));
  return arith::SelectOp::create(builder, loc, exists, bytes, none);
}

/// Copies as much of the chunk of a row in a panel as there is.
void TileCopy::copyPart(const Target &to, const Place &place, int64_t panel) {
  Value target = index.offset(to.pointer, to.getBytes(type, panel));
  Value from = index.offset(place.from, panel * type.getSwizzle());
  NVVM::CpAsyncOp::create(builder, op.getLoc(), target, from, kChunkBytes,
                          NVVM::LoadCacheModifierKind::CG,
                          sourceBytes(place, panel));
}

/// True if the rows of a pass are neighbours in one page: tiles begin at a
/// multiple of their rows.
bool TileCopy::hasPassesInPage() {
  int64_t page = op.getSource().getType().getShape()[2], rows = type.getRows();
  return page % rowsPerPass == 0 && (rows % page == 0 || page % rows == 0);
}

/// The batch's entry `number`.
Value TileCopy::readEntry(Value number) {
  int64_t entryBytes = entryType.getIntOrFloatBitWidth() / 8;
  Value at =
      index.offset(firstEntry, index.mul(index.toI64(number), entryBytes));
  return index.toI64(
      LLVM::LoadOp::create(builder, op.getLoc(), entryType, at, entryBytes));
}

/// Looks up a row of the tile. Of those that do not exist the nearest one's
/// entry is read in their place.
TileCopy::Entry TileCopy::lookUpRow(Value tileRow) {
  Location loc = op.getLoc();
  int64_t page = op.getSource().getType().getShape()[2];
  if (missing)
    tileRow = arith::MaxSIOp::create(builder, loc, tileRow, missing);
  tileRow = arith::MinSIOp::create(builder, loc, tileRow, lastRow);
  Value key = index.add(position, tileRow);
  return {readEntry(index.div(key, page)), index.rem(key, page)};
}

/// Looks up the tile's page `number`, from its first row on, or that of which
/// it is a part. Some row of the tile exists; of pages without one the nearest
/// one's entry is read in their place.
TileCopy::Entry TileCopy::lookUpPage(int64_t number) {
  Location loc = op.getLoc();
  int64_t page = op.getSource().getType().getShape()[2];
  Value at = index.add(index.div(position, page), number);
  if (type.getRows() % page != 0)
    return {readEntry(at), index.rem(position, page)};
  auto pageOf = [&](Value row) {
    return index.div(index.add(position, row), page);
  };
  if (missing)
    at = arith::MaxSIOp::create(builder, loc, at, pageOf(missing));
  if (missing || number > 0)
    at = arith::MinSIOp::create(builder, loc, at, pageOf(lastRow));
  return {readEntry(at), Value()};
}

/// Looks up the rows of all passes, before the first copy, so that no entry
/// waits for another: those of each pass, or once for the rows of a page.
SmallVector<TileCopy::Entry> TileCopy::lookUpAll() {
  int64_t page = op.getSource().getType().getShape()[2];
  SmallVector<Entry> entries;
  if (hasPassesInPage())
    for (int64_t row = 0; row < type.getRows(); row += page)
      entries.push_back(lookUpPage(row / page));
  else
    for (int64_t row = 0; row < type.getRows(); row += rowsPerPass)
      entries.push_back(lookUpRow(index.add(firstRow, row)));
  return entries;
}

/// Where this thread's chunk of a row that was looked up is; of what is no page
/// nothing is read.
TileCopy::Place TileCopy::locateEntry(const Entry &entry) {
  Location loc = op.getLoc();
  Value isPage =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, entry.page,
                            index.toI64(source.size(index, 0)));
  Value page =
      arith::SelectOp::create(builder, loc, isPage, entry.page, index.i64(0));
  Value bytes = index.mul(page, pageBytes);
  if (entry.row)
    bytes = index.add(bytes, index.mul(index.toI64(entry.row), rowBytes));
  Value left =
      arith::SelectOp::create(builder, loc, isPage, rowsLeft, index.i32(0));
  return {index.offset(from, bytes), Value(), left};
}

/// Where this thread's chunk of row `row` + firstRow of the tile is, in its
/// page. What an entry says is used by the first of its copies, and not before:
/// those of other pages need not wait for it.
TileCopy::Place TileCopy::locateInPages(int64_t row, ArrayRef<Entry> entries) {
  if (!hasPassesInPage()) {
    inPage = locateEntry(entries[row / rowsPerPass]);
  } else {
    int64_t page = op.getSource().getType().getShape()[2];
    if (row % page == 0)
      inPage = locateEntry(entries[row / page]);
    else
      inPage.from = getNext(inPage.from);
  }
  inPage.row = index.i32(row);
  return inPage;
}

/// Where this thread's chunk of row `row` + firstRow of the tile is. Packed
/// heads follow each other in the tile.
TileCopy::Place TileCopy::locate(int64_t row) {
  if (!headBytes) {
    if (row != 0)
      from = getNext(from);
    return {from, index.i32(row), rowsLeft};
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
    return {from, position, rowsLeft};
  }
  Value ofRow =
      index.offset(from, times(headBytes, index.div(tileRow, positions)));
  ofRow = index.offset(ofRow, times(rowBytes, position));
  if (hasWholeHeads)
    from = ofRow;
  return {ofRow, position, rowsLeft};
}

/// True if the matrix is known to have all columns of `panel`.
bool TileCopy::hasWholePanel(int64_t panel) {
  GlobalType matrix = op.getSource().getType();
  int64_t cols = matrix.getShape().back();
  return !ShapedType::isDynamic(cols) &&
         (panel + 1) * type.getPanelCols() <= cols &&
         static_cast<int64_t>(op.getIndices().size()) < matrix.getRank();
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
