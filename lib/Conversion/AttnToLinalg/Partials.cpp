//===- Partials.cpp - States and results of parts of the keys ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partials.h"

#include "ScoreEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn;

/// Takes the parts of a stack into `init` [B, Hq, M(, Dv)], one after the
/// other. Operands are [P, B, Hq, M(, Dv)], or [B, Hq, M] for all parts; the
/// last value that the body gets is the element of `init`.
static Value
reduceParts(OpBuilder &builder, Location loc, ValueRange operands, Value init,
            function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  int64_t rank = cast<ShapedType>(init.getType()).getRank();
  AffineMap all =
      AffineMap::getMultiDimIdentityMap(rank + 1, builder.getContext());
  SmallVector<AffineMap> maps;
  for (Value operand : operands) {
    int64_t own = cast<ShapedType>(operand.getType()).getRank();
    maps.push_back(own == 3 ? all.getSliceMap(1, 3) : all.getMajorSubMap(own));
  }
  maps.push_back(all.getMinorSubMap(rank));
  SmallVector<utils::IteratorType> iterators(rank + 1,
                                             utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), operands,
             ValueRange(init), maps, iterators,
             [&](OpBuilder &b, Location l, ValueRange args) {
               linalg::YieldOp::create(b, l, body(b, l, args));
             })
      .getResult(0);
}

/// A stack of one part, unless `part` is a stack.
static Value getStack(OpBuilder &builder, Location loc, Value part,
                      int64_t rank) {
  auto type = cast<RankedTensorType>(part.getType());
  if (type.getRank() == rank)
    return part;
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> dims = {{0, 1}};
  for (int64_t dim = 2; dim < rank; ++dim)
    dims.push_back({dim});
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), part,
                                       dims);
}

/// `number`, times exp(part - max) where there is a maximum: 0 where `part` is
/// -inf, whatever the number is. `maxima` are part and max, or none.
static Value emitWeighted(OpBuilder &b, Location l, Value number,
                          ValueRange maxima) {
  if (maxima.empty())
    return number;
  Value shifted = arith::SubFOp::create(b, l, maxima[0], maxima[1]);
  Value weight = math::ExpOp::create(b, l, shifted);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return selectIfEqual(b, l, maxima[0], -infinity, 0,
                       arith::MulFOp::create(b, l, weight, number));
}

RunningState attn::emitCombined(OpBuilder &builder, Location loc,
                                RowReductionInterface reduction, FloatType type,
                                ArrayRef<RunningState> stacks) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, stacks.front().getAcc());
  ArrayRef<OpFoldResult> accSizes = ArrayRef(sizes).drop_front();
  SmallVector<Value> init = {
      filled(builder, loc, accSizes, constantFloat(builder, loc, type, 0))};
  for (const RowValue &row : reduction.getRowValues())
    init.push_back(filled(builder, loc, accSizes.drop_back(),
                          constantFloat(builder, loc, type, row.neutral)));
  RunningState state(reduction, init);
  if (Value max = state.get(RowRole::Maximum)) {
    for (const RunningState &stack : stacks)
      max = reduceParts(builder, loc, stack.get(RowRole::Maximum), max,
                        [](OpBuilder &b, Location l, ValueRange args) -> Value {
                          return arith::MaximumFOp::create(b, l, args[0],
                                                           args[1]);
                        });
    state.set(RowRole::Maximum, max);
  }
  auto addParts = [&](Value parts, const RunningState &stack, Value to) {
    SmallVector<Value> operands = {parts};
    if (Value max = state.get(RowRole::Maximum))
      operands.append({stack.get(RowRole::Maximum), max});
    return reduceParts(
        builder, loc, operands, to,
        [&](OpBuilder &b, Location l, ValueRange args) -> Value {
          Value number = convertFloat(b, l, args.front(), type);
          Value weighted =
              emitWeighted(b, l, number, args.drop_front().drop_back());
          return arith::AddFOp::create(b, l, args.back(), weighted);
        });
  };
  for (const RunningState &stack : stacks) {
    if (Value sums = stack.get(RowRole::Sum))
      state.set(RowRole::Sum, addParts(sums, stack, state.get(RowRole::Sum)));
    state.setAcc(addParts(stack.getAcc(), stack, state.getAcc()));
  }
  return state;
}

RunningState attn::emitMergedState(OpBuilder &builder, MergeOp op) {
  Location loc = op.getLoc();
  auto softmax = SoftmaxAttr::get(op.getContext());
  auto type = cast<FloatType>(getElementTypeOrSelf(op.getLse().getType()));
  SmallVector<RunningState> stacks;
  for (auto [output, part] : llvm::zip_equal(op.getOutputs(), op.getLses())) {
    Value lse = getStack(builder, loc, part, 4);
    Value ones = filledLike(builder, loc, lse, type, 1);
    stacks.emplace_back(
        softmax, ValueRange{getStack(builder, loc, output, 5), lse, ones});
  }
  return emitCombined(builder, loc, softmax, type, stacks);
}
