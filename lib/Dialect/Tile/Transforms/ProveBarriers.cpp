//===- ProveBarriers.cpp - The protocol of roles, proven --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-prove-barriers. BarrierProof.h is about all
// interleavings of one launch, this file about all launches: the roles' loops
// repeat after two turns of a ring, which is checked, and launches of that many
// tiles and more are looked at.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "KeyStream.h"
#include "RoleTrace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <set>

namespace attn::tile {
#define GEN_PASS_DEF_PROVEBARRIERSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

static Value skipUniform(Value value) {
  while (auto uniform = value.getDefiningOp<UniformOp>())
    value = uniform.getValue();
  return value;
}

static bool isConstant(Value value, int64_t number) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) &&
         constant.getSExtValue() == number;
}

/// The op's other operand if one of them is `number`.
template <typename Op>
static Value matchConstantOperand(Value value, int64_t number) {
  auto op = value.getDefiningOp<Op>();
  return op && isConstant(op.getRhs(), number) ? op.getLhs() : Value();
}

/// A stage is a constant, or a count modulo the stages.
static bool isRingStage(Value stage, int64_t stages) {
  stage = skipUniform(stage);
  APInt constant;
  return matchPattern(stage, m_ConstantInt(&constant)) ||
         matchConstantOperand<arith::RemUIOp>(stage, stages) ||
         matchConstantOperand<arith::AndIOp>(stage, stages - 1);
}

/// A parity is a constant, or the last bit of the turns of the ring; or its
/// complement.
static bool isRingParity(Value parity, int64_t stages) {
  parity = skipUniform(parity);
  if (Value other = matchConstantOperand<arith::XOrIOp>(parity, 1))
    parity = skipUniform(other);
  APInt constant;
  if (matchPattern(parity, m_ConstantInt(&constant)))
    return true;
  Value turns = matchConstantOperand<arith::AndIOp>(parity, 1);
  if (!turns)
    return false;
  turns = skipUniform(turns);
  int64_t shift = 0;
  while ((int64_t(1) << shift) < stages)
    ++shift;
  return stages == 1 || matchConstantOperand<arith::DivUIOp>(turns, stages) ||
         ((int64_t(1) << shift) == stages &&
          matchConstantOperand<arith::ShRUIOp>(turns, shift));
}

/// Every barrier's stage and parity repeat after two turns of its ring.
static LogicalResult checkPeriod(KernelOp kernel) {
  auto check = [](Operation *op, Value barrier, Value stage, Value parity) {
    int64_t stages = cast<MbarrierType>(barrier.getType()).getStages();
    if (isRingStage(stage, stages) && (!parity || isRingParity(parity, stages)))
      return WalkResult::advance();
    op->emitError("expected a stage and a parity that repeat after two turns "
                  "of a ring of ")
        << stages;
    return WalkResult::interrupt();
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto wait = dyn_cast<MbarrierWaitOp>(op))
      return check(op, wait.getBarrier(), wait.getStage(), wait.getParity());
    if (auto arrive = dyn_cast<MbarrierArriveOp>(op))
      return check(op, arrive.getBarrier(), arrive.getStage(), {});
    if (auto copy = dyn_cast<CopyTmaOp>(op))
      return check(op, copy.getBarrier(), copy.getStage(), {});
    if (auto copy = dyn_cast<CopyBulkOp>(op))
      return check(op, copy.getBarrier(), copy.getStage(), {});
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Adds the same launches with lengths of all keys, which tensors longer than
/// that may have. Where rows of a tile may be missing, lengths are read.
static void addLengths(KernelOp kernel, std::vector<TracedLaunch> &launches) {
  WalkResult result = kernel.walk([](Operation *op) {
    auto transposed = dyn_cast<StoreTransposedOp>(op);
    auto widened = dyn_cast<StoreWidenedOp>(op);
    return isa<ClearRowsOp>(op) || (transposed && transposed.getRows()) ||
                   (widened && widened.getRows())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (!result.wasInterrupted())
    return;
  size_t count = launches.size();
  for (size_t i = 0; i < count; ++i) {
    TracedLaunch launch = launches[i];
    launch.length = launch.keys;
    launches.push_back(launch);
  }
}

/// True if query, key and value have no size but one.
static bool isStatic(KernelOp kernel) {
  return llvm::all_of(
      kernel.getBody().getArguments().take_front(3), [](BlockArgument tensor) {
        auto type = dyn_cast<GlobalType>(tensor.getType());
        return type && llvm::none_of(type.getShape(), ShapedType::isDynamic);
      });
}

/// Launches with every number of tiles up to five turns of the longest ring and
/// one tile, ragged ones among them, of few rows or few keys.
static std::vector<TracedLaunch> getLaunches(KernelOp kernel) {
  int64_t stages = 1;
  kernel.walk([&](AllocMbarrierOp op) {
    auto type = cast<MbarrierType>(op.getBarrier().getType());
    stages = std::max(stages, type.getStages());
  });
  attn::Schedule schedule = getScheduleOf(kernel);
  int64_t tileM = schedule.tileM, tileN = schedule.tileN;
  int64_t grid = schedule.persistentCtas;
  auto ctas = static_cast<int64_t>(kernel.getClusterCtas().value_or(1));
  // A persistent cluster that is alone has all tiles, others their own.
  bool isPersistent = false;
  kernel.walk([&](gpu::GridDimOp) { isPersistent = true; });
  // Of static sizes there is one launch, whose clusters share out the tiles.
  if (isPersistent && grid > ctas && isStatic(kernel)) {
    std::vector<TracedLaunch> launches;
    for (int64_t block = 0; block < grid; block += ctas) {
      launches.push_back({tileM, tileN, 1, block});
      launches.back().grid = grid;
    }
    addLengths(kernel, launches);
    return launches;
  }
  std::vector<int64_t> blocks = {0};
  if (!isPersistent)
    blocks = {0, ctas, 3 * ctas, 8 * ctas};
  std::vector<TracedLaunch> launches;
  for (int64_t tiles = 0; tiles <= 5 * stages + 1; ++tiles) {
    int64_t ragged = tiles % 3 == 1 ? 3 : 0;
    int64_t rows = tiles * tileM - ragged, keys = tiles * tileN - ragged;
    for (int64_t block : blocks) {
      launches.push_back({2 * tileM * ctas, keys, 2, block});
      launches.push_back({rows, 2 * tileN, 2, block});
      launches.push_back({std::min(keys, 3 * tileM * ctas), keys, 1, block});
    }
  }
  addLengths(kernel, launches);
  return launches;
}

namespace {
struct ProveBarriersPass
    : public attn::tile::impl::ProveBarriersPassBase<ProveBarriersPass> {
  using ProveBarriersPassBase::ProveBarriersPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (kernel.getBody().front().getOps<RolesOp>().empty())
      return;
    if (failed(checkPeriod(kernel)))
      return signalPassFailure();
    std::set<std::vector<int64_t>> proven;
    for (const TracedLaunch &launch : getLaunches(kernel)) {
      FailureOr<Protocol> protocol = traceRoles(kernel, launch);
      if (failed(protocol))
        return signalPassFailure();
      if (!proven.insert(getNumbers(*protocol)).second)
        continue;
      ++numLaunches;
      std::optional<ProofFailure> failure = findFailure(*protocol);
      if (!failure)
        continue;
      failure->op->emitError(failure->message).attachNote(kernel.getLoc())
          << "with " << launch.rows << " rows, " << launch.keys << " keys, CTA "
          << launch.block;
      return signalPassFailure();
    }
    ++numProven;
  }
};
} // namespace
