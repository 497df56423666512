//===- OverlapProducts.cpp - Wait for a product where it is read -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-overlap-products: products start early and are waited
// for late, within a step.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace attn::tile {
#define GEN_PASS_DEF_OVERLAPPRODUCTSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {

/// A product and the wait right behind it.
struct StartedProduct {
  MmaAsyncOp mma;
  MmaWaitOp wait;
  /// The ops before `mma` that only it needs, in order.
  SmallVector<Operation *> getPreparation() {
    SmallVector<Operation *> ops;
    for (Operation *op = mma->getPrevNode();
         op && isa<MbarrierWaitOp, StageOp>(op); op = op->getPrevNode())
      ops.push_back(op);
    std::reverse(ops.begin(), ops.end());
    return ops;
  }
  /// True if it could start at `op` as far as registers are concerned.
  bool hasRegistersAt(Operation *op) {
    Operation *init = mma.getAcc() ? mma.getAcc().getDefiningOp() : nullptr;
    return isa<SharedType>(mma.getA().getType()) &&
           (!mma.getAcc() || (init && init->getBlock() == op->getBlock() &&
                              init->isBeforeInBlock(op)));
  }
};

class ProductOverlapper {
public:
  explicit ProductOverlapper(scf::ForOp loop) : loop(loop) {}

  /// False if the loop has no such products.
  bool match();
  void run();

private:
  void startEarly(StartedProduct &before, StartedProduct &product);
  Operation *findReader(StartedProduct &product);
  void waitLate(StartedProduct &product);
  void pinWait(StartedProduct &product);

  scf::ForOp loop;
  SmallVector<StartedProduct> products;
};

} // namespace

bool ProductOverlapper::match() {
  for (MmaAsyncOp mma : loop.getOps<MmaAsyncOp>()) {
    auto wait = dyn_cast<MmaWaitOp>(mma->getNextNode());
    if (!wait || wait.getSource() != mma.getResult() || wait.getPending() != 0)
      return false;
    products.push_back({mma, wait});
  }
  return products.size() > 1;
}

/// Moves a product of tiles to right behind the one before it, unless the warps
/// write one of them in between.
void ProductOverlapper::startEarly(StartedProduct &before,
                                   StartedProduct &product) {
  if (!product.hasRegistersAt(before.mma))
    return;
  for (Operation *op = before.wait; op != product.mma; op = op->getNextNode())
    if (isa<SyncConsumersOp>(op))
      return;
  for (Operation *op : product.getPreparation())
    op->moveBefore(before.wait);
  product.mma->moveBefore(before.wait);
}

/// True for what gives a stage back.
static bool isRelease(Operation *op) {
  return isa<SyncWarpOp, MbarrierArriveOp>(op);
}

/// The first op that reads the product or, since products complete in order,
/// one that started later.
Operation *ProductOverlapper::findReader(StartedProduct &product) {
  Block *body = loop.getBody();
  Operation *reader = body->getTerminator();
  for (StartedProduct &later : products) {
    if (later.mma->isBeforeInBlock(product.mma))
      continue;
    for (Operation *user : later.wait->getUsers()) {
      Operation *inLoop = body->findAncestorOpInBlock(*user);
      if (inLoop->isBeforeInBlock(reader))
        reader = inLoop;
    }
  }
  return reader;
}

/// Moves the wait to the first op that needs it, and behind it what gives
/// stages back that the product reads.
void ProductOverlapper::waitLate(StartedProduct &product) {
  Operation *reader = findReader(product);
  SmallVector<Operation *> moved = {product.wait};
  int64_t pending = 0;
  for (Operation *op = product.mma->getNextNode(); op != reader;
       op = op->getNextNode()) {
    if (isa<MmaAsyncOp>(op))
      ++pending;
    if (isRelease(op) && product.wait->isBeforeInBlock(op))
      moved.push_back(op);
  }
  product.wait.setPending(pending);
  for (Operation *op : moved)
    op->moveBefore(reader);
}

/// Keeps ptxas from moving the wait above the arithmetic before it, by a wait
/// for a tile that is there: a loop, which ends at once.
void ProductOverlapper::pinWait(StartedProduct &product) {
  Operation *op = product.wait->getPrevNode();
  while (op != product.mma && !isa<MapOp>(op))
    op = op->getPrevNode();
  if (op == product.mma)
    return;
  OpBuilder builder(product.wait);
  for (Operation *full = product.mma; full; full = full->getPrevNode())
    if (isa<MbarrierWaitOp>(full)) {
      builder.clone(*full);
      return;
    }
}

void ProductOverlapper::run() {
  for (size_t i = 1; i < products.size(); ++i)
    startEarly(products[i - 1], products[i]);
  for (StartedProduct &product : products)
    waitLate(product);
  for (StartedProduct &product : products)
    pinWait(product);
}

namespace {
struct OverlapProductsPass
    : public attn::tile::impl::OverlapProductsPassBase<OverlapProductsPass> {
  using OverlapProductsPassBase::OverlapProductsPassBase;

  void runOnOperation() override {
    // Those of a forward overlap with those of another tile.
    if (getOperation().getForward())
      return;
    getOperation().walk([&](RolesOp roles) {
      roles.getConsumer().walk([&](scf::ForOp loop) {
        ProductOverlapper overlapper(loop);
        if (!overlapper.match())
          return;
        overlapper.run();
        ++numLoops;
      });
    });
  }
};
} // namespace
