//===- Mbarrier.cpp - Barriers in shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mbarrier.init, arrive and try_wait (PTX ISA, "Parallel Synchronization and
// Communication Instructions: mbarrier").
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "attn/Dialect/PTX/IR/PTX.h"

using namespace mlir;
using namespace attn::tile;

/// Suspend time hint of a wait: long, since the wait is repeated anyway.
static constexpr int64_t kWaitNanoseconds = 10000000;

Value attn::tile::mbarrierAddress(IndexBuilder &index, Value ring,
                                  Value stage) {
  return index.offset(ring,
                      index.mul(index.toI32(stage), MbarrierType::kBytes));
}

namespace {

/// Runs `build` in the threads for which `condition` holds.
void buildIf(OpBuilder &builder, Location loc, Value condition,
             function_ref<void()> build) {
  OpBuilder::InsertionGuard guard(builder);
  auto guarded = scf::IfOp::create(builder, loc, condition);
  builder.setInsertionPointToStart(guarded.thenBlock());
  build();
}

Value buildIsZero(OpBuilder &builder, Location loc, Value value) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                               IndexBuilder(builder, loc).i32(0));
}

struct InitMbarriersLowering : TileOpLowering<InitMbarriersOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(InitMbarriersOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value isFirst = buildIsZero(rewriter, loc, index.thread());
    buildIf(rewriter, loc, isFirst, [&] {
      for (auto [barrier, pointers] :
           llvm::zip_equal(op.getBarriers(), adaptor.getBarriers())) {
        auto type = cast<MbarrierType>(barrier.getType());
        for (int64_t stage = 0; stage < type.getStages(); ++stage)
          NVVM::MBarrierInitOp::create(
              rewriter, loc,
              index.offset(pointers.front(), stage * MbarrierType::kBytes),
              index.i32(type.getArrivals()), /*predicate=*/Value());
      }
      // For TMA, which works through the async proxy.
      NVVM::FenceMbarrierInitOp::create(rewriter, loc);
    });
    rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op);
    return success();
  }
};

struct MbarrierWaitLowering : TileOpLowering<MbarrierWaitOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(MbarrierWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    Value address = mbarrierAddress(index, adaptor.getBarrier().front(),
                                    adaptor.getStage().front());
    if (op.getAfter())
      pin(rewriter, op.getLoc(), adaptor.getAfter(), address);
    rewriter.replaceOpWithNewOp<NVVM::MBarrierTryWaitParityOp>(
        op, address, index.toI32(adaptor.getParity().front()),
        index.i32(kWaitNanoseconds));
    return success();
  }

private:
  /// One value that needs all of `registers`.
  static void pin(OpBuilder &builder, Location loc, ValueRange registers,
                  Value address) {
    Value sum = registers.front();
    for (Value value : registers.drop_front())
      sum = arith::AddFOp::create(builder, loc, sum, value);
    attn::ptx::PinOp::create(builder, loc, sum, address);
  }
};

struct MbarrierArriveLowering : TileOpLowering<MbarrierArriveOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(MbarrierArriveOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value address = mbarrierAddress(index, adaptor.getBarrier().front(),
                                    adaptor.getStage().front());
    int64_t ctas = op.getCtas();
    if (ctas == 1) {
      rewriter.replaceOpWithNewOp<attn::ptx::MbarrierArriveOp>(
          op, address, buildIsZero(rewriter, loc, index.lane()));
      return success();
    }
    // One lane for each CTA.
    Value lane = index.lane();
    Value isFirst = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult, lane, index.i32(ctas));
    rewriter.replaceOpWithNewOp<attn::ptx::MbarrierArriveClusterOp>(
        op, address, index.rem(lane, ctas), isFirst);
    return success();
  }
};

/// Also orders what the CTAs of the cluster did before and do after.
struct ClusterBarrierLowering : TileOpLowering<ClusterBarrierOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(ClusterBarrierOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    UnitAttr aligned = rewriter.getUnitAttr();
    NVVM::ClusterArriveOp::create(rewriter, op.getLoc(), aligned);
    NVVM::ClusterWaitOp::create(rewriter, op.getLoc(), aligned);
    rewriter.eraseOp(op);
    return success();
  }
};

struct SyncWarpLowering : TileOpLowering<SyncWarpOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(SyncWarpOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    rewriter.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, index.i32(-1));
    return success();
  }
};

} // namespace

void attn::tile::populateMbarrierPatterns(TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<ClusterBarrierLowering, InitMbarriersLowering,
               MbarrierWaitLowering, MbarrierArriveLowering, SyncWarpLowering>(
      converter, patterns.getContext());
}
