//===- ProductRole.cpp - What the products' thread does -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of what consumers do it takes the products, the waits for their tiles, and
// the loops and branches around them. What is between two meetings of warps it
// does for one warpgroup after the other, so that the tensor cores have the
// products of one while the other computes.
//
//===----------------------------------------------------------------------===//

#include "ProductRole.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn::tile;

Value attn::tile::getWhole(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (auto stage = dyn_cast<StageOp>(op))
      tile = stage.getRing();
    else if (auto columns = dyn_cast<ColumnsOp>(op))
      tile = columns.getSource();
    else
      break;
  }
  return tile;
}

static bool isMeeting(Operation *op) {
  auto product = dyn_cast<MmaTensorOp>(op);
  return product && product.getMeet();
}

template <typename Predicate>
static bool holds(Operation *op, Predicate predicate) {
  return op
      ->walk([&](Operation *inner) {
        return predicate(inner) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True for scalars that are computed, or read, the same by anybody.
static bool isScalarCode(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  auto hasOtherValues = [&](Operation *inner) {
    return !llvm::all_of(inner->getResultTypes(), isScalar) ||
           llvm::any_of(inner->getOperandTypes(),
                        llvm::IsaPred<SharedType, FragmentType, TensorTileType,
                                      MbarrierType>);
  };
  return (isMemoryEffectFree(op) || isa<ExtractOp>(op)) &&
         !holds(op, hasOtherValues);
}

//===----------------------------------------------------------------------===//
// What is taken
//===----------------------------------------------------------------------===//

bool ProductRole::isWanted(Operation *op) const {
  if (auto wait = dyn_cast<MbarrierWaitOp>(op))
    return llvm::is_contained(operands, wait.getBarrier());
  return isa<MmaTensorOp, StageOp, ColumnsOp, NarrowTensorOp>(op) ||
         holds(op, llvm::IsaPred<MmaTensorOp>) || isScalarCode(op);
}

/// True if the role has something for `value`, or it is computed before roles.
bool ProductRole::isThere(Value value, unsigned group) const {
  return maps[group].contains(value) ||
         !consumer.isAncestor(value.getParentRegion());
}

/// True if all that `op` reads is there.
bool ProductRole::isAvailable(Operation *op, unsigned group) const {
  SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return llvm::all_of(values,
                      [&](Value value) { return isThere(value, group); });
}

/// True if one value stands for `value` in all warpgroups.
bool ProductRole::isSame(Value value) const {
  Value first = maps.front().lookupOrDefault(value);
  return llvm::all_of(maps, [&](const IRMapping &map) {
    return map.lookupOrDefault(value) == first;
  });
}

//===----------------------------------------------------------------------===//
// What is built
//===----------------------------------------------------------------------===//

/// The phase is that of the step: the warps of the warpgroup have arrived once
/// in each.
void ProductRole::waitUntilReady(MmaTensorOp product, unsigned group) {
  Location loc = product.getLoc();
  Value barrier = ready.lookup(product.getTile());
  MbarrierWaitOp::create(builder, loc, barrier, maps[group].lookup(warpgroup),
                         parity);
  FenceTensorsOp::create(builder, loc, /*after=*/true);
}

/// What the first warpgroup's branch waits for is there for the others'.
bool ProductRole::emitBranch(scf::IfOp branch, unsigned group) {
  if (branch.getNumResults() > 0 || branch.elseBlock() ||
      holds(branch, isMeeting))
    return false;
  auto copy = scf::IfOp::create(
      builder, branch.getLoc(),
      maps[group].lookupOrDefault(branch.getCondition()), /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.thenBlock());
  bool hasWaited = group > 0 && isSame(branch.getCondition());
  return llvm::all_of(branch.thenBlock()->without_terminator(),
                      [&](Operation &op) {
                        return (hasWaited && isa<MbarrierWaitOp>(op)) ||
                               emit(&op, group, /*canShare=*/false);
                      });
}

/// What is the same for all warpgroups is built once.
bool ProductRole::emitShared(Operation *op) {
  Operation *copy = builder.clone(*op, maps.front());
  for (IRMapping &map : maps)
    map.map(op->getResults(), copy->getResults());
  return true;
}

/// One thread agrees with itself; the lanes that it would wait for are not
/// here.
void ProductRole::emitUniform(UniformOp op, unsigned group) {
  if (!isSame(op.getValue()))
    return maps[group].map(op.getResult(),
                           maps[group].lookupOrDefault(op.getValue()));
  for (IRMapping &map : maps)
    map.map(op.getResult(), map.lookupOrDefault(op.getValue()));
}

bool ProductRole::emit(Operation *op, unsigned group, bool canShare) {
  if (!isWanted(op))
    return true;
  if (!isAvailable(op, group))
    return isScalarCode(op); // If somebody reads it, that fails.
  if (auto uniform = dyn_cast<UniformOp>(op)) {
    emitUniform(uniform, group);
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op);
      branch && holds(op, llvm::IsaPred<MmaTensorOp>))
    return emitBranch(branch, group);
  auto product = dyn_cast<MmaTensorOp>(op);
  bool isShared =
      canShare && !product &&
      llvm::all_of(op->getOperands(), [&](Value v) { return isSame(v); });
  if (isShared)
    return group > 0 || emitShared(op);
  if (isMeeting(op))
    waitUntilReady(product, group);
  Operation *copy = builder.clone(*op, maps[group]);
  if (product) {
    cast<MmaTensorOp>(copy).setMeet(false);
    cast<MmaTensorOp>(copy).setOneThread(true);
  }
  return true;
}

/// One warpgroup after the other.
bool ProductRole::emitSteps(ArrayRef<Operation *> ops) {
  for (unsigned group = 0; group < maps.size(); ++group)
    for (Operation *op : ops)
      if (!emit(op, group, /*canShare=*/true))
        return false;
  return true;
}

/// The loop carries what consumers carry, but for fragments.
bool ProductRole::emitLoop(scf::ForOp loop) {
  SmallVector<unsigned> kept;
  SmallVector<Value> inits;
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs())) {
    if (!init.getType().isIntOrIndex() || !isSameAndThere(init))
      continue;
    kept.push_back(number);
    inits.push_back(maps.front().lookupOrDefault(init));
  }
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (!isSameAndThere(bound))
      return false;
  auto lookup = [&](Value value) {
    return maps.front().lookupOrDefault(value);
  };
  auto copy = scf::ForOp::create(
      builder, loop.getLoc(), lookup(loop.getLowerBound()),
      lookup(loop.getUpperBound()), lookup(loop.getStep()), inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  for (IRMapping &map : maps) {
    map.map(loop.getInductionVar(), copy.getInductionVar());
    for (auto [to, from] : llvm::enumerate(kept)) {
      map.map(loop.getRegionIterArg(from), copy.getRegionIterArg(to));
      map.map(loop.getResult(from), copy.getResult(to));
    }
  }
  Value outer = parity;
  if (std::optional<unsigned> counter = findStepCounter(loop)) {
    Value step = lookup(loop.getRegionIterArg(*counter));
    Value one = arith::ConstantIndexOp::create(builder, loop.getLoc(), 1);
    parity = arith::AndIOp::create(builder, loop.getLoc(), step, one);
  }
  if (!emitBlock(*loop.getBody()))
    return false;
  parity = outer;
  SmallVector<Value> yielded;
  for (unsigned from : kept) {
    Value value = loop.getBody()->getTerminator()->getOperand(from);
    if (!isSameAndThere(value))
      return false;
    yielded.push_back(lookup(value));
  }
  scf::YieldOp::create(builder, loop.getLoc(), yielded);
  return true;
}

bool ProductRole::emitBlock(Block &block) {
  SmallVector<Operation *> ops;
  auto flush = [&] {
    bool isDone = emitSteps(ops);
    ops.clear();
    return isDone;
  };
  for (Operation &op : block.without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    bool isLoop = loop && holds(loop, isMeeting);
    if ((isLoop || isMeeting(&op)) && !flush())
      return false;
    if (isLoop && !emitLoop(loop))
      return false;
    if (!isLoop)
      ops.push_back(&op);
  }
  return flush();
}

bool ProductRole::build(Region &role) {
  builder.setInsertionPointToStart(&role.emplaceBlock());
  for (auto [group, map] : llvm::enumerate(maps))
    map.map(warpgroup,
            arith::ConstantIndexOp::create(builder, warpgroup.getLoc(), group));
  if (!emitBlock(consumer.front()))
    return false;
  IRRewriter rewriter(builder.getContext());
  (void)runRegionDCE(rewriter, role);
  return true;
}
