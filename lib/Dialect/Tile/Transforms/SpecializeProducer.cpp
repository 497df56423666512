//===- SpecializeProducer.cpp - What the producer warps do ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The producer's side of --attn-tile-specialize-warps: copies by TMA that run
// ahead of the consumers, and the transposition of 8-bit tiles.
//
//===----------------------------------------------------------------------===//

#include "SpecializeWarps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace attn::tile;

static constexpr int64_t kWarpThreads = 32;

bool attn::tile::isOfConsumers(Operation *op) {
  auto isTile = [](Type type) { return isa<SharedType, FragmentType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile);
}

/// Starts the copies of the tiles outside the key loops. `round` counts the
/// tiles of the CTA.
void Specializer::copyOuter(Value round, IRMapping &mapping) {
  Location loc = kernel.getLoc();
  for (Channel &channel : outer) {
    const Buffer &to = channel.copied;
    if (to.empty)
      MbarrierWaitOp::create(builder, loc, to.empty, constant(0),
                             getPhaseBefore(getParity(round)));
    CopyTmaOp::create(builder, loc, channel.map,
                      lookup(channel.load.getIndices(), mapping), to.ring,
                      to.full, constant(0),
                      /*evict_first=*/true, /*evict_last=*/false, /*ctas=*/1);
  }
}

/// Starts the copies of tile `number` of the key stream, which is at `count`,
/// each as soon as its stage is free.
void Specializer::copyTiles(Value number, Value count, IRMapping &mapping) {
  Location loc = kernel.getLoc();
  SmallVector<SmallVector<Value>> places =
      stream.buildIndices(builder, count, mapping);
  for (Channel &channel : streamed) {
    const Buffer &to = channel.copied;
    Ring ring = locate(number, to.stages);
    MbarrierWaitOp::create(builder, loc, to.empty, ring.stage,
                           getPhaseBefore(ring.parity));
    Value tile = StageOp::create(builder, loc, to.ring, ring.stage);
    // TMA brings whole tiles: consumers know which of the rows exist.
    auto place = ArrayRef<Value>(places[channel.number])
                     .take_front(channel.load.getIndices().size());
    CopyTmaOp::create(builder, loc, channel.map, place, tile, to.full,
                      ring.stage, /*evict_first=*/false,
                      /*evict_last=*/true, clusterCtas);
    for (const VectorRing &vector : channel.vectors)
      CopyBulkOp::create(builder, loc, vector.source, places[vector.number],
                         StageOp::create(builder, loc, vector.ring, ring.stage),
                         to.full, ring.stage);
  }
}

/// Transposes the tile before number `numberAfter`, by all warps of the
/// producer.
void Specializer::transposeTiles(Value numberAfter) {
  Location loc = kernel.getLoc();
  Value number = arith::SubIOp::create(builder, loc, numberAfter, constant(1));
  for (Channel &channel : streamed) {
    if (!channel.isTransposed())
      continue;
    const Buffer &from = channel.copied, &to = channel.read;
    Ring source = locate(number, from.stages);
    Ring target = locate(number, to.stages);
    MbarrierWaitOp::create(builder, loc, from.full, source.stage,
                           source.parity);
    MbarrierWaitOp::create(builder, loc, to.empty, target.stage,
                           getPhaseBefore(target.parity));
    StoreTransposedOp::create(
        builder, loc, StageOp::create(builder, loc, from.ring, source.stage),
        StageOp::create(builder, loc, to.ring, target.stage));
    // One lane arrives for what all of them have read and written.
    SyncWarpOp::create(builder, loc);
    MbarrierArriveOp::create(builder, loc, from.empty, source.stage);
    MbarrierArriveOp::create(builder, loc, to.full, target.stage);
  }
}

/// The first of the producer's threads runs what `build` builds, if all of them
/// run the role.
void Specializer::byOneThread(function_ref<void()> build) {
  if (!transposes())
    return build();
  Location loc = kernel.getLoc();
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread,
                            constant(kWarpThreads * kernel.getWarps()));
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    build();
  }
  SyncWarpOp::create(builder, loc);
}

/// Brings the key stream from tile `number` on; returns the number of the tile
/// after the last one. A tile is transposed when the copies of the next one are
/// on their way.
Value Specializer::copyStream(Value number, IRMapping &mapping) {
  Location loc = kernel.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  Value lower = mapping.lookupOrDefault(stream.lowerBound());
  Value upper = mapping.lookupOrDefault(stream.upperBound());
  auto loop =
      scf::ForOp::create(builder, loc, lower, upper,
                         mapping.lookupOrDefault(stream.step()), number);
  builder.setInsertionPointToStart(loop.getBody());
  Value current = loop.getRegionIterArg(0), count = loop.getInductionVar();
  byOneThread([&] { copyTiles(current, count, mapping); });
  auto transposeIf = [&](Value before, Value last, Value numberAfter) {
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, before, last);
    OpBuilder::InsertionGuard inner(builder);
    auto guarded = scf::IfOp::create(builder, loc, exists);
    builder.setInsertionPointToStart(guarded.thenBlock());
    transposeTiles(numberAfter);
  };
  if (transposes())
    transposeIf(lower, count, current);
  Value next = arith::AddIOp::create(builder, loc, current, constant(1));
  scf::YieldOp::create(builder, loc, next);
  builder.setInsertionPointAfter(loop);
  if (transposes())
    transposeIf(lower, upper, loop.getResult(0));
  return loop.getResult(0);
}

/// In a persistent kernel the producer has a loop over the tiles of its own,
/// and runs ahead of the consumers into the next tile.
void Specializer::buildProducer(RolesOp roles) {
  Location loc = kernel.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&roles.getProducer().front());
  IRMapping mapping;
  Value zero = constant(0);
  if (!tiles) {
    byOneThread([&] { copyOuter(zero, mapping); });
    copyStream(zero, mapping);
    return;
  }
  auto loop = scf::ForOp::create(builder, loc, tiles.getLowerBound(),
                                 tiles.getUpperBound(), tiles.getStep(),
                                 ValueRange{zero, zero});
  builder.setInsertionPointToStart(loop.getBody());
  mapping.map(tiles.getInductionVar(), loop.getInductionVar());
  for (Operation &op : tiles.getBody()->without_terminator())
    if (!isOfConsumers(&op))
      builder.clone(op, mapping);
  Value round = loop.getRegionIterArg(1);
  byOneThread([&] { copyOuter(round, mapping); });
  Value number = copyStream(loop.getRegionIterArg(0), mapping);
  Value next = arith::AddIOp::create(builder, loc, round, constant(1));
  scf::YieldOp::create(builder, loc, ValueRange{number, next});
}
