//===- LinearChunks.cpp - The kernel that walks chunks ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA walks the chunks of a head, with `tile_dv` columns of the state in
// registers. With b the sums of log decays inside the chunk:
//
//   O  = scale (exp(b) (Q S) + ((Q K^T) * L) V),  L[i,j] = exp(b[i] - b[j])
//   S' = exp(b[C-1]) S + (K * exp(b[C-1] - b))^T V
//
// In reverse, from the last chunk to the first, L is transposed, and exp(b) and
// exp(b[C-1] - b) change places. No exponent is positive. As an operand of Q S
// the state is rounded in shared memory; it is carried in f32.
//
//===----------------------------------------------------------------------===//

#include "Linear/LinearScope.h"

#include "Kernel/KernelScope.h"

using namespace mlir;
using namespace attn;

namespace {
class ChunkKernelBuilder : LinearScope {
public:
  ChunkKernelBuilder(OpBuilder &builder, const LinearKernels &kernels)
      : LinearScope(builder, kernels) {}

  void build(StringRef name);

private:
  /// Of a chunk; null without decays.
  struct Decays {
    Value rows, columns; ///< b
    Value last;          ///< b[C-1], a number
  };
  /// Of a chunk, in shared memory.
  struct Tiles {
    Value query, key, value;
  };

  Decays loadDecays(Value row);
  Value decayState(Value sums, const Decays &decays, bool toEnd);
  Value buildOutput(const Tiles &tiles, const Decays &decays);
  Value buildWeights(Value scores, const Decays &decays);
  Value buildNextState(const Tiles &tiles, const Decays &decays, Value state);
  Value buildChunk(Value row, Value state);

  Value stateTile; ///< the state as an operand
};
} // namespace

ChunkKernelBuilder::Decays ChunkKernelBuilder::loadDecays(Value row) {
  if (!workspace)
    return {};
  int64_t chunk = kernels.getChunk();
  SmallVector<Value> at = {batch, head, row};
  Decays decays;
  Type rowType = getRowType(builder, chunk);
  decays.rows = tile::LoadRowOp::create(builder, loc, rowType, workspace, at);
  decays.columns = tile::LoadColumnOp::create(
      builder, loc, tile::FragmentType::getColumn(chunk, builder.getF32Type()),
      workspace, at);
  Value last = arith::AddIOp::create(builder, loc, row, constant(chunk - 1));
  decays.last = tile::ExtractOp::create(
      builder, loc, builder.getF32Type(), workspace,
      ValueRange{toI64(batch), toI64(head), toI64(last)});
  return decays;
}

/// exp(b) of the rows or columns whose b are `sums`, or with `toEnd`
/// exp(b[C-1] - b).
Value ChunkKernelBuilder::decayState(Value sums, const Decays &decays,
                                     bool toEnd) {
  return fragments.map(sums.getType(), sums, [&](ValueRange args) {
    return fragments.exp2(toEnd ? fragments.sub(decays.last, args[0])
                                : args[0]);
  });
}

/// Scores with their decays; a row sees no position behind it, in reverse none
/// before it.
Value ChunkKernelBuilder::buildWeights(Value scores, const Decays &decays) {
  SmallVector<Value> inputs = {scores};
  if (decays.last)
    inputs.append({decays.rows, decays.columns});
  return fragments.map(scores.getType(), inputs, [&](ValueRange args) -> Value {
    Block *body = builder.getInsertionBlock();
    Value row = body->getArgument(inputs.size());
    Value column = body->getArgument(inputs.size() + 1);
    Value sees = arith::CmpIOp::create(
        builder, loc,
        op.getReverse() ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle,
        column, row);
    Value weight = args[0];
    if (decays.last) {
      Value between = op.getReverse() ? fragments.sub(args[2], args[1])
                                      : fragments.sub(args[1], args[2]);
      weight = fragments.mul(weight, fragments.exp2(between));
    }
    return arith::SelectOp::create(builder, loc, sees, weight,
                                   fragments.constant(0));
  });
}

/// What the state gives, with its decay, and then what the chunk itself does.
Value ChunkKernelBuilder::buildOutput(const Tiles &tiles,
                                      const Decays &decays) {
  int64_t chunk = kernels.getChunk();
  Value acc = multiply(tiles.query, stateTile, /*transposeB=*/false,
                       createZeros(chunk));
  if (decays.last)
    acc = fragments.scale(acc, decayState(decays.rows, decays,
                                          /*toEnd=*/op.getReverse()));
  Value scores = multiply(
      tiles.query, tiles.key, /*transposeB=*/true,
      createFill(builder, loc, getAccumulatorType(builder, chunk, chunk), 0));
  Type element = getElementTypeOrSelf(op.getValue().getType());
  Value weights = tile::ToOperandOp::create(
      builder, loc,
      tile::FragmentType::getOperandPairs({chunk, chunk}, element),
      buildWeights(scores, decays));
  return multiply(weights, tiles.value, /*transposeB=*/false, acc);
}

/// The state after a chunk.
Value ChunkKernelBuilder::buildNextState(const Tiles &tiles,
                                         const Decays &decays, Value state) {
  Value key = transposeKey(tiles.key);
  if (decays.last) {
    key = tile::ScaleColumnsOp::create(
        builder, loc, key,
        decayState(decays.columns, decays, /*toEnd=*/!op.getReverse()));
    Value all = fragments.exp2(decays.last);
    state = fragments.map(state.getType(), state, [&](ValueRange args) {
      return fragments.mul(args[0], all);
    });
  }
  return multiply(key, tiles.value, /*transposeB=*/false, state);
}

/// Writes the outputs of the chunk that begins at `row`, and returns the state
/// after it. The step before has read the state's tile when all warps are here.
Value ChunkKernelBuilder::buildChunk(Value row, Value state) {
  Tiles tiles = {loadQuery(row), loadKey(row), loadValue(row)};
  Decays decays = loadDecays(row);
  storeCarried(state, row);
  tile::StoreSharedOp::create(builder, loc, state, stateTile,
                              /*transpose=*/false, /*pairs=*/true);
  gpu::BarrierOp::create(builder, loc);
  storeOutput(buildOutput(tiles, decays), row);
  return buildNextState(tiles, decays, state);
}

void ChunkKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  beginKernel(name);
  int64_t columns = kernels.getColumns();
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  stateTile = tile::AllocOp::create(
      builder, loc,
      tile::SharedType::get(builder.getContext(), {kernels.stateRows, columns},
                            element,
                            tile::SharedType::getSwizzleFor(2 * columns)),
      /*offset=*/IntegerAttr());
  Value rows = dim(op.getQuery(), kSequence), last;
  if (op.getReverse()) {
    Value chunk = constant(kernels.getChunk());
    Value before = arith::CeilDivUIOp::create(builder, loc, rows, chunk);
    before = arith::SubIOp::create(builder, loc, before, constant(1));
    last = arith::MulIOp::create(builder, loc, before, chunk);
  }
  ValueRange ends = loop(
      rows, ValueRange(buildFirstState()), [&](Value row, ValueRange state) {
        if (last)
          row = arith::SubIOp::create(builder, loc, last, row);
        return SmallVector<Value>{buildChunk(row, state[0])};
      });
  storeState(ends[0]);
  tile::ReturnOp::create(builder, loc);
}

void attn::buildChunkKernel(OpBuilder &builder, const LinearKernels &kernels,
                            StringRef name) {
  ChunkKernelBuilder(builder, kernels).build(name);
}
