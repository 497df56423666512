//===- TileEmitter.cpp - Vector code on tiles of attention ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "InlineMod.h"
#include "VectorMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

SmallVector<Value> attn::forColumns(ImplicitLocOpBuilder &b, int64_t total,
                                    ValueRange init, ColumnsBody body) {
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, number);
  };
  int64_t numBlocks = total / kBlockColumns, whole = numBlocks * kBlockColumns;
  SmallVector<Value> values(init);
  if (numBlocks == 1) {
    values = body({index(0), kBlockColumns}, values);
  } else if (numBlocks > 1) {
    auto loop = createFor(b, whole, kBlockColumns, values);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto next =
        body({loop.getInductionVar(), kBlockColumns}, loop.getRegionIterArgs());
    if (!next.empty()) // Without values, the loop has been terminated.
      scf::YieldOp::create(b, next);
    values.assign(loop->result_begin(), loop->result_end());
  }
  return total > whole ? body({index(whole), total - whole}, values) : values;
}

void TileEmitter::forColumns(int64_t total,
                             llvm::function_ref<void(Columns)> body) {
  attn::forColumns(b, total, {}, [&](Columns columns, ValueRange) -> Values {
    body(columns);
    return {};
  });
}

Value attn::reduceColumns(ImplicitLocOpBuilder &b, Type element, int64_t total,
                          double neutral, Combine combine,
                          llvm::function_ref<Value(Columns)> body) {
  // That of whole blocks stays a vector: its lanes are combined once.
  SmallVector<Value> parts;
  auto type = VectorType::get({kBlockColumns}, element);
  if (int64_t whole = total / kBlockColumns * kBlockColumns)
    parts = forColumns(b, whole, createSplat(b, type, neutral),
                       [&](Columns columns, ValueRange sum) {
                         return SmallVector<Value>{
                             combine(b, sum.front(), body(columns))};
                       });
  if (int64_t rest = total % kBlockColumns) {
    Value begin = arith::ConstantIndexOp::create(b, total - rest);
    parts.push_back(body({begin, rest}));
  }
  return combineLanes(b, parts, combine);
}

/// Products that are added up one after the other, and then onto the sum of
/// others: of 128 products in one chain the error is twice that in such parts
/// (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
static constexpr int64_t kProductsOfPart = 32;

SmallVector<Value> TileEmitter::emitMultiplyAdds(
    int64_t count, ValueRange init, llvm::function_ref<Value(Value)> load,
    llvm::function_ref<Value(int64_t, Value)> scalar) {
  auto emitPart = [&](Value begin, Value end, ValueRange init) -> Values {
    auto loop = scf::ForOp::create(b, begin, end, index(1), init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar(), row = load(k);
    int64_t width = cast<VectorType>(row.getType()).getNumElements();
    Values sums;
    for (auto [i, sum] : llvm::enumerate(loop.getRegionIterArgs()))
      sums.push_back(
          vector::FMAOp::create(b, broadcast(scalar(i, k), width), row, sum));
    scf::YieldOp::create(b, sums);
    return Values(loop.getResults());
  };
  int64_t whole = count / kProductsOfPart * kProductsOfPart;
  Values sums(init);
  if (whole > kProductsOfPart) {
    auto loop = createFor(b, whole, kProductsOfPart, init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value begin = loop.getInductionVar();
    Values zeros = llvm::map_to_vector(init, [&](Value sum) -> Value {
      return createSplat(b, cast<VectorType>(sum.getType()), 0.0);
    });
    Values parts = emitPart(begin, add(begin, kProductsOfPart), zeros), next;
    for (auto [sum, part] : llvm::zip_equal(loop.getRegionIterArgs(), parts))
      next.push_back(arith::AddFOp::create(b, sum, part));
    scf::YieldOp::create(b, next);
    sums.assign(loop->result_begin(), loop->result_end());
  } else {
    whole = 0;
  }
  if (whole == count)
    return sums;
  Value first = index(whole);
  return emitPart(first, index(count), sums);
}

Value TileEmitter::emitBias(Value score, Value position, Columns keys) {
  if (!bias)
    return score;
  auto shape = cast<ShapedType>(bias.getType());
  Value zero = index(0);
  Value row = shape.getDimSize(kSequence) == 1 ? zero : position;
  Value addend;
  if (shape.getDimSize(kHeadDim) == 1)
    addend = vector::BroadcastOp::create(
        b, VectorType::get({keys.width}, shape.getElementType()),
        tensor::ExtractOp::create(b, bias, ValueRange{zero, zero, row, zero}));
  else
    addend =
        buffers.readRow(b, bias, {zero, zero, row, keys.begin}, keys.width);
  return arith::AddFOp::create(b, score, buffers.extend(b, addend, scoreType));
}

SmallVector<Value> TileEmitter::emitCoordinates(Value position, Columns keys) {
  Value i = arith::AddIOp::create(b, offsets[kLoopM], position);
  auto indexVector = VectorType::get({keys.width}, b.getIndexType());
  Value j = vector::StepOp::create(b, indexVector);
  Value first = vector::BroadcastOp::create(b, indexVector,
                                            add(offsets[kLoopN], keys.begin));
  j = arith::AddIOp::create(b, j, first);
  return {offsets[kLoopB], offsets[kLoopH], i, j};
}

Value TileEmitter::emitScoreMod(Region &mod, Value score, ValueRange at,
                                Columns keys) {
  Values arguments = {score};
  llvm::append_range(arguments, at);
  return inlineMod(b, mod, arguments, keys.width);
}

Value TileEmitter::emitMaskMod(ValueRange at, Columns keys) {
  return inlineMod(b, maskMod, Values(at), keys.width);
}

Value TileEmitter::emitDropout(Value p, Value position, Columns keys,
                               double factor) {
  if (!dropout)
    return p;
  Value keep =
      buildKeep(b, b.getLoc(), *dropout, emitCoordinates(position, keys));
  VectorType type = vectorOf(keys.width);
  if (factor != 1)
    p = arith::MulFOp::create(b, p, createSplat(b, type, factor));
  return arith::SelectOp::create(b, keep, p, createSplat(b, type, 0.0));
}

Value TileEmitter::emitScoreMods(Value score, Value position, Columns keys) {
  score = emitBias(score, position, keys);
  if (scoreMod.empty() && maskMod.empty())
    return score;
  Values at = emitCoordinates(position, keys);
  if (!scoreMod.empty())
    score = emitScoreMod(scoreMod, score, at, keys);
  if (maskMod.empty())
    return score;
  Value hidden = createSplat(b, vectorOf(keys.width), hiddenScore);
  return arith::SelectOp::create(b, emitMaskMod(at, keys), score, hidden);
}
