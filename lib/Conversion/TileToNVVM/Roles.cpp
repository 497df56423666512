//===- Roles.cpp - Roles of warps -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// Consumers are the first warps, so that a warp's number among them is its
/// number in the CTA.
struct RolesLowering : TileOpLowering<RolesOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(RolesOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value warp = uniform(rewriter, loc, index.warp());
    Value isConsumer =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, warp,
                              index.i32(getConsumerWarps()));
    auto branch = scf::IfOp::create(rewriter, loc, isConsumer,
                                    /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    setRegisters(rewriter, loc, op.getConsumerRegisters(),
                 NVVM::SetMaxRegisterAction::increase);
    Value warpgroup = arith::IndexCastOp::create(
        rewriter, loc, rewriter.getIndexType(), index.shiftRight(warp, 2));
    rewriter.inlineBlockBefore(&op.getConsumer().front(),
                               branch.thenBlock()->getTerminator(), warpgroup);

    Block *producers = branch.elseBlock();
    if (Region *role = op.getWarpgroupRole())
      producers = inlineWarpgroup(rewriter, op, *role, warp, producers);
    rewriter.setInsertionPointToStart(producers);
    setRegisters(rewriter, loc, op.getProducerRegisters(),
                 NVVM::SetMaxRegisterAction::decrease);
    if (op.getAll())
      rewriter.inlineBlockBefore(&op.getProducer().front(),
                                 producers->getTerminator());
    else
      inlineThreads(rewriter, op, warp, producers);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// `value`, which all lanes of a warp agree on, in a form that lets ptxas
  /// know.
  static Value uniform(OpBuilder &builder, Location loc, Value value) {
    return IndexBuilder(builder, loc).shuffle(NVVM::ShflKind::idx, value, 0);
  }

  static void setRegisters(OpBuilder &builder, Location loc, int64_t count,
                           NVVM::SetMaxRegisterAction action) {
    if (count == RolesOp::kAsLaunched)
      return;
    NVVM::SetMaxRegisterOp::create(
        builder, loc, builder.getI32IntegerAttr(count),
        NVVM::SetMaxRegisterActionAttr::get(builder.getContext(), action));
  }

  /// The warps behind the first four run `role`. Returns the block of those
  /// before them.
  Block *inlineWarpgroup(ConversionPatternRewriter &rewriter, RolesOp op,
                         Region &role, Value warp, Block *producers) const {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    rewriter.setInsertionPointToStart(producers);
    int64_t first = getConsumerWarps() + RolesOp::kWarpgroupWarps;
    Value isOf = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                                       warp, index.i32(first));
    auto branch =
        scf::IfOp::create(rewriter, loc, isOf, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    setRegisters(rewriter, loc, *op.getWarpgroupRegisters(),
                 NVVM::SetMaxRegisterAction::decrease);
    rewriter.inlineBlockBefore(&role.front(),
                               branch.thenBlock()->getTerminator());
    return branch.elseBlock();
  }

  /// One thread of each warp of `producers` runs a role. None is behind another
  /// one, or what it needs would be in registers of that one, too.
  void inlineThreads(ConversionPatternRewriter &rewriter, RolesOp op,
                     Value warp, Block *producers) const {
    Location loc = op.getLoc();
    MutableArrayRef<Region> roles = op.getProducers();
    if (op.getWarpgroupRole())
      roles = roles.drop_back();
    for (auto [number, role] : llvm::enumerate(roles)) {
      rewriter.setInsertionPoint(producers->getTerminator());
      IndexBuilder index(rewriter, loc);
      Value isOf =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, warp,
                                index.i32(getConsumerWarps() + number));
      bool isLast = number + 1 == roles.size();
      auto branch =
          scf::IfOp::create(rewriter, loc, isOf, /*withElseRegion=*/!isLast);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      Value elected = NVVM::ElectSyncOp::create(
          rewriter, loc, rewriter.getI1Type(), /*membermask=*/Value());
      auto thread = scf::IfOp::create(rewriter, loc, elected);
      rewriter.inlineBlockBefore(&role.front(),
                                 thread.thenBlock()->getTerminator());
      if (!isLast)
        producers = branch.elseBlock();
    }
  }
};

/// The minimum over lanes that agree. ptxas does not follow a shuffle.
struct UniformLowering : TileOpLowering<UniformOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(UniformOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value value = index.toI32(adaptor.getValue().front());
    Value least = NVVM::ReduxOp::create(rewriter, loc, value.getType(), value,
                                        NVVM::ReduxKind::UMIN, index.i32(-1));
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(),
                                                    least);
    return success();
  }
};

} // namespace

/// Of a thread of the body the number is that of the thread of `warpgroup` that
/// has its place.
static void renumberThreads(AsWarpgroupOp op) {
  OpBuilder builder = OpBuilder::atBlockBegin(&op.getBody().front());
  IndexBuilder index(builder, op.getLoc());
  auto thread = index.thread().getDefiningOp<NVVM::ThreadIdXOp>();
  Value first = index.mul(index.toI32(op.getWarpgroup()), kWarpgroupThreads);
  Value number = index.add(first, index.bitAnd(thread, kWarpgroupThreads - 1));
  op.walk([&](NVVM::ThreadIdXOp other) {
    if (other != thread)
      other.getResult().replaceAllUsesWith(number);
  });
}

void attn::tile::inlineWarpgroups(Operation *function) {
  function->walk([](AsWarpgroupOp op) {
    renumberThreads(op);
    Block &body = op.getBody().front();
    op->getBlock()->getOperations().splice(op->getIterator(),
                                           body.getOperations());
    op.erase();
  });
}

void attn::tile::populateRolesPatterns(TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<RolesLowering, UniformLowering>(converter,
                                               patterns.getContext());
}
