//===- MergeKernel.cpp - The kernel that merges partial results -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp for each row. Its lanes share out the columns of V, and take the
// parts in order: one order of additions in every run. What a row without keys
// ends in is what attn.normalize makes of a sum of 0.
//
//===----------------------------------------------------------------------===//

#include "MergeKernel.h"

#include "Fragments.h"
#include "KernelScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/SinkBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace attn;

/// Parts whose loads are in flight at once.
static constexpr int64_t kPartsInFlight = 8;

namespace {
class MergeKernelBuilder : KernelScope {
public:
  MergeKernelBuilder(OpBuilder &builder, TiledAttention &attention)
      : KernelScope(builder, attention), loc(attention.merge.getLoc()),
        fragments(builder, loc) {}

  LogicalResult build(StringRef name);

private:
  Value getRow();
  Value readPart(Value view, Value part, Value column = Value());
  Value getMax();
  Value getColumn(int64_t slice);
  void takePart(Value part, Value max, SmallVectorImpl<Value> &sums);
  SmallVector<Value> takeParts(Value max);
  RowState takeSink(Value max, Value sum);
  void store(Value number, Value tensor, ValueRange indices);
  void storeColumns(ArrayRef<Value> sums, Value factor);
  void storeLse(const RowState &end);

  template <typename OpTy>
  Value create(Value a, Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  SmallVector<Value> toI64(ValueRange indices) {
    return llvm::map_to_vector(indices, [&](Value index) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                        index);
    });
  }

  Location loc;
  Fragments fragments;
  Value outputs, lses; ///< workspaces
  Value lane;
  SmallVector<Value> row; ///< (b, h, i)
  Value batches;          ///< B: how far the parts of a row are apart
};
} // namespace

/// The number of this warp's row.
Value MergeKernelBuilder::getRow() {
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  lane = create<arith::RemUIOp>(thread, constant(kLanes));
  Value warp = create<arith::DivUIOp>(thread, constant(kLanes));
  Value first = create<arith::MulIOp>(getBlockId(gpu::Dimension::x),
                                      constant(kMergeWarps));
  return create<arith::AddIOp>(first, warp);
}

/// What part `part` has of the row: its LSE, or an element of its output.
Value MergeKernelBuilder::readPart(Value view, Value part, Value column) {
  Value batch =
      create<arith::AddIOp>(create<arith::MulIOp>(part, batches), row[kBatch]);
  SmallVector<Value> at = {batch, row[kHead], row[kSequence]};
  if (column)
    at.push_back(column);
  return tile::ExtractOp::create(builder, loc, builder.getF32Type(), view,
                                 toI64(at));
}

/// The largest LSE of a part.
Value MergeKernelBuilder::getMax() {
  auto loop = scf::ForOp::create(
      builder, loc, constant(0), constant(attention.getSplits()), constant(1),
      ValueRange(fragments.constant(kMinusInf)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value lse = readPart(lses, loop.getInductionVar());
  scf::YieldOp::create(builder, loc,
                       fragments.max(loop.getRegionIterArgs()[0], lse));
  return loop.getResult(0);
}

/// The lane's column in the slice of 32 that begins at `slice`.
Value MergeKernelBuilder::getColumn(int64_t slice) {
  return create<arith::AddIOp>(lane, constant(slice));
}

/// Adds a part to the sum of weights and to those of the lane's columns. Past
/// the last column the lane reads the last one.
void MergeKernelBuilder::takePart(Value part, Value max,
                                  SmallVectorImpl<Value> &sums) {
  Value lse = readPart(lses, part);
  // Of a part without keys the LSE is -inf, and no maximum may be subtracted.
  Value weight = fragments.exp2(fragments.mul(
      fragments.sub(lse, max), fragments.constant(llvm::numbers::log2e)));
  weight = fragments.selectEqual(lse, kMinusInf, fragments.constant(0), weight);
  sums[0] = fragments.add(sums[0], weight);
  int64_t columns = AttentionDims::get(attention.first).valueDim;
  for (int64_t i = 1, e = sums.size(); i < e; ++i) {
    Value column = create<arith::MinUIOp>(getColumn((i - 1) * kLanes),
                                          constant(columns - 1));
    Value element = readPart(outputs, part, column);
    element =
        fragments.selectEqual(lse, kMinusInf, fragments.constant(0), element);
    sums[i] = fragments.fma(weight, element, sums[i]);
  }
}

/// The sum of the parts' weights, and for each column of the lane that of its
/// weighted elements.
SmallVector<Value> MergeKernelBuilder::takeParts(Value max) {
  int64_t splits = attention.getSplits();
  int64_t unrolled = std::gcd(splits, kPartsInFlight);
  int64_t slices = llvm::divideCeil(
      AttentionDims::get(attention.first).valueDim, kLanes);
  SmallVector<Value> zeros(1 + slices, fragments.constant(0));
  auto loop = scf::ForOp::create(builder, loc, constant(0), constant(splits),
                                 constant(unrolled), zeros);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (int64_t i = 0; i < unrolled; ++i)
    takePart(create<arith::AddIOp>(loop.getInductionVar(), constant(i)), max,
             sums);
  scf::YieldOp::create(builder, loc, sums);
  return SmallVector<Value>(loop.getResults());
}

/// The state of the row after its head's sink.
RowState MergeKernelBuilder::takeSink(Value max, Value sum) {
  Value tensor = attention.getSink();
  if (!tensor)
    return {max, sum, Value()};
  Value source = values.lookup(tensor);
  Type type = cast<tile::GlobalType>(source.getType()).getElementType();
  Value sink = tile::ExtractOp::create(builder, loc, type, source,
                                       toI64({row[kHead]}));
  if (!type.isF32())
    sink = arith::ExtFOp::create(builder, loc, builder.getF32Type(), sink);
  return buildSink(builder, loc, max, sum, sink);
}

/// Writes a number in the type of `tensor`.
void MergeKernelBuilder::store(Value number, Value tensor, ValueRange indices) {
  Type type = cast<tile::GlobalType>(tensor.getType()).getElementType();
  if (!type.isF32())
    number = arith::TruncFOp::create(builder, loc, type, number);
  tile::InsertOp::create(builder, loc, number, tensor, toI64(indices));
}

void MergeKernelBuilder::storeColumns(ArrayRef<Value> sums, Value factor) {
  Value tensor = values.lookup(attention.getOutput("output"));
  int64_t columns = AttentionDims::get(attention.first).valueDim;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    OpBuilder::InsertionGuard guard(builder);
    int64_t slice = i * kLanes;
    SmallVector<Value> at(row);
    at.push_back(getColumn(slice));
    if (slice + kLanes > columns) {
      Value exists = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, at.back(),
          constant(columns));
      auto guarded = scf::IfOp::create(builder, loc, exists);
      builder.setInsertionPointToStart(guarded.thenBlock());
    }
    store(fragments.mul(sum, factor), tensor, at);
  }
}

/// Every lane has it; the first writes.
void MergeKernelBuilder::storeLse(const RowState &end) {
  Value tensor = attention.getOutput("lse");
  if (!tensor)
    return;
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        lane, constant(0));
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  store(fragments.add(end.max, fragments.log(end.sum)), values.lookup(tensor),
        row);
}

LogicalResult MergeKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(name, kMergeWarps);
  if (failed(kernel))
    return failure();
  Block &body = kernel->getBody().front();
  outputs = body.addArgument(attention.partials[0].type, loc);
  lses = body.addArgument(attention.partials[1].type, loc);
  OnlineAttentionOp step = attention.first;
  Value query = values.lookup(
      step.getQuery().getDefiningOp<tensor::ExtractSliceOp>().getSource());
  batches = tile::DimOp::create(builder, loc, query, kBatch);
  Value number = getRow();
  row = getIndices(number, query, 3);
  // The last CTA may have more warps than there are rows.
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       row[kBatch], batches);
  auto guarded = scf::IfOp::create(builder, loc, exists);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    Value max = getMax();
    SmallVector<Value> sums = takeParts(max);
    RowState end = takeSink(max, sums.front());
    Value none = fragments.constant(0);
    Value factor = fragments.divide(
        end.decay ? end.decay : fragments.constant(1), end.sum);
    storeColumns(ArrayRef(sums).drop_front(),
                 fragments.selectEqual(end.sum, 0, none, factor));
    storeLse(end);
  }
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildMergeKernel(OpBuilder &builder,
                                     TiledAttention &attention,
                                     StringRef name) {
  return MergeKernelBuilder(builder, attention).build(name);
}
