//===- HeadSums.cpp - Sums of the heads of gradients ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp for each row of a key head, whose lanes share out its columns. It
// walks the query heads in order, and adds the rows of those that the map gives
// its head: one order of additions in every run.
//
//===----------------------------------------------------------------------===//

#include "Backward/HeadSums.h"

#include "Launch/ElementKernel.h"
#include "Launch/PrologueKernels.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static RankedTensorType getGradientType(const HeadSum &sum) {
  return cast<RankedTensorType>(sum.gradient.getType());
}

void attn::findHeadSums(TiledBackward &backward) {
  auto find = [&](BackwardNest &nest, unsigned result, Value tile) {
    scf::ForallOp forall = nest.attention.forall;
    if (!getHeadMap(getSlice(tile)))
      return;
    if (SumHeadsOp sum = getHeadSum(forall.getResult(result), getSource(tile)))
      backward.headSums.push_back(
          {sum, forall.getRegionIterArgs()[result], /*entry=*/"", /*view=*/0});
  };
  for (BackwardNest &nest : backward.nests) {
    BackwardStepOp step = nest.steps.front();
    if (nest.hasDKey())
      find(nest, 0, step.getKey());
    if (step.getDValue())
      find(nest, nest.hasDKey(), step.getValue());
  }
}

void attn::addHeadViews(LaunchProgram &program, TiledBackward &backward) {
  for (HeadSum &sum : backward.headSums) {
    sum.view = program.getOwnViews().size();
    RankedTensorType type = getGradientType(sum);
    Size sizes[] = {program.dim("query", kBatch), program.dim("query", kHead),
                    program.dim("key", kSequence),
                    program.constant(type.getDimSize(kHeadDim))};
    WorkspaceView view = {
        (program.getName(sum.op.getResult()) + "_heads").str(),
        tile::GlobalType::get(type.getContext(), type.getShape(),
                              type.getElementType())};
    program.addWorkspace(view, sizes);
  }
}

void attn::addHeadSumKernels(LaunchProgram &program, TiledBackward &backward,
                             StringRef name) {
  for (HeadSum &sum : backward.headSums) {
    StringRef gradient = program.getName(sum.op.getResult());
    sum.entry = (name + "_sum_" + gradient).str();
    Size ctas = program.dim(gradient, kSequence).ceilDiv(kPrologueWarps);
    Size heads = program.dim(gradient, kHead);
    program.addKernel(sum.entry, ctas, heads, program.dim(gradient, kBatch));
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
class HeadSumBuilder : ElementKernel {
public:
  HeadSumBuilder(OpBuilder &builder, TiledBackward &backward, HeadSum &sum)
      : ElementKernel(builder, backward.nests.front().attention,
                      sum.op.getLoc()),
        backward(backward), sum(sum) {}

  LogicalResult build();

private:
  Value readEntry(Value head);
  Value isSummed(Value head);
  SmallVector<Value> addRow(Value head, ValueRange totals);
  void buildRow();

  SmallVector<Value> getPlace(Value head, Value column) {
    return {toI64(batch), toI64(head), toI64(row), toI64(column)};
  }

  TiledBackward &backward;
  HeadSum &sum;
  Value source, result; ///< in memory
  Value batch, keyHead, row, lane;
  SmallVector<Value> columns; ///< of the lane; those past the end are not there
};
} // namespace

/// The head that the map gives a query head.
Value HeadSumBuilder::readEntry(Value head) {
  Value map = sum.op.getMap(), entry;
  DenseIntElementsAttr table;
  if (matchPattern(map, m_Constant(&table))) {
    auto narrow = table.mapValues(builder.getI32Type(), [](const APInt &value) {
      return value.sextOrTrunc(32);
    });
    entry = tile::LookupOp::create(builder, loc,
                                   cast<DenseIntElementsAttr>(narrow), head);
  } else {
    entry =
        tile::ExtractOp::create(builder, loc, getElementTypeOrSelf(map),
                                values.lookup(map), ValueRange{toI64(head)});
  }
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    entry);
}

/// An entry that is no head counts as the last one.
Value HeadSumBuilder::isSummed(Value head) {
  Value last = tile::DimOp::create(builder, loc, result, kHead);
  last = create<arith::SubIOp>(last, constant(1));
  Value entry = create<arith::MinUIOp>(readEntry(head), last);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, entry,
                               keyHead);
}

/// The totals with what the lane has of the row of a query head. Lanes past the
/// end read the last column once more.
SmallVector<Value> HeadSumBuilder::addRow(Value head, ValueRange totals) {
  RankedTensorType type = getGradientType(sum);
  Value last = constant(type.getDimSize(kHeadDim) - 1);
  SmallVector<Value> sums;
  for (auto [column, total] : llvm::zip_equal(columns, totals)) {
    Value number = tile::ExtractOp::create(
        builder, loc, type.getElementType(), source,
        getPlace(head, create<arith::MinUIOp>(column, last)));
    if (!type.getElementType().isF32())
      number =
          arith::ExtFOp::create(builder, loc, builder.getF32Type(), number);
    sums.push_back(create<arith::AddFOp>(total, number));
  }
  return sums;
}

void HeadSumBuilder::buildRow() {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  SmallVector<Value> zeros(columns.size(), zero);
  Value first = constant(0);
  Value heads = tile::DimOp::create(builder, loc, source, kHead);
  auto loop =
      scf::ForOp::create(builder, loc, first, heads, constant(1), zeros);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value head = loop.getInductionVar();
    ValueRange totals = loop.getRegionIterArgs();
    auto choice =
        scf::IfOp::create(builder, loc, TypeRange(totals), isSummed(head),
                          /*withElseRegion=*/true);
    scf::YieldOp::create(builder, loc, choice.getResults());
    builder.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(builder, loc, addRow(head, totals));
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, totals);
  }
  Type element = cast<tile::GlobalType>(result.getType()).getElementType();
  Value end = constant(getGradientType(sum).getDimSize(kHeadDim));
  for (auto [column, total] : llvm::zip_equal(columns, loop.getResults()))
    onlyIf(isBelow(column, end), [&, column = column, total = total] {
      Value number = total;
      if (!element.isF32())
        number = arith::TruncFOp::create(builder, loc, element, number);
      tile::InsertOp::create(builder, loc, number, result,
                             getPlace(keyHead, column));
    });
}

LogicalResult HeadSumBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(sum.entry, kPrologueWarps);
  if (failed(kernel))
    return failure();
  source = backward.addOwnViews(*kernel)[sum.view];
  result = values.lookup(sum.op.getResult());
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kPrologueWarps);
  batch = getBlockId(gpu::Dimension::z);
  keyHead = getBlockId(gpu::Dimension::y);
  row = warp.number;
  lane = warp.lane;
  int64_t size = getGradientType(sum).getDimSize(kHeadDim);
  for (int64_t slice = 0; slice < size; slice += kLanes)
    columns.push_back(create<arith::AddIOp>(lane, constant(slice)));
  // The last CTA may have more warps than there are rows.
  onlyIf(isBelow(row, tile::DimOp::create(builder, loc, result, kSequence)),
         [&] { buildRow(); });
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildHeadSumKernels(OpBuilder &builder,
                                        TiledBackward &backward) {
  for (HeadSum &sum : backward.headSums)
    if (failed(HeadSumBuilder(builder, backward, sum).build()))
      return failure();
  return success();
}
