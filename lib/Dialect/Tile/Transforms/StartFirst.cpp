//===- StartFirst.cpp - Next products in front of others --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-start-first: of the next step's products, which a step
// starts behind one of what consumers have stored, those whose tiles that one
// does not read come in front of it. By then consumers have read these tiles,
// and it is the next step's that they wait for first.
//
//===----------------------------------------------------------------------===//

#include "ProductRole.h"
#include "TensorProducts.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn::tile {
#define GEN_PASS_DEF_STARTFIRSTPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {
/// A branch that starts products of the next step behind `reader`.
struct NextProducts {
  scf::IfOp branch;
  MbarrierWaitOp told; ///< what the consumers have stored is there
  MmaTensorOp reader;  ///< a product of it
  /// Of the branch, up to the last product that may come in front.
  SmallVector<Operation *> first;
};
} // namespace

/// `reader`, and the wait in front of it; null if something else is between
/// them and `branch`.
static NextProducts findReader(scf::IfOp branch) {
  NextProducts next = {branch, {}, {}, {}};
  Operation *op = branch->getPrevNode();
  while (op && isMemoryEffectFree(op))
    op = op->getPrevNode();
  next.reader = dyn_cast_if_present<MmaTensorOp>(op);
  if (!next.reader || !isa_and_present<FenceTensorsOp>(op->getPrevNode()))
    return next;
  next.told =
      dyn_cast_if_present<MbarrierWaitOp>(op->getPrevNode()->getPrevNode());
  return next;
}

/// True if consumers touch `tile` in no step behind where they tell of `told`.
static bool isReadBefore(Region &consumer, Value tile, MbarrierWaitOp told) {
  WalkResult walk = consumer.walk([&](MbarrierArriveOp arrival) {
    if (arrival.getBarrier() != told.getBarrier())
      return WalkResult::advance();
    for (Operation *op = arrival->getNextNode(); op; op = op->getNextNode())
      if (touchesPlace(op, tile))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !walk.wasInterrupted();
}

/// The products that may come first keep their order, and their waits.
static void findFirst(NextProducts &next, Region &consumer) {
  SmallVector<Operation *> before;
  for (Operation &op : next.branch.thenBlock()->without_terminator()) {
    before.push_back(&op);
    auto product = dyn_cast<MmaTensorOp>(op);
    if (!product)
      continue;
    Value tile = product.getTile();
    if (tile == getPlace(next.reader.getA()) || tile == next.reader.getTile() ||
        !isReadBefore(consumer, tile, next.told))
      return;
    llvm::append_range(next.first, before);
    before.clear();
  }
}

/// Copies what has no effects, which others may read, too.
static void moveFirst(NextProducts &next) {
  Value exists = next.branch.getCondition();
  IRRewriter rewriter(next.reader);
  if (failed(moveValueDefinitions(rewriter, exists, next.reader)))
    return;
  auto branch = scf::IfOp::create(rewriter, next.branch.getLoc(), exists);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping;
  for (Operation *op : next.first) {
    rewriter.clone(*op, mapping);
    if (!isMemoryEffectFree(op))
      rewriter.eraseOp(op);
  }
}

namespace {
struct StartFirstPass
    : public attn::tile::impl::StartFirstPassBase<StartFirstPass> {
  using StartFirstPassBase::StartFirstPassBase;

  void runOnOperation() override {
    for (auto roles : getOperation().getBody().front().getOps<RolesOp>())
      if (Region *products = roles.getRole(RolesOp::kProducts))
        startFirst(*products, roles.getConsumer());
  }

private:
  void startFirst(Region &products, Region &consumer) {
    SmallVector<scf::IfOp> branches;
    products.walk([&](scf::IfOp branch) {
      if (isa<scf::ForOp>(branch->getParentOp()) && !branch.elseBlock())
        branches.push_back(branch);
    });
    for (scf::IfOp branch : branches) {
      NextProducts next = findReader(branch);
      if (!next.told)
        continue;
      findFirst(next, consumer);
      if (next.first.empty())
        continue;
      moveFirst(next);
      ++numBranches;
    }
  }
};
} // namespace
