//===- BackwardScatterKernels.cpp - Around kernels that scatter -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels with a thread for each element of the gradient of a captured tensor,
// whose exact sum they make 0, or round.
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardScores.h"
#include "Kernel/ExactSum.h"
#include "Kernel/KernelScope.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

namespace {
class ElementKernelBuilder : KernelScope {
public:
  ElementKernelBuilder(OpBuilder &builder, TiledBackward &backward,
                       ScoreNest &nest)
      : KernelScope(builder, nest.attention), backward(backward), nest(nest),
        loc(attention.forall.getLoc()) {}

  LogicalResult build(StringRef entry, bool clears);

private:
  Value isElement(Value number, int64_t rank);
  void round(ExactSum &sums, ValueRange at);

  TiledBackward &backward;
  ScoreNest &nest;
  Location loc;
  Value gradient;
};
} // namespace

Value ElementKernelBuilder::isElement(Value number, int64_t rank) {
  Value count = constant(1);
  for (int64_t dim = 0; dim < rank; ++dim)
    count = arith::MulIOp::create(
        builder, loc, count, tile::DimOp::create(builder, loc, gradient, dim));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number,
                               count);
}

/// Scores have the scale as a factor, which dQ and dK want.
void ElementKernelBuilder::round(ExactSum &sums, ValueRange at) {
  double scale = nest.steps.front().getScaleValue();
  Value factor = arith::ConstantOp::create(builder, loc,
                                           builder.getF64FloatAttr(1 / scale));
  Value sum = arith::MulFOp::create(builder, loc, sums.get(at), factor);
  Type element = cast<tile::GlobalType>(gradient.getType()).getElementType();
  sum = arith::TruncFOp::create(builder, loc, builder.getF32Type(), sum);
  if (!element.isF32())
    sum = arith::TruncFOp::create(builder, loc, element, sum);
  tile::InsertOp::create(builder, loc, sum, gradient, at);
}

LogicalResult ElementKernelBuilder::build(StringRef entry, bool clears) {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(entry, /*warps=*/1);
  if (failed(kernel))
    return failure();
  SmallVector<Value> views = backward.addOwnViews(*kernel);
  gradient = values.lookup(attention.forall.getRegionIterArgs()[0]);
  int64_t rank = cast<tile::GlobalType>(gradient.getType()).getShape().size();
  Value lane = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value number = getBlockId(gpu::Dimension::x);
  number = arith::MulIOp::create(builder, loc, number, constant(kLanes));
  number = arith::AddIOp::create(builder, loc, number, lane);
  auto guarded = scf::IfOp::create(builder, loc, isElement(number, rank));
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    SmallVector<Value> at = llvm::map_to_vector(
        getIndices(number, gradient, rank), [&](Value index) -> Value {
          return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                            index);
        });
    ExactSum sums(builder, loc, views[nest.view]);
    if (clears)
      sums.clear(at);
    else
      round(sums, at);
  }
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildClearingKernel(OpBuilder &builder,
                                        TiledBackward &backward,
                                        ScoreNest &nest) {
  return nest.scatterLoop ? ElementKernelBuilder(builder, backward, nest)
                                .build(nest.clearEntry, /*clears=*/true)
                          : success();
}

LogicalResult attn::buildSumRoundingKernel(OpBuilder &builder,
                                           TiledBackward &backward,
                                           ScoreNest &nest) {
  return nest.scatterLoop ? ElementKernelBuilder(builder, backward, nest)
                                .build(nest.roundEntry, /*clears=*/false)
                          : success();
}
