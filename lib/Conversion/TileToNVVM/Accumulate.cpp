//===- Accumulate.cpp - Sums of fragments in global memory -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fragment in memory is, warp by warp, its blocks of eight columns, each 128
// elements: four of lane 0, four of lane 1 and so on. What a warp stores at
// once is contiguous, and so is what a warpgroup has.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "attn/Dialect/PTX/IR/PTX.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr int64_t kFloatBytes = 4;
/// Elements of a lane in a block of a fragment, and of the block.
constexpr int64_t kLaneElements = 4, kBlockElements = 128;

/// Bytes of a fragment that one of `warps` warps has.
int64_t getWarpBytes(FragmentType type, int64_t warps) {
  return type.getRows() * type.getShape()[1] / warps * kFloatBytes;
}

/// Where the tile at the op's indices begins.
template <typename OpTy, typename Adaptor>
Value getAddress(OpTy op, Adaptor adaptor, IndexBuilder &index) {
  SmallVector<Value> indices = llvm::map_to_vector(
      adaptor.getIndices(), [](ValueRange range) { return range.front(); });
  GlobalView view(op.getDestination().getType(), adaptor.getDestination());
  return view.address(index, indices);
}

/// Address, from `base` on, of what a lane has of its warp's first block.
Value getLaneAddress(IndexBuilder &index, Value base, int64_t warpBytes) {
  Value warp = index.mul(index.warp(), warpBytes);
  Value lane = index.mul(index.lane(), kLaneElements * kFloatBytes);
  return index.offset(base, index.add(warp, lane));
}

/// One atomic addition for each element (PTX ISA, red).
struct AccumulateLowering : TileOpLowering<AccumulateOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(AccumulateOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value lane =
        getLaneAddress(index, getAddress(op, adaptor, index),
                       getWarpBytes(op.getSource().getType(), getWarps()));
    for (auto [i, element] : llvm::enumerate(adaptor.getSource())) {
      int64_t block = i / kLaneElements, inLane = i % kLaneElements;
      Value address =
          index.offset(lane, (block * kBlockElements + inLane) * kFloatBytes);
      LLVM::AtomicRMWOp::create(rewriter, loc, LLVM::AtomicBinOp::fadd, address,
                                element, LLVM::AtomicOrdering::monotonic,
                                "device");
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// The thread that starts the copies of a warpgroup waits for the one before,
/// and lets the others know by a barrier.
struct AccumulateBulkLowering : TileOpLowering<AccumulateBulkOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(AccumulateBulkOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value warpgroup = index.toI32(adaptor.getWarpgroup().front());
    waitUntilRead(rewriter, loc);
    syncWarpgroup(rewriter, loc, warpgroup);
    store(op, adaptor, rewriter);
    fenceSharedWrites(rewriter, loc);
    syncWarpgroup(rewriter, loc, warpgroup);
    Value isFirst =
        index.isZero(index.bitAnd(index.thread(), kWarpgroupThreads - 1));
    auto guarded = scf::IfOp::create(rewriter, loc, isFirst);
    rewriter.setInsertionPointToStart(guarded.thenBlock());
    addPart(op, adaptor, rewriter, warpgroup);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Four elements at a time, of which those of a warp are 512 bytes in a row.
  void store(AccumulateBulkOp op, Adaptor adaptor, OpBuilder &builder) const {
    Location loc = op.getLoc();
    IndexBuilder index(builder, loc);
    Value lane =
        getLaneAddress(index, adaptor.getStaging().front(),
                       getWarpBytes(op.getSource().getType(), getWarps()));
    auto type = VectorType::get(kLaneElements, builder.getF32Type());
    ValueRange source = adaptor.getSource();
    for (int64_t block = 0; !source.empty(); ++block) {
      Value elements = LLVM::PoisonOp::create(builder, loc, type);
      for (int64_t i = 0; i < kLaneElements; ++i)
        elements = LLVM::InsertElementOp::create(builder, loc, elements,
                                                 source[i], index.i32(i));
      LLVM::StoreOp::create(
          builder, loc, elements,
          index.offset(lane, block * kBlockElements * kFloatBytes),
          /*alignment=*/kLaneElements * kFloatBytes);
      source = source.drop_front(kLaneElements);
    }
  }

  void addPart(AccumulateBulkOp op, Adaptor adaptor, OpBuilder &builder,
               Value warpgroup) const {
    Location loc = op.getLoc();
    IndexBuilder index(builder, loc);
    int64_t bytes = kWarpgroupThreads / 32 *
                    getWarpBytes(op.getSource().getType(), getWarps());
    Value part = index.mul(warpgroup, bytes);
    Value from = index.offset(adaptor.getStaging().front(), part);
    Value to = index.offset(getAddress(op, adaptor, index), part);
    Value size = index.i32(bytes);
    attn::ptx::AddBulkOp::create(builder, loc, from, to, size,
                                 index.i64(kEvictLast));
    NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
  }
};

} // namespace

void attn::tile::populateAccumulatePatterns(TypeConverter &converter,
                                            RewritePatternSet &patterns) {
  patterns.add<AccumulateLowering, AccumulateBulkLowering>(
      converter, patterns.getContext());
}
