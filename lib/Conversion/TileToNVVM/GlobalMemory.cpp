//===- GlobalMemory.cpp - Reads and writes of global tensors -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include <limits>

using namespace mlir;
using namespace attn::tile;

namespace {

struct DimLowering : TileOpLowering<DimOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(DimOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    GlobalView view(op.getSource().getType(), adaptor.getSource());
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(
        op, rewriter.getIndexType(), view.size(index, op.getDim()));
    return success();
  }
};

/// Of the element at `indices` of a global tensor.
Value getAddress(OpBuilder &builder, Operation *op, GlobalType type,
                 ValueRange tensor, ArrayRef<ValueRange> indices) {
  IndexBuilder index(builder, op->getLoc());
  return GlobalView(type, tensor)
      .address(index, llvm::map_to_vector(indices, [](ValueRange range) {
                 return range.front();
               }));
}

/// In bytes: elements are aligned to their size, those of 64 bits, too.
unsigned getAlignment(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

struct ExtractLowering : TileOpLowering<ExtractOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ExtractOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = getAddress(rewriter, op, op.getSource().getType(),
                               adaptor.getSource(), adaptor.getIndices());
    Type element = getTypeConverter()->convertType(op.getElement().getType());
    if (!element.isInteger(1)) {
      rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, element, address,
                                                getAlignment(element));
      return success();
    }
    // i1 tensors have one byte per element.
    Value byte = LLVM::LoadOp::create(rewriter, op.getLoc(),
                                      rewriter.getI8Type(), address);
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(
        op, arith::CmpIPredicate::ne, byte,
        arith::ConstantIntOp::create(rewriter, op.getLoc(), 0, 8));
    return success();
  }
};

struct CoordinateLowering : TileOpLowering<CoordinateOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(CoordinateOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(
        op, rewriter.getIndexType(), adaptor.getNumber().front());
    return success();
  }
};

struct InsertLowering : TileOpLowering<InsertOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(InsertOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = getAddress(rewriter, op, op.getDestination().getType(),
                               adaptor.getDestination(), adaptor.getIndices());
    Value value = adaptor.getValue().front();
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, value, address,
                                               getAlignment(value.getType()));
    return success();
  }
};

/// An 8-bit float is its byte.
struct ByteLowering : OpConversionPattern<arith::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getIn());
    return success();
  }
};

struct AtomicAddLowering : TileOpLowering<AtomicAddOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(AtomicAddOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = getAddress(rewriter, op, op.getDestination().getType(),
                               adaptor.getDestination(), adaptor.getIndices());
    LLVM::AtomicRMWOp::create(rewriter, op.getLoc(), LLVM::AtomicBinOp::add,
                              address, adaptor.getValue().front(),
                              LLVM::AtomicOrdering::monotonic, "device");
    rewriter.eraseOp(op);
    return success();
  }
};

/// The table as a constant of the module; equal tables are one.
LLVM::GlobalOp getTable(ConversionPatternRewriter &rewriter, LookupOp op) {
  auto module = op->getParentOfType<ModuleOp>();
  unsigned count = 0;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (global.getValueAttr() == op.getTable())
      return global;
    ++count;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMArrayType::get(rewriter.getI32Type(),
                                       op.getTable().getNumElements());
  return LLVM::GlobalOp::create(
      rewriter, op.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
      "attn_table_" + std::to_string(count), op.getTable(), /*alignment=*/4,
      /*addrSpace=*/1);
}

struct LookupLowering : TileOpLowering<LookupOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(LookupOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value base =
        LLVM::AddressOfOp::create(rewriter, loc, getTable(rewriter, op));
    Type i32 = rewriter.getI32Type();
    Value position = arith::IndexCastOp::create(
        rewriter, loc, rewriter.getI64Type(), adaptor.getPosition().front());
    Value address = LLVM::GEPOp::create(rewriter, loc, base.getType(), i32,
                                        base, ValueRange{position});
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, i32, address);
    return success();
  }
};

/// The first lane of those that have a row reads its value, and tells the
/// others.
struct LoadRowLowering : TileOpLowering<LoadRowOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(LoadRowOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    FragmentType type = op.getResult().getType();
    FragmentLayoutAttr layout = type.getLayout();
    GlobalView view(op.getSource().getType(), adaptor.getSource());
    SmallVector<Value> indices = llvm::map_to_vector(
        adaptor.getIndices(), [](ValueRange range) { return range.front(); });
    unsigned rowDim = indices.size() - 1;
    bool hasCopies = !layout.getCopies().empty();
    Value isFirst = hasCopies ? index.isFirstCopy(layout) : Value();
    Value first = hasCopies ? index.firstCopy(layout) : Value();
    Value firstRow = index.toI32(indices.back());
    Value warpRow = index.warpRow(type.getRows(), getRowWarps());
    warpRow = index.add(warpRow, index.laneRow(layout));
    firstRow = index.add(firstRow, warpRow);
    Type element = op.getSource().getType().getElementType();
    Value none = arith::ConstantOp::create(
        rewriter, loc,
        rewriter.getFloatAttr(element,
                              -std::numeric_limits<double>::infinity()));
    SmallVector<Value> registers;
    for (int64_t i = 0, e = type.countElements(getWarps()); i < e; ++i) {
      indices.back() = index.add(firstRow, type.getPlace(i).first);
      Value reads =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                indices.back(), view.size(index, rowDim));
      if (isFirst)
        reads = arith::AndIOp::create(rewriter, loc, reads, isFirst);
      auto guarded = scf::IfOp::create(rewriter, loc, element, reads,
                                       /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(guarded.thenBlock());
      Value loaded = LLVM::LoadOp::create(rewriter, loc, element,
                                          view.address(index, indices));
      scf::YieldOp::create(rewriter, loc, loaded);
      rewriter.setInsertionPointToStart(guarded.elseBlock());
      scf::YieldOp::create(rewriter, loc, none);
      registers.push_back(guarded.getResult(0));
    }
    if (!op.getFirstLane() && hasCopies)
      for (Value &number : registers)
        number = index.shuffle(number, first);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// Lane 4g + t reads the columns 2t and 2t + 1 of each block of eight, from
/// global or from shared memory.
struct LoadColumnLowering : TileOpLowering<LoadColumnOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(LoadColumnOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value first = index.mul(index.bitAnd(index.lane(), 3), 2);
    auto begin = static_cast<int64_t>(op.getColumn());
    Value address = adaptor.getSource().front();
    if (auto type = dyn_cast<GlobalType>(op.getSource().getType())) {
      SmallVector<Value> indices = llvm::map_to_vector(
          adaptor.getIndices(), [](ValueRange range) { return range.front(); });
      address = GlobalView(type, adaptor.getSource()).address(index, indices);
    }
    Value from = index.offset(address, index.mul(first, 4));
    FragmentType result = op.getResult().getType();
    int64_t columns = result.getShape().back();
    // Of an accumulator each row has its own registers, and loads that stay
    // where they are: a copy of a register might be made when products are in
    // flight, which would wait for it.
    int64_t rows = result.isColumn() ? 1 : result.getRows() / getWarps() / 8;
    Type pair = VectorType::get(2, rewriter.getF32Type());
    SmallVector<Value> registers;
    for (int64_t block = 0; block < rows; block += 2)
      for (int64_t column = 0; column < columns; column += 8)
        for (int64_t row = block; row < std::min(block + 2, rows); ++row) {
          Value loaded = LLVM::LoadOp::create(
              rewriter, loc, pair, index.offset(from, (begin + column) * 4), 8,
              /*isVolatile=*/!result.isColumn());
          for (int64_t i : {0, 1})
            registers.push_back(LLVM::ExtractElementOp::create(
                rewriter, loc, loaded, index.i32(i)));
        }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// Each thread writes the pairs of neighbouring columns that it holds of an
/// accumulator or of quads; a row fragment is written by the first of the lanes
/// that have copies.
struct StoreLowering : TileOpLowering<StoreOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(StoreOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    FragmentType type = op.getSource().getType();
    FragmentLayoutAttr layout = type.getLayout();
    FragmentType rows = type.getRowType(type.getElementType());
    GlobalView view(op.getDestination().getType(), adaptor.getDestination());
    SmallVector<Value> indices = llvm::map_to_vector(
        adaptor.getIndices(), [](ValueRange range) { return range.front(); });
    Columns columns = getColumns(index, rewriter, op, view, indices);
    unsigned rowDim = indices.size() - 1;
    Value warpRow = index.warpRow(type.getRows(), getRowWarps());
    warpRow = index.add(warpRow, index.laneRow(layout));
    int64_t positions = type.getRows() / op.getHeads();
    Value matrixRow = index.toI32(indices.back());
    Value head = op.getHeads() > 1 ? index.toI32(indices[rowDim - 1]) : Value();

    for (int64_t i = 0, e = rows.countElements(getWarps()); i < e; ++i) {
      Value tileRow = index.add(warpRow, rows.getPlace(i).first);
      if (head) {
        // Packed heads follow each other.
        indices[rowDim - 1] = index.add(head, index.div(tileRow, positions));
        tileRow = index.rem(tileRow, positions);
      }
      Value globalRow = index.add(matrixRow, tileRow);
      Value writes =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                globalRow, view.size(index, rowDim));
      if (!layout.getCopies().empty())
        writes = arith::AndIOp::create(rewriter, loc, writes,
                                       index.isFirstCopy(layout));
      auto guarded = scf::IfOp::create(rewriter, loc, writes);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(guarded.thenBlock());
      indices.back() = globalRow;
      Value address = view.address(index, indices);
      storeRow(rewriter, op, adaptor.getSource(), i, address, columns);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The columns of a row that exist and this thread's first one.
  struct Columns {
    int64_t known = 0; ///< so many of the fragment's columns exist for sure
    Value first;       ///< of this thread, in the matrix
    Value left;        ///< columns of the matrix from `first` on
    Value all;         ///< i1: all columns of the fragment exist
  };

  /// Takes the index of the first column, if there is one, from `indices`.
  static Columns getColumns(IndexBuilder &index, OpBuilder &builder, StoreOp op,
                            const GlobalView &view,
                            SmallVectorImpl<Value> &indices) {
    GlobalType matrix = op.getDestination().getType();
    FragmentType type = op.getSource().getType();
    Columns columns;
    if (type.isRow())
      return columns;
    int64_t size = matrix.getShape().back();
    bool hasColumn = static_cast<int64_t>(indices.size()) == matrix.getRank();
    // Quads have 16 columns, or are asked for each pair.
    if (!hasColumn && !ShapedType::isDynamic(size) &&
        !(type.isQuads() && size % 16 != 0))
      columns.known = size;
    Value start =
        hasColumn ? index.toI32(indices.pop_back_val()) : index.i32(0);
    Value left = view.size(index, matrix.getRank() - 1);
    left = index.add(left, index.mul(start, -1));
    columns.all =
        arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::sge,
                              left, index.i32(type.getShape()[1]));
    Value ofLane = index.laneColumn(type.getLayout());
    columns.first = index.add(start, ofLane);
    columns.left = index.add(left, index.mul(ofLane, -1));
    return columns;
  }

  /// Writes this thread's part of row 8 * `half` + g of its warp's rows.
  static void storeRow(OpBuilder &builder, StoreOp op, ValueRange registers,
                       int64_t half, Value address, const Columns &columns) {
    Location loc = op.getLoc();
    IndexBuilder index(builder, loc);
    FragmentType type = op.getSource().getType();
    if (type.isRow()) {
      LLVM::StoreOp::create(builder, loc, registers[half], address);
      return;
    }
    Type element = op.getDestination().getType().getElementType();
    int64_t colBlocks = type.getShape()[1] / 8;
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    Value base =
        index.offset(address, index.toI64(index.mul(columns.first, bytes)));
    auto pairOf = [&](int64_t block) -> SmallVector<Value> {
      size_t ofHalf = (half / 2) * colBlocks * 4 + (half % 2) * 2;
      if (!type.isQuads())
        return registers.slice(ofHalf + block * 4, 2);
      // Of the even and the odd columns of 16.
      size_t first = ofHalf + block / 2 * 8 + block % 2;
      return {registers[first], registers[first + 4]};
    };
    // The column of a pair, from the thread's first one on.
    auto columnOf = [&](int64_t block) {
      return type.isQuads() ? block / 2 * 16 + block % 2 * 2 : block * 8;
    };
    auto storeBlock = [&](int64_t block) {
      storePair(builder, loc, pairOf(block), element,
                index.offset(base, columnOf(block) * bytes));
    };
    if (op.getSingle()) {
      for (int64_t block = 0; block < colBlocks; ++block)
        for (auto [k, value] : llvm::enumerate(pairOf(block)))
          storeSingle(builder, loc, value, element,
                      {base, columns.left, columnOf(block) + int64_t(k)});
      return;
    }
    if (columns.known > 0) {
      for (int64_t block = 0; block * 8 < columns.known; ++block)
        storeBlock(block);
      return;
    }
    auto whole =
        scf::IfOp::create(builder, loc, columns.all, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(whole.thenBlock());
    for (int64_t block = 0; block < colBlocks; ++block)
      storeBlock(block);
    for (int64_t block = 0; block < colBlocks; ++block) {
      builder.setInsertionPoint(whole.elseYield());
      Value exists =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                columns.left, index.i32(columnOf(block)));
      auto guarded = scf::IfOp::create(builder, loc, exists);
      builder.setInsertionPointToStart(guarded.thenBlock());
      storeBlock(block);
    }
  }

  /// Column number `column` from `base` on, of `left` that are there.
  struct Place {
    Value base, left;
    int64_t column;
  };

  /// Writes one column, if it exists.
  static void storeSingle(OpBuilder &builder, Location loc, Value value,
                          Type element, const Place &place) {
    IndexBuilder index(builder, loc);
    Value exists =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                              place.left, index.i32(place.column));
    auto guarded = scf::IfOp::create(builder, loc, exists);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    if (bytes == 1)
      value = LLVM::TruncOp::create(
          builder, loc, builder.getI8Type(),
          convertToBytes(builder, loc, {value, value}, element));
    else if (!element.isF32())
      value = LLVM::FPTruncOp::create(builder, loc, element, value);
    LLVM::StoreOp::create(builder, loc, value,
                          index.offset(place.base, place.column * bytes));
  }

  /// Two values as neighbouring bytes, an i16, the largest numbers where they
  /// are beyond. PTX names the upper byte first.
  static Value convertToBytes(OpBuilder &builder, Location loc,
                              ValueRange values, Type element) {
    PtxBlock block(builder, loc, builder.getI32Type(), /*numResults=*/1);
    SmallVector<std::string> bytes = block.declare("%bytes", 1, /*bits=*/16);
    SmallVector<std::string> pair = block.use(values);
    block.add(std::string("cvt.rn.satfinite.") +
              (isa<Float8E4M3FNType>(element) ? "e4m3" : "e5m2") + "x2.f32 " +
              bytes[0] + ", " + pair.back() + ", " + pair.front());
    block.add("cvt.u32.u16 " + block.results(0, 1).front() + ", " + bytes[0]);
    Value word = block.create(/*hasSideEffects=*/false).front();
    return LLVM::TruncOp::create(builder, loc, builder.getI16Type(), word);
  }

  /// Writes two neighbouring columns.
  static void storePair(OpBuilder &builder, Location loc, ValueRange values,
                        Type element, Value address) {
    IndexBuilder index(builder, loc);
    if (element.getIntOrFloatBitWidth() == 8) {
      LLVM::StoreOp::create(builder, loc,
                            convertToBytes(builder, loc, values, element),
                            address, /*alignment=*/2);
      return;
    }
    Value pair = LLVM::PoisonOp::create(
        builder, loc, VectorType::get(2, builder.getF32Type()));
    for (int64_t k = 0; k < 2; ++k)
      pair = LLVM::InsertElementOp::create(builder, loc, pair, values[k],
                                           index.i32(k));
    if (!element.isF32())
      pair = LLVM::FPTruncOp::create(builder, loc, VectorType::get(2, element),
                                     pair);
    LLVM::StoreOp::create(builder, loc, pair, address,
                          element.getIntOrFloatBitWidth() / 4);
  }
};

} // namespace

void attn::tile::populateGlobalMemoryPatterns(TypeConverter &converter,
                                              RewritePatternSet &patterns) {
  patterns.add<DimLowering, ExtractLowering, CoordinateLowering, InsertLowering,
               ByteLowering, AtomicAddLowering, LookupLowering,
               LoadColumnLowering, LoadRowLowering, StoreLowering>(
      converter, patterns.getContext());
}
