//===- StageStores.cpp - Write results through shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-stage-stores: an accumulator goes to shared memory by
// stmatrix and from there by TMA, in whole lines, instead of four bytes a
// thread.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "KeyStream.h"
#include "TensorMaps.h"

#include "mlir/IR/Builders.h"

namespace attn::tile {
#define GEN_PASS_DEF_STAGESTORESPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

/// The tile that `store` would fill; null if TMA cannot write it.
static SharedType getStagedType(StoreOp store) {
  FragmentType source = store.getSource().getType();
  GlobalType destination = store.getDestination().getType();
  Type element = destination.getElementType();
  if (source.isRow() || destination.getRank() != 4 ||
      !(element.isF16() || element.isBF16()) ||
      !isa<BlockArgument>(store.getDestination()))
    return {};
  int64_t cols = source.getShape()[1];
  return SharedType::get(store.getContext(), source.getShape(), element,
                         SharedType::getSwizzleFor(2 * cols));
}

/// True if a product of some warpgroup reads the rows of all of them.
static bool isReadByAll(AllocOp tile) {
  return llvm::any_of(tile->getUsers(), [&](Operation *user) {
    if (auto mma = dyn_cast<MmaTensorOp>(user))
      return mma.getB() == tile.getBuffer();
    auto mma = dyn_cast<MmaAsyncOp>(user);
    return mma && (mma.getB() == tile.getBuffer() || mma.getTransposeA());
  });
}

/// A tile of this type that only products read, and none of them after a store.
static AllocOp findFreeTile(KernelOp kernel, SharedType type) {
  for (auto alloc : kernel.getBody().front().getOps<AllocOp>())
    if (alloc.getBuffer().getType() == type &&
        llvm::all_of(alloc->getUsers(), [](Operation *user) {
          return isa<CopyTmaOp, MmaAsyncOp, MmaTensorOp>(user);
        }))
      return alloc;
  return {};
}

namespace {
struct StageStoresPass
    : public attn::tile::impl::StageStoresPassBase<StageStoresPass> {
  using StageStoresPassBase::StageStoresPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    // Warpgroups that share rows have columns of the tile of an output.
    if (kernel.getRowWarps() != static_cast<int64_t>(kernel.getWarps()))
      return;
    bool hasOutputTile = getScheduleOf(kernel).outputTile;
    for (auto roles : kernel.getBody().front().getOps<RolesOp>())
      for (StoreOp store : llvm::make_early_inc_range(
               getTileBlock(roles.getConsumer()).getOps<StoreOp>()))
        numStores += stage(kernel, roles, store, hasOutputTile);
  }

private:
  static AllocOp createTile(RolesOp roles, SharedType type) {
    OpBuilder builder(roles);
    return AllocOp::create(builder, roles.getLoc(), type,
                           /*offset=*/IntegerAttr());
  }

  /// True if `store` was replaced.
  static bool stage(KernelOp kernel, RolesOp roles, StoreOp store,
                    bool hasOutputTile) {
    SharedType type = getStagedType(store);
    if (!type)
      return false;
    AllocOp tile =
        hasOutputTile ? createTile(roles, type) : findFreeTile(kernel, type);
    if (!tile)
      return false;
    // A warpgroup's rows are of as many heads as they hold.
    int64_t rows = type.getRows() * 4 / static_cast<int64_t>(kernel.getWarps());
    int64_t positions = type.getRows() / store.getHeads();
    int64_t heads = std::max<int64_t>(rows / positions, 1);
    Value map = addTensorMap(kernel, store.getDestination(), type, rows, heads);
    Location loc = store.getLoc();
    OpBuilder builder(store);
    if (!hasOutputTile && isReadByAll(tile))
      SyncConsumersOp::create(builder, loc);
    // The tile of a persistent CTA is read while the next one is computed, or
    // given back; others are read until the CTA ends.
    bool isPersistent = static_cast<bool>(getTileLoop(roles.getConsumer()));
    bool isAsync = hasOutputTile || !isPersistent;
    if (hasOutputTile && isPersistent)
      WaitStoresOp::create(builder, loc);
    StoreSharedOp::create(builder, loc, store.getSource(), tile);
    StoreTmaOp::create(builder, loc, tile, roles.getWarpgroup(), map,
                       store.getIndices(), isAsync, /*one_thread=*/false,
                       store.getHeads());
    if (isAsync)
      waitAtEnd(roles);
    store.erase();
    return true;
  }

  /// Once for all stores.
  static void waitAtEnd(RolesOp roles) {
    Block &consumer = roles.getConsumer().front();
    if (isa<WaitStoresOp>(consumer.back()))
      return;
    auto builder = OpBuilder::atBlockEnd(&consumer);
    WaitStoresOp::create(builder, roles.getLoc());
  }
};
} // namespace
