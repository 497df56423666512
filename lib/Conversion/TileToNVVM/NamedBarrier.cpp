//===- NamedBarrier.cpp - Barriers of some of a CTA's warps -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bar.sync and bar.arrive on the CTA's 16 named barriers (PTX ISA, "Parallel
// Synchronization and Communication Instructions: bar").
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

/// Barrier 0 is that of the whole CTA; then one for the turn of each of at most
/// three warpgroups, then one for the warps of each, and one for all of them.
static constexpr int64_t kFirstTurn = 1, kFirstWarpgroup = 4, kConsumers = 7;

/// bar.sync of `threads` threads on barrier `id`.
static void sync(OpBuilder &builder, Location loc, Value id, int64_t threads) {
  NVVM::BarrierOp::create(builder, loc, /*res=*/Type(), id,
                          IndexBuilder(builder, loc).i32(threads),
                          /*reductionOp=*/NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
}

void attn::tile::syncWarpgroup(OpBuilder &builder, Location loc,
                               Value warpgroup) {
  IndexBuilder index(builder, loc);
  sync(builder, loc, index.add(index.toI32(warpgroup), kFirstWarpgroup),
       kWarpgroupThreads);
}

void attn::tile::syncConsumers(OpBuilder &builder, Location loc,
                               int64_t warps) {
  sync(builder, loc, IndexBuilder(builder, loc).i32(kConsumers), 32 * warps);
}

void attn::tile::fenceSharedWrites(OpBuilder &builder, Location loc) {
  MLIRContext *context = builder.getContext();
  NVVM::FenceProxyOp::create(
      builder, loc,
      NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

namespace {

/// A turn is a barrier of the warpgroup that waits for it and the one that
/// passes it on.
struct TakeTurnLowering : TileOpLowering<TakeTurnOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(TakeTurnOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    Value own = index.toI32(adaptor.getWarpgroup().front());
    sync(rewriter, op.getLoc(), index.add(own, kFirstTurn),
         2 * kWarpgroupThreads);
    rewriter.eraseOp(op);
    return success();
  }
};

struct PassTurnLowering : TileOpLowering<PassTurnOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(PassTurnOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    int64_t warpgroups = getConsumerWarps() / 4;
    Value own = index.toI32(adaptor.getWarpgroup().front());
    Value isLast =
        arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::eq,
                              own, index.i32(warpgroups - 1));
    Value first = index.i32(kFirstTurn);
    Value next = arith::SelectOp::create(rewriter, op.getLoc(), isLast, first,
                                         index.add(own, kFirstTurn + 1));
    NVVM::BarrierArriveOp::create(rewriter, op.getLoc(), next,
                                  index.i32(2 * kWarpgroupThreads));
    rewriter.eraseOp(op);
    return success();
  }
};

struct SyncConsumersLowering : TileOpLowering<SyncConsumersOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(SyncConsumersOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    fenceSharedWrites(rewriter, op.getLoc());
    syncConsumers(rewriter, op.getLoc(), getConsumerWarps());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void attn::tile::populateNamedBarrierPatterns(TypeConverter &converter,
                                              RewritePatternSet &patterns) {
  patterns.add<TakeTurnLowering, PassTurnLowering, SyncConsumersLowering>(
      converter, patterns.getContext());
}
