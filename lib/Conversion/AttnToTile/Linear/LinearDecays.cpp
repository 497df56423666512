//===- LinearDecays.cpp - Sums of log decays --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp for each chunk: every lane adds up the log decays of the chunk in
// their order, and keeps the sums at its own positions. Past the last position
// decays are 1, so that a ragged chunk leaves the state alone.
//
//===----------------------------------------------------------------------===//

#include "Linear/LinearAttention.h"

#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

/// 2^-127 is 0 where a kernel multiplies by it. Smaller logarithms, -inf among
/// them, would make differences of sums NaN, or inexact.
static constexpr double kLeastLog2 = -127;

namespace {
class DecayKernelBuilder {
public:
  DecayKernelBuilder(OpBuilder &builder, const LinearKernels &kernels)
      : builder(builder), kernels(kernels),
        loc(LinearAttentionOp(kernels.op).getLoc()), fragments(builder, loc) {}

  void build(StringRef name);

private:
  template <typename OpTy>
  Value create(Value a, Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  SmallVector<Value> toI64(ValueRange indices) {
    return llvm::map_to_vector(indices, [&](Value index) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                        index);
    });
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value readLog(ValueRange head, Value position, Value rows);
  void sumUp(ValueRange head, Value first, Value rows);

  OpBuilder &builder;
  const LinearKernels &kernels;
  Location loc;
  Fragments fragments;
  IRMapping values;
  Value sums, lane;
};
} // namespace

/// log2 of the decay at a position, 0 past the last.
Value DecayKernelBuilder::readLog(ValueRange head, Value position, Value rows) {
  LinearAttentionOp op = kernels.op;
  auto exists =
      scf::IfOp::create(builder, loc, builder.getF32Type(),
                        compare(arith::CmpIPredicate::ult, position, rows),
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(exists.elseBlock());
  scf::YieldOp::create(builder, loc, fragments.constant(0));
  builder.setInsertionPointToStart(exists.thenBlock());
  Value tensor = values.lookup(op.getDecay() ? op.getDecay() : op.getSlope());
  SmallVector<Value> at = {head[0], head[1], position};
  if (op.getSlope())
    at = {head[1]};
  Value log = tile::ExtractOp::create(builder, loc, builder.getF32Type(),
                                      tensor, toI64(at));
  log = fragments.mul(log, fragments.constant(llvm::numbers::log2e));
  // NaN stays what it is.
  Value least = fragments.constant(kLeastLog2);
  Value isLess = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                       log, least);
  log = arith::SelectOp::create(builder, loc, isLess, least, log);
  scf::YieldOp::create(builder, loc, log);
  return exists.getResult(0);
}

/// Writes the sums of the chunk that begins at `first`.
void DecayKernelBuilder::sumUp(ValueRange head, Value first, Value rows) {
  int64_t own = kernels.getChunk() / kLanes;
  SmallVector<Value> zeros(own + 1, fragments.constant(0));
  Value lower = constant(0), upper = constant(kernels.getChunk());
  auto loop =
      scf::ForOp::create(builder, loc, lower, upper, constant(1), zeros);
  auto getPosition = [&](int64_t i) {
    return create<arith::AddIOp>(lane, constant(i * kLanes));
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> state(loop.getRegionIterArgs());
    Value position = create<arith::AddIOp>(first, loop.getInductionVar());
    state[own] = fragments.add(state[own], readLog(head, position, rows));
    for (int64_t i = 0; i < own; ++i)
      state[i] = arith::SelectOp::create(builder, loc,
                                         compare(arith::CmpIPredicate::eq,
                                                 loop.getInductionVar(),
                                                 getPosition(i)),
                                         state[own], state[i]);
    scf::YieldOp::create(builder, loc, state);
  }
  for (int64_t i = 0; i < own; ++i)
    tile::InsertOp::create(
        builder, loc, loop.getResult(i), sums,
        toI64(
            {head[0], head[1], create<arith::AddIOp>(first, getPosition(i))}));
}

void DecayKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  sums = kernels.beginKernel(builder, name, kDecayWarps, values);
  LinearAttentionOp op = kernels.op;
  Value query = values.lookup(op.getQuery());
  auto dim = [&](int64_t number) -> Value {
    return tile::DimOp::create(builder, loc, query, number);
  };
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kDecayWarps);
  lane = warp.lane;
  Value number = warp.number;
  Value rows = dim(kSequence), heads = dim(kHead);
  Value chunks = create<arith::CeilDivUIOp>(rows, constant(kernels.getChunk()));
  Value total =
      create<arith::MulIOp>(create<arith::MulIOp>(dim(kBatch), heads), chunks);
  // The last CTA may have more warps than there are chunks.
  auto exists = scf::IfOp::create(
      builder, loc, compare(arith::CmpIPredicate::ult, number, total));
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(exists.thenBlock());
    Value head = create<arith::DivUIOp>(number, chunks);
    Value first = create<arith::RemUIOp>(number, chunks);
    first = create<arith::MulIOp>(first, constant(kernels.getChunk()));
    sumUp({create<arith::DivUIOp>(head, heads),
           create<arith::RemUIOp>(head, heads)},
          first, rows);
  }
  tile::ReturnOp::create(builder, loc);
}

void attn::buildDecayKernel(OpBuilder &builder, const LinearKernels &kernels,
                            StringRef name) {
  DecayKernelBuilder(builder, kernels).build(name);
}
