//===- ChangeRows.cpp - Rows of a tile that change --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop of each warp over its own rows, and elements of tiles by their place
// (TileTypes.td, SharedType); rows of bf16 that become f16.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kPlaceBytes = 16;

/// The address of the element at (`row`, `col`), both i32.
Value addressOfElement(IndexBuilder &index, SharedType type, Value base,
                       Value row, Value col) {
  int64_t swizzle = type.getSwizzle();
  Value bytes = index.mul(col, type.getElementBytes());
  Value panel = index.div(bytes, swizzle);
  Value chunk = index.div(index.rem(bytes, swizzle), kPlaceBytes);
  Value place = index.bitXor(chunk, swizzlePermutation(index, type, row));
  Value rows = index.add(index.mul(panel, type.getRows()), row);
  Value ofRow = index.mul(rows, swizzle),
        ofPlace = index.mul(place, kPlaceBytes);
  Value inRow = index.add(ofPlace, index.rem(bytes, kPlaceBytes));
  return index.offset(base, index.add(ofRow, inRow));
}

/// Of the element that `op` reads or writes.
template <typename OpTy, typename AdaptorTy>
Value addressOf(OpTy op, AdaptorTy adaptor, OpBuilder &builder) {
  IndexBuilder index(builder, op.getLoc());
  Value row = index.toI32(adaptor.getRow().front());
  return addressOfElement(index, op.getTile().getType(),
                          adaptor.getTile().front(), row,
                          index.toI32(adaptor.getCol().front()));
}

struct LoadElementLowering : TileOpLowering<LoadElementOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(LoadElementOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
        op, op.getElement().getType(), addressOf(op, adaptor, rewriter),
        op.getTile().getType().getElementBytes());
    return success();
  }
};

struct StoreElementLowering : TileOpLowering<StoreElementOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(StoreElementOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, adaptor.getValue().front(), addressOf(op, adaptor, rewriter),
        op.getTile().getType().getElementBytes());
    return success();
  }
};

/// Where several warps have the same rows, goes on where the first of them are.
void enterFirst(OpBuilder &builder, Location loc, RowWarps warps) {
  if (!warps.areShared)
    return;
  IndexBuilder index(builder, loc);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        index.warp(), index.i32(warps.count));
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  builder.setInsertionPointToStart(guarded.thenBlock());
}

/// Waits for all lanes that have the same rows.
void meet(OpBuilder &builder, Location loc, RowWarps warps) {
  IndexBuilder index(builder, loc);
  if (warps.areShared)
    NVVM::Barrier0Op::create(builder, loc);
  else
    NVVM::SyncWarpOp::create(builder, loc, index.i32(-1));
}

struct ChangeRowsLowering : TileOpLowering<ChangeRowsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(ChangeRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    int64_t rowsPerWarp = op.getTile().getType().getRows() / getWarps();
    int64_t atOnce = op.getBody().getNumArguments();
    Value warp = arith::IndexCastOp::create(
        rewriter, loc, rewriter.getIndexType(), index.warp());
    Value first =
        arith::MulIOp::create(rewriter, loc, warp, constant(rowsPerWarp));
    Value lower = constant(0), upper = constant(rowsPerWarp);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      enterFirst(rewriter, loc, getRowWarps());
      auto loop =
          scf::ForOp::create(rewriter, loc, lower, upper, constant(atOnce));
      rewriter.setInsertionPointToStart(loop.getBody());
      Value next =
          arith::AddIOp::create(rewriter, loc, first, loop.getInductionVar());
      SmallVector<Value> rows = {next};
      for (int64_t i = 1; i < atOnce; ++i)
        rows.push_back(arith::AddIOp::create(rewriter, loc, next, constant(i)));
      rewriter.inlineBlockBefore(&op.getBody().front(),
                                 loop.getBody()->getTerminator(), rows);
    }
    if (op.getWarpgroup()) {
      fenceSharedWrites(rewriter, loc);
      if (getRowWarps().areShared)
        syncConsumers(rewriter, loc, getConsumerWarps());
      else
        syncWarpgroup(rewriter, loc, adaptor.getWarpgroup().front());
    } else {
      meet(rewriter, loc, getRowWarps());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// A row of bf16 in a quad's hands: a lane has the 16-byte chunks whose number
/// is its own modulo 4.
class NarrowedRow {
public:
  NarrowedRow(OpBuilder &builder, Location loc, SharedType type, Value base,
              Value row)
      : builder(builder), loc(loc), index(builder, loc), type(type) {
    Value first = index.bitAnd(index.lane(), 3);
    Value skipped = index.mul(first, getBytes());
    for (int64_t chunk = 0; chunk < getStep(); chunk += 4) {
      Value col = index.mul(index.add(first, chunk), kChunk);
      Value at = addressOfElement(index, type, base, row, col);
      starts.push_back(index.offset(at, index.mul(skipped, -1)));
    }
  }

  /// Finds the power of two of the row, and returns the inverse.
  Value findFactor() {
    // 2^(14 - e), where the largest magnitude is at least 2^e, from 2^-113 on:
    // that of a row with an infinity.
    constexpr int64_t kBias = 127, kMost = 126;
    Value exponent = index.shiftRight(findLargest(), 23);
    exponent =
        arith::MinUIOp::create(builder, loc, exponent, index.i32(2 * kBias));
    Value power =
        arith::SubIOp::create(builder, loc, index.i32(14 + kBias), exponent);
    power = arith::MinSIOp::create(builder, loc, power, index.i32(kMost));
    scale = toPower(index.add(power, kBias));
    return toPower(
        arith::SubIOp::create(builder, loc, index.i32(kBias), power));
  }

  /// Makes the row f16, times the power.
  void narrow() {
    scf::ForOp loop = createLoop(ValueRange());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    PtxBlock block(builder, loc, builder.getI32Type(), /*numResults=*/0);
    SmallVector<std::string> pairs = block.declare("%pair", 4);
    SmallVector<std::string> two = block.declare("%number", 2);
    std::string by = block.use(scale).front();
    for (const std::string &address : getAddresses(block, loop)) {
      load(block, pairs, address);
      for (const std::string &pair : pairs) {
        block.add("shl.b32", {two[0], pair, "16"});
        block.add("and.b32", {two[1], pair, "0xFFFF0000"});
        for (const std::string &number : two)
          block.add("mul.rn.f32", {number, number, by});
        block.add("cvt.rn.f16x2.f32", {pair, two[1], two[0]});
      }
      block.add("st.shared.v4.b32 [" + address + "], " + PtxBlock::list(pairs));
    }
    block.create();
  }

private:
  /// The f32 whose bits of exponent are those of `exponent`.
  Value toPower(Value exponent) {
    Value bits = arith::ShLIOp::create(builder, loc, exponent, index.i32(23));
    return arith::BitcastOp::create(builder, loc, builder.getF32Type(), bits);
  }

  /// Chunks of a row that the lanes pass in a step of a loop: a panel's, or as
  /// many as there are lanes.
  int64_t getStep() const {
    return std::max<int64_t>(4, type.getSwizzle() / kPlaceBytes);
  }

  /// Bytes between the same places of two steps, for each chunk between them: a
  /// swizzle is that of the row in all panels.
  int64_t getBytes() const { return type.getRows() * kPlaceBytes; }

  /// A loop over the lane's chunks, from an i32 if there is one.
  scf::ForOp createLoop(ValueRange init) {
    auto toIndex = [&](Value value) {
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        value);
    };
    Value first = toIndex(index.bitAnd(index.lane(), 3));
    Value end = toIndex(index.i32(type.getCols() / kChunk));
    return scf::ForOp::create(builder, loc, first, end,
                              toIndex(index.i32(getStep())), init);
  }

  /// Where the lane's chunks are in a step of a loop.
  SmallVector<std::string> getAddresses(PtxBlock &block, scf::ForOp loop) {
    Value bytes = index.mul(index.toI32(loop.getInductionVar()), getBytes());
    SmallVector<std::string> addresses;
    for (Value start : starts)
      addresses.push_back(block.use(index.offset(start, bytes)).front());
    return addresses;
  }

  /// The bits of the largest magnitude in the row, as f32.
  Value findLargest() {
    scf::ForOp loop = createLoop(index.i32(0));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    PtxBlock block(builder, loc, builder.getI32Type(), /*numResults=*/1);
    std::string largest = block.update(loop.getRegionIterArgs()[0]).front();
    SmallVector<std::string> pairs = block.declare("%pair", 4);
    for (const std::string &address : getAddresses(block, loop)) {
      load(block, pairs, address);
      for (const std::string &pair : pairs) {
        block.add("and.b32", {pair, pair, "0x7FFF7FFF"});
        block.add("max.NaN.bf16x2", {largest, largest, pair});
      }
    }
    scf::YieldOp::create(builder, loc, block.create());
    builder.setInsertionPointAfter(loop);
    // Magnitudes are in the order of their bits.
    Value upper = index.bitAnd(loop.getResult(0), 0xFFFF0000);
    Value lower =
        arith::ShLIOp::create(builder, loc, loop.getResult(0), index.i32(16));
    Value all = arith::MaxUIOp::create(builder, loc, upper, lower);
    for (int64_t distance : {1, 2})
      all = arith::MaxUIOp::create(
          builder, loc, all,
          index.shuffle(NVVM::ShflKind::bfly, all, distance));
    return all;
  }

  /// Loads the eight elements of a chunk.
  static void load(PtxBlock &block, ArrayRef<std::string> pairs,
                   const std::string &address) {
    block.add("ld.shared.v4.b32 " + PtxBlock::list(pairs) + ", [" + address +
              "]");
  }

  static constexpr int64_t kChunk = 8; ///< elements
  OpBuilder &builder;
  Location loc;
  IndexBuilder index;
  SharedType type;
  Value scale; ///< the power of two
  /// Where the lane's chunks of a step would be if the step began with chunk 0.
  SmallVector<Value, 2> starts;
};

struct NarrowRowsLowering : TileOpLowering<NarrowRowsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(NarrowRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    SharedType type = op.getTile().getType();
    int64_t rows = type.getRows() / getWarps();
    Value base = adaptor.getTile().front();
    Value first = index.add(index.warpRow(type.getRows(), getRowWarps()),
                            index.shiftRight(index.lane(), 2));
    // A lane has every eighth row of a fragment.
    SmallVector<NarrowedRow> narrowed;
    SmallVector<Value> factors;
    for (int64_t row = 0; row < rows; row += 8) {
      narrowed.emplace_back(rewriter, loc, type, base, index.add(first, row));
      factors.push_back(narrowed.back().findFactor());
    }
    // The others have to have read the rows.
    if (getRowWarps().areShared)
      meet(rewriter, loc, getRowWarps());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      enterFirst(rewriter, loc, getRowWarps());
      for (NarrowedRow &row : narrowed)
        row.narrow();
    }
    meet(rewriter, loc, getRowWarps());
    rewriter.replaceOpWithMultiple(op, {ValueRange(base), factors});
    return success();
  }
};

} // namespace

void attn::tile::populateChangeRowsPatterns(TypeConverter &converter,
                                            RewritePatternSet &patterns) {
  patterns.add<LoadElementLowering, StoreElementLowering, ChangeRowsLowering,
               NarrowRowsLowering>(converter, patterns.getContext());
}
