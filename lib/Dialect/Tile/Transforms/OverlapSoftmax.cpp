//===- OverlapSoftmax.cpp - Softmax beside the products -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-overlap-softmax: a software pipeline over the key
// tiles, in which the scores of a tile are started before, and its weights are
// computed beside, the product with V of the tile before it (FlashAttention-3,
// section 3.2). The parts of a step are told apart by what they depend on.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "KeyStream.h"
#include "attn/Schedule/Schedule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attn::tile {
#define GEN_PASS_DEF_OVERLAPSOFTMAXPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn;
using namespace attn::tile;

namespace {

/// A product of a step: wait for the tile, multiply, wait, give the tile back.
struct Product {
  MbarrierWaitOp full;
  StageOp stage;
  MmaAsyncOp mma;
  MmaWaitOp wait;
  MbarrierArriveOp done;

  static std::optional<Product> match(MmaAsyncOp mma);
  bool contains(Operation *op) {
    return op == full || op == stage || op == mma || op == wait || op == done;
  }
};

/// The ops of a key loop's body, by what they are for.
struct Step {
  scf::ForOp loop;
  Product scores, output;
  SmallVector<Operation *> scalars; ///< stages, coordinates
  SmallVector<Operation *> mods;    ///< masks: from the product to the scores
  SmallVector<Operation *> weights; ///< from the scores to row values and P
  SmallVector<Operation *> rescale; ///< what changes the accumulator
  SmallVector<Operation *> operand; ///< P as an operand
  Value finalScores;                ///< what the weights are made of
  SmallVector<Value> places;        ///< scalars of the loop that it reads, too

  static FailureOr<Step> match(scf::ForOp loop);

  // Places in the loop's state: the accumulator is what the product with V
  // gives, the tile's number is no fragment, the others are row values.
  unsigned acc, number;
  SmallVector<unsigned> rows;
  Value state(unsigned i) { return loop.getRegionIterArg(i); }
  Value init(unsigned i) { return loop.getInitArgs()[i]; }
  Value yielded(unsigned i) {
    return loop.getBody()->getTerminator()->getOperand(i);
  }

private:
  LogicalResult findState();
  LogicalResult classify(Operation &op, bool &isWeight);
  void findPlaces();
};

class Overlapper {
public:
  /// `turns`: what warpgroups take turns at.
  Overlapper(RolesOp roles, std::vector<Step> steps, Turns turns)
      : roles(roles), steps(std::move(steps)), turns(turns),
        builder(this->steps[0].loop) {}

  void run();

private:
  /// What a tile leaves to the next one.
  struct State {
    Value acc;     ///< before the product of this tile
    Value operand; ///< P of this tile
    SmallVector<Value> rows;
    Value number; ///< of the next tile

    SmallVector<Value> values() const {
      SmallVector<Value> all = {acc, operand};
      llvm::append_range(all, rows);
      all.push_back(number);
      return all;
    }
    static State get(ValueRange values) {
      return {values[0], values[1],
              SmallVector<Value>(values.drop_front(2).drop_back()),
              values.back()};
    }
  };

  State buildFirstTile();
  SmallVector<Value> buildFirstScores(Value product, size_t from = 0);
  State buildLoop(Step &step, const State &init);
  State buildTile(Step &step, const State &before, IRMapping &mapping);
  Value startOutput(Step &step, const State &before, IRMapping &mapping);
  void giveFirstTurn();
  void buildWeights(Step &step, IRMapping &mapping);
  void takeTurn(Turns at);
  void passTurn(Turns at);
  State finishTile(Step &step, Value acc, IRMapping &mapping);
  Value buildLastOutput(const State &last);

  void clone(Operation *op, IRMapping &mapping) { builder.clone(*op, mapping); }
  void clone(ArrayRef<Operation *> ops, IRMapping &mapping) {
    for (Operation *op : ops)
      builder.clone(*op, mapping);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc(), value);
  }
  Location loc() { return steps[0].loop.getLoc(); }
  Value first() { return steps[0].loop.getLowerBound(); }
  Value firstNumber() { return steps[0].init(steps[0].number); }

  RolesOp roles;
  std::vector<Step> steps;
  Turns turns;
  OpBuilder builder;
};

} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

std::optional<Product> Product::match(MmaAsyncOp mma) {
  Product product;
  product.mma = mma;
  product.stage = mma.getB().getDefiningOp<StageOp>();
  if (!mma.getResult().hasOneUse() || !product.stage)
    return std::nullopt;
  product.wait = dyn_cast<MmaWaitOp>(*mma.getResult().user_begin());
  for (Operation *op = mma; op && !product.full; op = op->getPrevNode())
    product.full = dyn_cast<MbarrierWaitOp>(op);
  for (Operation *op = mma; op && !product.done; op = op->getNextNode())
    product.done = dyn_cast<MbarrierArriveOp>(op);
  if (!product.wait || !product.full || !product.done)
    return std::nullopt;
  return product;
}

static bool hasFragment(Operation *op) {
  auto isFragment = [](Type type) { return isa<FragmentType>(type); };
  return llvm::any_of(op->getOperandTypes(), isFragment) ||
         llvm::any_of(op->getResultTypes(), isFragment);
}

/// Finds what each part of the loop's state is; an error if there is not one
/// accumulator and one number.
LogicalResult Step::findState() {
  unsigned accs = 0, numbers = 0;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    auto fragment = dyn_cast<FragmentType>(state(i).getType());
    if (!fragment)
      number = i, ++numbers;
    else if (yielded(i) == output.wait.getResult())
      acc = i, ++accs;
    else if (fragment.isRow())
      rows.push_back(i);
    else
      return failure();
  }
  return success(accs == 1 && numbers == 1);
}

/// Puts `op` into the list it belongs to; `isWeight` turns true at the first
/// reduction.
LogicalResult Step::classify(Operation &op, bool &isWeight) {
  if (scores.contains(&op) || output.contains(&op))
    return success();
  if (!hasFragment(&op)) {
    scalars.push_back(&op);
    return success(isMemoryEffectFree(&op));
  }
  auto isAcc = [&](Value value) {
    return value == state(acc) ||
           llvm::is_contained(rescale, value.getDefiningOp());
  };
  // The change may be in a branch.
  bool changesAcc = op.walk([&](Operation *inner) {
                        return llvm::any_of(inner->getOperands(), isAcc)
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      }).wasInterrupted();
  if (auto reduce = dyn_cast<RowReduceOp>(op); reduce && !isWeight) {
    isWeight = true;
    finalScores = reduce.getSource();
  }
  if (changesAcc)
    rescale.push_back(&op);
  else if (output.mma.getA() == op.getResult(0))
    operand.push_back(&op);
  else
    (isWeight ? weights : mods).push_back(&op);
  return success();
}

/// What dropout keeps depends on where the keys are.
void Step::findPlaces() {
  for (Operation *op : weights)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand == loop.getInductionVar() ||
            llvm::is_contained(scalars, operand.getDefiningOp()))
          places.push_back(operand);
    });
}

FailureOr<Step> Step::match(scf::ForOp loop) {
  Step step;
  step.loop = loop;
  unsigned products = 0;
  for (MmaAsyncOp mma : loop.getOps<MmaAsyncOp>()) {
    std::optional<Product> product = Product::match(mma);
    if (!product)
      return failure();
    (mma.getAcc() ? step.output : step.scores) = *product;
    ++products;
  }
  if (products != 2 || !step.scores.mma || !step.output.mma)
    return failure();
  if (failed(step.findState()))
    return failure();
  bool isWeight = false;
  for (Operation &op : loop.getBody()->without_terminator())
    if (failed(step.classify(op, isWeight)))
      return failure();
  // Without a reduction scores become weights where they become an operand.
  if (!isWeight && step.operand.size() == 1)
    step.finalScores = step.operand.front()->getOperand(0);
  if (!step.finalScores)
    return failure();
  step.findPlaces();
  return step;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

void Overlapper::takeTurn(Turns at) {
  if (turns == at)
    TakeTurnOp::create(builder, loc(), roles.getWarpgroup());
}

void Overlapper::passTurn(Turns at) {
  if (turns == at)
    PassTurnOp::create(builder, loc(), roles.getWarpgroup());
}

/// At the start of the kernel the last warpgroup passes the turn to warpgroup
/// 0; from then on it goes round.
void Overlapper::giveFirstTurn() {
  if (turns == Turns::None)
    return;
  OpBuilder::InsertionGuard start(builder);
  builder.setInsertionPointToStart(&roles.getConsumer().front());
  int64_t warpgroups = roles->getParentOfType<KernelOp>().getWarps() / 4;
  Value isLast =
      arith::CmpIOp::create(builder, loc(), arith::CmpIPredicate::eq,
                            roles.getWarpgroup(), constant(warpgroups - 1));
  auto guarded = scf::IfOp::create(builder, loc(), isLast);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  passTurn(turns);
}

/// From the scores to the row values and P.
void Overlapper::buildWeights(Step &step, IRMapping &mapping) {
  takeTurn(Turns::Softmax);
  clone(step.weights, mapping);
  passTurn(Turns::Softmax);
}

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

/// Starts the product of the tile before with V.
Value Overlapper::startOutput(Step &step, const State &before,
                              IRMapping &mapping) {
  Value number =
      arith::SubIOp::create(builder, loc(), before.number, constant(1));
  mapping.map(step.state(step.number), number);
  clone(step.scalars, mapping);
  clone(step.output.stage, mapping);
  mapping.map(step.output.mma.getA(), before.operand);
  mapping.map(step.output.mma.getAcc(), before.acc);
  clone(step.output.mma, mapping);
  return mapping.lookup(step.output.mma.getResult());
}

static SmallVector<Value> lookupRows(Step &step, IRMapping &mapping) {
  return llvm::map_to_vector(
      step.rows, [&](unsigned i) { return mapping.lookup(step.yielded(i)); });
}

/// From the weights on: the operand, then the accumulator of the tile before.
Overlapper::State Overlapper::finishTile(Step &step, Value acc,
                                         IRMapping &mapping) {
  clone(step.operand, mapping);
  mapping.map(step.state(step.acc), acc);
  clone(step.rescale, mapping);
  return {mapping.lookup(step.output.mma.getAcc()),
          mapping.lookup(step.output.mma.getA()), lookupRows(step, mapping),
          mapping.lookup(step.yielded(step.number))};
}

/// The order matters: both products are started before the first is waited for,
/// and the wait for V stands between the softmax and the wait for the second
/// product, since ptxas moves that wait up through arithmetic, but not through
/// a loop; and the sums before the wait for V, since it moves exponentials down
/// (docs/Rationale/Hopper.md).
Overlapper::State Overlapper::buildTile(Step &step, const State &before,
                                        IRMapping &mapping) {
  clone(step.scalars, mapping);
  clone(step.scores.full, mapping);
  clone(step.scores.stage, mapping);
  takeTurn(Turns::Products);
  clone(step.scores.mma, mapping);
  IRMapping previous;
  previous.map(step.loop.getInductionVar(),
               mapping.lookup(step.loop.getInductionVar()));
  Value output = startOutput(step, before, previous);
  passTurn(Turns::Products);
  Value scores = MmaWaitOp::create(builder, loc(), /*pending=*/1,
                                   mapping.lookup(step.scores.mma.getResult()));
  mapping.map(step.scores.wait.getResult(), scores);
  clone(step.scores.done, mapping);
  clone(step.mods, mapping);
  buildWeights(step, mapping);
  auto full = cast<MbarrierWaitOp>(builder.clone(*step.output.full, mapping));
  full.getAfterMutable().assign(mapping.lookup(
      step.rows.empty() ? step.finalScores : step.yielded(step.rows.back())));
  Value acc = MmaWaitOp::create(builder, loc(), /*pending=*/0, output);
  clone(step.output.done, previous);
  return finishTile(step, acc, mapping);
}

//===----------------------------------------------------------------------===//
// First tile, loops, last tile
//===----------------------------------------------------------------------===//

/// The scores of the first tile, and its place, as the loop does it that has a
/// first tile: the first of the loops that is not empty.
SmallVector<Value> Overlapper::buildFirstScores(Value product, size_t from) {
  Step &step = steps[from];
  auto build = [&]() {
    IRMapping own;
    own.map(step.loop.getInductionVar(), first());
    own.map(step.state(step.number), firstNumber());
    own.map(step.scores.wait.getResult(), product);
    clone(step.scalars, own);
    clone(step.mods, own);
    SmallVector<Value> results = {own.lookupOrDefault(step.finalScores)};
    for (Value place : step.places)
      results.push_back(own.lookup(place));
    return results;
  };
  if (from + 1 == steps.size())
    return build();
  Value isHere =
      arith::CmpIOp::create(builder, loc(), arith::CmpIPredicate::slt, first(),
                            step.loop.getUpperBound());
  SmallVector<Type> types = {product.getType()};
  llvm::append_range(types, ValueRange(step.places).getTypes());
  auto choice = scf::IfOp::create(builder, loc(), types, isHere,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc(), build());
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc(), buildFirstScores(product, from + 1));
  return SmallVector<Value>(choice.getResults());
}

/// Nothing to overlap with yet. The accumulator is 0 whatever it is scaled by.
Overlapper::State Overlapper::buildFirstTile() {
  Step &step = steps[0];
  IRMapping mapping;
  mapping.map(step.loop.getInductionVar(), first());
  mapping.map(step.state(step.number), firstNumber());
  for (unsigned i : step.rows)
    mapping.map(step.state(i), step.init(i));
  clone(step.scalars, mapping);
  clone(step.scores.full, mapping);
  clone(step.scores.stage, mapping);
  takeTurn(Turns::Products);
  clone(step.scores.mma, mapping);
  passTurn(Turns::Products);
  clone(step.scores.wait, mapping);
  clone(step.scores.done, mapping);
  Value product = mapping.lookup(step.scores.wait.getResult());
  SmallVector<Value> scores = buildFirstScores(product);
  mapping.map(step.finalScores, scores.front());
  mapping.map(step.places, ArrayRef(scores).drop_front());
  buildWeights(step, mapping);
  clone(step.output.full, mapping);
  clone(step.operand, mapping);
  return {step.init(step.acc), mapping.lookup(step.output.mma.getA()),
          lookupRows(step, mapping), mapping.lookup(step.yielded(step.number))};
}

/// The step's tiles but the first of all.
Overlapper::State Overlapper::buildLoop(Step &step, const State &init) {
  scf::ForOp old = step.loop;
  Value second = arith::AddIOp::create(builder, loc(), first(), old.getStep());
  Value start =
      arith::MaxSIOp::create(builder, loc(), old.getLowerBound(), second);
  auto loop =
      scf::ForOp::create(builder, old.getLoc(), start, old.getUpperBound(),
                         old.getStep(), init.values());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  State before = State::get(loop.getRegionIterArgs());
  IRMapping mapping;
  mapping.map(old.getInductionVar(), loop.getInductionVar());
  for (auto [i, row] : llvm::zip_equal(step.rows, before.rows))
    mapping.map(step.state(i), row);
  mapping.map(step.state(step.number), before.number);
  State after = buildTile(step, before, mapping);
  scf::YieldOp::create(builder, loc(), after.values());
  return State::get(loop.getResults());
}

Value Overlapper::buildLastOutput(const State &last) {
  Step &step = steps.back();
  IRMapping mapping;
  mapping.map(step.loop.getInductionVar(), first());
  Value output = startOutput(step, last, mapping);
  Value acc = MmaWaitOp::create(builder, loc(), /*pending=*/0, output);
  clone(step.output.done, mapping);
  return acc;
}

void Overlapper::run() {
  scf::ForOp last = steps.back().loop;
  SmallVector<Value> inits(steps[0].loop.getInitArgs());
  Value any = arith::CmpIOp::create(builder, loc(), arith::CmpIPredicate::slt,
                                    first(), last.getUpperBound());
  auto whole = scf::IfOp::create(builder, loc(), TypeRange(ValueRange(inits)),
                                 any, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(whole.elseBlock());
  scf::YieldOp::create(builder, loc(), inits);
  builder.setInsertionPointToStart(whole.thenBlock());
  giveFirstTurn();
  State state = buildFirstTile();
  for (Step &step : steps)
    state = buildLoop(step, state);
  SmallVector<Value> ends(inits.size());
  Step &step = steps.back();
  ends[step.acc] = buildLastOutput(state);
  for (auto [i, row] : llvm::zip_equal(step.rows, state.rows))
    ends[i] = row;
  ends[step.number] = state.number;
  scf::YieldOp::create(builder, loc(), ends);
  last.replaceAllUsesWith(whole.getResults());
  for (Step &step : llvm::reverse(steps))
    step.loop.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct OverlapSoftmaxPass
    : public attn::tile::impl::OverlapSoftmaxPassBase<OverlapSoftmaxPass> {
  using OverlapSoftmaxPassBase::OverlapSoftmaxPassBase;

  void runOnOperation() override {
    FailureOr<Turns> turns = getTurns();
    if (failed(turns))
      return signalPassFailure();
    if (!getOperation().getForward())
      return;
    getOperation().walk([&](RolesOp roles) {
      std::vector<Step> steps;
      for (auto loop : getTileBlock(roles.getConsumer()).getOps<scf::ForOp>()) {
        FailureOr<Step> step = Step::match(loop);
        if (failed(step))
          return remarkSerial(loop, "a loop of steps of online attention");
        steps.push_back(*step);
        if (steps[0].places.size() != step->places.size())
          return remarkSerial(loop, "loops with one softmax");
      }
      if (steps.empty())
        return;
      // V of a tile is waited for while that of the tile before is in use.
      auto ring = steps[0].output.stage.getRing().getType();
      if (ring.getStages() < 2)
        return remarkSerial(steps[0].loop, "two stages");
      Overlapper(roles, std::move(steps), *turns).run();
      ++numKernels;
    });
  }

private:
  static void remarkSerial(scf::ForOp loop, StringRef expected) {
    loop.emitRemark() << "softmax does not overlap products: expected "
                      << expected;
  }

  /// One warpgroup has no other to wait for.
  FailureOr<Turns> getTurns() {
    Schedule schedule = getScheduleOf(getOperation());
    if (!turns.empty())
      if (Status status = setScheduleField(schedule, "turns", turns); !status)
        return getOperation().emitOpError() << status.error();
    return getOperation().getWarps() > 4 ? schedule.turns : Turns::None;
  }
};
} // namespace
