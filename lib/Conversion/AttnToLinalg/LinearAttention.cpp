//===- LinearAttention.cpp - Linear attention by chunks ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop nest: of each head in parallel, over chunks of positions. Inside of a
// chunk of C rows attention is the quadratic form; between them goes the state.
// With L[i,j] the product of the decays of positions j + 1 to i, and e[i] that
// of 0 to i:
//
//   O  = scale ((Q * e) S + (Q K^T * L) V)
//   S' = e[C-1] S + (K * L[C-1,:])^T V
//
// In reverse L is transposed, and e and L[C-1,:] change places. Where all rows
// see all keys a first loop computes the state, a second one the rows.
//
// Products of decays, which are at most 1, neither overflow nor take a
// difference of infinities.
//
//===----------------------------------------------------------------------===//

#include "LinearAttention.h"

#include "Backward.h"
#include "ScoreEmitter.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/GenericBuilder.h"
#include "attn/Schedule/LinearAttention.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

/// Rows of a chunk.
static constexpr int64_t kChunk = kStateStride;

namespace {
using Sizes = SmallVector<OpFoldResult>;
using Values = SmallVector<Value>;

class LinearEmitter {
public:
  LinearEmitter(OpBuilder &builder, LinearAttentionOp op, bool roundFactors)
      : b(op.getLoc(), builder), op(op), type(op.getScoreType()),
        roundFactors(roundFactors) {}

  Values emit();

private:
  /// The decays of a chunk.
  struct Decays {
    Value between; ///< L [C, C]
    Value before;  ///< e [C]
    Value after;   ///< L[C - 1,:]
    Value all;     ///< e[C - 1]
  };
  /// The positions [first, first + count) of head (b, h).
  struct Chunk {
    ValueRange at;
    Value first, count;
  };

  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, number);
  }
  Value size(Value tensor, unsigned dim) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(),
                                           getDim(b, b.getLoc(), tensor, dim));
  }
  Value zeros(const Sizes &sizes) {
    return filled(b, b.getLoc(), sizes, constantFloat(b, b.getLoc(), type, 0));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value widen(Value x) { return convertFloat(b, b.getLoc(), x, type); }

  /// for iv in [0, upper): state = body(iv, state).
  Values loop(Value upper, int64_t step, ValueRange state,
              llvm::function_ref<Values(Value, ValueRange)> body);
  /// Rows [first, first + count) of head (b, h) of a rank-4 tensor.
  Value slice(Value tensor, ValueRange at, Value first, OpFoldResult count);
  Value round(Value factor);
  Value addProduct(ValueRange args);
  Value emitDecay(ValueRange at, Value position);
  Decays emitDecays(const Chunk &chunk);
  Chunk getChunk(ValueRange at, Value first, Value rows);
  Value sliceKeys(Value tensor, const Chunk &chunk);
  Value multiplyState(Value query, Value factors, Value state);
  Value addWithin(const Chunk &chunk, Value query, const Decays &decays,
                  Value acc);
  Value insertOutput(const Chunk &chunk, Value acc, Value output);
  Value insertState(const Chunk &chunk, Value state, Value states);
  Value emitNextState(const Chunk &chunk, Value factors, Value state);
  Values emitChunk(const Chunk &chunk, ValueRange carried);
  Values emitChunks(ValueRange at, ValueRange carried);
  Values emitFull(ValueRange at, ValueRange carried);
  Values createInits();

  ImplicitLocOpBuilder b;
  LinearAttentionOp op;
  FloatType type;
  bool roundFactors;
};
} // namespace

Values LinearEmitter::loop(Value upper, int64_t step, ValueRange state,
                           llvm::function_ref<Values(Value, ValueRange)> body) {
  Value lower = index(0);
  auto made = scf::ForOp::create(b, lower, upper, index(step), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  scf::YieldOp::create(b,
                       body(made.getInductionVar(), made.getRegionIterArgs()));
  return Values(made.getResults());
}

Value LinearEmitter::slice(Value tensor, ValueRange at, Value first,
                           OpFoldResult count) {
  auto given = cast<RankedTensorType>(tensor.getType());
  int64_t width = given.getDimSize(kHeadDim);
  int64_t rows = isa<Attribute>(count) ? *getConstantIntValue(count)
                                       : ShapedType::kDynamic;
  auto made = RankedTensorType::get({rows, width}, given.getElementType());
  Sizes offsets = {at[0], at[1], first, b.getIndexAttr(0)};
  Sizes sizes = {b.getIndexAttr(1), b.getIndexAttr(1), count,
                 b.getIndexAttr(width)};
  return tensor::ExtractSliceOp::create(b, made, tensor, offsets, sizes,
                                        Sizes(4, b.getIndexAttr(1)));
}

/// exp of the log decay of a position; null without decays.
Value LinearEmitter::emitDecay(ValueRange at, Value position) {
  Value log;
  if (op.getDecay())
    log = tensor::ExtractOp::create(b, op.getDecay(),
                                    ValueRange{at[0], at[1], position});
  else if (op.getSlope())
    log = tensor::ExtractOp::create(b, op.getSlope(), ValueRange{at[1]});
  else
    return constantFloat(b, b.getLoc(), type, 1);
  return math::ExpOp::create(b, log);
}

LinearEmitter::Decays LinearEmitter::emitDecays(const Chunk &chunk) {
  Value count = chunk.count;
  Value one = constantFloat(b, b.getLoc(), type, 1);
  Value between = zeros({count, count}), before = zeros({count});
  Values ends =
      loop(count, 1, {between, before, one}, [&](Value i, ValueRange state) {
        Value decay =
            emitDecay(chunk.at, arith::AddIOp::create(b, chunk.first, i));
        Value previous = arith::SubIOp::create(b, i, index(1));
        Values row = loop(i, 1, state[0], [&](Value j, ValueRange inner) {
          Value above =
              tensor::ExtractOp::create(b, inner[0], ValueRange{previous, j});
          return Values{tensor::InsertOp::create(b, mul(above, decay), inner[0],
                                                 ValueRange{i, j})};
        });
        Value all = mul(state[2], decay);
        return Values{
            tensor::InsertOp::create(b, one, row[0], ValueRange{i, i}),
            tensor::InsertOp::create(b, all, state[1], ValueRange{i}), all};
      });
  Value last = arith::SubIOp::create(b, count, index(1));
  Value after = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get({ShapedType::kDynamic}, type), ends[0],
      Sizes{last, b.getIndexAttr(0)}, Sizes{b.getIndexAttr(1), count},
      Sizes(2, b.getIndexAttr(1)));
  return {ends[0], ends[1], after, ends[2]};
}

//===----------------------------------------------------------------------===//
// A chunk
//===----------------------------------------------------------------------===//

/// The chunk that begins at `first` of so many rows.
LinearEmitter::Chunk LinearEmitter::getChunk(ValueRange at, Value first,
                                             Value rows) {
  Value left = arith::SubIOp::create(b, rows, first);
  return {at, first, arith::MinSIOp::create(b, index(kChunk), left)};
}

/// The rows of `tensor`, keys or values, of the head's group.
Value LinearEmitter::sliceKeys(Value tensor, const Chunk &chunk) {
  Value heads = size(op.getQuery(), kHead), keyHeads = size(op.getKey(), kHead);
  Value group = arith::DivUIOp::create(b, heads, keyHeads);
  Value head = arith::DivUIOp::create(b, chunk.at[1], group);
  return slice(tensor, Values{chunk.at[0], head}, chunk.first, chunk.count);
}

/// `factor`, if factors are rounded, as a number of the inputs' type.
Value LinearEmitter::round(Value factor) {
  auto element = cast<FloatType>(getElementTypeOrSelf(op.getQuery()));
  if (!roundFactors || element == type)
    return factor;
  return widen(convertFloat(b, b.getLoc(), factor, element));
}

/// The last argument plus the product of two or three others, of which all but
/// the last are one factor.
Value LinearEmitter::addProduct(ValueRange args) {
  ValueRange factors = args.drop_back();
  Value product = widen(factors[0]);
  if (factors.size() == 3)
    product = round(mul(product, widen(factors[1])));
  return arith::AddFOp::create(b, args.back(),
                               mul(product, widen(factors.back())));
}

/// (Q * factors) S; `factors` may be null.
Value LinearEmitter::multiplyState(Value query, Value factors, Value state) {
  auto add = [&](ValueRange args) -> Value {
    Value wide = widen(args[0]);
    Value product = mul(wide, round(args[args.size() - 2]));
    if (factors)
      product = mul(product, args[1]);
    return arith::AddFOp::create(b, args.back(), product);
  };
  OpFoldResult width = getDim(b, b.getLoc(), op.getValue(), kHeadDim),
               count = getDim(b, b.getLoc(), query, 0);
  Value init = zeros({count, width});
  if (!factors)
    return buildGeneric(b, {query, state}, {{0, 1}, {1, 2}}, init, {0, 2}, add);
  return buildGeneric(b, {query, factors, state}, {{0, 1}, {0}, {1, 2}}, init,
                      {0, 2}, add);
}

/// `acc` and what the chunk itself gives to its rows.
Value LinearEmitter::addWithin(const Chunk &chunk, Value query,
                               const Decays &decays, Value acc) {
  Value key = sliceKeys(op.getKey(), chunk),
        value = sliceKeys(op.getValue(), chunk);
  Value scores = buildGeneric(
      b, {query, key}, {{0, 2}, {1, 2}}, zeros({chunk.count, chunk.count}),
      {0, 1}, [&](ValueRange args) { return addProduct(args); });
  LoopsOfDims between = {0, 1};
  if (op.getReverse())
    between = {1, 0};
  return buildGeneric(
      b, {scores, decays.between, value}, {{0, 1}, between, {1, 2}}, acc,
      {0, 2}, [&](ValueRange args) -> Value {
        // What rows do not see has no influence, NaN or not.
        Value row = linalg::IndexOp::create(b, 0),
              column = linalg::IndexOp::create(b, 1);
        if (op.getReverse())
          std::swap(row, column);
        Value sees =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ule, column, row);
        return arith::SelectOp::create(b, sees, addProduct(args), args.back());
      });
}

Value LinearEmitter::insertOutput(const Chunk &chunk, Value acc, Value output) {
  OpFoldResult width = getDim(b, b.getLoc(), op.getValue(), kHeadDim);
  auto element = cast<FloatType>(getElementTypeOrSelf(op.getOutput()));
  Value scale = constantFloat(b, b.getLoc(), type, op.getScaleValue());
  Value rows = buildGeneric(
      b, acc, {{0, 1}},
      tensor::EmptyOp::create(b, Sizes{chunk.count, width}, element), {0, 1},
      [&](ValueRange args) {
        return convertFloat(b, b.getLoc(), mul(args[0], scale), element);
      });
  return tensor::InsertSliceOp::create(
      b, rows, output, Sizes{chunk.first, b.getIndexAttr(0)},
      Sizes{chunk.count, width}, Sizes(2, b.getIndexAttr(1)));
}

/// `state` as the entry of the chunk.
Value LinearEmitter::insertState(const Chunk &chunk, Value state,
                                 Value states) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Value entry = arith::DivUIOp::create(b, chunk.first, index(kChunk));
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), state);
  return tensor::InsertSliceOp::create(
      b, state, states, Sizes{entry, zero, zero},
      Sizes{one, sizes[0], sizes[1]}, Sizes(3, one));
}

/// `state` and (K * factors)^T V; `factors` may be null.
Value LinearEmitter::emitNextState(const Chunk &chunk, Value factors,
                                   Value state) {
  Value key = sliceKeys(op.getKey(), chunk),
        value = sliceKeys(op.getValue(), chunk);
  auto add = [&](ValueRange args) { return addProduct(args); };
  if (!factors)
    return buildGeneric(b, {key, value}, {{0, 1}, {0, 2}}, state, {1, 2}, add);
  return buildGeneric(b, {key, factors, value}, {{0, 1}, {0}, {0, 2}}, state,
                      {1, 2}, add);
}

/// Outputs, state after the chunk, and the states up to it if they are carried.
Values LinearEmitter::emitChunk(const Chunk &chunk, ValueRange carried) {
  Value query = slice(op.getQuery(), chunk.at, chunk.first, chunk.count);
  Value state = carried[1];
  Decays decays = emitDecays(chunk);
  if (op.getReverse())
    std::swap(decays.before, decays.after);
  Value acc = multiplyState(query, decays.before, state);
  acc = addWithin(chunk, query, decays, acc);
  Value output = insertOutput(chunk, acc, carried[0]);
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), state);
  Value decayed = buildGeneric(
      b, state, {{0, 1}}, tensor::EmptyOp::create(b, sizes, type), {0, 1},
      [&](ValueRange args) { return mul(args[0], decays.all); });
  Values next = {output, emitNextState(chunk, decays.after, decayed)};
  if (carried.size() > 2)
    next.push_back(insertState(chunk, state, carried[2]));
  return next;
}

//===----------------------------------------------------------------------===//
// A head
//===----------------------------------------------------------------------===//

Values LinearEmitter::emitChunks(ValueRange at, ValueRange carried) {
  Value rows = size(op.getQuery(), kSequence);
  Value chunks = arith::CeilDivUIOp::create(b, rows, index(kChunk));
  Value last = arith::SubIOp::create(b, chunks, index(1));
  last = arith::MulIOp::create(b, last, index(kChunk));
  return loop(rows, kChunk, carried, [&](Value first, ValueRange state) {
    if (op.getReverse())
      first = arith::SubIOp::create(b, last, first);
    return emitChunk(getChunk(at, first, rows), state);
  });
}

Values LinearEmitter::emitFull(ValueRange at, ValueRange carried) {
  Value keys = size(op.getKey(), kSequence);
  Values state =
      loop(keys, kChunk, carried[1], [&](Value first, ValueRange state) {
        return Values{emitNextState(getChunk(at, first, keys),
                                    /*factors=*/Value(), state[0])};
      });
  Value rows = size(op.getQuery(), kSequence);
  Values output =
      loop(rows, kChunk, carried[0], [&](Value first, ValueRange output) {
        Chunk chunk = getChunk(at, first, rows);
        Value query = slice(op.getQuery(), at, first, chunk.count);
        Value acc = multiplyState(query, /*factors=*/Value(), state[0]);
        return Values{insertOutput(chunk, acc, output[0])};
      });
  return {output[0], state[0]};
}

/// What is made, in the order of the results, of which the op may lack some.
Values LinearEmitter::createInits() {
  Value query = op.getQuery();
  Location loc = b.getLoc();
  Sizes rows = tensor::getMixedSizes(b, loc, query);
  OpFoldResult headDim = rows[kHeadDim];
  rows[kHeadDim] = getDim(b, loc, op.getValue(), kHeadDim);
  Sizes state = {rows[kBatch], rows[kHead], headDim, rows[kHeadDim]};
  Values inits = {
      tensor::EmptyOp::create(b, rows, getElementTypeOrSelf(op.getOutput())),
      op.getState() ? op.getState() : zeros(state)};
  if (op.getStates()) {
    Value rows = size(query, kSequence);
    Value chunks = arith::CeilDivUIOp::create(b, rows, index(kChunk));
    state.insert(state.begin() + 2, OpFoldResult(chunks));
    inits.push_back(tensor::EmptyOp::create(b, state, type));
  }
  return inits;
}

Values LinearEmitter::emit() {
  Location loc = b.getLoc();
  OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  Values inits = createInits();
  Sizes heads = tensor::getMixedSizes(b, loc, op.getQuery());
  heads.truncate(2);
  auto forall = scf::ForallOp::create(b, heads, inits,
                                      /*mapping=*/std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    Values at = forall.getInductionVars(), head;
    // Of each, all but batch and head.
    SmallVector<std::pair<Sizes, Sizes>> slices;
    for (auto [init, shared] : llvm::zip(inits, forall.getRegionIterArgs())) {
      auto given = cast<RankedTensorType>(init.getType());
      Sizes offsets(given.getRank(), zero);
      offsets[kBatch] = at[0];
      offsets[kHead] = at[1];
      Sizes sizes = tensor::getMixedSizes(b, loc, init);
      sizes[kBatch] = sizes[kHead] = one;
      auto type = RankedTensorType::get(given.getShape().drop_front(2),
                                        given.getElementType());
      head.push_back(tensor::ExtractSliceOp::create(
          b, type, shared, offsets, sizes, Sizes(offsets.size(), one)));
      slices.push_back({offsets, sizes});
    }
    head = op.getFull() ? emitFull(at, head) : emitChunks(at, head);
    b.setInsertionPointToEnd(forall.getTerminator().getBody());
    for (auto [part, whole, slice] :
         llvm::zip(head, forall.getRegionIterArgs(), slices))
      tensor::ParallelInsertSliceOp::create(b, part, whole, slice.first,
                                            slice.second,
                                            Sizes(slice.first.size(), one));
  }
  Value wanted[] = {op.getOutput(), op.getFinalState(), op.getStates()};
  Values results;
  for (auto [result, made] : llvm::zip(wanted, forall.getResults()))
    if (result)
      results.push_back(
          castTensor(b, loc, made, cast<RankedTensorType>(result.getType())));
  return results;
}

SmallVector<Value> attn::emitLinearAttention(OpBuilder &builder,
                                             LinearAttentionOp op,
                                             bool roundFactors) {
  return LinearEmitter(builder, op, roundFactors).emit();
}
