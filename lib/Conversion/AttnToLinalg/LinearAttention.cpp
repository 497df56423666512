//===- LinearAttention.cpp - attn.linear_attention by chunks ---- -*- C++
//-*-===//
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
// Products of decays, which are at most 1, neither overflow nor take a
// difference of infinities.
//
//===----------------------------------------------------------------------===//

#include "LinearAttention.h"

#include "Backward.h"
#include "ScoreEmitter.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

/// Rows of a chunk.
static constexpr int64_t kChunk = 64;

namespace {
using Sizes = SmallVector<OpFoldResult>;
using Values = SmallVector<Value>;

class LinearEmitter {
public:
  LinearEmitter(OpBuilder &builder, LinearAttentionOp op)
      : b(op.getLoc(), builder), op(op), type(op.getScoreType()) {}

  Values emit();

private:
  using Body = llvm::function_ref<Value(ValueRange)>;
  /// The decays of a chunk.
  struct Decays {
    Value between; ///< L [C, C]
    Value before;  ///< e [C]
    Value all;     ///< e[C - 1]
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
  /// init = body(operands, init) over loops, each operand at those it names.
  Value generic(ValueRange operands, ArrayRef<SmallVector<unsigned, 2>> loops,
                Value init, ArrayRef<unsigned> initLoops, Body body);
  Value emitDecay(ValueRange at, Value position);
  Decays emitDecays(ValueRange at, Value first, Value count);
  Values emitChunk(ValueRange at, Value first, ValueRange carried);

  ImplicitLocOpBuilder b;
  LinearAttentionOp op;
  FloatType type;
};
} // namespace

Values LinearEmitter::loop(Value upper, int64_t step, ValueRange state,
                           llvm::function_ref<Values(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(b, index(0), upper, index(step), state);
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

Value LinearEmitter::generic(ValueRange operands,
                             ArrayRef<SmallVector<unsigned, 2>> loops,
                             Value init, ArrayRef<unsigned> initLoops,
                             Body body) {
  unsigned count = 0;
  for (ArrayRef<unsigned> own : loops)
    for (unsigned loop : own)
      count = std::max(count, loop + 1);
  SmallVector<AffineMap> maps;
  for (ArrayRef<unsigned> own : loops)
    maps.push_back(
        AffineMap::getMultiDimMapWithTargets(count, own, b.getContext()));
  maps.push_back(
      AffineMap::getMultiDimMapWithTargets(count, initLoops, b.getContext()));
  SmallVector<utils::IteratorType> iterators(count,
                                             utils::IteratorType::reduction);
  for (unsigned loop : initLoops)
    iterators[loop] = utils::IteratorType::parallel;
  auto made = linalg::GenericOp::create(
      b, TypeRange(init.getType()), operands, ValueRange(init), maps, iterators,
      [&](OpBuilder &builder, Location, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(builder.getInsertionBlock());
        linalg::YieldOp::create(b, body(args));
      });
  return made.getResult(0);
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

LinearEmitter::Decays LinearEmitter::emitDecays(ValueRange at, Value first,
                                                Value count) {
  Value one = constantFloat(b, b.getLoc(), type, 1);
  Value between = zeros({count, count}), before = zeros({count});
  Values ends =
      loop(count, 1, {between, before, one}, [&](Value i, ValueRange state) {
        Value decay = emitDecay(at, arith::AddIOp::create(b, first, i));
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
  return {ends[0], ends[1], ends[2]};
}

/// Output rows and state after the chunk that begins at `first`.
Values LinearEmitter::emitChunk(ValueRange at, Value first,
                                ValueRange carried) {
  Value rows = size(op.getQuery(), kSequence);
  Value count = arith::MinSIOp::create(b, index(kChunk),
                                       arith::SubIOp::create(b, rows, first));
  Value group = arith::DivUIOp::create(b, size(op.getQuery(), kHead),
                                       size(op.getKey(), kHead));
  Value keyAt[] = {at[0], arith::DivUIOp::create(b, at[1], group)};
  Value query = slice(op.getQuery(), at, first, count);
  Value key = slice(op.getKey(), keyAt, first, count);
  Value value = slice(op.getValue(), keyAt, first, count);
  Value state = carried[1];
  Decays decays = emitDecays(at, first, count);
  OpFoldResult width = getDim(b, b.getLoc(), op.getValue(), kHeadDim);

  auto addProduct = [&](ValueRange args) -> Value {
    Value product = widen(args[0]);
    for (Value factor : args.drop_front().drop_back())
      product = mul(product, widen(factor));
    return arith::AddFOp::create(b, args.back(), product);
  };
  Value scores = generic({query, key}, {{0, 2}, {1, 2}}, zeros({count, count}),
                         {0, 1}, addProduct);
  Value acc = generic({query, decays.before, state}, {{0, 1}, {0}, {1, 2}},
                      zeros({count, width}), {0, 2}, addProduct);
  acc = generic(
      {scores, decays.between, value}, {{0, 1}, {0, 1}, {1, 2}}, acc, {0, 2},
      [&](ValueRange args) -> Value {
        // Rows do not see what comes after them, NaN or not.
        Value sees = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                           linalg::IndexOp::create(b, 1),
                                           linalg::IndexOp::create(b, 0));
        return arith::SelectOp::create(b, sees, addProduct(args), args.back());
      });
  auto element = cast<FloatType>(getElementTypeOrSelf(op.getOutput()));
  Value scale = constantFloat(b, b.getLoc(), type, op.getScaleValue());
  Value output = generic(
      acc, {{0, 1}}, tensor::EmptyOp::create(b, Sizes{count, width}, element),
      {0, 1}, [&](ValueRange args) {
        return convertFloat(b, b.getLoc(), mul(args[0], scale), element);
      });
  output = tensor::InsertSliceOp::create(
      b, output, carried[0], Sizes{first, b.getIndexAttr(0)},
      Sizes{count, width}, Sizes(2, b.getIndexAttr(1)));

  Value last = arith::SubIOp::create(b, count, index(1));
  Value toEnd = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get({ShapedType::kDynamic}, type), decays.between,
      Sizes{last, b.getIndexAttr(0)}, Sizes{b.getIndexAttr(1), count},
      Sizes(2, b.getIndexAttr(1)));
  Sizes stateSizes = tensor::getMixedSizes(b, b.getLoc(), state);
  Value next = generic(
      state, {{0, 1}}, tensor::EmptyOp::create(b, stateSizes, type), {0, 1},
      [&](ValueRange args) { return mul(args[0], decays.all); });
  next = generic({key, toEnd, value}, {{0, 1}, {0}, {0, 2}}, next, {1, 2},
                 addProduct);
  return {output, next};
}

Values LinearEmitter::emit() {
  Value query = op.getQuery();
  Location loc = b.getLoc();
  OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  OpFoldResult batches = getDim(b, loc, query, kBatch),
               heads = getDim(b, loc, query, kHead),
               rows = getDim(b, loc, query, kSequence),
               headDim = getDim(b, loc, query, kHeadDim),
               width = getDim(b, loc, op.getValue(), kHeadDim);
  Sizes stateSizes = {batches, heads, headDim, width};
  Value state = op.getState() ? op.getState() : zeros(stateSizes);
  Value output = tensor::EmptyOp::create(b, Sizes{batches, heads, rows, width},
                                         getElementTypeOrSelf(op.getOutput()));
  auto forall = scf::ForallOp::create(b, ArrayRef<OpFoldResult>{batches, heads},
                                      ValueRange{output, state},
                                      /*mapping=*/std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    Values at = forall.getInductionVars();
    ValueRange shared = forall.getRegionIterArgs();
    Value count = size(query, kSequence);
    Values head = {
        slice(shared[0], at, index(0), rows),
        tensor::ExtractSliceOp::create(
            b,
            RankedTensorType::get(
                {cast<ShapedType>(query.getType()).getDimSize(kHeadDim),
                 cast<ShapedType>(op.getValue().getType())
                     .getDimSize(kHeadDim)},
                type),
            shared[1], Sizes{at[0], at[1], zero, zero},
            Sizes{one, one, headDim, width}, Sizes(4, one))};
    head = loop(count, kChunk, head, [&](Value first, ValueRange carried) {
      return emitChunk(at, first, carried);
    });
    b.setInsertionPointToEnd(forall.getTerminator().getBody());
    for (auto [part, whole, length] :
         {std::tuple{head[0], shared[0], rows}, {head[1], shared[1], headDim}})
      tensor::ParallelInsertSliceOp::create(
          b, part, whole, Sizes{at[0], at[1], zero, zero},
          Sizes{one, one, length, width}, Sizes(4, one));
  }
  Values results;
  for (auto [result, made] : llvm::zip(op->getResults(), forall.getResults()))
    results.push_back(
        castTensor(b, loc, made, cast<RankedTensorType>(result.getType())));
  return results;
}

SmallVector<Value> attn::emitLinearAttention(OpBuilder &builder,
                                             LinearAttentionOp op) {
  return LinearEmitter(builder, op).emit();
}
