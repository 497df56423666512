//===- GraphToBufferizable.cpp - Prepare a graph for bufferization --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass --convert-graph-to-bufferizable.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTGRAPHTOBUFFERIZABLE
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// Replaces aggregates (linalg.softmax, ...) by their parts.
static LogicalResult decomposeAggregates(ModuleOp module) {
  SmallVector<linalg::AggregatedOpInterface> aggregates;
  module.walk(
      [&](linalg::AggregatedOpInterface op) { aggregates.push_back(op); });
  for (linalg::AggregatedOpInterface op : aggregates) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(builder);
    if (failed(parts))
      return op.emitOpError() << "cannot be decomposed";
    op->replaceAllUsesWith(*parts);
    op->erase();
  }
  return success();
}

namespace {
/// An expansion into several dynamic sizes as a reshape: upstream's expansion
/// of strided metadata can infer only one size of a group.
struct ReshapeDynamicExpansion : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResultType();
    auto isAmbiguous = [&](const ReassociationIndices &group) {
      return llvm::count_if(group, [&](int64_t dim) {
               return type.isDynamicDim(dim);
             }) > 1;
    };
    if (llvm::none_of(op.getReassociationIndices(), isAmbiguous))
      return rewriter.notifyMatchFailure(op, "each size can be inferred");
    SmallVector<Value> sizes;
    for (OpFoldResult size : op.getMixedOutputShape())
      sizes.push_back(
          getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), size));
    Value shape = tensor::FromElementsOp::create(rewriter, op.getLoc(), sizes);
    rewriter.replaceOpWithNewOp<tensor::ReshapeOp>(op, type, op.getSrc(),
                                                   shape);
    return success();
  }
};
} // namespace

/// A slice of one index has stride 1 there: upstream's SubViewOp (MLIR 22)
/// tells by strides which of the sizes of 1 a rank-reducing slice drops, and
/// reads memory that is not its own where two of them fit.
template <typename SliceOp>
static void setUnitStrides(SliceOp op) {
  SmallVector<int64_t> strides(op.getStaticStrides());
  SmallVector<Value> dynamicStrides;
  for (auto [dim, size] : llvm::enumerate(op.getStaticSizes())) {
    if (size == 1)
      strides[dim] = 1;
    else if (op.isDynamicStride(dim))
      dynamicStrides.push_back(op.getDynamicStride(dim));
  }
  op.setStaticStrides(strides);
  op.getStridesMutable().assign(dynamicStrides);
}

/// The caller's buffers are inputs only, unless they say otherwise, and calls
/// into the module and out of it go through the C interface.
static void fixInterface(func::FuncOp function) {
  if (function.isPrivate() && !function.isExternal())
    return;
  OpBuilder builder(function.getContext());
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    builder.getUnitAttr());
  if (function.isExternal())
    return;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isa<TensorType>(function.getArgument(i).getType()) &&
        !function.getArgAttr(
            i, bufferization::BufferizationDialect::kWritableAttrName))
      function.setArgAttr(
          i, bufferization::BufferizationDialect::kWritableAttrName,
          builder.getBoolAttr(false));
}

namespace {
struct ConvertGraphToBufferizablePass
    : public attn::impl::ConvertGraphToBufferizableBase<
          ConvertGraphToBufferizablePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(decomposeAggregates(module)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    patterns.add<ReshapeDynamicExpansion>(&getContext());
    walkAndApplyPatterns(module, std::move(patterns));
    module.walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp,
                tensor::ParallelInsertSliceOp>(
              [](auto slice) { setUnitStrides(slice); });
    });
    module.walk(fixInterface);
  }
};
} // namespace
