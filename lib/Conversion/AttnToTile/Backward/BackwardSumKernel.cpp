//===- BackwardSumKernel.cpp - attn.backward_sum on a GPU -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp for each element of the result. Its lanes share out the innermost
// dimension over which the element is summed, each in order, and add up what
// they have by a butterfly: one order of additions in every run.
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardScores.h"
#include "Backward/BackwardStep.h"
#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

namespace {
class SumKernelBuilder : KernelScope {
public:
  SumKernelBuilder(OpBuilder &builder, TiledBackward &backward, SumKernel &sum)
      : KernelScope(builder, backward.nests.front().attention),
        backward(backward), sum(sum), op(sum.op), loc(op.getLoc()),
        fragments(builder, loc) {}

  LogicalResult build();

private:
  void readSizes();
  Value isSummed();
  Value addUp(SmallVector<Value> at, unsigned dim, Value total);
  Value getNumber(ValueRange at);
  Value getTotal();
  void store(Value total);

  SmallVector<Value> toI64(ValueRange indices) {
    return llvm::map_to_vector(indices, [&](Value index) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                        index);
    });
  }
  Value read(Value tensor, ValueRange indices) {
    Type type = cast<tile::GlobalType>(tensor.getType()).getElementType();
    Value number =
        tile::ExtractOp::create(builder, loc, type, tensor, toI64(indices));
    return type.isF32() ? number
                        : arith::ExtFOp::create(builder, loc,
                                                builder.getF32Type(), number)
                              .getResult();
  }

  TiledBackward &backward;
  SumKernel &sum;
  BackwardSumOp op;
  Location loc;
  Fragments fragments;
  Value lane, source, lse, sink, result;
  double lseUnit = 1;             ///< of lse and sink
  SmallVector<Value> sizes;       ///< of the source: batches, heads, positions
  std::optional<unsigned> shared; ///< the dimension that the lanes share out
  SmallVector<Value> element;     ///< of the result
};
} // namespace

/// The source's are those of a query, and the keys if it has a number of each.
void SumKernelBuilder::readSizes() {
  auto operand = [&](StringRef name) {
    for (const KernelOperand &candidate : attention.operands)
      if (candidate.name == name)
        return values.lookup(candidate.tensor);
    llvm_unreachable("every backward has it");
  };
  auto dim = [&](StringRef name, unsigned number) -> Value {
    return tile::DimOp::create(builder, loc, operand(name), number);
  };
  bool ofKeys = false;
  for (ScoreNest &nest : backward.scoreNests)
    ofKeys |= nest.sum == op && nest.keysAreRows();
  sizes = {dim("query", kBatch), dim("query", kHead),
           dim(ofKeys ? "key" : "query", kSequence)};
}

/// True unless the element is one that no number belongs to; null for a scalar,
/// which all belong to.
Value SumKernelBuilder::isSummed() {
  Value all;
  for (auto [index, expr] :
       llvm::zip_equal(element, op.getMap().getResults())) {
    Value one;
    if (auto position = dyn_cast<AffineDimExpr>(expr))
      one = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                  index, sizes[position.getPosition()]);
    else
      one = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, index,
          constant(cast<AffineConstantExpr>(expr).getValue()));
    all = all ? arith::AndIOp::create(builder, loc, all, one).getResult() : one;
  }
  return all;
}

/// The number at `at`, with the probability of the sink as its weight where it
/// has one: 0 in rows without keys, whose lse is +inf.
Value SumKernelBuilder::getNumber(ValueRange at) {
  Value number = read(source, at);
  if (!lse)
    return number;
  Value rowLse = read(lse, at);
  Value share = fragments.sub(sink, rowLse);
  share =
      fragments.mul(share, fragments.constant(llvm::numbers::log2e / lseUnit));
  share = fragments.exp2(share);
  Value zero = fragments.constant(0);
  return fragments.selectEqual(rowLse, -kMinusInf, zero,
                               fragments.mul(share, number));
}

/// Adds to `total` what is at the indices in `at`, in loops over the others
/// from `dim` on.
Value SumKernelBuilder::addUp(SmallVector<Value> at, unsigned dim,
                              Value total) {
  while (dim < 3 && at[dim])
    ++dim;
  if (dim == 3)
    return fragments.add(total, getNumber(at));
  bool isShared = shared == dim;
  Value first = isShared ? lane : constant(0);
  auto loop =
      scf::ForOp::create(builder, loc, first, sizes[dim],
                         constant(isShared ? kLanes : 1), ValueRange(total));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  at[dim] = loop.getInductionVar();
  scf::YieldOp::create(builder, loc,
                       addUp(at, dim + 1, loop.getRegionIterArgs()[0]));
  return loop.getResult(0);
}

/// Rounds to the result's type; the first lane writes.
void SumKernelBuilder::store(Value total) {
  BackwardStepOp step = backward.nests.front().steps.front();
  double factor = (lse ? -1 : 1) / step.getScaleValue();
  Value number = fragments.mul(total, fragments.constant(factor));
  Type type = getElementTypeOrSelf(op.getResult().getType());
  if (!type.isF32())
    number = arith::TruncFOp::create(builder, loc, type, number);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        lane, constant(0));
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  tile::InsertOp::create(builder, loc, number, result, toI64(element));
}

/// The sum of what belongs to the element, in all lanes.
Value SumKernelBuilder::getTotal() {
  SmallVector<Value> at(3);
  for (auto [index, expr] : llvm::zip_equal(element, op.getMap().getResults()))
    if (auto position = dyn_cast<AffineDimExpr>(expr))
      at[position.getPosition()] = index;
  for (unsigned dim = 0; dim < 3; ++dim)
    if (!at[dim])
      shared = dim;
  Value total = addUp(at, 0, fragments.constant(0));
  return shared ? gpu::SubgroupReduceOp::create(builder, loc, total,
                                                gpu::AllReduceOperation::ADD,
                                                /*uniform=*/true)
                      .getResult()
                : total;
}

LogicalResult SumKernelBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(sum.entry, /*warps=*/1);
  if (failed(kernel))
    return failure();
  SmallVector<Value> views = backward.addOwnViews(*kernel);
  source = views[sum.view];
  result = values.lookup(op.getResult());
  lane = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  readSizes();
  element = getIndices(getBlockId(gpu::Dimension::x), result,
                       cast<ShapedType>(op.getResult().getType()).getRank());
  if (op.getLse()) {
    lse = views.end()[-2];
    lseUnit = RowUnits::get(backward.nests.front().steps.front()).lse;
    sink = read(values.lookup(op.getLike()), element);
    sink = fragments.mul(sink, fragments.constant(lseUnit));
  }
  Value total;
  if (Value condition = isSummed()) {
    auto choice = scf::IfOp::create(builder, loc, builder.getF32Type(),
                                    condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(builder, loc, getTotal());
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, fragments.constant(0));
    total = choice.getResult(0);
  } else {
    total = getTotal();
  }
  store(total);
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildSumKernel(OpBuilder &builder, TiledBackward &backward,
                                   SumKernel &sum) {
  return SumKernelBuilder(builder, backward, sum).build();
}
