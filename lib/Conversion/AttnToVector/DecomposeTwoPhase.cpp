//===- DecomposeTwoPhase.cpp - The small-cache schedule on a CPU *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row tile keeps the scores of all its keys. Phase 1, for each key tile: S =
// Q K^T over slices of tile_d columns, the changes of the step, the row values.
// Then the weights, normalised: P = exp(S - max) / sum of a softmax. Phase 2,
// for each slice of tile_dv columns: O = P V over the key tiles.
//
//===----------------------------------------------------------------------===//

#include "DecomposeTwoPhase.h"

#include "RowEmitter.h"
#include "VectorMath.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"
#include "attn/Dialect/Attn/Utils/KeyLoops.h"
#include "attn/Dialect/Attn/Utils/SinkBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

using Values = SmallVector<Value>;

namespace {

/// What the phases of a row tile share.
struct RowTileBuffers {
  Value scores;   ///< memref<rows x keys>: S, then P
  Values values;  ///< memref<rows> of each row value
  Value firstKey; ///< of the first column of `scores`

  Values load(OpBuilder &b, Location loc, Value row) const {
    return llvm::map_to_vector(values, [&](Value buffer) -> Value {
      return memref::LoadOp::create(b, loc, buffer, row);
    });
  }
  void store(OpBuilder &b, Location loc, ValueRange ofRow, Value row) const {
    for (auto [value, buffer] : llvm::zip_equal(ofRow, values))
      memref::StoreOp::create(b, loc, value, buffer, row);
  }
};

/// Emits one key tile of a phase, at a copy of its step.
class KeyTileEmitter : public RowEmitter {
public:
  KeyTileEmitter(OnlineAttentionOp step, TileBuffers &buffers,
                 const RowTileBuffers &rowTile)
      : RowEmitter(step, buffers, step), step(step), rowTile(rowTile),
        schedule(*step.getSchedule()) {
    column =
        arith::SubIOp::create(b, step.getOffsets()[kLoopN], rowTile.firstKey);
  }

  /// Phase 1.
  void emitScores();
  /// P of the tile's columns.
  void emitProbabilities();
  /// Phase 2: output += P V for `count` columns of V from `first` on.
  void emitOutput(Value output, Value first, int64_t count);

private:
  void emitSlice(Value first, int64_t count);
  Value emitWeights(Columns keys) override;
  ScoreRow getRow(Value row) { return {rowTile.scores, row, column, row}; }
  /// Adds lhs [rows, from `lhsColumn`] * rhs [count, columns] to `sums`, of
  /// which columns start at `sumColumn`.
  void addProduct(Value lhs, Value lhsColumn, Value rhs, int64_t count,
                  Value sums, Value sumColumn, int64_t columns);
  void forRows(int64_t step, llvm::function_ref<void(Value)> body);
  Value plus(Value x, int64_t y) { return add(x, y); }

  OnlineAttentionOp step;
  const RowTileBuffers &rowTile;
  ScheduleAttr schedule;
  Value column; ///< of the tile's first key in the scores
};

} // namespace

//===----------------------------------------------------------------------===//
// A key tile
//===----------------------------------------------------------------------===//

void KeyTileEmitter::forRows(int64_t step,
                             llvm::function_ref<void(Value)> body) {
  int64_t end = dims.queryRows / step * step;
  auto loop = createFor(b, end, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void KeyTileEmitter::addProduct(Value lhs, Value lhsColumn, Value rhs,
                                int64_t count, Value sums, Value sumColumn,
                                int64_t columns) {
  auto emitBlock = [&](RowBlock rows) {
    forColumns(columns, [&](Columns part) {
      Value at = add(sumColumn, part.begin);
      Values init;
      for (int64_t i = 0; i < rows.count; ++i)
        init.push_back(
            vector::LoadOp::create(b, vectorOf(part.width), sums,
                                   ValueRange{plus(rows.first, i), at}));
      Values results = emitMultiplyAdds(
          count, init,
          [&](Value k) -> Value {
            return vector::LoadOp::create(b, vectorOf(part.width), rhs,
                                          ValueRange{k, part.begin});
          },
          [&](int64_t i, Value k) -> Value {
            Value from = arith::AddIOp::create(b, lhsColumn, k);
            return memref::LoadOp::create(
                b, lhs, ValueRange{plus(rows.first, i), from});
          });
      for (auto [i, result] : llvm::enumerate(results))
        vector::StoreOp::create(
            b, result, sums,
            ValueRange{plus(rows.first, static_cast<int64_t>(i)), at});
    });
  };
  forRows(kBlockRows, [&](Value row) { emitBlock({row, kBlockRows}); });
  if (int64_t rest = dims.queryRows % kBlockRows)
    emitBlock({index(dims.queryRows - rest), rest});
}

/// S += Q K^T for `count` columns of both.
void KeyTileEmitter::emitSlice(Value first, int64_t count) {
  Value query = buffers.packColumns(b, step.getQuery(), scoreType, first, count,
                                    step.getScaleValue());
  Value key =
      buffers.packTransposedColumns(b, step.getKey(), scoreType, first, count);
  addProduct(query, index(0), key, count, rowTile.scores, column, dims.keyRows);
}

/// Exponentials are made again once the maximum is known; what the mods make of
/// the scores is kept.
Value KeyTileEmitter::emitWeights(Columns keys) {
  Value part = RowEmitter::emitWeights(keys);
  if (!shift)
    storeScores(part, keys);
  return part;
}

/// A loop over whole slices of `total` columns, and what is left.
static void forSlices(ImplicitLocOpBuilder &b, int64_t total, int64_t slice,
                      llvm::function_ref<void(Value, int64_t)> body) {
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, number);
  };
  int64_t whole = total / slice * slice;
  if (whole > 0) {
    auto loop = createFor(b, whole, slice);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), slice);
  }
  if (total > whole)
    body(index(whole), total - whole);
}

void KeyTileEmitter::emitScores() {
  forRows(1, [&](Value row) {
    forColumns(dims.keyRows, [&](Columns keys) {
      Value zeros = createSplat(b, vectorOf(keys.width), 0.0);
      vector::StoreOp::create(b, zeros, rowTile.scores,
                              ValueRange{row, add(column, keys.begin)});
    });
  });
  forSlices(b, dims.headDim, schedule.getValues().tileD,
            [&](Value first, int64_t count) { emitSlice(first, count); });
  forRows(1, [&](Value row) {
    Values before = rowTile.load(b, b.getLoc(), row);
    rowTile.store(b, b.getLoc(), emitRowStep(getRow(row), before), row);
  });
}

void KeyTileEmitter::emitProbabilities() {
  forRows(1, [&](Value at) {
    row = getRow(at);
    Values values = {Value()};
    llvm::append_range(values, rowTile.load(b, b.getLoc(), at));
    RunningState state(reduction, values);
    Value max = state.get(RowRole::Maximum);
    shift = max ? emitShift(max) : Value();
    Value inverse = createInverse(
        b, reduction.buildDivisor(b, b.getLoc(), state.getRows()), 1);
    forColumns(dims.keyRows, [&](Columns keys) {
      Value part = loadScores(keys);
      if (shift)
        part = emitExponential(part, keys);
      if (inverse)
        part = arith::MulFOp::create(b, part, broadcast(inverse, keys.width));
      part = emitDropout(part, at, keys, dropout ? dropout->getScale() : 1);
      storeScores(part, keys);
    });
  });
}

void KeyTileEmitter::emitOutput(Value output, Value first, int64_t count) {
  Value value = buffers.packColumns(b, step.getValue(), scoreType, first, count,
                                    /*scale=*/1.0);
  addProduct(rowTile.scores, column, value, dims.keyRows, output, index(0),
             count);
}

//===----------------------------------------------------------------------===//
// A row tile
//===----------------------------------------------------------------------===//

namespace {
/// Emits both phases of a row tile before its attn.normalize.
class RowTileEmitter : TileEmitter {
public:
  RowTileEmitter(NormalizeOp normalize, const KeyLoops &keys,
                 TileBuffers &buffers)
      : TileEmitter(getStep(keys.loops.front()), buffers, normalize),
        normalize(normalize), keys(keys),
        schedule(*getStep(keys.loops.front()).getSchedule()) {}

  /// The results of the attn.normalize.
  Values emit();

private:
  void createBuffers();
  void emitSink();
  void forKeyTiles(llvm::function_ref<void(KeyTileEmitter &)> body);
  Value emitSlice(Value result, Value first, int64_t count);
  Value emitOutput();
  Value emitLse();

  NormalizeOp normalize;
  KeyLoops keys;
  ScheduleAttr schedule;
  RowTileBuffers rowTile;
};
} // namespace

/// The scores of all keys that the loops visit, in whole tiles.
void RowTileEmitter::createBuffers() {
  rowTile.firstKey = keys.loops.front().getLowerBound();
  Value end = keys.loops.back().getUpperBound();
  Value tile = index(dims.keyRows);
  Value visited = arith::SubIOp::create(b, end, rowTile.firstKey);
  Value padded = arith::AddIOp::create(b, visited, index(dims.keyRows - 1));
  Value columns =
      arith::MulIOp::create(b, arith::DivUIOp::create(b, padded, tile), tile);
  auto type =
      MemRefType::get({dims.queryRows, ShapedType::kDynamic}, scoreType);
  rowTile.scores = memref::AllocOp::create(b, type, ValueRange{columns},
                                           b.getI64IntegerAttr(64));
  Values neutral;
  for (const RowValue &kind : normalize.getNormalization().getRowValues()) {
    rowTile.values.push_back(
        buffers.createBuffer(b, {dims.queryRows}, scoreType));
    neutral.push_back(createSplat(b, scoreType, kind.neutral));
  }
  auto loop = createFor(b, dims.queryRows, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  rowTile.store(b, b.getLoc(), neutral, loop.getInductionVar());
}

/// Takes the sink into the maxima and sums.
void RowTileEmitter::emitSink() {
  auto loop = createFor(b, dims.queryRows, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  Values before = rowTile.load(b, b.getLoc(), row);
  RowState state =
      buildSink(b, b.getLoc(), before[0], before[1], readSink(b, normalize));
  rowTile.store(b, b.getLoc(), {state.max, state.sum}, row);
}

/// Copies of the key loops, without state, around what `body` emits.
void RowTileEmitter::forKeyTiles(
    llvm::function_ref<void(KeyTileEmitter &)> body) {
  for (scf::ForOp loop : keys.loops) {
    auto copy = scf::ForOp::create(b, loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(copy.getBody());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    mapping.map(loop.getRegionIterArgs(), keys.init);
    for (Operation &op : loop.getBody()->without_terminator())
      b.clone(op, mapping);
    OnlineAttentionOp tileStep = getStep(copy);
    KeyTileEmitter emitter(tileStep, buffers, rowTile);
    body(emitter);
    tileStep.erase();
  }
}

/// Phase 2 for `count` columns from `first` on, inserted into `result`.
Value RowTileEmitter::emitSlice(Value result, Value first, int64_t count) {
  Value output = buffers.createBuffer(b, {dims.queryRows, count}, scoreType);
  auto fill = createFor(b, dims.queryRows, 1);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(fill.getBody());
    forColumns(count, [&](Columns part) {
      vector::StoreOp::create(b, createSplat(b, vectorOf(part.width), 0.0),
                              output,
                              ValueRange{fill.getInductionVar(), part.begin});
    });
  }
  forKeyTiles(
      [&](KeyTileEmitter &tile) { tile.emitOutput(output, first, count); });
  auto rows = createFor(b, dims.queryRows, 1, result);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  Value zero = index(0), row = rows.getInductionVar();
  Type element = getElementTypeOrSelf(result.getType());
  auto emitColumns = [&](Columns part, ValueRange written) -> Values {
    Value sums = vector::LoadOp::create(b, vectorOf(part.width), output,
                                        ValueRange{row, part.begin});
    if (normalize.getDescale())
      sums = arith::MulFOp::create(
          b, sums,
          vector::BroadcastOp::create(b, sums.getType(),
                                      readDescale(b, normalize)));
    if (element != scoreType)
      sums = arith::TruncFOp::create(b, VectorType::get({part.width}, element),
                                     sums);
    return {buffers.writeRow(b, sums, written.front(),
                             {zero, zero, row, add(first, part.begin)})};
  };
  scf::YieldOp::create(
      b, attn::forColumns(b, count, rows.getRegionIterArgs(), emitColumns));
  return rows.getResult(0);
}

Value RowTileEmitter::emitOutput() {
  auto type = cast<RankedTensorType>(normalize.getOutput().getType());
  Value result =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  int64_t total = dims.valueDim, slice = schedule.getValues().tileDv;
  int64_t whole = total / slice * slice;
  if (whole > 0) {
    auto loop = createFor(b, whole, slice, result);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value written = emitSlice(loop.getRegionIterArgs().front(),
                              loop.getInductionVar(), slice);
    scf::YieldOp::create(b, written);
    result = loop.getResult(0);
  }
  return total > whole ? emitSlice(result, index(whole), total - whole)
                       : result;
}

/// max + log(sum), -inf where no key is visible.
Value RowTileEmitter::emitLse() {
  auto type = cast<RankedTensorType>(normalize.getLse().getType());
  Value init = tensor::EmptyOp::create(b, type.getShape(), scoreType);
  auto rows = createFor(b, dims.queryRows, 1, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  Value zero = index(0), row = rows.getInductionVar();
  Value lse = createLse(b, rowTile.load(b, b.getLoc(), row));
  Value written = tensor::InsertOp::create(
      b, lse, rows.getRegionIterArgs().front(), ValueRange{zero, zero, row});
  scf::YieldOp::create(b, written);
  return rows.getResult(0);
}

Values RowTileEmitter::emit() {
  createBuffers();
  forKeyTiles([](KeyTileEmitter &tile) { tile.emitScores(); });
  if (normalize.getSink())
    emitSink();
  forKeyTiles([](KeyTileEmitter &tile) { tile.emitProbabilities(); });
  Values results = {emitOutput()};
  if (normalize.getLse())
    results.push_back(emitLse());
  return results;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static bool isSmallCache(const KeyLoops &keys) {
  if (keys.loops.empty())
    return false;
  OnlineAttentionOp step = getStep(keys.loops.front());
  return step && step.getSchedule() &&
         step.getSchedule()->getValues().kind == ScheduleKind::SmallCache;
}

int64_t attn::decomposeTwoPhase(SmallVectorImpl<Operation *> &ops,
                                TileBuffers &buffers) {
  int64_t numSteps = 0;
  SmallVector<Operation *> ends(ops.begin(), ops.end());
  for (Operation *op : ends) {
    auto normalize = dyn_cast<NormalizeOp>(op);
    if (!normalize)
      continue;
    KeyLoops keys = getKeyLoops(normalize);
    if (!isSmallCache(keys))
      continue;
    normalize->replaceAllUsesWith(
        RowTileEmitter(normalize, keys, buffers).emit());
    llvm::erase(ops, op);
    normalize.erase();
    for (scf::ForOp loop : llvm::reverse(keys.loops)) {
      llvm::erase(ops, getStep(loop).getOperation());
      loop.erase();
      ++numSteps;
    }
  }
  return numSteps;
}
