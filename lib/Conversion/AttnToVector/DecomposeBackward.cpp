//===- DecomposeBackward.cpp - Backward tiles as vector code ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-decompose-backward. Of a tile, P and dS are whole buffers:
// both gradients of keys read their columns.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"
#include "VectorMath.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"
#include "attn/Dialect/Attn/Utils/DequantizeBackward.h"
#include "attn/Dialect/Attn/Utils/GradientBuilder.h"
#include "attn/Dialect/Attn/Utils/ScatterBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

namespace attn {
#define GEN_PASS_DEF_DECOMPOSEBACKWARDPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// backward_step
//===----------------------------------------------------------------------===//

namespace {
/// Emits the code of one attn.backward_step on static tiles.
class BackwardEmitter : TileEmitter {
public:
  BackwardEmitter(BackwardStepOp step, TileBuffers &buffers)
      : TileEmitter(step, buffers, step), step(step) {}

  /// The gradients after the step, in the order of the op's results.
  Values emit();

private:
  /// One of the products with P or dS.
  struct Product {
    /// [m, n], read by columns if the rows of the result are keys.
    Value weights;
    bool isTransposed;
    /// One row for each of the weights that are summed.
    Value rows;
    int64_t sumLength;
  };

  void forBlocks(int64_t count, llvm::function_ref<void(RowBlock)> body);
  void emitProducts(Value left, Value right, int64_t depth, Value target);
  void emitScoreRow(Value row, Value lse, Value delta);
  void emitScores();
  Value emitGradientBlock(RowBlock rows, Columns columns, Value sum,
                          const Product &product);
  Value loopOver(int64_t total, int64_t block, Value init,
                 llvm::function_ref<Value(Value, Value)> body);
  Value emitGradient(Value gradient, const Product &product);
  Value emitScoreSum(Value sum);
  Value emitScoreMaxima(Value maxima);

  BackwardStepOp step;
  /// Operands in the score type: scale * Q, dO, scale * K, and K^T and V^T.
  Value query, dOutput, key, keyTransposed, valueTransposed;
  /// [m, n]: S, then P; dP, then the gradient of the scores before score_mod.
  Value probabilities, dScores;
  /// The derivative of score_mod in the score, or in what is captured.
  Region derivative;
};
} // namespace

/// Calls `body` in a loop over whole row blocks, and for the rest.
void BackwardEmitter::forBlocks(int64_t count,
                                llvm::function_ref<void(RowBlock)> body) {
  int64_t whole = count / kBlockRows * kBlockRows;
  if (whole > 0) {
    auto loop = createFor(b, whole, kBlockRows);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body({loop.getInductionVar(), kBlockRows});
  }
  if (int64_t rest = count - whole)
    body({index(whole), rest});
}

/// target = left right, with left [m, depth] and right [depth, n].
void BackwardEmitter::emitProducts(Value left, Value right, int64_t depth,
                                   Value target) {
  forBlocks(dims.queryRows, [&](RowBlock rows) {
    forColumns(dims.keyRows, [&](Columns keys) {
      Values zeros(rows.count, createSplat(b, vectorOf(keys.width), 0.0));
      Values sums = emitMultiplyAdds(
          depth, zeros,
          [&](Value d) -> Value {
            return vector::LoadOp::create(b, vectorOf(keys.width), right,
                                          ValueRange{d, keys.begin});
          },
          [&](int64_t i, Value d) -> Value {
            return memref::LoadOp::create(b, left,
                                          ValueRange{add(rows.first, i), d});
          });
      for (auto [i, sum] : llvm::enumerate(sums))
        vector::StoreOp::create(b, sum, target,
                                ValueRange{add(rows.first, i), keys.begin});
    });
  });
}

/// From S and dP of one row to P and the gradient before score_mod. `lse` is
/// +inf in rows without keys; null, as delta, where weights are the scores.
void BackwardEmitter::emitScoreRow(Value row, Value lse, Value delta) {
  forColumns(dims.keyRows, [&](Columns keys) {
    VectorType type = vectorOf(keys.width);
    Values at = {row, keys.begin};
    Value inner =
        emitBias(vector::LoadOp::create(b, type, probabilities, at), row, keys);
    Value score = inner;
    Values coordinates;
    if (!scoreMod.empty() || !maskMod.empty())
      coordinates = emitCoordinates(row, keys);
    if (!scoreMod.empty())
      score = emitScoreMod(scoreMod, inner, coordinates, keys);
    // Positive by rounding only: LSE is at least the largest score.
    Value p = lse ? createExpOfNonPositive(
                        b, arith::SubFOp::create(b, score,
                                                 broadcast(lse, keys.width)))
                  : score;
    Value visible;
    if (!maskMod.empty())
      visible = emitMaskMod(coordinates, keys);
    p = hideElement(b, b.getLoc(), visible, p);
    double factor = dropout ? dropout->getScale() : 1;
    Value dP = emitDropout(vector::LoadOp::create(b, type, dScores, at), row,
                           keys, factor);
    Value ofRow = delta ? broadcast(delta, keys.width) : Value();
    Value gradient = buildScoreGradient(b, b.getLoc(), p, dP, ofRow, visible);
    if (!scoreMod.empty()) {
      Value slope = emitScoreMod(derivative, inner, coordinates, keys);
      gradient = buildInnerGradient(b, b.getLoc(), gradient, slope);
    }
    vector::StoreOp::create(b, emitDropout(p, row, keys, factor), probabilities,
                            at);
    vector::StoreOp::create(b, gradient, dScores, at);
  });
}

/// P and dS of the tile.
void BackwardEmitter::emitScores() {
  emitProducts(query, keyTransposed, dims.headDim, probabilities);
  emitProducts(dOutput, valueTransposed, dims.valueDim, dScores);
  auto loop = createFor(b, dims.queryRows, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar(), zero = index(0);
  if (!step.getLse())
    return emitScoreRow(row, /*lse=*/Value(), /*delta=*/Value());
  Values at = {zero, zero, row};
  Value lse = tensor::ExtractOp::create(b, step.getLse(), at);
  Value delta = tensor::ExtractOp::create(b, step.getDelta(), at);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, lse,
                                        createSplat(b, scoreType, -infinity));
  lse = arith::SelectOp::create(b, isEmpty, createSplat(b, scoreType, infinity),
                                lse);
  emitScoreRow(row, lse, delta);
}

/// sum + weights rows, for a block of rows and of columns.
Value BackwardEmitter::emitGradientBlock(RowBlock rows, Columns columns,
                                         Value sum, const Product &product) {
  Value zero = index(0);
  auto at = [&](int64_t i) -> Values {
    return {zero, zero, add(rows.first, i), columns.begin};
  };
  Values init;
  for (int64_t i = 0; i < rows.count; ++i)
    init.push_back(buffers.readRow(b, sum, at(i), columns.width));
  Values sums = emitMultiplyAdds(
      product.sumLength, init,
      [&](Value k) -> Value {
        return vector::LoadOp::create(b, vectorOf(columns.width), product.rows,
                                      ValueRange{k, columns.begin});
      },
      [&](int64_t i, Value k) -> Value {
        Value row = add(rows.first, i);
        return memref::LoadOp::create(
            b, product.weights,
            product.isTransposed ? ValueRange{k, row} : ValueRange{row, k});
      });
  for (auto [i, row] : llvm::enumerate(sums))
    sum = buffers.writeRow(b, row, sum, at(i));
  return sum;
}

/// Calls `body` in a loop over the whole blocks of `total`, which takes and
/// gives a tensor, and returns the last one.
Value BackwardEmitter::loopOver(int64_t total, int64_t block, Value init,
                                llvm::function_ref<Value(Value, Value)> body) {
  if (total < block)
    return init;
  auto loop = createFor(b, total / block * block, block, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      b, body(loop.getInductionVar(), loop.getRegionIterArgs()[0]));
  return loop.getResult(0);
}

/// gradient + weights rows, block by block. All blocks are loops: bufferization
/// takes time quadratic in the writes to a tensor.
Value BackwardEmitter::emitGradient(Value gradient, const Product &product) {
  auto type = cast<RankedTensorType>(gradient.getType());
  int64_t columns = type.getDimSize(kHeadDim);
  auto emitRows = [&](RowBlock rows, Value sum) {
    return attn::forColumns(
               b, columns, sum,
               [&](Columns block, ValueRange part) -> Values {
                 return {emitGradientBlock(rows, block, part.front(), product)};
               })
        .front();
  };
  int64_t count = type.getDimSize(kSequence);
  gradient = loopOver(count, kBlockRows, gradient, [&](Value row, Value sum) {
    return emitRows({row, kBlockRows}, sum);
  });
  if (int64_t last = count % kBlockRows)
    gradient = emitRows({index(count - last), last}, gradient);
  return gradient;
}

/// sum + dS
Value BackwardEmitter::emitScoreSum(Value sum) {
  return loopOver(dims.queryRows, 1, sum, [&](Value row, Value part) {
    auto emitColumns = [&](Columns keys, ValueRange part) -> Values {
      Value zero = index(0);
      Values at = {zero, zero, row, keys.begin};
      Value before = buffers.readRow(b, part.front(), at, keys.width);
      Value added = vector::LoadOp::create(b, vectorOf(keys.width), dScores,
                                           ValueRange{row, keys.begin});
      added = arith::AddFOp::create(b, before, added);
      return {buffers.writeRow(b, added, part.front(), at)};
    };
    return attn::forColumns(b, dims.keyRows, part, emitColumns).front();
  });
}

/// max(maxima, |scale * dS1| over the keys)
Value BackwardEmitter::emitScoreMaxima(Value maxima) {
  Value scale = createSplat(b, scoreType, std::abs(step.getScaleValue()));
  return loopOver(dims.queryRows, 1, maxima, [&](Value row, Value part) {
    // NaN is the largest.
    auto larger = [](ImplicitLocOpBuilder &b, Value x, Value y) -> Value {
      return arith::MaximumFOp::create(b, x, y);
    };
    Value largest = reduceColumns(
        b, scoreType, dims.keyRows, 0.0, larger, [&](Columns keys) -> Value {
          return math::AbsFOp::create(
              b, vector::LoadOp::create(b, vectorOf(keys.width), dScores,
                                        ValueRange{row, keys.begin}));
        });
    largest = arith::MulFOp::create(b, largest, scale);
    Value zero = index(0);
    Values at = {zero, zero, row};
    Value before = tensor::ExtractOp::create(b, part, at);
    largest = arith::MaximumFOp::create(b, before, largest);
    return tensor::InsertOp::create(b, largest, part, at).getResult();
  });
}

Values BackwardEmitter::emit() {
  if (!scoreMod.empty()) {
    Values variables = llvm::map_to_vector(
        step.getReads(),
        [](tensor::ExtractOp read) -> Value { return read.getResult(); });
    if (variables.empty())
      variables.push_back(scoreMod.getArgument(0));
    LogicalResult isKnown = differentiateMod(scoreMod, variables, derivative);
    assert(succeeded(isKnown) && "expected a score_mod that was verified");
    (void)isKnown;
  }
  double scale = step.getScaleValue();
  query = buffers.pack(b, step.getQuery(), scoreType, scale);
  dOutput = buffers.pack(b, step.getDOutput(), scoreType, 1);
  keyTransposed = buffers.packTransposed(b, step.getKey(), scoreType);
  valueTransposed = buffers.packTransposed(b, step.getValue(), scoreType);
  probabilities =
      buffers.createBuffer(b, {dims.queryRows, dims.keyRows}, scoreType);
  dScores = buffers.createBuffer(b, {dims.queryRows, dims.keyRows}, scoreType);
  emitScores();
  Values gradients;
  if (step.getDQuery()) {
    Value key = buffers.pack(b, step.getKey(), scoreType, scale);
    gradients.push_back(
        emitGradient(step.getDQuery(), {dScores, false, key, dims.keyRows}));
  }
  if (step.getDKey())
    gradients.push_back(
        emitGradient(step.getDKey(), {dScores, true, query, dims.queryRows}));
  if (step.getDValue())
    gradients.push_back(emitGradient(
        step.getDValue(), {probabilities, true, dOutput, dims.queryRows}));
  if (step.getDScores())
    gradients.push_back(emitScoreSum(step.getDScores()));
  if (step.getAmax())
    gradients.push_back(emitScoreMaxima(step.getAmax()));
  return gradients;
}

//===----------------------------------------------------------------------===//
// backward_delta
//===----------------------------------------------------------------------===//

/// Emits delta = rowsum(dO * O) - dLSE, row by row.
static Value emitDelta(BackwardDeltaOp op, TileBuffers &buffers) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getDelta().getType());
  auto outputType = cast<RankedTensorType>(op.getOutput().getType());
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, number);
  };
  Value init =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  auto loop = createFor(b, type.getDimSize(kSequence), 1, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value zero = index(0), row = loop.getInductionVar();
  auto multiply = [&](Columns columns) -> Value {
    auto read = [&](Value tensor) {
      Value part = buffers.readRow(b, tensor, {zero, zero, row, columns.begin},
                                   columns.width);
      return buffers.extend(b, part, type.getElementType());
    };
    Value output = read(op.getOutput());
    return arith::MulFOp::create(b, output, read(op.getDOutput()));
  };
  Value delta =
      reduceColumns(b, type.getElementType(), outputType.getDimSize(kHeadDim),
                    0.0, createSum, multiply);
  Values at = {zero, zero, row};
  if (op.getDLse())
    delta = arith::SubFOp::create(
        b, delta, tensor::ExtractOp::create(b, op.getDLse(), at));
  scf::YieldOp::create(
      b, tensor::InsertOp::create(b, delta, loop.getRegionIterArgs()[0], at)
             .getResult());
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct DecomposeBackward
    : public attn::impl::DecomposeBackwardPassBase<DecomposeBackward> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (!isa<BackwardStepOp, BackwardDeltaOp, BackwardScatterOp>(op))
        return WalkResult::advance();
      ops.push_back(op);
      if (auto step = dyn_cast<BackwardStepOp>(op);
          step && failed(verifyDequantized(step)))
        return WalkResult::interrupt();
      return hasStaticTiles(op) && isLargeCache(op) ? WalkResult::advance()
                                                    : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    TileBuffers buffers;
    for (Operation *op : ops) {
      if (auto scatter = dyn_cast<BackwardScatterOp>(op)) {
        decomposeScatters(scatter);
        continue;
      }
      op->replaceAllUsesWith(decompose(op, buffers));
      numDecomposed += isa<BackwardStepOp>(op) ? 1 : 0;
      op->erase();
    }
  }

private:
  static Values decompose(Operation *op, TileBuffers &buffers) {
    if (auto step = dyn_cast<BackwardStepOp>(op))
      return BackwardEmitter(step, buffers).emit();
    return {emitDelta(cast<BackwardDeltaOp>(op), buffers)};
  }

  /// The scatter in the same block that adds to the result of `op` and has
  /// tiles of its sizes, or null.
  static BackwardScatterOp getNext(BackwardScatterOp op) {
    if (!op->hasOneUse())
      return {};
    auto next = dyn_cast<BackwardScatterOp>(*op->user_begin());
    bool follows = next && next->getBlock() == op->getBlock() &&
                   next.getInto() == op.getResult() &&
                   next.getScores().getType() == op.getScores().getType();
    return follows ? next : BackwardScatterOp();
  }

  /// Those up to `op`, unless another one follows.
  static void decomposeScatters(BackwardScatterOp op) {
    if (getNext(op))
      return;
    SmallVector<BackwardScatterOp> chain = {op};
    while (auto previous =
               chain.back().getInto().getDefiningOp<BackwardScatterOp>()) {
      if (getNext(previous) != chain.back())
        break;
      chain.push_back(previous);
    }
    OpBuilder builder(op);
    Value sum = buildScatters(builder, llvm::to_vector(llvm::reverse(chain)));
    op.getResult().replaceAllUsesWith(sum);
    for (BackwardScatterOp scatter : chain)
      scatter.erase();
  }

  static bool isLargeCache(Operation *op) {
    auto step = dyn_cast<BackwardStepOp>(op);
    if (!step || !step.getSchedule() ||
        step.getSchedule()->getValues().kind != ScheduleKind::SmallCache)
      return true;
    step.emitOpError() << "expected kind = \"large_cache\" for a backward on a "
                          "CPU, got "
                       << step.getScheduleAttr();
    return false;
  }

  static bool hasStaticTiles(Operation *op) {
    auto step = dyn_cast<BackwardStepOp>(op);
    auto scatter = dyn_cast<BackwardScatterOp>(op);
    for (Value operand : op->getOperands()) {
      Type type = operand.getType();
      auto tensor = dyn_cast<RankedTensorType>(type);
      bool isWhole = (step && operand == step.getCapture()) ||
                     (scatter && operand == scatter.getInto());
      if (!tensor || isWhole ||
          (tensor.hasStaticShape() && tensor.getDimSize(kBatch) == 1 &&
           tensor.getDimSize(kHead) == 1))
        continue;
      op->emitOpError() << "expected static tiles of one batch and one head, "
                           "as --attn-tile-backward gives, got "
                        << type;
      return false;
    }
    return true;
  }
};
} // namespace
