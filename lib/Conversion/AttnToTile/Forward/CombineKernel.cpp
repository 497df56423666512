//===- CombineKernel.cpp - The kernel that combines states ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.combine of the states of splits, and attn.normalize behind it. One warp
// for each row: its lanes share out the columns of V, and take the parts in
// order, which is one order of additions in every run.
//
//===----------------------------------------------------------------------===//

#include "Forward/CombineKernel.h"

#include "Forward/OnlineStep.h"
#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"
#include "attn/Dialect/Attn/Utils/SinkBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace attn;

/// Parts whose loads are in flight at once.
static constexpr int64_t kPartsInFlight = 8;

namespace {
class CombineKernelBuilder : KernelScope {
public:
  CombineKernelBuilder(OpBuilder &builder, TiledAttention &attention)
      : KernelScope(builder, attention), loc(attention.combine.getLoc()),
        fragments(builder, loc), units(ScoreUnits::get(attention.first)) {}

  LogicalResult build(StringRef name);

private:
  LogicalResult begin(tile::KernelOp kernel);
  void findSequence(RaggedOp query);
  SmallVector<Value> getPlace() const;
  LogicalResult takeOwnSplits();
  Value readPart(Value view, Value part, Value column = Value());
  Value getMax();
  Value getWeight(Value part, Value max);
  Value getColumn(int64_t slice);
  void takePart(Value part, Value max, MutableArrayRef<Value> totals);
  SmallVector<Value> takeParts(Value max);
  void dropNegativeZeros(MutableArrayRef<Value> totals);
  RowState takeSink(Value max, Value sum);
  Value readDescale();
  Value getFactor(const RowState &end);
  void store(Value number, Value tensor, ValueRange indices);
  FailureOr<Value> applyMods(Value number, Value column);
  LogicalResult storeColumn(Value total, Value factor, Value column);
  LogicalResult storeColumns(ArrayRef<Value> columns, Value factor);
  void storeOfRow(Value number, StringRef output);
  void storeLse(const RowState &end);
  void storeAmax();

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
  ScoreUnits units;
  RowReductionInterface reduction;
  RunningState parts; ///< workspaces
  Value lane, splits;
  SmallVector<Value> row; ///< (b, h, i)
  Value batches, heads;   ///< B, Hq
  /// The number of the row among those of sequences behind each other, and rows
  /// that one of these has at most; null without.
  Value packedRow, room;
  /// B, or the rows of all sequences.
  Value partRows;
  /// Where the first part of the row is among those of all, and how far the
  /// next one is from it.
  Value firstPart, partStep;
  /// The largest magnitudes of the lane's columns, behind each output_mod.
  SmallVector<Value> amax;
};
} // namespace

/// Finds the batch and the row of the packed one: each lane counts sequences
/// that end before. Sets the builder to where there is such a row.
void CombineKernelBuilder::findSequence(RaggedOp query) {
  Value offsets = values.lookup(query.getOffsets());
  Type i32 = builder.getI32Type();
  Value none = arith::ConstantIntOp::create(builder, loc, i32, 0);
  auto loop = scf::ForOp::create(builder, loc, lane, batches, constant(kLanes),
                                 ValueRange{none});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value end = readOffset(
        offsets, create<arith::AddIOp>(loop.getInductionVar(), constant(1)));
    Value isBefore = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sle, end, packedRow);
    Value one = arith::ExtUIOp::create(builder, loc, i32, isBefore);
    scf::YieldOp::create(
        builder, loc,
        ValueRange{create<arith::AddIOp>(loop.getRegionIterArg(0), one)});
  }
  Value count = gpu::SubgroupReduceOp::create(builder, loc, loop.getResult(0),
                                              gpu::AllReduceOperation::ADD,
                                              /*uniform=*/true);
  row[kBatch] =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count);
  auto guardBy = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    Value exists = arith::CmpIOp::create(builder, loc, predicate, a, b);
    auto guarded = scf::IfOp::create(builder, loc, exists);
    builder.setInsertionPointToStart(guarded.thenBlock());
  };
  guardBy(arith::CmpIPredicate::slt, row[kBatch], batches);
  Value first = readOffset(offsets, row[kBatch]);
  first = create<arith::MaxSIOp>(first, constant(0));
  // The first one may begin behind the row.
  row[kSequence] = create<arith::SubIOp>(packedRow, first);
  guardBy(arith::CmpIPredicate::ult, row[kSequence], room);
}

/// Where the row is in the output; the LSE has heads before rows.
SmallVector<Value> CombineKernelBuilder::getPlace() const {
  return packedRow ? SmallVector<Value>{packedRow, row[kHead]} : row;
}

/// Of a planned batch only the parts that its keys have are written.
LogicalResult CombineKernelBuilder::takeOwnSplits() {
  FailureOr<PlannedSplits> planned = getPlannedSplits(row[kBatch]);
  if (failed(planned))
    return failure();
  Value rest = arith::IndexCastUIOp::create(
      builder, loc, builder.getIndexType(), planned->hasRest);
  splits = create<arith::AddIOp>(planned->whole, rest);
  if (!plansRanges(attention))
    return success();
  firstPart = readFirstState(row[kBatch]);
  partStep = constant(1);
  if (!packedRow)
    return success();
  firstPart = create<arith::AddIOp>(firstPart, row[kSequence]);
  partStep = getQueryRows(row[kBatch]);
  return success();
}

/// A statistic of the row in part `part`, or an element of its accumulator.
Value CombineKernelBuilder::readPart(Value view, Value part, Value column) {
  // Said to LLVM, so that it counts addresses up with parts. Numbers of rows of
  // sequences that overlap are as large as they like, and some have no room.
  auto flags = packedRow ? arith::IntegerOverflowFlags::none
                         : arith::IntegerOverflowFlags::nsw;
  Value inPart = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, part, partStep, flags),
      firstPart, flags);
  if (packedRow && plansRanges(attention)) {
    int64_t rowDim = column ? 0 : 1;
    Value room = tile::DimOp::create(builder, loc, view, rowDim);
    Value last = create<arith::SubIOp>(room, constant(1));
    inPart = create<arith::MinUIOp>(inPart, last);
  }
  SmallVector<Value> at = {inPart, row[kHead]};
  if (!packedRow)
    at.push_back(row[kSequence]);
  else if (!column)
    std::swap(at[0], at[1]);
  if (column)
    at.push_back(column);
  return tile::ExtractOp::create(builder, loc, builder.getF32Type(), view,
                                 toI64(at));
}

/// The largest maximum of a part; null without maxima.
Value CombineKernelBuilder::getMax() {
  Value maxima = parts.get(RowRole::Maximum);
  if (!maxima)
    return Value();
  Value first = constant(0), step = constant(1);
  auto loop = scf::ForOp::create(builder, loc, first, splits, step,
                                 ValueRange(fragments.constant(kMinusInf)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value max = readPart(maxima, loop.getInductionVar());
  scf::YieldOp::create(builder, loc,
                       fragments.max(loop.getRegionIterArgs()[0], max));
  return loop.getResult(0);
}

/// By what a part is weighed: 0 where it has seen no key; null for 1.
Value CombineKernelBuilder::getWeight(Value part, Value max) {
  if (!max)
    return Value();
  Value own = readPart(parts.get(RowRole::Maximum), part);
  Value exponent = fragments.sub(own, max);
  exponent = fragments.mul(exponent, fragments.constant(units.exponent));
  Value weight = fragments.exp2(exponent);
  // -inf - -inf would be NaN.
  return fragments.selectEqual(own, kMinusInf, fragments.constant(0), weight);
}

/// The lane's column in the slice of 32 that begins at `slice`.
Value CombineKernelBuilder::getColumn(int64_t slice) {
  return create<arith::AddIOp>(lane, constant(slice));
}

/// Adds a part to `totals`, of the lane's columns and then of the sum, if there
/// is one. Past the last column the lane reads the last one.
void CombineKernelBuilder::takePart(Value part, Value max,
                                    MutableArrayRef<Value> totals) {
  Value weight = getWeight(part, max);
  auto add = [&](Value &total, Value number) {
    total = weight ? fragments.fma(weight, number, total)
                   : fragments.add(total, number);
  };
  if (Value sums = parts.get(RowRole::Sum)) {
    add(totals.back(), readPart(sums, part));
    totals = totals.drop_back();
  }
  int64_t columns = AttentionDims::get(attention.first).valueDim;
  for (auto [i, total] : llvm::enumerate(totals)) {
    Value column = getColumn(i * kLanes);
    column = create<arith::MinUIOp>(column, constant(columns - 1));
    add(total, readPart(parts.getAcc(), part, column));
  }
}

/// For each column of the lane its accumulator, then the sum of the row, if
/// there is one.
SmallVector<Value> CombineKernelBuilder::takeParts(Value max) {
  // A number that is not known is left to ptxas.
  int64_t unrolled =
      std::gcd(getConstantIntValue(splits).value_or(1), kPartsInFlight);
  int64_t slices =
      llvm::divideCeil(AttentionDims::get(attention.first).valueDim, kLanes);
  bool hasSum = static_cast<bool>(parts.get(RowRole::Sum));
  SmallVector<Value> zeros(slices + hasSum, fragments.constant(0));
  Value first = constant(0);
  auto loop = scf::ForOp::create(builder, loc, first, splits,
                                 constant(unrolled), zeros);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> totals(loop.getRegionIterArgs());
  for (int64_t i = 0; i < unrolled; ++i)
    takePart(create<arith::AddIOp>(loop.getInductionVar(), constant(i)), max,
             totals);
  scf::YieldOp::create(builder, loc, totals);
  return SmallVector<Value>(loop.getResults());
}

/// Adds 0, as a part without keys does: whether a column that has come out as
/// -0 is one does not depend on how many of those there are.
void CombineKernelBuilder::dropNegativeZeros(MutableArrayRef<Value> totals) {
  for (Value &total : totals)
    total = fragments.add(total, fragments.constant(0));
}

/// The state of the row, with a maximum in natural units, after its head's
/// sink.
RowState CombineKernelBuilder::takeSink(Value max, Value sum) {
  if (max)
    max = fragments.mul(max, fragments.constant(units.lse));
  Value tensor = attention.getSink();
  if (!tensor)
    return {max, sum, fragments.constant(1)};
  Value source = values.lookup(tensor);
  Type type = cast<tile::GlobalType>(source.getType()).getElementType();
  Value sink =
      tile::ExtractOp::create(builder, loc, type, source, toI64(row[kHead]));
  if (!type.isF32())
    sink = arith::ExtFOp::create(builder, loc, builder.getF32Type(), sink);
  return buildSink(builder, loc, max, sum, sink);
}

/// That of the value, for the row's head; null if there is none.
Value CombineKernelBuilder::readDescale() {
  Value tensor = attention.getDescale();
  if (!tensor)
    return Value();
  Value source = values.lookup(tensor);
  SmallVector<Value> at = {constant(0)};
  if (cast<RankedTensorType>(tensor.getType()).getRank() == 2) {
    Value keyHeads = tile::DimOp::create(builder, loc, source, kHead);
    Value group = create<arith::DivUIOp>(heads, keyHeads);
    at = {row[kBatch], create<arith::DivUIOp>(row[kHead], group)};
  }
  return tile::ExtractOp::create(builder, loc, builder.getF32Type(), source,
                                 toI64(at));
}

/// By what the accumulator is multiplied: 0 where its divisor is 0.
Value CombineKernelBuilder::getFactor(const RowState &end) {
  Value scale = fragments.constant(attention.normalize.getScaleValue());
  if (Value descale = readDescale())
    scale = fragments.mul(scale, descale);
  SmallVector<Value> rows;
  for (const RowValue &kind : reduction.getRowValues())
    rows.push_back(kind.role == RowRole::Maximum ? end.max : end.sum);
  Value divisor = reduction.buildDivisor(builder, loc, rows);
  if (!divisor)
    return scale;
  Value factor = fragments.divide(fragments.mul(scale, end.decay), divisor);
  return fragments.selectEqual(divisor, 0, fragments.constant(0), factor);
}

/// Writes a number in the type of `tensor`.
void CombineKernelBuilder::store(Value number, Value tensor,
                                 ValueRange indices) {
  Type type = cast<tile::GlobalType>(tensor.getType()).getElementType();
  if (isFloat8(type))
    number = roundToFloat8(builder, loc, number, cast<FloatType>(type));
  else if (!type.isF32())
    number = arith::TruncFOp::create(builder, loc, type, number);
  tile::InsertOp::create(builder, loc, number, tensor, toI64(indices));
}

/// What follows the attention, of an element of the row. Takes its magnitudes
/// into account.
FailureOr<Value> CombineKernelBuilder::applyMods(Value number, Value column) {
  SmallVector<Value> at(row);
  at.push_back(column);
  for (auto [op, largest] : llvm::zip_equal(attention.outputMods, amax)) {
    FailureOr<Value> changed =
        mods.inlineRegion(op.getMod(), number, ValueRange(at));
    if (failed(changed))
      return failure();
    number = *changed;
    if (op.getAmax())
      largest = create<arith::MaximumFOp>(largest, fragments.absolute(number));
  }
  return number;
}

/// Stores `total * factor` in column `column` of the row.
LogicalResult CombineKernelBuilder::storeColumn(Value total, Value factor,
                                                Value column) {
  FailureOr<Value> output = applyMods(fragments.mul(total, factor), column);
  if (failed(output))
    return failure();
  SmallVector<Value> at = getPlace();
  at.push_back(column);
  store(*output, values.lookup(attention.getOutput("output")), at);
  return success();
}

LogicalResult CombineKernelBuilder::storeColumns(ArrayRef<Value> columns,
                                                 Value factor) {
  int64_t valueDim = AttentionDims::get(attention.first).valueDim;
  amax.assign(attention.outputMods.size(), fragments.constant(0));
  for (auto [i, total] : llvm::enumerate(columns)) {
    int64_t slice = i * kLanes;
    Value column = getColumn(slice);
    if (slice + kLanes <= valueDim) {
      if (failed(storeColumn(total, factor, column)))
        return failure();
      continue;
    }
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, column, constant(valueDim));
    SmallVector<Value> before(amax);
    auto guarded =
        scf::IfOp::create(builder, loc, ValueRange(before).getTypes(), exists,
                          /*withElseRegion=*/!before.empty());
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(guarded.thenBlock());
      if (failed(storeColumn(total, factor, column)))
        return failure();
      if (!before.empty()) {
        scf::YieldOp::create(builder, loc, amax);
        builder.setInsertionPointToStart(guarded.elseBlock());
        scf::YieldOp::create(builder, loc, before);
      }
    }
    amax.assign(guarded.result_begin(), guarded.result_end());
  }
  return success();
}

/// Stores a value of the row that every lane has: the first writes.
void CombineKernelBuilder::storeOfRow(Value number, StringRef output) {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        lane, constant(0));
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  store(number, values.lookup(attention.getOutput(output)),
        packedRow ? SmallVector<Value>{row[kHead], packedRow} : row);
}

void CombineKernelBuilder::storeLse(const RowState &end) {
  if (!attention.getOutput("lse"))
    return;
  Value lse = fragments.add(end.max, fragments.log(end.sum));
  storeOfRow(
      fragments.selectEqual(end.sum, 0, fragments.constant(kMinusInf), lse),
      "lse");
}

/// The lanes have the largest magnitudes of their columns.
void CombineKernelBuilder::storeAmax() {
  for (auto [op, largest] : llvm::zip_equal(attention.outputMods, amax))
    if (op.getAmax())
      storeOfRow(reduceMagnitudes(builder, loc, largest),
                 attention.getAmaxName(op));
}

/// The parameters behind the operands, and the row of the warp.
LogicalResult CombineKernelBuilder::begin(tile::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  reduction = attention.combine.getNormalization();
  SmallVector<Value> workspaces;
  for (const WorkspaceView &view : attention.partials)
    workspaces.push_back(body.addArgument(view.type, loc));
  parts = RunningState(reduction, workspaces);
  SmallVector<Value> extents;
  for (unsigned loop = kLoopB; loop <= kLoopSplit; ++loop) {
    FailureOr<Value> extent = getExtent(loop);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  batches = partRows = extents[kLoopB], heads = extents[kLoopH];
  splits = extents[kLoopSplit];
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kCombineWarps);
  lane = warp.lane;
  OnlineAttentionOp step = attention.first;
  if (RaggedOp query = getRagged(step.getQuery())) {
    room = extents[kLoopM];
    partRows = tile::DimOp::create(builder, loc,
                                   values.lookup(query.getPacked()), /*dim=*/0);
    SmallVector<Value> place = getIndices(warp.number, {partRows, heads});
    packedRow = place[0];
    row = {Value(), place[1], Value()};
  } else {
    row = getIndices(warp.number, ArrayRef(extents).take_front(3));
  }
  for (OutputModOp mod : attention.outputMods)
    if (failed(materializeOutside(mod.getMod())))
      return failure();
  return success();
}

LogicalResult CombineKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(name, kCombineWarps);
  if (failed(kernel) || failed(begin(*kernel)))
    return failure();
  // The last CTA may have more warps than there are rows.
  Value exists =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                            packedRow ? packedRow : row[kBatch], partRows);
  auto guarded = scf::IfOp::create(builder, loc, exists);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    OnlineAttentionOp step = attention.first;
    if (RaggedOp query = getRagged(step.getQuery()))
      findSequence(query);
    firstPart = packedRow ? packedRow : row[kBatch];
    partStep = partRows;
    if (attention.worklist && failed(takeOwnSplits()))
      return failure();
    Value max = getMax(), sum;
    SmallVector<Value> columns = takeParts(max);
    if (attention.schedule.getValues().splitKeys > 0)
      dropNegativeZeros(columns);
    if (parts.get(RowRole::Sum))
      sum = columns.pop_back_val();
    RowState end = takeSink(max, sum);
    if (failed(storeColumns(columns, getFactor(end))))
      return failure();
    storeLse(end);
    storeAmax();
  }
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildCombineKernel(OpBuilder &builder,
                                       TiledAttention &attention,
                                       StringRef name) {
  return CombineKernelBuilder(builder, attention).build(name);
}
