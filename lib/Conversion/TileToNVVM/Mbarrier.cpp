//===- Mbarrier.cpp - Barriers in shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mbarrier.init, arrive, try_wait and test_wait (PTX ISA, "Parallel
// Synchronization and Communication Instructions: mbarrier").
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

struct InitMbarriersLowering : TileOpLowering<InitMbarriersOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(InitMbarriersOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value isFirst = index.isZero(index.thread());
    buildIf(rewriter, loc, isFirst, [&] {
      for (auto [barrier, pointers] :
           llvm::zip_equal(op.getBarriers(), adaptor.getBarriers())) {
        auto type = cast<MbarrierType>(barrier.getType());
        for (int64_t stage = 0; stage < type.getStages(); ++stage) {
          Value address =
              index.offset(pointers.front(), stage * MbarrierType::kBytes);
          NVVM::MBarrierInitOp::create(rewriter, loc, address,
                                       index.i32(type.getArrivals()),
                                       /*predicate=*/Value());
        }
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
    Value parity = index.toI32(adaptor.getParity().front());
    rewriter.replaceOpWithNewOp<NVVM::MBarrierTryWaitParityOp>(
        op, address, parity, index.i32(kWaitNanoseconds));
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

struct MbarrierTestLowering : TileOpLowering<MbarrierTestOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(MbarrierTestOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    Value address = mbarrierAddress(index, adaptor.getBarrier().front(),
                                    adaptor.getStage().front());
    rewriter.replaceOpWithNewOp<NVVM::MBarrierTestWaitOp>(
        op, rewriter.getI1Type(), address,
        index.toI32(adaptor.getParity().front()));
    return success();
  }
};

/// A call of printf would be simpler, and make ptxas serialise every wgmma of
/// the function; values that are read here must not be live elsewhere for it.
struct GiveUpLowering : TileOpLowering<GiveUpOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(GiveUpOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    declareReport(op->getParentOfType<ModuleOp>(), rewriter);
    Value stage = adaptor.getStage().front();
    Value address = LLVM::PtrToIntOp::create(
        rewriter, loc, rewriter.getI32Type(),
        mbarrierAddress(index, adaptor.getBarrier().front(), stage));
    Value words[] = {address, index.toI32(stage),
                     index.toI32(adaptor.getParity().front()),
                     index.toI32(adaptor.getTurn().front())};
    LLVM::InlineAsmOp::create(
        rewriter, loc, TypeRange(), ValueRange(words), getPtx(op.getNumber()),
        "r,r,r,r", /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr(), ArrayAttr());
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Where a launcher says what memory takes a report: zeros, and visible.
  static void declareReport(ModuleOp module, RewriterBase &rewriter) {
    constexpr StringLiteral kName = "attn_wait_report";
    if (module.lookupSymbol(kName))
      return;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    Type words = LLVM::LLVMArrayType::get(rewriter.getI64Type(), 2);
    auto report = LLVM::GlobalOp::create(
        rewriter, module.getLoc(), words, /*isConstant=*/false,
        LLVM::Linkage::External, kName, Attribute(), /*alignment=*/16,
        /*addrSpace=*/1);
    Block *body = rewriter.createBlock(&report.getInitializerRegion());
    rewriter.setInsertionPointToStart(body);
    Value zero = LLVM::ZeroOp::create(rewriter, module.getLoc(), words);
    LLVM::ReturnOp::create(rewriter, module.getLoc(), zero);
  }

  /// The thread that claims the report stores its words, the first one last;
  /// after a millisecond, in which that is done, each ends the kernel by a
  /// store to address 0. With a trap in its place ptxas takes the registers
  /// from the whole function that setmaxnreg gives.
  static std::string getPtx(int64_t number) {
    std::string text =
        "{ .reg .pred isFirst; .reg .b32 word; .reg .b64 to, nowhere; "
        "atom.global.cas.b32 word, [attn_wait_report+8], 0, 1; "
        "ld.global.u64 to, [attn_wait_report]; "
        "mov.u64 nowhere, 0; "
        "setp.eq.u32 isFirst, word, 0; "
        "setp.ne.and.u64 isFirst, to, 0, isFirst; ";
    std::string words[] = {std::to_string(number),
                           "$0",
                           "$1",
                           "$2",
                           "$3",
                           "%ctaid.x",
                           "%ctaid.y",
                           "%ctaid.z",
                           "%tid.x"};
    for (auto [i, word] : llvm::enumerate(words))
      text += "mov.u32 word, " + word + "; @isFirst st.volatile.u32 [to+" +
              std::to_string(4 * (i + 1)) + "], word; ";
    return text + "membar.sys; mov.u32 word, 1; "
                  "@isFirst st.volatile.u32 [to], word; membar.sys; "
                  "nanosleep.u32 1000000; "
                  "st.volatile.global.u32 [nowhere], word; }";
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
    if (op.getFirstCta()) {
      rewriter.replaceOpWithNewOp<attn::ptx::MbarrierArriveClusterOp>(
          op, address, index.i32(0), index.isZero(index.lane()));
      return success();
    }
    if (ctas == 1) {
      Value arrives = op.getOneThread() ? Value() : index.isZero(index.lane());
      rewriter.replaceOpWithNewOp<attn::ptx::MbarrierArriveOp>(op, address,
                                                               arrives);
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
               MbarrierWaitLowering, MbarrierTestLowering,
               MbarrierArriveLowering, GiveUpLowering, SyncWarpLowering>(
      converter, patterns.getContext());
}
