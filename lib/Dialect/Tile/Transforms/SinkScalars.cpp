//===- SinkScalars.cpp - Scalars in the roles that read them ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-sink-scalars.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn::tile {
#define GEN_PASS_DEF_SINKSCALARSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

/// True for an op that may be done again elsewhere, and gives scalars.
static bool isScalarOp(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() > 0 &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

static bool isUsedIn(Operation *op, Region &role) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return role.isAncestor(user->getParentRegion());
  });
}

/// Puts a copy of `op` at the start of `role`, for what uses it there.
static void copyInto(Operation *op, Region &role) {
  OpBuilder builder = OpBuilder::atBlockBegin(&role.front());
  Operation *copy = builder.clone(*op);
  op->replaceUsesWithIf(copy, [&](OpOperand &use) {
    return role.isAncestor(use.getOwner()->getParentRegion());
  });
}

/// True if the producer looks up pages, and has no register left for anything
/// else.
static bool looksUpPages(RolesOp roles) {
  auto hasPages = [](CopyTmaOp copy) {
    return copy.getPages().empty() ? WalkResult::advance()
                                   : WalkResult::interrupt();
  };
  return roles.getProducer().walk(hasPages).wasInterrupted();
}

namespace {
struct SinkScalarsPass
    : public attn::tile::impl::SinkScalarsPassBase<SinkScalarsPass> {
  using SinkScalarsPassBase::SinkScalarsPassBase;

  void runOnOperation() override {
    Block &body = getOperation().getBody().front();
    bool hasTensorMemory = !body.getOps<AllocTensorsOp>().empty();
    for (auto roles : body.getOps<RolesOp>())
      if (hasTensorMemory || looksUpPages(roles))
        sinkInto(roles);
  }

private:
  /// From the last op on: a copy's operands are copied, too.
  void sinkInto(RolesOp roles) {
    Operation *next = roles->getPrevNode();
    while (Operation *op = next) {
      next = op->getPrevNode();
      SmallVector<Region *> readers;
      for (Region &role : roles->getRegions())
        if (isUsedIn(op, role))
          readers.push_back(&role);
      if (!isScalarOp(op) || readers.size() < 2)
        continue;
      for (Region *role : readers)
        copyInto(op, *role);
      if (op->use_empty())
        op->erase();
      ++numSunk;
    }
  }
};
} // namespace
