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

#include "CorrectedOutput.h"
#include "KeyStream.h"
#include "MissedRemark.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Schedule/Family.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

namespace attn::tile {
#define GEN_PASS_DEF_SPECIALIZECORRECTIONPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

static constexpr int64_t kRegistersPerSm = 65536;

namespace {

/// Where the products' thread waits for the weights of a warpgroup, whose
/// product it adds to the output.
struct Addition {
  MbarrierWaitOp wait;
  int64_t group;
};

class Corrector {
public:
  Corrector(KernelOp kernel, RolesOp roles, Region &products)
      : kernel(kernel), roles(roles), products(products),
        consumer(roles.getConsumer()), builder(kernel.getContext()),
        output(roles), groups(kernel.getWarps() / RolesOp::kWarpgroupWarps) {}

  /// Why no other warpgroup can correct the output, or empty if one can.
  StringRef findObstacle();
  void specialize();

private:
  bool matchRescales();
  bool matchZeros();
  bool matchAdditions();
  void createBarriers();
  Value createBarrier();
  Value createVector();
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, kernel.getLoc(), value);
  }
  Value getTileParity(Region &role);
  void arrive(Value barrier, Value group);
  void tellRescale(scf::IfOp rescale);
  void tellOutput();
  void waitForCorrection(Addition addition);
  void buildRole(Region &role);
  void buildStep(MbarrierWaitOp wait, int64_t group);
  void buildZeros(Region &role);
  void buildOutputs(Region &role);
  void buildEnd(Region &role);
  void stripConsumer();
  void divideRegisters();

  KernelOp kernel;
  RolesOp roles;
  Region &products;
  Region &consumer;
  OpBuilder builder;
  CorrectedOutput output;
  int64_t groups;
  Value sum; ///< the output in tensor memory
  SmallVector<scf::IfOp> rescales;
  StoreTensorOp zeros;
  SmallVector<Addition> additions;
  Value decays; ///< of a step's rows, 1 where none of the warp's has risen
  /// Those are there; the output is changed by them; what the rows of a whole
  /// tile are is there; and has been read.
  Value told, corrected, ended, taken;
  SmallVector<Value> vectors; ///< of those rows
};

} // namespace

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
    if (!wait || getConstantIntValue(wait.getStage()) != group ||
        wait.getBarrier().getType().getArrivals() != RolesOp::kWarpgroupWarps)
      return WalkResult::interrupt();
    additions.push_back({wait, *group});
    return WalkResult::advance();
  });
  return !walk.wasInterrupted() && !additions.empty();
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

/// One for each warpgroup of the softmax, of whose rows each warp tells.
Value Corrector::createBarrier() {
  auto init = *kernel.getBody().front().getOps<InitMbarriersOp>().begin();
  builder.setInsertionPoint(init);
  auto type =
      MbarrierType::get(builder.getContext(), groups, RolesOp::kWarpgroupWarps);
  Value barrier =
      AllocMbarrierOp::create(builder, init.getLoc(), type, IntegerAttr());
  init.getBarriersMutable().append(barrier);
  return barrier;
}

Value Corrector::createVector() {
  builder.setInsertionPoint(roles);
  int64_t rows = cast<TensorTileType>(sum.getType()).getRows();
  auto type = SharedType::get(builder.getContext(), {1, rows},
                              builder.getF32Type(), /*swizzle=*/128);
  return AllocOp::create(builder, kernel.getLoc(), type, IntegerAttr());
}

void Corrector::createBarriers() {
  for (Value *barrier : {&told, &corrected, &ended, &taken})
    *barrier = createBarrier();
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

/// What the lanes of a warp have read and written comes before its arrival.
void Corrector::arrive(Value barrier, Value group) {
  Location loc = kernel.getLoc();
  FenceTensorsOp::create(builder, loc, /*after=*/false);
  SyncWarpOp::create(builder, loc);
  MbarrierArriveOp::create(builder, loc, barrier, group);
}

//===----------------------------------------------------------------------===//
// What the softmax and the products do
//===----------------------------------------------------------------------===//

/// The factor of each row where one of the warp's has risen, and 1 otherwise.
static Value selectDecays(OpBuilder &builder, scf::IfOp rescale) {
  auto scale = cast<ScaleTensorOp>(rescale.thenBlock()->front());
  Location loc = scale.getLoc();
  Value decay = scale.getFactor();
  auto map = MapOp::create(builder, loc, decay.getType(), decay);
  OpBuilder::InsertionGuard guard(builder);
  Block &body = map.getBody().emplaceBlock();
  Value number = body.addArgument(builder.getF32Type(), loc);
  body.addArgument(builder.getI32Type(), loc);
  builder.setInsertionPointToStart(&body);
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1.0f));
  Value chosen = arith::SelectOp::create(builder, loc, rescale.getCondition(),
                                         number, one);
  YieldOp::create(builder, loc, chosen);
  return map.getResult();
}

/// The vector is free: this step's scores are behind the product for which the
/// output was changed by the last step's.
void Corrector::tellRescale(scf::IfOp rescale) {
  builder.setInsertionPoint(rescale);
  Value sent = selectDecays(builder, rescale);
  StoreSharedRowsOp::create(builder, rescale.getLoc(), sent, decays);
  arrive(told, roles.getWarpgroup());
  rescale.erase();
}

/// Tiles without keys have no steps to wait for, so that the vectors have a
/// barrier.
void Corrector::tellOutput() {
  builder.setInsertionPoint(output.getEnd());
  Location loc = kernel.getLoc();
  Value before =
      arith::XOrIOp::create(builder, loc, getTileParity(consumer), constant(1));
  MbarrierWaitOp::create(builder, loc, taken, roles.getWarpgroup(), before);
  for (auto [rows, vector] : llvm::zip_equal(output.getRows(), vectors))
    StoreSharedRowsOp::create(builder, loc, rows, vector);
  arrive(ended, roles.getWarpgroup());
}

void Corrector::waitForCorrection(Addition addition) {
  builder.setInsertionPoint(addition.wait);
  MbarrierWaitOp::create(builder, addition.wait.getLoc(), corrected,
                         addition.wait.getStage(), addition.wait.getParity());
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
// The role
//===----------------------------------------------------------------------===//

/// Where a row of the warp has risen, all of its rows are rescaled.
void Corrector::buildStep(MbarrierWaitOp wait, int64_t group) {
  builder.setInsertionPoint(wait);
  Location loc = wait.getLoc();
  Value number = constant(group);
  MbarrierWaitOp::create(builder, loc, told, number, wait.getParity());
  auto as = AsWarpgroupOp::create(builder, loc, number);
  builder.setInsertionPointToStart(&as.getBody().emplaceBlock());
  auto rowType = FragmentType::get(
      builder.getContext(), cast<TensorTileType>(sum.getType()).getRows(),
      builder.getF32Type(),
      FragmentLayoutAttr::getLaneRow(builder.getContext()));
  Value factor = LoadSharedRowsOp::create(builder, loc, rowType, decays);
  auto map = MapOp::create(builder, loc, rowType, factor);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &body = map.getBody().emplaceBlock();
    Value decay = body.addArgument(builder.getF32Type(), loc);
    body.addArgument(builder.getI32Type(), loc);
    builder.setInsertionPointToStart(&body);
    auto number = [&](float value) {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getF32FloatAttr(value));
    };
    Value one = number(1.0f);
    Value falls = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                        decay, one);
    Value flag =
        arith::SelectOp::create(builder, loc, falls, one, number(0.0f));
    YieldOp::create(builder, loc, flag);
  }
  Value any = AnyOp::create(builder, loc, map.getResult());
  auto branch = scf::IfOp::create(builder, loc, any);
  builder.setInsertionPointToStart(branch.thenBlock());
  ScaleTensorOp::create(builder, loc, sum, number, factor);
  builder.setInsertionPointAfter(as);
  arrive(corrected, number);
}

/// Zeros for the tile's products to be added to.
void Corrector::buildZeros(Region &role) {
  builder.setInsertionPointToStart(&getTileBlock(role));
  Location loc = zeros.getLoc();
  for (int64_t group = 0; group < groups; ++group) {
    Value number = constant(group);
    auto as = AsWarpgroupOp::create(builder, loc, number);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&as.getBody().emplaceBlock());
    IRMapping mapping;
    builder.clone(*zeros.getSource().getDefiningOp(), mapping);
    mapping.map(zeros.getWarpgroup(), number);
    builder.clone(*zeros, mapping);
  }
}

void Corrector::buildOutputs(Region &role) {
  Block &block = getTileBlock(role);
  if (scf::ForOp tiles = getTileLoop(role))
    builder.setInsertionPoint(tiles.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(&block);
  Location loc = kernel.getLoc();
  Value parity = getTileParity(role);
  for (int64_t group = 0; group < groups; ++group) {
    Value number = constant(group);
    MbarrierWaitOp::create(builder, loc, ended, number, parity);
    auto as = AsWarpgroupOp::create(builder, loc, number);
    builder.setInsertionPointToStart(&as.getBody().emplaceBlock());
    IRMapping mapping;
    mapping.map(roles.getWarpgroup(), number);
    if (scf::ForOp tiles = getTileLoop(role))
      mapping.map(getTileLoop(consumer).getInductionVar(),
                  tiles.getInductionVar());
    for (auto [rows, vector] : llvm::zip_equal(output.getRows(), vectors))
      mapping.map(rows,
                  LoadSharedRowsOp::create(builder, loc, rows.getType(), vector)
                      .getResult());
    output.clone(builder, mapping);
    builder.setInsertionPointAfter(as);
    arrive(taken, number);
  }
}

/// The last that use shared and tensor memory give it back.
void Corrector::buildEnd(Region &role) {
  builder.setInsertionPointToEnd(&role.front());
  auto as = AsWarpgroupOp::create(builder, kernel.getLoc(), constant(0));
  builder.setInsertionPointToStart(&as.getBody().emplaceBlock());
  for (auto op : consumer.getOps<FreeTensorsOp>())
    builder.clone(*op);
  WaitStoresOp::create(builder, kernel.getLoc());
}

/// The loops of the products' thread, with what is done here in the place of
/// its products.
void Corrector::buildRole(Region &role) {
  IRMapping mapping;
  products.cloneInto(&role, mapping);
  SmallVector<Operation *> others;
  role.walk([&](Operation *op) {
    if (isa<MmaTensorOp, MbarrierWaitOp, MbarrierArriveOp, CommitTensorsOp,
            FenceTensorsOp>(op))
      others.push_back(op);
  });
  for (Addition addition : additions)
    buildStep(cast<MbarrierWaitOp>(mapping.lookup(addition.wait)),
              addition.group);
  for (Operation *op : others)
    op->erase();
  buildZeros(role);
  buildOutputs(role);
  buildEnd(role);
  IRRewriter rewriter(builder.getContext());
  (void)runRegionDCE(rewriter, role);
}

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
  for (Addition addition : additions)
    waitForCorrection(addition);
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
  void keep(StringRef obstacle) {
    remarkMissed(getOperation(), getArgumentName(), "correction-kept",
                 "the warps of the softmax store the output", obstacle);
  }
};
} // namespace
