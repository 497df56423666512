//===- StageFragments.cpp - Fragments through shared memory -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-stage-fragments: what a warp computes and others read,
// or TMA adds to memory, gets a place in shared memory.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "KeyStream.h"

#include "mlir/IR/Builders.h"

namespace attn::tile {
#define GEN_PASS_DEF_STAGEFRAGMENTSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {

/// The fragments of one kernel. Loops follow each other, so that their
/// fragments of one type share a place.
class FragmentStager {
public:
  explicit FragmentStager(RolesOp roles)
      : roles(roles), builder(roles.getContext()) {}

  /// The number of fragments.
  int64_t run();

private:
  Value getPlace(SharedType type);
  void convert(ShareOp op);
  void convert(AccumulateOp op);

  RolesOp roles;
  OpBuilder builder;
  DenseMap<Type, Value> places;
};

} // namespace

Value FragmentStager::getPlace(SharedType type) {
  Value &place = places[type];
  if (!place) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(roles);
    place = AllocOp::create(builder, roles.getLoc(), type,
                            /*offset=*/IntegerAttr());
  }
  return place;
}

/// Some stage of a ring that the loop reads.
static StageOp findStage(Block *body) {
  auto stages = body->getOps<StageOp>();
  return stages.empty() ? StageOp() : *stages.begin();
}

/// With two stages or more, all warps are past what they read of this tile
/// before the barrier of the step between. Else there is one more barrier.
void FragmentStager::convert(ShareOp op) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  SharedType type = op.getTile().getType();
  StageOp stage = findStage(op->getBlock());
  int64_t count = stage ? stage.getRing().getType().getStages() : 1;
  Value tile;
  if (count > 1) {
    Value ring = getPlace(SharedType::get(
        type.getContext(), {count, type.getRows(), type.getCols()},
        type.getElementType(), type.getSwizzle()));
    tile = StageOp::create(builder, loc, ring, stage.getIndex());
  } else {
    tile = getPlace(type);
    SyncConsumersOp::create(builder, loc);
  }
  StoreSharedOp::create(builder, loc, op.getSource(), tile,
                        /*transpose=*/true);
  SyncConsumersOp::create(builder, loc);
  // Each product computes its descriptor from the ring.
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    builder.setInsertionPoint(use.getOwner());
    use.set(count > 1 ? StageOp::create(builder, loc,
                                        tile.getDefiningOp<StageOp>().getRing(),
                                        stage.getIndex())
                            .getResult()
                      : tile);
  }
  op.erase();
}

void FragmentStager::convert(AccumulateOp op) {
  builder.setInsertionPoint(op);
  ArrayRef<int64_t> shape = op.getSource().getType().getShape();
  Value staging = getPlace(
      SharedType::get(op.getContext(), {1, shape[0] * shape[1]},
                      builder.getF32Type(), SharedType::getSwizzleFor(128)));
  AccumulateBulkOp::create(builder, op.getLoc(), op.getSource(), staging,
                           roles.getWarpgroup(), op.getDestination(),
                           op.getIndices());
  op.erase();
}

int64_t FragmentStager::run() {
  SmallVector<ShareOp> shares;
  SmallVector<AccumulateOp> sums;
  roles.getConsumer().walk([&](ShareOp op) { shares.push_back(op); });
  roles.getConsumer().walk([&](AccumulateOp op) { sums.push_back(op); });
  for (ShareOp op : shares)
    convert(op);
  for (AccumulateOp op : sums)
    convert(op);
  if (!sums.empty()) {
    // The copies read shared memory, which ends with the CTA.
    builder.setInsertionPointToEnd(&roles.getConsumer().front());
    WaitStoresOp::create(builder, roles.getLoc());
  }
  return shares.size() + sums.size();
}

namespace {
struct StageFragmentsPass
    : public attn::tile::impl::StageFragmentsPassBase<StageFragmentsPass> {
  using StageFragmentsPassBase::StageFragmentsPassBase;

  void runOnOperation() override {
    for (auto roles : getOperation().getBody().front().getOps<RolesOp>())
      numFragments += FragmentStager(roles).run();
  }
};
} // namespace
