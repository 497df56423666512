//===- Tma.cpp - Tensor copies of sm_90 -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk.tensor (PTX ISA, "Data Movement and Conversion Instructions:
// Tensor copy"), issued by one thread.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

/// Address space of shared memory of a cluster.
static constexpr unsigned kClusterSpace = 7;

void attn::tile::waitUntilRead(OpBuilder &builder, Location loc) {
  NVVM::CpAsyncBulkWaitGroupOp::create(builder, loc,
                                       builder.getI32IntegerAttr(0),
                                       /*read=*/builder.getUnitAttr());
}

namespace {

struct CopyTmaLowering : TileOpLowering<CopyTmaOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(CopyTmaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    SharedType type = op.getTile().getType();
    int64_t ctas = op.getCtas();
    Value barrier = mbarrierAddress(index, adaptor.getBarrier().front(),
                                    adaptor.getStage().front());
    int64_t rowBytes = type.getTileBytes() / type.getRows();
    Value bytes = index.i32(op.countRows() * rowBytes);
    if (op.getFirstCta())
      bytes = announceForPair(rewriter, loc, type.getTileBytes());
    NVVM::MBarrierArriveExpectTxOp::create(
        rewriter, loc, /*res=*/Type(), barrier, bytes,
        NVVM::MemScopeKindAttr::get(getContext(), NVVM::MemScopeKind::CTA),
        rewriter.getBoolAttr(false), /*predicate=*/Value());
    if (op.getFirstCta())
      barrier = mapToFirst(rewriter, loc, barrier);
    SmallVector<Value> pages =
        llvm::map_to_vector(adaptor.getPages(), [&](ValueRange page) {
          return index.toI32(page.front());
        });
    // Innermost dimension first.
    SmallVector<Value> coordinates;
    if (adaptor.getIndices().size() == (pages.empty() ? 3 : 2))
      coordinates.push_back(index.i32(0));
    for (ValueRange position : llvm::reverse(adaptor.getIndices()))
      coordinates.push_back(index.toI32(position.front()));
    if (!pages.empty())
      coordinates.push_back(Value());
    Value tile = adaptor.getTile().front(), multicast;
    if (ctas > 1) {
      int64_t rows = type.getRows() / ctas;
      Value first = index.mul(
          NVVM::ClusterId::create(rewriter, loc, rewriter.getI32Type()), rows);
      coordinates[1] = index.add(coordinates[1], first);
      tile = index.offset(tile, index.mul(first, type.getSwizzle()));
      multicast = LLVM::ConstantOp::create(
          rewriter, loc, rewriter.getI16IntegerAttr((1 << ctas) - 1));
    }
    Value policy;
    if (op.getEvictFirst() || op.getEvictLast())
      policy = index.i64(op.getEvictFirst() ? kEvictFirst : kEvictLast);
    auto copyPanels = [&](int64_t row) {
      copyBox(rewriter, op, adaptor.getSource().front(), coordinates,
              index.offset(tile, row * type.getSwizzle()),
              {barrier, multicast, policy});
    };
    coordinates[1] = index.add(coordinates[1], op.getFirstRow());
    if (pages.empty())
      copyPanels(op.getFirstRow());
    for (auto [number, page] : llvm::enumerate(pages)) {
      coordinates.back() = page;
      copyPanels(static_cast<int64_t>(number) * type.getRows() /
                 static_cast<int64_t>(pages.size()));
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// What the first CTA of a pair waits for comes to both; nothing else comes
  /// to the other's barrier.
  static Value announceForPair(OpBuilder &builder, Location loc,
                               int64_t bytes) {
    IndexBuilder index(builder, loc);
    Value isFirst = index.isZero(
        NVVM::ClusterId::create(builder, loc, builder.getI32Type()));
    return arith::SelectOp::create(builder, loc, isFirst, index.i32(2 * bytes),
                                   index.i32(0));
  }

  /// The first CTA's barrier, as an address of the cluster's shared memory,
  /// which a copy of a pair may tell (PTX ISA, cp.async.bulk.tensor,
  /// .cta_group::2).
  static Value mapToFirst(OpBuilder &builder, Location loc, Value barrier) {
    IndexBuilder index(builder, loc);
    auto cluster =
        LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace);
    Value mapped =
        NVVM::MapaOp::create(builder, loc, cluster, barrier, index.i32(0));
    Value address =
        LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), mapped);
    return LLVM::IntToPtrOp::create(builder, loc, barrier.getType(), address);
  }

  /// What goes with every copy; null where there is none.
  struct Delivery {
    Value barrier, multicast, policy;
  };

  /// Starts the copies of a box of each panel to the rows of a tile at `rows`.
  static void copyBox(ConversionPatternRewriter &rewriter, CopyTmaOp op,
                      Value map, SmallVector<Value> coordinates, Value rows,
                      const Delivery &delivery) {
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    IndexBuilder index(rewriter, loc);
    SharedType type = op.getTile().getType();
    auto clusterPointer = LLVM::LLVMPointerType::get(context, kClusterSpace);
    Value column = coordinates[0];
    for (int64_t col = 0; col < type.getCols(); col += type.getPanelCols()) {
      coordinates[0] = index.add(column, col);
      Value to =
          index.offset(rows, col * type.getRows() * type.getElementBytes());
      to = LLVM::AddrSpaceCastOp::create(rewriter, loc, clusterPointer, to);
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          rewriter, loc, to, map, coordinates, delivery.barrier,
          /*im2colOffsets=*/ValueRange(), delivery.multicast, delivery.policy,
          NVVM::TMALoadModeAttr::get(context, NVVM::TMALoadMode::TILE),
          /*isCTAOnly=*/rewriter.getBoolAttr(false),
          op.getFirstCta()
              ? NVVM::CTAGroupKindAttr::get(context, NVVM::CTAGroupKind::CTA_2)
              : NVVM::CTAGroupKindAttr(),
          /*predicate=*/Value());
    }
  }
};

struct CopyBulkLowering : TileOpLowering<CopyBulkOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(CopyBulkOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value bytes = index.i32(op.getTile().getType().getTileBytes());
    Value barrier = mbarrierAddress(index, adaptor.getBarrier().front(),
                                    adaptor.getStage().front());
    NVVM::MBarrierArriveExpectTxOp::create(
        rewriter, loc, /*res=*/Type(), barrier, bytes,
        NVVM::MemScopeKindAttr::get(getContext(), NVVM::MemScopeKind::CTA),
        rewriter.getBoolAttr(false), /*predicate=*/Value());
    SmallVector<Value> indices = llvm::map_to_vector(
        adaptor.getIndices(), [](ValueRange range) { return range.front(); });
    GlobalView view(op.getSource().getType(), adaptor.getSource());
    auto clusterPointer =
        LLVM::LLVMPointerType::get(getContext(), kClusterSpace);
    Value to = LLVM::AddrSpaceCastOp::create(rewriter, loc, clusterPointer,
                                             adaptor.getTile().front());
    NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(
        rewriter, loc, to, view.address(index, indices), barrier, bytes,
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct FenceSharedLowering : TileOpLowering<FenceSharedOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(FenceSharedOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    fenceSharedWrites(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Only the thread that started copies has any to wait for.
struct WaitStoresLowering : TileOpLowering<WaitStoresOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(WaitStoresOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    waitUntilRead(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Writes by stmatrix become visible to TMA by a proxy fence of the threads
/// that wrote, then the barrier. One thread that copies was told behind both.
struct StoreTmaLowering : TileOpLowering<StoreTmaOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(StoreTmaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value warpgroup = index.toI32(adaptor.getWarpgroup().front());
    if (!op.getOneThread()) {
      fenceSharedWrites(rewriter, loc);
      syncWarpgroup(rewriter, loc, warpgroup);
      Value isFirst = index.isZero(index.bitAnd(index.thread(), 127));
      auto guarded = scf::IfOp::create(rewriter, loc, isFirst);
      rewriter.setInsertionPointToStart(guarded.thenBlock());
    }
    storePanels(rewriter, op, adaptor, warpgroup);
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    if (!op.getAsync())
      waitUntilRead(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void storePanels(ConversionPatternRewriter &rewriter, StoreTmaOp op,
                          Adaptor adaptor, Value warpgroup) {
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    IndexBuilder index(rewriter, loc);
    SharedType type = op.getTile().getType();
    int64_t rows = op.getDestination().getType().getRows();
    SmallVector<Value> coordinates = {Value()};
    for (ValueRange position : llvm::reverse(adaptor.getIndices()))
      coordinates.push_back(index.toI32(position.front()));
    Value first = index.mul(warpgroup, rows);
    int64_t positions = type.getRows() / op.getHeads();
    if (op.getHeads() > 1) {
      coordinates[2] = index.add(coordinates[2], index.div(first, positions));
      first = index.rem(first, positions);
    }
    coordinates[1] = index.add(coordinates[1], first);
    Value from = index.offset(adaptor.getTile().front(),
                              index.mul(warpgroup, rows * type.getSwizzle()));
    for (int64_t col = 0; col < type.getCols(); col += type.getPanelCols()) {
      coordinates[0] = index.i32(col + static_cast<int64_t>(op.getColumn()));
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          rewriter, loc, adaptor.getDestination().front(),
          index.offset(from, col * type.getRows() * type.getElementBytes()),
          coordinates,
          /*l2CacheHint=*/Value(),
          NVVM::TMAStoreModeAttr::get(context, NVVM::TMAStoreMode::TILE),
          /*predicate=*/Value());
    }
  }
};

} // namespace

void attn::tile::populateTmaPatterns(TypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<CopyBulkLowering, CopyTmaLowering, FenceSharedLowering,
               StoreTmaLowering, WaitStoresLowering>(converter,
                                                     patterns.getContext());
}
