//===- SpecializeCorrection.cpp - A role that corrects O --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-specialize-correction: a warpgroup beside those of the
// softmax rescales the output in tensor memory, and changes and stores it, as
// FlashAttention-4's correction warps do.
//
//===----------------------------------------------------------------------===//

#include "Corrector.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Schedule/Family.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn::tile {
#define GEN_PASS_DEF_SPECIALIZECORRECTIONPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// In each step of the key loops one branch rescales the same tile.
bool Corrector::matchRescales() {
  WalkResult walk = consumer.walk([&](ScaleTensorOp scale) {
    auto branch = dyn_cast<scf::IfOp>(scale->getParentOp());
    if (!branch || branch.getNumResults() > 0 || branch.elseBlock() ||
        !isa<scf::ForOp>(branch->getParentOp()) ||
        scale->getNextNode() != branch.thenYield() ||
        (sum && sum != scale.getTile()))
      return WalkResult::interrupt();
    sum = scale.getTile();
    rescales.push_back(branch);
    return WalkResult::advance();
  });
  return !walk.wasInterrupted() && sum;
}

/// The output begins as zeros, for each tile.
bool Corrector::matchZeros() {
  for (auto store : getTileBlock(consumer).getOps<StoreTensorOp>()) {
    if (store.getTile() != sum)
      continue;
    if (zeros || !store.getSource().getDefiningOp<FillOp>())
      return false;
    zeros = store;
  }
  return static_cast<bool>(zeros);
}

/// In each block, the first product of each warpgroup that is added.
bool Corrector::matchAdditions() {
  llvm::SmallSetVector<std::pair<Block *, int64_t>, 4> seen;
  WalkResult walk = products.walk([&](MmaTensorOp product) {
    if (product.getTile() != sum)
      return WalkResult::advance();
    std::optional<int64_t> group = getConstantIntValue(product.getWarpgroup());
    if (!group)
      return WalkResult::interrupt();
    if (!seen.insert({product->getBlock(), *group}))
      return WalkResult::advance();
    Operation *op = product->getPrevNode();
    while (op && !isa<MbarrierWaitOp>(op))
      op = op->getPrevNode();
    auto wait = dyn_cast_if_present<MbarrierWaitOp>(op);
    auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
    if (!wait || !loop || loop->getBlock() != &getTileBlock(products) ||
        !findStepCounter(loop) ||
        getConstantIntValue(wait.getStage()) != group ||
        wait.getBarrier().getType().getArrivals() != RolesOp::kWarpgroupWarps)
      return WalkResult::interrupt();
    additions.push_back({wait, *group});
    return WalkResult::advance();
  });
  bool areCounted = llvm::all_of(rescales, [](scf::IfOp branch) {
    return findStepCounter(cast<scf::ForOp>(branch->getParentOp()));
  });
  return !walk.wasInterrupted() && !additions.empty() && areCounted;
}

static bool countsTiles(Region &role) {
  scf::ForOp tiles = getTileLoop(role);
  return !tiles || findStepCounter(tiles);
}

StringRef Corrector::findObstacle() {
  if (!matchRescales() || !matchZeros())
    return "the output is not a sum in tensor memory that steps rescale";
  if (!matchAdditions())
    return "products do not wait for each warpgroup's weights";
  if (!countsTiles(consumer) || !countsTiles(products))
    return "tiles of the CTA are not counted";
  return output.collect(sum);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

Value Corrector::createVector() {
  builder.setInsertionPoint(roles);
  int64_t rows = cast<TensorTileType>(sum.getType()).getRows();
  auto type = SharedType::get(builder.getContext(), {1, rows},
                              builder.getF32Type(), /*swizzle=*/128);
  return AllocOp::create(builder, kernel.getLoc(), type, IntegerAttr());
}

/// For each warpgroup of the softmax, of whose rows each warp tells.
void Corrector::createBarriers() {
  for (Value *barrier : {&told, &corrected})
    *barrier = addMbarrier(kernel, 2 * groups, RolesOp::kWarpgroupWarps);
  for (Value *barrier : {&ready, &ended, &taken})
    *barrier = addMbarrier(kernel, groups, RolesOp::kWarpgroupWarps);
  if (getTileLoop(products))
    seen = addMbarrier(kernel, /*stages=*/1, /*arrivals=*/1);
  decays = createVector();
  for (size_t i = 0; i < output.getRows().size(); ++i)
    vectors.push_back(createVector());
}

/// Of a tile's phases: those of the first tile have parity 0.
Value Corrector::getTileParity(Region &role) {
  scf::ForOp tiles = getTileLoop(role);
  if (!tiles)
    return constant(0);
  return arith::AndIOp::create(builder, kernel.getLoc(),
                               tiles.getRegionIterArg(*findStepCounter(tiles)),
                               constant(1));
}

/// The barrier of a warpgroup's step: the softmax, and the products, may be a
/// step ahead, since the first one waits for nothing of its own.
Value Corrector::getStepStage(scf::ForOp loop, Value group) {
  Location loc = loop.getLoc();
  Value step = loop.getRegionIterArg(*findStepCounter(loop));
  Value odd = arith::AndIOp::create(builder, loc, step, constant(1));
  Value first = arith::MulIOp::create(builder, loc, odd, constant(groups));
  return arith::AddIOp::create(builder, loc, first, group);
}

Value Corrector::getStepParity(scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value step = loop.getRegionIterArg(*findStepCounter(loop));
  Value round = arith::ShRUIOp::create(builder, loc, step, constant(1));
  return arith::AndIOp::create(builder, loc, round, constant(1));
}

/// What the lanes of a warp have read and written comes before its arrival.
void Corrector::arrive(Value barrier, Value stage) {
  Location loc = kernel.getLoc();
  SyncWarpOp::create(builder, loc);
  MbarrierArriveOp::create(builder, loc, barrier, stage);
}

//===----------------------------------------------------------------------===//
// What the softmax and the products do
//===----------------------------------------------------------------------===//

/// The factor of each row where one of the warp's has risen, and 1 otherwise.
static Value selectDecays(OpBuilder &builder, scf::IfOp rescale) {
  auto scale = cast<ScaleTensorOp>(rescale.thenBlock()->front());
  Location loc = scale.getLoc();

  return mapRows(builder, scale.getFactor(), [&](Value factor) -> Value {
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1.0f));
    return arith::SelectOp::create(builder, loc, rescale.getCondition(), factor,
                                   one);
  });
}

/// The vector is free: this step's scores are behind the product for which the
/// output was changed by the last step's.
void Corrector::tellRescale(scf::IfOp rescale) {
  builder.setInsertionPoint(rescale);
  auto loop = cast<scf::ForOp>(rescale->getParentOp());
  Value sent = selectDecays(builder, rescale);
  StoreSharedRowsOp::create(builder, rescale.getLoc(), sent, decays);
  arrive(told, getStepStage(loop, roles.getWarpgroup()));
  rescale.erase();
}

/// Tiles without keys have no steps to wait for, so that the vectors have a
/// barrier.
void Corrector::tellOutput() {
  builder.setInsertionPoint(output.getEnd());
  Location loc = kernel.getLoc();
  waitFor(taken, roles.getWarpgroup(), getTileParity(consumer));
  for (auto [rows, vector] : llvm::zip_equal(output.getRows(), vectors))
    StoreSharedRowsOp::create(builder, loc, rows, vector);
  arrive(ended, roles.getWarpgroup());
}

void Corrector::waitForCorrection(Addition addition, Value firstStep) {
  builder.setInsertionPoint(addition.wait);
  Location loc = addition.wait.getLoc();
  scf::ForOp loop = addition.getLoop();
  Value step = loop.getRegionIterArg(*findStepCounter(loop));
  Value group = addition.wait.getStage();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        step, firstStep);
  auto branch =
      scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  waitFor(ready, group, getTileParity(products));
  builder.setInsertionPointToStart(branch.elseBlock());
  waitFor(corrected, getStepStage(loop, group), getStepParity(loop));
}

/// A tile without steps: no phase may be missed. So that none is over before
/// the thread looks, the next zeros wait for it.
void Corrector::waitForTile(Value firstStep) {
  scf::ForOp last = additions.back().getLoop();
  builder.setInsertionPointAfter(last);
  Location loc = last.getLoc();
  Value isEmpty =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            last.getResult(*findStepCounter(last)), firstStep);
  auto branch = scf::IfOp::create(builder, loc, isEmpty);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (int64_t group = 0; group < groups; ++group)
    waitFor(ready, constant(group), getTileParity(products));
  builder.setInsertionPointAfter(branch);
  auto arrival = MbarrierArriveOp::create(builder, loc, seen, constant(0));
  arrival.setOneThread(true);
}

/// What the other role does, and what is only for that.
void Corrector::stripConsumer() {
  zeros.erase();
  output.erase();
  for (auto op : llvm::make_early_inc_range(consumer.getOps<FreeTensorsOp>()))
    op.erase();
  consumer.walk([](WaitStoresOp wait) { wait.erase(); });
  IRRewriter rewriter(builder.getContext());
  (void)runRegionDCE(rewriter, consumer);
}

//===----------------------------------------------------------------------===//
// The change
//===----------------------------------------------------------------------===//

void Corrector::divideRegisters() {
  const attn::Family &family = attn::getFamily(getScheduleOf(kernel).mma);
  attn::RegisterSplit split = family.splitRegisters(
      groups, kRegistersPerSm, /*producerComputes=*/false, /*corrects=*/true);
  roles.setProducerRegisters(split.producer);
  roles.setWarpgroupRegisters(split.correction);
  roles.setConsumerRegisters(split.consumer);
}

void Corrector::specialize() {
  createBarriers();
  Region role;
  buildRole(role);
  Value firstStep = additions.front().getFirstStep();
  for (Addition addition : additions)
    waitForCorrection(addition, firstStep);
  if (getTileLoop(products))
    waitForTile(firstStep);
  for (scf::IfOp rescale : rescales)
    tellRescale(rescale);
  tellOutput();
  stripConsumer();
  kernel.setProducerWarps(*kernel.getProducerWarps() +
                          RolesOp::kWarpgroupWarps);
  roles = roles.addRole(RolesOp::kCorrection, role, RolesOp::kAsLaunched);
  divideRegisters();
}

namespace {
struct SpecializeCorrectionPass
    : public attn::tile::impl::SpecializeCorrectionPassBase<
          SpecializeCorrectionPass> {
  using SpecializeCorrectionPassBase::SpecializeCorrectionPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (getScheduleOf(kernel).correctionWarps == 0)
      return;
    Block &body = kernel.getBody().front();
    for (auto roles : llvm::make_early_inc_range(body.getOps<RolesOp>())) {
      Region *products = roles.getRole(RolesOp::kProducts);
      if (!products) {
        keep("no role starts products");
        continue;
      }
      Corrector corrector(kernel, roles, *products);
      if (StringRef obstacle = corrector.findObstacle(); !obstacle.empty()) {
        keep(obstacle);
        continue;
      }
      corrector.specialize();
      ++numKernels;
    }
  }

private:
  /// The schedule asks for what is not done.
  void keep(StringRef obstacle) {
    getOperation().emitWarning()
        << "the warps of the softmax store the output in spite of "
           "correction_warps: "
        << obstacle;
  }
};
} // namespace
