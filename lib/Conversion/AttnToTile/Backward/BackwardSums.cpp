//===- BackwardSums.cpp - Kernels around a fused backward -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardSums.h"

#include "Backward/BackwardStep.h"
#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

/// What the kernels of a backward that have a CTA for each row tile take.
static TiledAttention getRowAttention(TiledBackward &backward,
                                      scf::ForallOp forall) {
  TiledAttention attention = backward.nests.front().attention;
  attention.forall = forall;
  attention.schedule = backward.getRowSchedule();
  return attention;
}

namespace {
/// Builds a kernel with a CTA for each row tile.
class RowKernelBuilder : KernelScope {
public:
  RowKernelBuilder(OpBuilder &builder, TiledBackward &backward,
                   TiledAttention &attention)
      : KernelScope(builder, attention), backward(backward),
        nest(backward.nests.front()), loc(attention.forall.getLoc()) {}

  LogicalResult begin(const std::string &entry);
  void buildDelta();
  void buildRounding();

private:
  Value getSource(StringRef name);
  Value readSum(Value row, Value column);

  TiledBackward &backward;
  BackwardNest &nest;
  Location loc;
  SmallVector<Value> workspaces;
  SmallVector<Value> at; ///< (b, h, first row)
};
} // namespace

LogicalResult RowKernelBuilder::begin(const std::string &entry) {
  FailureOr<tile::KernelOp> kernel = beginKernel(entry);
  if (failed(kernel))
    return failure();
  workspaces = backward.addOwnViews(*kernel);
  Value row = getBlockId(gpu::Dimension::x);
  row = arith::MulIOp::create(builder, loc, row, constant(nest.getTileM()));
  at = {getBlockId(gpu::Dimension::z), getBlockId(gpu::Dimension::y), row};
  return success();
}

/// An operand of the kernel; null if there is none of the name.
Value RowKernelBuilder::getSource(StringRef name) {
  for (const KernelOperand &operand : attention.operands)
    if (operand.name == name)
      return values.lookup(operand.tensor);
  return Value();
}

void RowKernelBuilder::buildDelta() {
  BackwardStepOp step = nest.steps.front();
  RowUnits units = RowUnits::get(step);
  if (backward.startsFromDelta())
    units.delta = -1;
  // What a kernel before has made wider is no operand.
  Value dOutput = values.lookup(attn::getSource(backward.delta.getDOutput()));
  RowValues rows =
      RowValuesBuilder(builder, loc, at, units)
          .build(nest.getTileM(), AttentionDims::get(step).valueDim,
                 getSource("lse"), getSource("output"), dOutput,
                 getSource("d_lse"));
  Value zero = createFill(
      builder, loc,
      getAccumulatorType(builder, nest.getTileM(), nest.getColumns()), 0.0f);
  tile::StoreOp::create(builder, loc, rows.lse, workspaces.end()[-2], at);
  tile::StoreOp::create(builder, loc, rows.delta, workspaces.back(), at);
  tile::StoreOp::create(builder, loc, zero, workspaces.front(), at);
  tile::ReturnOp::create(builder, loc);
}

/// The element of dQ at (row, column) of the tile, from a fragment in memory:
/// of each 16 rows the blocks of eight columns, of these four elements of each
/// lane (attn_tile.accumulate).
Value RowKernelBuilder::readSum(Value row, Value column) {
  auto i32 = [&](int64_t n) -> Value {
    return arith::ConstantIntOp::create(builder, loc, n, 32);
  };
  auto divide = [&](Value a, int64_t b) -> Value {
    return arith::DivUIOp::create(builder, loc, a, i32(b));
  };
  auto remainder = [&](Value a, int64_t b) -> Value {
    return arith::RemUIOp::create(builder, loc, a, i32(b));
  };
  int64_t width = nest.getColumns();
  int64_t columns = width;
  if (backward.sumsAreTransposed()) {
    std::swap(row, column);
    columns = nest.getTileM();
  }
  Value lane = remainder(row, 8);
  lane = arith::MulIOp::create(builder, loc, lane, i32(4));
  lane = arith::AddIOp::create(builder, loc, lane,
                               divide(remainder(column, 8), 2));
  std::pair<Value, int64_t> terms[] = {{divide(column, 8), 128},
                                       {lane, 4},
                                       {remainder(divide(row, 8), 2), 2},
                                       {remainder(column, 2), 1}};
  Value offset = divide(row, 16);
  offset = arith::MulIOp::create(builder, loc, offset, i32(16 * columns));
  for (auto [value, factor] : terms)
    offset = arith::AddIOp::create(
        builder, loc, offset,
        arith::MulIOp::create(builder, loc, value, i32(factor)));
  // The tile is whole rows of the workspace, one after the other.
  auto toI64 = [&](Value value) -> Value {
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                        value);
    return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), value);
  };
  Value sumRow = toI64(at[kSequence]);
  sumRow =
      arith::AddIOp::create(builder, loc, sumRow, toI64(divide(offset, width)));
  Value indices[] = {toI64(at[kBatch]), toI64(at[kHead]), sumRow,
                     toI64(remainder(offset, width))};
  return tile::ExtractOp::create(builder, loc, builder.getF32Type(),
                                 workspaces.front(), indices);
}

void RowKernelBuilder::buildRounding() {
  auto type = getAccumulatorType(builder, nest.getTileM(), nest.getColumns());
  Value rounded =
      Fragments(builder, loc).map(type, {}, [&](ValueRange) -> Value {
        Block *block = builder.getInsertionBlock();
        return readSum(block->getArgument(0), block->getArgument(1));
      });
  if (backward.startsFromDelta())
    rounded = Fragments(builder, loc)
                  .multiply(rounded, nest.steps.front().getScaleValue());
  tile::StoreOp::create(builder, loc, rounded, getSource("d_query"), at);
  tile::ReturnOp::create(builder, loc);
}

LogicalResult attn::buildDeltaKernel(OpBuilder &builder,
                                     TiledBackward &backward, StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  TiledAttention attention = getRowAttention(
      backward, backward.delta->getParentOfType<scf::ForallOp>());
  RowKernelBuilder kernel(builder, backward, attention);
  if (failed(kernel.begin(name.str() + "_delta")))
    return failure();
  kernel.buildDelta();
  return success();
}

LogicalResult attn::buildRoundingKernel(OpBuilder &builder,
                                        TiledBackward &backward,
                                        StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  TiledAttention attention = getRowAttention(backward, backward.rounding);
  RowKernelBuilder kernel(builder, backward, attention);
  if (failed(kernel.begin(name.str() + "_round")))
    return failure();
  kernel.buildRounding();
  return success();
}
