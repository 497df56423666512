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

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (!matchPattern(skipUniform(value), m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

/// What is taken of a count: `value` modulo a number, if it is an op that does
/// that.
static int64_t getModulus(Operation *op) {
  if (auto remainder = dyn_cast_if_present<arith::RemUIOp>(op))
    return getConstant(remainder.getRhs()).value_or(0);
  if (auto bits = dyn_cast_if_present<arith::AndIOp>(op))
    if (auto mask = getConstant(bits.getRhs());
        mask && *mask > 0 && llvm::isPowerOf2_64(*mask + 1))
      return *mask + 1;
  return 0;
}

/// By what a count is divided, if the op does that.
static int64_t getDivisor(Operation *op) {
  if (auto quotient = dyn_cast_if_present<arith::DivUIOp>(op))
    return getConstant(quotient.getRhs()).value_or(0);
  if (auto shift = dyn_cast_if_present<arith::ShRUIOp>(op))
    if (auto bits = getConstant(shift.getRhs()); bits && *bits < 32)
      return int64_t(1) << *bits;
  return 0;
}

/// True if what loops carry changes `value` by whole numbers of times: sums and
/// products of counts are counts, quotients are not.
static bool isCount(Value value) {
  value = skipUniform(value);
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<arith::ArithDialect>(op ? op->getDialect() : nullptr))
    return true;
  return getConstant(value) ||
         (isa<arith::AddIOp, arith::MulIOp, arith::SubIOp>(op) &&
          llvm::all_of(op->getOperands(), isCount));
}

/// True if `value` repeats when a count is `period` larger: a constant, the
/// warpgroup, a count modulo what divides the period, the same of turns, or
/// what is computed of such.
static bool isPeriodic(Value value, int64_t period) {
  value = skipUniform(value);
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<RolesOp>(value.getParentBlock()->getParentOp());
  if (getConstant(value))
    return true;
  if (int64_t modulus = getModulus(op)) {
    Value count = skipUniform(op->getOperand(0));
    while (int64_t divisor = getDivisor(count.getDefiningOp())) {
      modulus *= divisor;
      count = skipUniform(count.getDefiningOp()->getOperand(0));
    }
    if (period % modulus == 0 && isCount(count))
      return true;
  }
  return isa<arith::AddIOp, arith::MulIOp, arith::XOrIOp, arith::AndIOp,
             arith::RemUIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isPeriodic(operand, period);
         });
}

/// Every barrier's stage and parity repeat after two turns of its ring.
static LogicalResult checkPeriod(KernelOp kernel) {
  auto check = [](Operation *op, Value barrier, Value stage, Value parity) {
    int64_t stages = cast<MbarrierType>(barrier.getType()).getStages();
    if (isPeriodic(stage, 2 * stages) &&
        (!parity || isPeriodic(parity, 2 * stages)))
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
    if (auto commit = dyn_cast<CommitTensorsOp>(op))
      return check(op, commit.getBarrier(), commit.getStage(), {});
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

/// CTAs of a launch of a persistent kernel that has all heads of the query, of
/// which some cluster then has tiles of about `launch.heads`: one less than
/// there are times as many, so that its row tiles are not those of one number.
static int64_t getGrid(KernelOp kernel, const TracedLaunch &launch,
                       int64_t ctas) {
  auto type = dyn_cast<GlobalType>(kernel.getBody().getArgument(0).getType());
  if (!type || type.getShape().size() < 3)
    return ctas;
  ArrayRef<int64_t> shape = type.getShape();
  int64_t batch = ShapedType::isDynamic(shape[0]) ? 1 : shape[0];
  int64_t heads = ShapedType::isDynamic(shape[1]) ? launch.heads : shape[1];
  return ctas * std::max<int64_t>(batch * heads / launch.heads - 1, 1);
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
  // A persistent cluster has tiles of several, others their own.
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
  auto addTiles = [&](int64_t tiles, int64_t missing) {
    int64_t rows = tiles * tileM - missing, keys = tiles * tileN - missing;
    for (int64_t block : blocks) {
      launches.push_back({2 * tileM * ctas, keys, 2, block});
      launches.push_back({rows, 2 * tileN, 2, block});
      launches.push_back({std::min(keys, 3 * tileM * ctas), keys, 1, block});
    }
  };
  for (int64_t tiles = 0; tiles <= 5 * stages + 1; ++tiles)
    addTiles(tiles, /*missing=*/tiles % 3 == 1 ? 3 : 0);
  // A step that is the first and the last one, of each loop.
  addTiles(/*tiles=*/1, /*missing=*/0);
  if (isPersistent)
    for (TracedLaunch &launch : launches)
      launch.grid = getGrid(kernel, launch, ctas);
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
    std::set<ProtocolDigest> proven;
    for (const TracedLaunch &launch : getLaunches(kernel)) {
      FailureOr<Protocol> protocol = traceRoles(kernel, launch);
      if (failed(protocol))
        return signalPassFailure();
      if (!proven.insert(getDigest(*protocol)).second)
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
