//===- DecomposeOnline.cpp - Tiles of attention as vector code --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-decompose-online: register blocking of the two products of
// a tile, with the row reduction of a row block between them while its scores
// are in the nearest cache.
//
//===----------------------------------------------------------------------===//

#include "DecomposeOutputs.h"
#include "DecomposeTwoPhase.h"
#include "RowEmitter.h"
#include "VectorMath.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"
#include "attn/Dialect/Attn/Utils/NormalForm.h"
#include "attn/Dialect/Attn/Utils/SinkBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/TypeUtilities.h"

namespace attn {
#define GEN_PASS_DEF_DECOMPOSEONLINEPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using Values = SmallVector<Value>;

/// The most rows of a tile for which its keys and values are not copied: they
/// are read so few times that copies, K transposed, would take most of the
/// time.
static constexpr int64_t kRowsInPlace = 4;

namespace {
/// Emits the code of one attn.online_attention on static tiles.
class TileStepEmitter : RowEmitter {
public:
  /// `hasBf16Dot`: the processor has AVX-512 BF16.
  TileStepEmitter(OnlineAttentionOp step, TileBuffers &buffers, bool hasBf16Dot)
      : RowEmitter(step, buffers, step), step(step),
        readsInPlace(dims.queryRows <= kRowsInPlace),
        usesDots(hasBf16Dot && !readsInPlace && fitsDots()) {}

  /// The state after the step, at the place of the op.
  Values emit();

private:
  bool fitsDots();
  void packOperands();
  Values emitDots(int64_t count, ValueRange init,
                  llvm::function_ref<Value(Value)> load, Value scalars,
                  llvm::function_ref<Value(int64_t)> row);
  Values emitRowBlock(RowBlock rows, ValueRange state);
  void emitScores(RowBlock rows, Columns keys);
  void emitScoresInPlace(RowBlock rows);
  Values emitRow(RowBlock rows, Value inBlock, ValueRange before);
  Value emitBlockProduct(RowBlock rows, Columns columns, Value acc);
  Value emitProducts(RowBlock rows, Value acc);
  Value emitProbMod(Value weights, Columns keys);
  Value emitWeights(Columns keys) override;
  Value emitProduct(Value acc, Value rowDecay) override;

  OnlineAttentionOp step;
  /// Keys and values are read where they are.
  bool readsInPlace;
  /// Products of pairs of bf16, added up in f32.
  bool usesDots;
  /// Operands in the score type: Q [rows, D] times the scale, K^T [D, keys], V
  /// [keys, Dv], the latter two null where they are not copied. Those of dots:
  /// Q in bf16, K^T [D / 2, keys] and V [keys / 2, Dv] as pairs.
  Value query, key, value;
  /// Of a row block: scores, then their weights, for dots in a buffer of their
  /// own, in bf16; and exp(max - max'), null if nothing decays.
  Value scores, weights, decay;
};
} // namespace

/// Lanes of a dot's result.
static constexpr int64_t kDotLanes = 16;

/// True if the sizes are made up of pairs, and of results of dots.
bool TileStepEmitter::fitsDots() {
  return getElementTypeOrSelf(step.getQuery().getType()).isBF16() &&
         getElementTypeOrSelf(step.getKey().getType()).isBF16() &&
         scoreType.isF32() && dims.headDim % 2 == 0 &&
         dims.keyRows % kDotLanes == 0 && dims.valueDim % kDotLanes == 0;
}

void TileStepEmitter::packOperands() {
  FloatType bf16 = b.getBF16Type();
  if (usesDots) {
    query = buffers.pack(b, step.getQuery(), bf16, 1);
    key = buffers.packColumnPairs(b, step.getKey());
    value = buffers.packRowPairs(b, step.getValue());
  } else {
    query = buffers.pack(b, step.getQuery(), scoreType, step.getScaleValue());
  }
  if (!usesDots && !readsInPlace) {
    key = buffers.packTransposed(b, step.getKey(), scoreType);
    value = buffers.pack(b, step.getValue(), scoreType, 1);
  }
  scores = buffers.createBuffer(b, {kBlockRows, dims.keyRows}, scoreType);
  weights = usesDots ? buffers.createBuffer(b, {kBlockRows, dims.keyRows}, bf16)
                     : scores;
  if (step.getState().get(RowRole::Maximum))
    decay = buffers.createBuffer(b, {kBlockRows}, scoreType);
}

/// As emitMultiplyAdds, for `count` products of pairs: `load(k)` gives a row of
/// pairs as i32, and elements 2 k and 2 k + 1 of row `row(i)` of `scalars` are
/// the pair that it is multiplied with.
Values TileStepEmitter::emitDots(int64_t count, ValueRange init,
                                 llvm::function_ref<Value(Value)> load,
                                 Value scalars,
                                 llvm::function_ref<Value(int64_t)> row) {
  auto loop = createFor(b, count, 1, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Type bf16 = b.getBF16Type(), i32 = b.getI32Type();
  Value k = loop.getInductionVar(), pairs = load(k);
  Value column = arith::MulIOp::create(b, k, index(2));
  int64_t width = cast<VectorType>(pairs.getType()).getNumElements();
  auto cast = [&](Value vector, int64_t lanes, Type element) -> Value {
    return vector::BitCastOp::create(b, VectorType::get({lanes}, element),
                                     vector);
  };
  Values sums;
  for (auto [i, sum] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value pair = vector::LoadOp::create(b, VectorType::get({2}, bf16), scalars,
                                        ValueRange{row(i), column});
    pair = vector::ExtractOp::create(b, cast(pair, 1, i32), 0);
    pair =
        vector::BroadcastOp::create(b, VectorType::get({kDotLanes}, i32), pair);
    pair = cast(pair, 2 * kDotLanes, bf16);
    Value next = sum;
    for (int64_t lane = 0; lane < width; lane += kDotLanes) {
      auto slice = [&](Value vector) -> Value {
        return vector::ExtractStridedSliceOp::create(b, vector, lane, kDotLanes,
                                                     1);
      };
      Value part = slice(sum);
      part = x86vector::DotBF16Op::create(
          b, part, pair, cast(slice(pairs), 2 * kDotLanes, bf16));
      next = vector::InsertStridedSliceOp::create(b, part, next, lane, 1);
    }
    sums.push_back(next);
  }
  scf::YieldOp::create(b, sums);
  return Values(loop.getResults());
}

/// scores = Q K^T of a row block and a block of keys.
void TileStepEmitter::emitScores(RowBlock rows, Columns keys) {
  Values sums(rows.count, createSplat(b, vectorOf(keys.width), 0.0));
  auto load = [&](Value d) -> Value {
    Type element = getElementTypeOrSelf(key.getType());
    return vector::LoadOp::create(b, VectorType::get({keys.width}, element),
                                  key, ValueRange{d, keys.begin});
  };
  auto row = [&](int64_t i) { return add(rows.first, i); };
  if (usesDots) {
    sums = emitDots(dims.headDim / 2, sums, load, query, row);
    Value scale = createSplat(b, vectorOf(keys.width), step.getScaleValue());
    for (Value &sum : sums)
      sum = arith::MulFOp::create(b, sum, scale);
  } else {
    sums = emitMultiplyAdds(
        dims.headDim, sums, load, [&](int64_t i, Value d) -> Value {
          return memref::LoadOp::create(b, query, ValueRange{row(i), d});
        });
  }
  for (auto [i, sum] : llvm::enumerate(sums))
    vector::StoreOp::create(b, sum, scores, ValueRange{index(i), keys.begin});
}

/// scores = Q K^T of few rows: each row of K is read once for all of them, and
/// lanes are added up.
void TileStepEmitter::emitScoresInPlace(RowBlock rows) {
  auto loop = createFor(b, dims.keyRows, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value zero = index(0), j = loop.getInductionVar();
  auto zeros = [&](int64_t width) {
    return Values(rows.count, createSplat(b, vectorOf(width), 0.0));
  };
  auto multiplyAdd = [&](Columns columns, ValueRange sums) {
    Value part = buffers.readRow(b, step.getKey(),
                                 {zero, zero, j, columns.begin}, columns.width);
    part = buffers.extend(b, part, scoreType);
    Values next;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value q =
          vector::LoadOp::create(b, vectorOf(columns.width), query,
                                 ValueRange{add(rows.first, i), columns.begin});
      next.push_back(vector::FMAOp::create(b, q, part, sum));
    }
    return next;
  };
  int64_t rest = dims.headDim % kBlockColumns, whole = dims.headDim - rest;
  SmallVector<Values> parts(rows.count);
  auto append = [&](ArrayRef<Value> sums) {
    for (auto [ofRow, sum] : llvm::zip_equal(parts, sums))
      ofRow.push_back(sum);
  };
  if (whole)
    append(attn::forColumns(b, whole, zeros(kBlockColumns), multiplyAdd));
  if (rest) {
    Columns last = {index(whole), rest};
    append(multiplyAdd(last, zeros(rest)));
  }
  for (auto [i, ofRow] : llvm::enumerate(parts)) {
    Value score = combineLanes(b, ofRow, createSum);
    memref::StoreOp::create(b, score, scores, ValueRange{index(i), j});
  }
}

/// What the prob_mod makes of the weights; 0 of 0, which a mask may hide.
Value TileStepEmitter::emitProbMod(Value weights, Columns keys) {
  if (!step.hasProbMod())
    return weights;
  Value changed = emitScoreMod(step.getProbMod(), weights,
                               emitCoordinates(row.position, keys), keys);
  Value zero = createSplat(b, vectorOf(keys.width), 0.0);
  Value isZero =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, weights, zero);
  return arith::SelectOp::create(b, isZero, zero, changed);
}

/// What dropout keeps of the weights is stored; attn.normalize has its factor.
Value TileStepEmitter::emitWeights(Columns keys) {
  Value part = RowEmitter::emitWeights(keys);
  Value kept = emitDropout(emitProbMod(part, keys), row.position, keys, 1);
  if (usesDots)
    kept = arith::TruncFOp::create(
        b, VectorType::get({keys.width}, b.getBF16Type()), kept);
  vector::StoreOp::create(b, kept, weights,
                          ValueRange{row.inBuffer, keys.begin});
  return part;
}

/// The decay is kept for the product of the row's block.
Value TileStepEmitter::emitProduct(Value acc, Value rowDecay) {
  if (rowDecay)
    memref::StoreOp::create(b, rowDecay, decay, row.inBuffer);
  return RowEmitter::emitProduct(acc, rowDecay);
}

/// Turns the scores of row `inBlock` of a block into weights; takes and gives
/// the row values of the whole tile.
Values TileStepEmitter::emitRow(RowBlock rows, Value inBlock,
                                ValueRange before) {
  Value zero = index(0);
  Value position = arith::AddIOp::create(b, rows.first, inBlock);
  Values at = {zero, zero, position}, ofRow;
  for (Value tensor : before)
    ofRow.push_back(tensor::ExtractOp::create(b, tensor, at));
  ofRow = emitRowStep({scores, inBlock, /*column=*/Value(), position}, ofRow);
  for (auto [value, tensor] : llvm::zip_equal(ofRow, before))
    value = tensor::InsertOp::create(b, value, tensor, at);
  return ofRow;
}

/// acc = decay * acc + weights V of a row block and a block of columns of V.
Value TileStepEmitter::emitBlockProduct(RowBlock rows, Columns columns,
                                        Value acc) {
  Value zero = index(0), column = columns.begin;
  Values init;
  for (int64_t i = 0; i < rows.count; ++i) {
    Value old = buffers.readRow(
        b, acc, {zero, zero, add(rows.first, i), column}, columns.width);
    if (decay) {
      Value factor = memref::LoadOp::create(b, decay, index(i));
      old = arith::MulFOp::create(b, old, broadcast(factor, columns.width));
    }
    init.push_back(old);
  }
  auto load = [&](Value k) -> Value {
    if (readsInPlace)
      return buffers.extend(b,
                            buffers.readRow(b, step.getValue(),
                                            {zero, zero, k, column},
                                            columns.width),
                            scoreType);
    Type element = getElementTypeOrSelf(value.getType());
    return vector::LoadOp::create(b, VectorType::get({columns.width}, element),
                                  value, ValueRange{k, column});
  };
  Values sums =
      usesDots ? emitDots(dims.keyRows / 2, init, load, weights,
                          [&](int64_t i) { return index(i); })
               : emitMultiplyAdds(dims.keyRows, init, load,
                                  [&](int64_t i, Value k) -> Value {
                                    return memref::LoadOp::create(
                                        b, weights, ValueRange{index(i), k});
                                  });
  for (auto [i, sum] : llvm::enumerate(sums))
    acc =
        buffers.writeRow(b, sum, acc, {zero, zero, add(rows.first, i), column});
  return acc;
}

/// The accumulator of all columns of V, of which few rows take more at once, up
/// to half of what a whole block of rows has in registers.
Value TileStepEmitter::emitProducts(RowBlock rows, Value acc) {
  if (!readsInPlace)
    return attn::forColumns(
               b, dims.valueDim, acc,
               [&](Columns columns, ValueRange part) {
                 return Values{emitBlockProduct(rows, columns, part.front())};
               })
        .front();
  int64_t width =
      kBlockColumns * std::max<int64_t>(kRowsInPlace / rows.count, 1);
  for (int64_t begin = 0; begin < dims.valueDim; begin += width)
    acc = emitBlockProduct(
        rows, {index(begin), std::min(width, dims.valueDim - begin)}, acc);
  return acc;
}

/// Takes and gives the state of the whole tile.
Values TileStepEmitter::emitRowBlock(RowBlock rows, ValueRange state) {
  if (readsInPlace)
    emitScoresInPlace(rows);
  else
    forColumns(dims.keyRows, [&](Columns keys) { emitScores(rows, keys); });
  auto loop = createFor(b, rows.count, 1, state.drop_front());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Values after =
        emitRow(rows, loop.getInductionVar(), loop.getRegionIterArgs());
    // A loop that carries nothing ends already.
    if (!after.empty())
      scf::YieldOp::create(b, after);
  }
  Values after = {emitProducts(rows, state.front())};
  llvm::append_range(after, loop.getResults());
  return after;
}

Values TileStepEmitter::emit() {
  packOperands();
  Values state(step.getState().getValues());
  int64_t wholeBlocks = dims.queryRows / kBlockRows * kBlockRows;
  if (wholeBlocks > 0) {
    auto loop = createFor(b, wholeBlocks, kBlockRows, state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    RowBlock rows{loop.getInductionVar(), kBlockRows};
    scf::YieldOp::create(b, emitRowBlock(rows, loop.getRegionIterArgs()));
    state.assign(loop->result_begin(), loop->result_end());
  }
  if (int64_t rest = dims.queryRows - wholeBlocks)
    state = emitRowBlock({index(wholeBlocks), rest}, state);
  return state;
}

//===----------------------------------------------------------------------===//
// normalize
//===----------------------------------------------------------------------===//

namespace {
/// What a row ends in.
struct RowEnd {
  Value factor; ///< of the accumulator; null for 1
  Value lse;    ///< null if there is none
};
} // namespace

/// The end of the row at `at`.
static RowEnd emitRowEnd(ImplicitLocOpBuilder &b, NormalizeOp op,
                         ValueRange at) {
  Type scoreType = getElementTypeOrSelf(op.getAcc().getType());
  Values rows;
  for (Value tensor : op.getRows())
    rows.push_back(tensor::ExtractOp::create(b, tensor, at));
  Value decay;
  if (op.getSink()) {
    RowState state =
        buildSink(b, b.getLoc(), rows[0], rows[1], readSink(b, op));
    rows = {state.max, state.sum};
    decay = state.decay;
  }
  RowEnd end;
  Value divisor = op.getNormalization().buildDivisor(b, b.getLoc(), rows);
  if (!divisor) {
    if (op.getDescale() || op.getScaleValue() != 1)
      end.factor = createSplat(b, scoreType, op.getScaleValue());
    if (op.getDescale())
      end.factor = arith::MulFOp::create(b, end.factor, readDescale(b, op));
    return end;
  }
  end.factor = createInverse(b, divisor, op.getScaleValue());
  if (decay)
    end.factor = arith::MulFOp::create(b, end.factor, decay);
  if (op.getDescale())
    end.factor = arith::MulFOp::create(b, end.factor, readDescale(b, op));
  if (op.getLse())
    end.lse = createLse(b, rows);
  return end;
}

/// Emits output and lse, row by row.
static Values emitNormalize(NormalizeOp op, TileBuffers &buffers) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto accType = cast<RankedTensorType>(op.getAcc().getType());
  Type outputType = getElementTypeOrSelf(op.getOutput().getType());
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, number);
  };
  Values init;
  for (Type type : op->getResultTypes())
    init.push_back(
        tensor::EmptyOp::create(b, cast<RankedTensorType>(type).getShape(),
                                getElementTypeOrSelf(type)));
  auto loop = createFor(b, accType.getDimSize(kSequence), 1, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());

  Value zero = index(0), row = loop.getInductionVar();
  Values at = {zero, zero, row};
  RowEnd end = emitRowEnd(b, op, at);
  Values results(loop.getRegionIterArgs());
  auto emitColumns = [&](Columns columns, ValueRange output) -> Values {
    Values place = {zero, zero, row, columns.begin};
    Value part = buffers.readRow(b, op.getAcc(), place, columns.width);
    if (end.factor)
      part = arith::MulFOp::create(
          b, part, vector::BroadcastOp::create(b, part.getType(), end.factor));
    if (outputType != accType.getElementType())
      part = arith::TruncFOp::create(
          b, VectorType::get({columns.width}, outputType), part);
    return {buffers.writeRow(b, part, output.front(), place)};
  };
  results[0] =
      forColumns(b, accType.getDimSize(kHeadDim), results[0], emitColumns)
          .front();
  if (end.lse)
    results[1] = tensor::InsertOp::create(b, end.lse, results[1], at);
  scf::YieldOp::create(b, results);
  return Values(loop.getResults());
}

namespace {
struct DecomposeOnline
    : public attn::impl::DecomposeOnlinePassBase<DecomposeOnline> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (!isa<OnlineAttentionOp, NormalizeOp>(op))
        return WalkResult::advance();
      ops.push_back(op);
      return hasStaticTiles(op) ? WalkResult::advance()
                                : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    TileBuffers buffers;
    numDecomposed += decomposeTwoPhase(ops, buffers);
    for (Operation *op : ops) {
      auto step = dyn_cast<OnlineAttentionOp>(op);
      Values results = step ? TileStepEmitter(step, buffers, bf16Dot).emit()
                            : emitNormalize(cast<NormalizeOp>(op), buffers);
      op->replaceAllUsesWith(results);
      op->erase();
      numDecomposed += step ? 1 : 0;
    }
    decomposeOutputs(buffers);
    clearNormalForm(getOperation());
  }

private:
  void decomposeOutputs(TileBuffers &buffers) {
    SmallVector<OutputModOp> mods;
    getOperation().walk([&](OutputModOp op) {
      if (!op.getOffsets().empty())
        mods.push_back(op);
    });
    for (OutputModOp op : mods) {
      op->replaceAllUsesWith(emitOutputMod(op, buffers));
      op.erase();
    }
  }

  static bool hasStaticTiles(Operation *op) {
    for (Type type : op->getOperandTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      // [batch, head, ...], a sink [head], or a descale [1].
      auto isOne = [](int64_t size) { return size == 1; };
      if (tensor.hasStaticShape() &&
          llvm::all_of(tensor.getShape().take_front(2), isOne))
        continue;
      op->emitOpError() << "expected static tiles of one batch and one head, "
                           "as --attn-tile and --attn-pad-tiles give, got "
                        << type;
      return false;
    }
    return true;
  }
};
} // namespace
