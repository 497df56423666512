//===- OnlineStep.cpp - One attention step in linalg ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops are (b, h, i, j, d), or (b, hk, g, i, j, d) where G = Hq / Hkv
// query heads share a key head: the query's head dimension is then expanded to
// [Hkv, G] and the state's with it, so that every indexing map is a projected
// permutation and upstream transformations apply.
//
//===----------------------------------------------------------------------===//

#include "OnlineStep.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

using Sizes = SmallVector<OpFoldResult>;
using BodyFn = function_ref<Value(OpBuilder &, Location, ValueRange)>;

Value attn::convertFloat(OpBuilder &builder, Location loc, Value value,
                         FloatType type) {
  auto from = cast<FloatType>(value.getType());
  if (from == type)
    return value;
  if (from.getWidth() < type.getWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

static Value constantFloat(OpBuilder &builder, Location loc, FloatType type,
                           double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

static Value negativeInfinity(OpBuilder &builder, Location loc,
                              FloatType type) {
  return constantFloat(builder, loc, type,
                       -std::numeric_limits<double>::infinity());
}

static Value filled(OpBuilder &builder, Location loc,
                    ArrayRef<OpFoldResult> sizes, Value element) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element.getType());
  return linalg::FillOp::create(builder, loc, element, empty).getResult(0);
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

namespace {
/// Emits one step; holds what its parts share.
class StepEmitter {
public:
  StepEmitter(OpBuilder &builder, Location loc, const OnlineStepInputs &inputs)
      : builder(builder), loc(loc), inputs(inputs), type(inputs.scoreType) {
    findGroup();
    nameLoops();
  }

  OnlineState emit(std::optional<OnlineState> state);

private:
  // Shapes and loops.
  void findGroup();
  void nameLoops();
  Value expandHeads(Value tensor);
  Value collapseHeads(Value tensor, Type resultType);
  Sizes rowSizes() const;
  SmallVector<unsigned> rowLoops() const;
  AffineMap map(ArrayRef<unsigned> loops) const;
  AffineMap biasMap() const;

  // Emission.
  Value generic(ValueRange operands, ArrayRef<AffineMap> maps, Value init,
                ArrayRef<unsigned> loops, ArrayRef<unsigned> reductions,
                BodyFn body);
  SmallVector<Value> coordinates(OpBuilder &b, Location l);
  Value inlineMod(OpBuilder &b, Region &region, ValueRange arguments);
  Value emitProducts();
  Value emitScores(Value products);
  Value emitMax(Value scores, Value init);
  Value emitExponentials(Value scores, Value max);
  Value emitSum(Value exponentials, Value init);
  Value emitAccumulation(Value exponentials, Value init);
  Value rescale(Value state, Value oldMax, Value newMax);

  OpBuilder &builder;
  Location loc;
  const OnlineStepInputs &inputs;
  FloatType type;

  bool grouped = false;
  OpFoldResult keyHeads, group;
  Value query;
  Value lengths[2];
  // Loop numbers; loopG is used only where grouped.
  unsigned loopB, loopH, loopG, loopI, loopJ, loopD;
};
} // namespace

/// True if the sizes are known to be equal.
static bool isSameStatic(int64_t a, int64_t b) {
  return !ShapedType::isDynamic(a) && a == b;
}

void StepEmitter::findGroup() {
  query = inputs.query;
  auto shapeOf = [](Value value) { return cast<ShapedType>(value.getType()); };
  AttentionDims dims = AttentionDims::get(
      shapeOf(inputs.query), shapeOf(inputs.key), shapeOf(inputs.value));
  grouped = !isSameStatic(dims.queryHeads, dims.keyHeads);
  if (!grouped)
    return;
  keyHeads = getDim(builder, loc, inputs.key, kHead);
  if (!ShapedType::isDynamic(dims.queryHeads) &&
      !ShapedType::isDynamic(dims.keyHeads)) {
    group = builder.getIndexAttr(dims.queryHeads / dims.keyHeads);
  } else {
    auto asValue = [&](OpFoldResult size) {
      return getValueOrCreateConstantIndexOp(builder, loc, size);
    };
    // A tensor without key heads has no query heads either; 0 / 0 would trap.
    Value divisor =
        arith::MaxUIOp::create(builder, loc, asValue(keyHeads),
                               arith::ConstantIndexOp::create(builder, loc, 1));
    group = arith::DivUIOp::create(builder, loc,
                                   asValue(getDim(builder, loc, query, kHead)),
                                   divisor)
                .getResult();
  }
  query = expandHeads(query);
}

void StepEmitter::nameLoops() {
  unsigned next = 0;
  loopB = next++;
  loopH = next++;
  loopG = grouped ? next++ : loopH;
  loopI = next++;
  loopJ = next++;
  loopD = next++;
}

/// [B, Hq, ...] as [B, Hkv, G, ...].
Value StepEmitter::expandHeads(Value tensor) {
  if (!grouped)
    return tensor;
  auto from = cast<RankedTensorType>(tensor.getType());
  bool isDynamic = isa<Value>(group) || isa<Value>(keyHeads);
  if (isDynamic && !from.isDynamicDim(kHead)) {
    SmallVector<int64_t> shape(from.getShape());
    shape[kHead] = ShapedType::kDynamic;
    from = RankedTensorType::get(shape, from.getElementType());
    tensor = tensor::CastOp::create(builder, loc, from, tensor);
  }
  Sizes sizes = tensor::getMixedSizes(builder, loc, tensor);
  sizes[kHead] = keyHeads;
  sizes.insert(sizes.begin() + kHead + 1, group);
  SmallVector<ReassociationIndices> dims = {{0}, {1, 2}};
  for (int64_t i = 2; i < from.getRank(); ++i)
    dims.push_back({i + 1});
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, from.getElementType()), tensor,
      dims, sizes);
}

/// The inverse of expandHeads, as `resultType` (null: whatever comes out).
Value StepEmitter::collapseHeads(Value tensor, Type resultType) {
  if (grouped) {
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    SmallVector<ReassociationIndices> dims = {{0}, {1, 2}};
    for (int64_t i = 3; i < rank; ++i)
      dims.push_back({i});
    tensor = tensor::CollapseShapeOp::create(builder, loc, tensor, dims);
  }
  if (resultType && tensor.getType() != resultType)
    tensor = tensor::CastOp::create(builder, loc, resultType, tensor);
  return tensor;
}

/// Sizes of the loops over rows: [B, Hq, M] or [B, Hkv, G, M].
Sizes StepEmitter::rowSizes() const {
  Sizes sizes = tensor::getMixedSizes(builder, loc, query);
  sizes.pop_back();
  return sizes;
}

SmallVector<unsigned> StepEmitter::rowLoops() const {
  if (grouped)
    return {loopB, loopH, loopG, loopI};
  return {loopB, loopH, loopI};
}

/// The projection of the six (five) loops to `loops`.
AffineMap StepEmitter::map(ArrayRef<unsigned> loops) const {
  return AffineMap::getMultiDimMapWithTargets(loopD + 1, loops,
                                              builder.getContext());
}

/// A size of 1 of the bias is broadcast.
AffineMap StepEmitter::biasMap() const {
  auto bias = cast<ShapedType>(inputs.bias.getType());
  MLIRContext *context = builder.getContext();
  auto access = [&](unsigned dim, unsigned loop) {
    return bias.getDimSize(dim) == 1 ? getAffineConstantExpr(0, context)
                                     : getAffineDimExpr(loop, context);
  };
  SmallVector<AffineExpr> results = {access(kBatch, loopB),
                                     access(kHead, loopH)};
  if (grouped && bias.getDimSize(kHead) != 1)
    results.push_back(access(kHead, loopG));
  results.push_back(access(2, loopI));
  results.push_back(access(3, loopJ));
  return AffineMap::get(loopD + 1, 0, results, context);
}

/// A linalg.generic over `loops`; the maps may name those loops only. The last
/// value the body gets is the element of `init`.
Value StepEmitter::generic(ValueRange operands, ArrayRef<AffineMap> maps,
                           Value init, ArrayRef<unsigned> loops,
                           ArrayRef<unsigned> reductions, BodyFn body) {
  // Renumber the loops in use.
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> renumbering(loopD + 1,
                                      getAffineConstantExpr(0, context));
  for (auto [position, loop] : llvm::enumerate(loops))
    renumbering[loop] = getAffineDimExpr(position, context);
  SmallVector<AffineMap> renumbered;
  for (AffineMap m : maps)
    renumbered.push_back(
        m.replaceDimsAndSymbols(renumbering, {}, loops.size(), 0));
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop : loops)
    iterators.push_back(llvm::is_contained(reductions, loop)
                            ? utils::IteratorType::reduction
                            : utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), operands,
             ValueRange(init), renumbered, iterators,
             [&](OpBuilder &b, Location l, ValueRange args) {
               linalg::YieldOp::create(b, l, body(b, l, args));
             })
      .getResult(0);
}

/// Global coordinates (b, h, i, j) inside a body whose loops begin with the row
/// loops and j.
SmallVector<Value> StepEmitter::coordinates(OpBuilder &b, Location l) {
  auto index = [&](unsigned loop) -> Value {
    return linalg::IndexOp::create(b, l, loop);
  };
  Value head = index(loopH);
  if (grouped) {
    Value size = getValueOrCreateConstantIndexOp(b, l, group);
    Value first = arith::MulIOp::create(b, l, head, size);
    head = arith::AddIOp::create(b, l, first, index(loopG));
  }
  SmallVector<Value> result = {index(loopB), head, index(loopI), index(loopJ)};
  if (!inputs.offsets.empty())
    for (auto [position, value] : llvm::enumerate(result))
      value = arith::AddIOp::create(b, l, inputs.offsets[position], value);
  return result;
}

/// Clones the body of a score_mod or mask_mod; returns what it yields.
Value StepEmitter::inlineMod(OpBuilder &b, Region &region,
                             ValueRange arguments) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator()) {
    if (auto length = dyn_cast<LengthOp>(op))
      mapping.map(length.getResult(),
                  lengths[static_cast<unsigned>(length.getSequence())]);
    else
      b.clone(op, mapping);
  }
  auto yield = cast<YieldOp>(region.front().getTerminator());
  return mapping.lookupOrDefault(yield.getValue());
}

/// Q K^T, unscaled.
Value StepEmitter::emitProducts() {
  Sizes sizes = rowSizes();
  sizes.push_back(getDim(builder, loc, inputs.key, kSequence));
  Value zero = constantFloat(builder, loc, type, 0);
  Value init = filled(builder, loc, sizes, zero);
  SmallVector<unsigned> scoreLoops = rowLoops(), queryLoops = rowLoops();
  scoreLoops.push_back(loopJ);
  queryLoops.push_back(loopD);
  SmallVector<unsigned> loops = scoreLoops;
  loops.push_back(loopD);
  return generic(
      {query, inputs.key},
      {map(queryLoops), map({loopB, loopH, loopJ, loopD}), map(scoreLoops)},
      init, loops, {loopD},
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value q = convertFloat(b, l, args[0], type);
        Value k = convertFloat(b, l, args[1], type);
        Value product = arith::MulFOp::create(b, l, q, k);
        return arith::AddFOp::create(b, l, args[2], product);
      });
}

/// Scale, bias, score_mod and mask_mod, in this order.
Value StepEmitter::emitScores(Value products) {
  lengths[0] = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, inputs.query, kSequence));
  lengths[1] = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, inputs.key, kSequence));
  SmallVector<unsigned> loops = rowLoops();
  loops.push_back(loopJ);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  if (inputs.bias) {
    bool perHead =
        cast<ShapedType>(inputs.bias.getType()).getDimSize(kHead) != 1;
    operands.push_back(perHead ? expandHeads(inputs.bias) : inputs.bias);
    maps.push_back(biasMap());
  }
  maps.push_back(map(loops));
  auto body = [&](OpBuilder &b, Location l, ValueRange args) -> Value {
    Value scale = constantFloat(b, l, type, inputs.scale);
    Value score = arith::MulFOp::create(b, l, args.back(), scale);
    if (inputs.bias)
      score = arith::AddFOp::create(b, l, score,
                                    convertFloat(b, l, args.front(), type));
    SmallVector<Value> at = coordinates(b, l);
    if (!inputs.scoreMod->empty()) {
      SmallVector<Value> arguments = {score};
      llvm::append_range(arguments, at);
      score = inlineMod(b, *inputs.scoreMod, arguments);
    }
    if (!inputs.maskMod->empty()) {
      Value visible = inlineMod(b, *inputs.maskMod, at);
      score = arith::SelectOp::create(b, l, visible, score,
                                      negativeInfinity(b, l, type));
    }
    return score;
  };
  return generic(operands, maps, products, loops, {}, body);
}

/// max(init, row maximum); NaN propagates.
Value StepEmitter::emitMax(Value scores, Value init) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  loops.push_back(loopJ);
  return generic({scores}, {map(loops), map(rows)}, init, loops, {loopJ},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   return arith::MaximumFOp::create(b, l, args[1], args[0]);
                 });
}

/// exp(score - max), and 0 in rows that see nothing: -inf - -inf is NaN.
Value StepEmitter::emitExponentials(Value scores, Value max) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  loops.push_back(loopJ);
  return generic(
      {max}, {map(rows), map(loops)}, scores, loops, {},
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value shifted = arith::SubFOp::create(b, l, args[1], args[0]);
        Value p = math::ExpOp::create(b, l, shifted);
        Value isEmpty =
            arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, args[0],
                                  negativeInfinity(b, l, type));
        return arith::SelectOp::create(b, l, isEmpty,
                                       constantFloat(b, l, type, 0), p);
      });
}

Value StepEmitter::emitSum(Value exponentials, Value init) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  loops.push_back(loopJ);
  return generic({exponentials}, {map(loops), map(rows)}, init, loops, {loopJ},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   return arith::AddFOp::create(b, l, args[1], args[0]);
                 });
}

/// init + P V. The mask is asked again, because 0 times an infinite or NaN
/// value of a masked key would be NaN.
Value StepEmitter::emitAccumulation(Value exponentials, Value init) {
  SmallVector<unsigned> scoreLoops = rowLoops(), accLoops = rowLoops();
  scoreLoops.push_back(loopJ);
  accLoops.push_back(loopD);
  SmallVector<unsigned> loops = scoreLoops;
  loops.push_back(loopD);
  return generic(
      {exponentials, inputs.value},
      {map(scoreLoops), map({loopB, loopH, loopJ, loopD}), map(accLoops)}, init,
      loops, {loopJ}, [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value v = convertFloat(b, l, args[1], type);
        Value product = arith::MulFOp::create(b, l, args[0], v);
        Value sum = arith::AddFOp::create(b, l, args[2], product);
        if (inputs.maskMod->empty())
          return sum;
        Value visible = inlineMod(b, *inputs.maskMod, coordinates(b, l));
        return arith::SelectOp::create(b, l, visible, sum, args[2]);
      });
}

/// state * exp(oldMax - newMax); the state as it is where newMax is -inf.
Value StepEmitter::rescale(Value state, Value oldMax, Value newMax) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  if (cast<ShapedType>(state.getType()).getRank() >
      static_cast<int64_t>(rows.size()))
    loops.push_back(loopD);
  return generic(
      {oldMax, newMax}, {map(rows), map(rows), map(loops)}, state, loops, {},
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value shift = arith::SubFOp::create(b, l, args[0], args[1]);
        Value factor = math::ExpOp::create(b, l, shift);
        Value scaled = arith::MulFOp::create(b, l, args[2], factor);
        Value isEmpty =
            arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, args[1],
                                  negativeInfinity(b, l, type));
        return arith::SelectOp::create(b, l, isEmpty, args[2], scaled);
      });
}

OnlineState StepEmitter::emit(std::optional<OnlineState> state) {
  OnlineState from;
  if (state) {
    from = {expandHeads(state->acc), expandHeads(state->max),
            expandHeads(state->sum)};
  } else {
    Sizes sizes = rowSizes();
    Value zero = constantFloat(builder, loc, type, 0);
    from.max =
        filled(builder, loc, sizes, negativeInfinity(builder, loc, type));
    from.sum = filled(builder, loc, sizes, zero);
    sizes.push_back(getDim(builder, loc, inputs.value, kHeadDim));
    from.acc = filled(builder, loc, sizes, zero);
  }
  Value scores = emitScores(emitProducts());
  Value max = emitMax(scores, from.max);
  Value exponentials = emitExponentials(scores, max);
  if (state) {
    from.sum = rescale(from.sum, from.max, max);
    from.acc = rescale(from.acc, from.max, max);
  }
  Value sum = emitSum(exponentials, from.sum);
  Value acc = emitAccumulation(exponentials, from.acc);
  auto typeOf = [&](Value value) { return value ? value.getType() : Type(); };
  OnlineState wanted = state.value_or(OnlineState());
  return {collapseHeads(acc, typeOf(wanted.acc)),
          collapseHeads(max, typeOf(wanted.max)),
          collapseHeads(sum, typeOf(wanted.sum))};
}

OnlineState attn::emitOnlineStep(OpBuilder &builder, Location loc,
                                 const OnlineStepInputs &inputs,
                                 std::optional<OnlineState> state) {
  return StepEmitter(builder, loc, inputs).emit(state);
}
