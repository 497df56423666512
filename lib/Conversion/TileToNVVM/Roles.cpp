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

    rewriter.setInsertionPointToStart(branch.elseBlock());
    setRegisters(rewriter, loc, op.getProducerRegisters(),
                 NVVM::SetMaxRegisterAction::decrease);
    Block *producers = branch.elseBlock();
    for (auto [number, role] : llvm::enumerate(op.getProducers())) {
      rewriter.setInsertionPoint(producers->getTerminator());
      Block *block = producers;
      if (!op.getAll())
        block = scf::IfOp::create(rewriter, loc,
                                  electOne(rewriter, loc, warp, number))
                    .thenBlock();
      rewriter.inlineBlockBefore(&role.front(), block->getTerminator());
    }
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

  /// True in one thread of producer warp `number`.
  Value electOne(OpBuilder &builder, Location loc, Value warp,
                 int64_t number) const {
    IndexBuilder index(builder, loc);
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp,
                              index.i32(getConsumerWarps() + number));
    Value elected = NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(),
                                              /*membermask=*/Value());
    return arith::AndIOp::create(builder, loc, isFirst, elected);
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

void attn::tile::populateRolesPatterns(TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<RolesLowering, UniformLowering>(converter,
                                               patterns.getContext());
}
