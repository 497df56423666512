//===- Kernel.cpp - Kernels, barriers and shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "attn/Dialect/PTX/IR/PTX.h"

using namespace mlir;
using namespace attn::tile;

/// The symbol of the CTA's dynamic shared memory.
static constexpr StringLiteral kSharedMemoryName = "attn_shared_memory";
/// cp.async and ldmatrix need 16 bytes, TMA's swizzles need 1024.
static constexpr int64_t kSharedMemoryAlignment = 1024;
/// CUtensorMap.
static constexpr int64_t kTensorMapBytes = 128, kTensorMapAlignment = 64;

/// Registers of a thread, of the 65536 of an SM: each of its four partitions
/// has a quarter of them, and of the warps, rounded up.
static int32_t getMaxRegisters(KernelOp op) {
  int64_t share = 65536 / llvm::alignTo(op.getThreads(), 128);
  return static_cast<int32_t>(std::min<int64_t>(240, share / 8 * 8));
}

/// The first phase of the small-cache schedule is no `forward`, but it alone of
/// the others looks for the maxima of rows.
static bool computesOutput(KernelOp op) {
  return op.getForward() || op.walk([](RowReduceOp reduce) {
                                return reduce.getKind() == Reduction::max
                                           ? WalkResult::interrupt()
                                           : WalkResult::advance();
                              }).wasInterrupted();
}

namespace {

struct KernelLowering : TileOpLowering<KernelOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(KernelOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Region &body = op.getBody();
    TypeConverter::SignatureConversion signature(body.getNumArguments());
    if (failed(getTypeConverter()->convertSignatureArgs(body.getArgumentTypes(),
                                                        signature)))
      return failure();
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(getContext()), signature.getConvertedTypes());
    auto function =
        LLVM::LLVMFuncOp::create(rewriter, op.getLoc(), op.getSymName(), type);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                      rewriter.getUnitAttr());
    function->setAttr(
        NVVM::NVVMDialect::getReqntidAttrName(),
        rewriter.getDenseI32ArrayAttr({static_cast<int32_t>(op.getThreads())}));
    // One CTA of an SM is enough: left to itself, ptxas spills accumulators so
    // that one more fits.
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      rewriter.getI32IntegerAttr(1));
    // And at its limit of 255 registers, ptxas 13.0 can spill what 240 hold.
    function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(),
                      rewriter.getI32IntegerAttr(getMaxRegisters(op)));
    if (std::optional<uint64_t> ctas = op.getClusterCtas())
      function->setAttr(
          NVVM::NVVMDialect::getClusterDimAttrName(),
          rewriter.getDenseI32ArrayAttr({static_cast<int32_t>(*ctas), 1, 1}));
    if (computesOutput(op))
      function->setAttr(attn::ptx::plainArithmeticAttrName,
                        rewriter.getUnitAttr());
    markTensorMaps(body.getArgumentTypes(), signature, function);
    rewriter.inlineRegionBefore(body, function.getBody(), function.end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(),
                                           *getTypeConverter(), &signature)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// A tensor map is passed by value, and read in place by TMA (CUDA C++
  /// Programming Guide, "Tensor map encoding").
  static void
  markTensorMaps(TypeRange parameters,
                 const TypeConverter::SignatureConversion &signature,
                 LLVM::LLVMFuncOp function) {
    Builder builder(function.getContext());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kTensorMapBytes);
    for (auto [number, type] : llvm::enumerate(parameters)) {
      if (!isa<TensorMapType>(type))
        continue;
      unsigned i = signature.getInputMapping(number)->inputNo;
      function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(bytes));
      function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI32IntegerAttr(kTensorMapAlignment));
      function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                          builder.getUnitAttr());
    }
  }
};

struct ReturnLowering : TileOpLowering<ReturnOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ReturnOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

struct ExitLowering : TileOpLowering<ExitOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ExitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<attn::ptx::ExitOp>(op,
                                                   adaptor.getDone().front());
    return success();
  }
};

/// attn_tile.alloc and attn_tile.alloc_mbarrier.
template <typename OpTy>
struct AllocLowering : TileOpLowering<OpTy> {
  using TileOpLowering<OpTy>::TileOpLowering;
  using Adaptor = typename TileOpLowering<OpTy>::Adaptor;
  LogicalResult
  matchAndRewrite(OpTy op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return rewriter.notifyMatchFailure(op, "shared memory is not allocated");
    rewriter.replaceOp(op,
                       addressOfShared(rewriter, op.getLoc(), *op.getOffset()));
    return success();
  }
};

struct StageLowering : TileOpLowering<StageOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(StageOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    Value bytes = index.mul(index.toI32(adaptor.getIndex().front()),
                            op.getRing().getType().getTileBytes());
    rewriter.replaceOp(op, index.offset(adaptor.getRing().front(), bytes));
    return success();
  }
};

/// A panel has the rows of one swizzle's bytes of columns.
struct ColumnsLowering : TileOpLowering<ColumnsOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ColumnsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    SharedType type = op.getSource().getType();
    Value bytes = index.mul(index.toI32(adaptor.getColumn().front()),
                            type.getRows() * type.getElementBytes());
    rewriter.replaceOp(op, index.offset(adaptor.getSource().front(), bytes));
    return success();
  }
};

struct BarrierLowering : public OpConversionPattern<gpu::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op);
    return success();
  }
};

/// gpu.block_id, gpu.grid_dim and gpu.thread_id, as index.
template <typename OpTy, typename X, typename Y, typename Z>
struct SpecialRegisterLowering : public OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value id;
    switch (op.getDimension()) {
    case gpu::Dimension::x:
      id = X::create(rewriter, loc, i32);
      break;
    case gpu::Dimension::y:
      id = Y::create(rewriter, loc, i32);
      break;
    case gpu::Dimension::z:
      id = Z::create(rewriter, loc, i32);
      break;
    }
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(),
                                                    id);
    return success();
  }
};

/// What a reduction of i32 over the lanes of a warp is for redux.sync.
std::optional<NVVM::ReduxKind> getReduxKind(gpu::AllReduceOperation kind) {
  switch (kind) {
  case gpu::AllReduceOperation::ADD:
    return NVVM::ReduxKind::ADD;
  case gpu::AllReduceOperation::MINSI:
    return NVVM::ReduxKind::MIN;
  case gpu::AllReduceOperation::MAXSI:
    return NVVM::ReduxKind::MAX;
  case gpu::AllReduceOperation::AND:
    return NVVM::ReduxKind::AND;
  case gpu::AllReduceOperation::OR:
    return NVVM::ReduxKind::OR;
  default:
    return std::nullopt;
  }
}

/// The sum over the lanes of a warp, in one order.
Value addOverLanes(OpBuilder &builder, Location loc, Value value) {
  IndexBuilder index(builder, loc);
  for (int64_t mask = 16; mask > 0; mask /= 2) {
    Value other = index.shuffle(NVVM::ShflKind::bfly, value, mask);
    value = arith::AddFOp::create(builder, loc, value, other);
  }
  return value;
}

struct SubgroupReduceLowering
    : public OpConversionPattern<gpu::SubgroupReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(gpu::SubgroupReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getType().isF32() && op.getOp() == gpu::AllReduceOperation::ADD) {
      rewriter.replaceOp(
          op, addOverLanes(rewriter, op.getLoc(), adaptor.getValue()));
      return success();
    }
    std::optional<NVVM::ReduxKind> kind = getReduxKind(op.getOp());
    if (!kind || !op.getType().isInteger(32))
      return rewriter.notifyMatchFailure(op, "no redux.sync");
    Value allLanes = IndexBuilder(rewriter, op.getLoc()).i32(-1);
    rewriter.replaceOpWithNewOp<NVVM::ReduxOp>(
        op, op.getType(), adaptor.getValue(), *kind, allLanes);
    return success();
  }
};

} // namespace

Value attn::tile::addressOfShared(OpBuilder &builder, Location loc,
                                  int64_t offset) {
  MLIRContext *context = builder.getContext();
  Value base = LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(context, kSharedSpace),
      FlatSymbolRefAttr::get(context, kSharedMemoryName));
  return IndexBuilder(builder, loc).offset(base, offset);
}

void attn::tile::declareSharedMemory(ModuleOp module) {
  if (module.lookupSymbol(kSharedMemoryName))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::External, kSharedMemoryName,
                         /*value=*/Attribute(), kSharedMemoryAlignment,
                         kSharedSpace);
}

void attn::tile::populateKernelPatterns(TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns
      .add<KernelLowering, ReturnLowering, ExitLowering, AllocLowering<AllocOp>,
           AllocLowering<AllocMbarrierOp>, StageLowering, ColumnsLowering,
           BarrierLowering, SubgroupReduceLowering,
           SpecialRegisterLowering<gpu::ThreadIdOp, NVVM::ThreadIdXOp,
                                   NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>,
           SpecialRegisterLowering<gpu::BlockIdOp, NVVM::BlockIdXOp,
                                   NVVM::BlockIdYOp, NVVM::BlockIdZOp>,
           SpecialRegisterLowering<gpu::GridDimOp, NVVM::GridDimXOp,
                                   NVVM::GridDimYOp, NVVM::GridDimZOp>>(
          converter, patterns.getContext());
}
