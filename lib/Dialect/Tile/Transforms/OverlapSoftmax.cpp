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

#include "ForwardStep.h"
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

class Overlapper {
public:
  /// `turns`: what warpgroups take turns at.
  Overlapper(RolesOp roles, std::vector<ForwardStep> steps, Turns turns)
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
    /// What `acc` is rescaled by when the product is added; null if it has
    /// been.
    Value decay;

    SmallVector<Value> values() const {
      SmallVector<Value> all = {acc, operand};
      llvm::append_range(all, rows);
      all.push_back(number);
      if (decay)
        all.push_back(decay);
      return all;
    }
    static State get(ValueRange values, bool hasDecay) {
      Value decay = hasDecay ? values.back() : Value();
      values = values.drop_back(hasDecay);
      return {values[0], values[1],
              SmallVector<Value>(values.drop_front(2).drop_back()),
              values.back(), decay};
    }
  };

  State buildFirstTile();
  SmallVector<Value> buildFirstScores(Value product, size_t from = 0);
  void clearFirstTile(ValueRange range, IRMapping &mapping);
  SmallVector<Value> lookupRange(ForwardStep &step, IRMapping &own);
  State buildLoop(ForwardStep &step, const State &init);
  State buildTile(ForwardStep &step, const State &before, IRMapping &mapping);
  Value startOutput(ForwardStep &step, const State &before, IRMapping &mapping);
  Value finishOutput(ForwardStep &step, const State &before, Value product,
                     IRMapping &started);
  void giveFirstTurn();
  void buildWeights(ForwardStep &step, IRMapping &mapping);
  void takeTurn(Turns at);
  void passTurn(Turns at);
  State finishTile(ForwardStep &step, Value acc, IRMapping &mapping);
  State buildState(ForwardStep &step, Value acc, IRMapping &mapping);
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
  /// Numbers that say which rows of a tile of values exist: none where all do,
  /// the end, or the end and the first one.
  size_t countRange() const {
    size_t count = 0;
    for (const ForwardStep &step : steps)
      if (ClearRowsOp clear = step.output.clear)
        count = std::max<size_t>(count, clear.getFirst() ? 2 : 1);
    return count;
  }
  Value firstNumber() { return steps[0].init(steps[0].number); }

  RolesOp roles;
  std::vector<ForwardStep> steps;
  Turns turns;
  OpBuilder builder;
};

} // namespace

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
void Overlapper::buildWeights(ForwardStep &step, IRMapping &mapping) {
  takeTurn(Turns::Softmax);
  clone(step.weights, mapping);
  passTurn(Turns::Softmax);
}

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

/// Starts the product of the tile before with V.
Value Overlapper::startOutput(ForwardStep &step, const State &before,
                              IRMapping &mapping) {
  Value number =
      arith::SubIOp::create(builder, loc(), before.number, constant(1));
  mapping.map(step.state(step.number), number);
  clone(step.scalars, mapping);
  clone(step.output.stage, mapping);
  mapping.map(step.output.mma.getA(), before.operand);
  if (Value acc = step.output.mma.getAcc())
    mapping.map(acc, before.acc);
  clone(step.output.mma, mapping);
  return mapping.lookup(step.output.mma.getResult());
}

/// Waits for that product, and gives its tile back; the accumulator with it.
Value Overlapper::finishOutput(ForwardStep &step, const State &before,
                               Value product, IRMapping &started) {
  Value acc = MmaWaitOp::create(builder, loc(), /*pending=*/0, product);
  clone(step.output.done, started);
  if (!step.promotion)
    return acc;
  IRMapping mapping;
  mapping.map(step.state(step.acc), before.acc);
  mapping.map(step.output.wait.getResult(), acc);
  if (before.decay)
    mapping.map(step.getLateDecay(), before.decay);
  return builder.clone(*step.promotion, mapping)->getResult(0);
}

static SmallVector<Value> lookupRows(ForwardStep &step, IRMapping &mapping) {
  return llvm::map_to_vector(
      step.rows, [&](unsigned i) { return mapping.lookup(step.yielded(i)); });
}

/// From the weights on: the operand, then the accumulator of the tile before.
Overlapper::State Overlapper::finishTile(ForwardStep &step, Value acc,
                                         IRMapping &mapping) {
  clone(step.operand, mapping);
  mapping.map(step.state(step.acc), acc);
  clone(step.rescale, mapping);
  if (!step.promotion)
    acc = mapping.lookup(step.output.mma.getAcc());
  return buildState(step, acc, mapping);
}

Overlapper::State Overlapper::buildState(ForwardStep &step, Value acc,
                                         IRMapping &mapping) {
  Value decay = step.getLateDecay();
  return {acc, mapping.lookup(step.output.mma.getA()),
          lookupRows(step, mapping), mapping.lookup(step.yielded(step.number)),
          decay ? mapping.lookupOrDefault(decay) : decay};
}

/// The order matters: both products are started before the first is waited for,
/// and the wait for V stands between the softmax and the wait for the second
/// product, since ptxas moves that wait up through arithmetic, but not through
/// a loop; and the sums before the wait for V, since it moves exponentials down
/// (docs/Rationale/Hopper.md).
Overlapper::State Overlapper::buildTile(ForwardStep &step, const State &before,
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
  if (step.output.clear)
    clone(step.output.clear, mapping);
  Value acc = finishOutput(step, before, output, previous);
  return finishTile(step, acc, mapping);
}

//===----------------------------------------------------------------------===//
// First tile, loops, last tile
//===----------------------------------------------------------------------===//

/// Which rows of a tile of values exist, in the loop that `own` is about.
SmallVector<Value> Overlapper::lookupRange(ForwardStep &step, IRMapping &own) {
  ClearRowsOp clear = step.output.clear;
  SmallVector<Value> range;
  if (countRange() > 0)
    range.push_back(
        clear ? own.lookupOrDefault(clear.getRows())
              : constant(step.output.stage.getTile().getType().getRows()));
  if (countRange() > 1)
    range.push_back(clear && clear.getFirst()
                        ? own.lookupOrDefault(clear.getFirst())
                        : constant(0));
  return range;
}

/// The scores of the first tile, and its place, as the loop does it that has a
/// first tile: the first of the loops that is not empty. Where rows may be
/// missing, which of its values exist, too.
SmallVector<Value> Overlapper::buildFirstScores(Value product, size_t from) {
  ForwardStep &step = steps[from];
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
    llvm::append_range(results, lookupRange(step, own));
    return results;
  };
  if (from + 1 == steps.size())
    return build();
  Value isHere =
      arith::CmpIOp::create(builder, loc(), arith::CmpIPredicate::slt, first(),
                            step.loop.getUpperBound());
  SmallVector<Type> types = {step.finalScores.getType()};
  llvm::append_range(types, ValueRange(step.places).getTypes());
  types.append(countRange(), builder.getIndexType());
  auto choice = scf::IfOp::create(builder, loc(), types, isHere,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc(), build());
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc(), buildFirstScores(product, from + 1));
  return SmallVector<Value>(choice.getResults());
}

/// Clears what does not exist of the first tile's values, of which there are
/// those of `range`.
void Overlapper::clearFirstTile(ValueRange range, IRMapping &mapping) {
  StageOp stage = steps[0].output.stage;
  Value tile =
      StageOp::create(builder, loc(), mapping.lookupOrDefault(stage.getRing()),
                      mapping.lookupOrDefault(stage.getIndex()));
  ClearRowsOp::create(builder, loc(), tile, range[0],
                      range.size() > 1 ? range[1] : Value());
}

/// Nothing to overlap with yet. The accumulator is 0 whatever it is scaled by.
Overlapper::State Overlapper::buildFirstTile() {
  ForwardStep &step = steps[0];
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
  mapping.map(step.places, ArrayRef(scores).slice(1, step.places.size()));
  buildWeights(step, mapping);
  clone(step.output.full, mapping);
  if (size_t count = countRange())
    clearFirstTile(ArrayRef(scores).take_back(count), mapping);
  clone(step.operand, mapping);
  return buildState(step, step.init(step.acc), mapping);
}

/// The step's tiles but the first of all.
Overlapper::State Overlapper::buildLoop(ForwardStep &step, const State &init) {
  scf::ForOp old = step.loop;
  Value second = arith::AddIOp::create(builder, loc(), first(), old.getStep());
  Value start =
      arith::MaxSIOp::create(builder, loc(), old.getLowerBound(), second);
  auto loop =
      scf::ForOp::create(builder, old.getLoc(), start, old.getUpperBound(),
                         old.getStep(), init.values());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  State before = State::get(loop.getRegionIterArgs(), init.decay != nullptr);
  IRMapping mapping;
  mapping.map(old.getInductionVar(), loop.getInductionVar());
  for (auto [i, row] : llvm::zip_equal(step.rows, before.rows))
    mapping.map(step.state(i), row);
  mapping.map(step.state(step.number), before.number);
  State after = buildTile(step, before, mapping);
  scf::YieldOp::create(builder, loc(), after.values());
  return State::get(loop.getResults(), init.decay != nullptr);
}

Value Overlapper::buildLastOutput(const State &last) {
  ForwardStep &step = steps.back();
  IRMapping mapping;
  mapping.map(step.loop.getInductionVar(), first());
  Value output = startOutput(step, last, mapping);
  return finishOutput(step, last, output, mapping);
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
  for (ForwardStep &step : steps)
    state = buildLoop(step, state);
  SmallVector<Value> ends(inits.size());
  ForwardStep &step = steps.back();
  ends[step.acc] = buildLastOutput(state);
  for (auto [i, row] : llvm::zip_equal(step.rows, state.rows))
    ends[i] = row;
  ends[step.number] = state.number;
  scf::YieldOp::create(builder, loc(), ends);
  last.replaceAllUsesWith(whole.getResults());
  for (ForwardStep &step : llvm::reverse(steps))
    step.loop.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Products of tensor memory, and those of mma.sync, complete in their loop
/// step.
static bool completesInStep(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<AllocTensorsOp, MmaOp>(op) ? WalkResult::interrupt()
                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct OverlapSoftmaxPass
    : public attn::tile::impl::OverlapSoftmaxPassBase<OverlapSoftmaxPass> {
  using OverlapSoftmaxPassBase::OverlapSoftmaxPassBase;

  void runOnOperation() override {
    FailureOr<Turns> turns = getTurns();
    if (failed(turns))
      return signalPassFailure();
    if (!getOperation().getForward() || completesInStep(getOperation()))
      return;
    getOperation().walk([&](RolesOp roles) {
      std::vector<ForwardStep> steps;
      for (auto loop : getTileBlock(roles.getConsumer()).getOps<scf::ForOp>()) {
        FailureOr<ForwardStep> step = ForwardStep::match(loop);
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
