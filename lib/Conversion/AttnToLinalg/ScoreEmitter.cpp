//===- ScoreEmitter.cpp - Scores of attention in linalg -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScoreEmitter.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

Value attn::convertFloat(OpBuilder &builder, Location loc, Value value,
                         FloatType type) {
  if (value.getType().isInteger())
    return arith::SIToFPOp::create(builder, loc, type, value);
  auto from = cast<FloatType>(value.getType());
  if (from == type)
    return value;
  if (from.getWidth() < type.getWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

Value attn::constantFloat(OpBuilder &builder, Location loc, FloatType type,
                          double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

Value attn::negativeInfinity(OpBuilder &builder, Location loc, FloatType type) {
  return constantFloat(builder, loc, type,
                       -std::numeric_limits<double>::infinity());
}

Value attn::selectIfEqual(OpBuilder &b, Location l, Value condition,
                          double special, double ifSpecial, Value value) {
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(b, l,
                                     b.getFloatAttr(value.getType(), number));
  };
  Value isSpecial = arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ,
                                          condition, constant(special));
  return arith::SelectOp::create(b, l, isSpecial, constant(ifSpecial), value);
}

Value attn::filled(OpBuilder &builder, Location loc,
                   ArrayRef<OpFoldResult> sizes, Value element) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element.getType());
  return linalg::FillOp::create(builder, loc, element, empty).getResult(0);
}

Value attn::filledLike(OpBuilder &builder, Location loc, Value like,
                       FloatType type, double number) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, like);
  return filled(builder, loc, sizes, constantFloat(builder, loc, type, number));
}

/// True if the sizes are known to be equal.
static bool isSameStatic(int64_t a, int64_t b) {
  return !ShapedType::isDynamic(a) && a == b;
}

void ScoreEmitter::findGroup() {
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
    Value divisor = asValue(keyHeads);
    divisor = arith::MaxUIOp::create(
        builder, loc, divisor, arith::ConstantIndexOp::create(builder, loc, 1));
    group = arith::DivUIOp::create(builder, loc,
                                   asValue(getDim(builder, loc, query, kHead)),
                                   divisor)
                .getResult();
  }
  query = expandHeads(query);
}

void ScoreEmitter::nameLoops() {
  unsigned next = 0;
  loopB = next++;
  loopH = next++;
  loopG = grouped ? next++ : loopH;
  loopI = next++;
  loopJ = next++;
  loopD = next++;
}

Value ScoreEmitter::expandHeads(Value tensor) {
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

Value ScoreEmitter::collapseHeads(Value tensor, Type resultType) {
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

SmallVector<OpFoldResult> ScoreEmitter::rowSizes() const {
  Sizes sizes = tensor::getMixedSizes(builder, loc, query);
  sizes.pop_back();
  return sizes;
}

void ScoreEmitter::readLengths() {
  lengths[0] = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, inputs.query, kSequence));
  lengths[1] = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, inputs.key, kSequence));
}

SmallVector<unsigned> ScoreEmitter::rowLoops() const {
  if (grouped)
    return {loopB, loopH, loopG, loopI};
  return {loopB, loopH, loopI};
}

SmallVector<unsigned> ScoreEmitter::rowLoopsAnd(unsigned last) const {
  SmallVector<unsigned> loops = rowLoops();
  loops.push_back(last);
  return loops;
}

AffineMap ScoreEmitter::map(ArrayRef<unsigned> loops) const {
  return AffineMap::getMultiDimMapWithTargets(loopD + 1, loops,
                                              builder.getContext());
}

AffineMap ScoreEmitter::biasMap() const {
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

Value ScoreEmitter::generic(ValueRange operands, ArrayRef<AffineMap> maps,
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

SmallVector<Value> ScoreEmitter::coordinates(OpBuilder &b, Location l) {
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

Value ScoreEmitter::emitProbMod(OpBuilder &b, Location l, Value p) {
  if (!inputs.probMod)
    return p;
  SmallVector<Value> arguments = {p};
  llvm::append_range(arguments, coordinates(b, l));
  Value changed = inlineMod(b, *inputs.probMod, arguments);
  return selectIfEqual(b, l, p, 0.0, 0.0, changed);
}

Value ScoreEmitter::emitDropout(OpBuilder &b, Location l, Value p,
                                double factor) {
  if (!inputs.dropout)
    return p;
  Value keep = buildKeep(b, l, *inputs.dropout, coordinates(b, l));
  Value kept =
      arith::MulFOp::create(b, l, p, constantFloat(b, l, type, factor));
  return arith::SelectOp::create(b, l, keep, kept,
                                 constantFloat(b, l, type, 0));
}

Value ScoreEmitter::inlineMod(OpBuilder &b, Region &region,
                              ValueRange arguments, Value wanted) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator()) {
    if (auto length = dyn_cast<LengthOp>(op))
      mapping.map(length.getResult(),
                  lengths[static_cast<unsigned>(length.getSequence())]);
    else
      b.clone(op, mapping);
  }
  if (!wanted)
    wanted = cast<YieldOp>(region.front().getTerminator()).getValue();
  return mapping.lookupOrDefault(wanted);
}

Value ScoreEmitter::emitScoreMod(OpBuilder &b, Value score, ValueRange at) {
  if (inputs.scoreMod->empty())
    return score;
  SmallVector<Value> arguments = {score};
  llvm::append_range(arguments, at);
  return inlineMod(b, *inputs.scoreMod, arguments);
}

Value ScoreEmitter::emitProducts(Value left, Value right) {
  Sizes sizes = rowSizes();
  sizes.push_back(getDim(builder, loc, right, kSequence));
  Value zero = constantFloat(builder, loc, type, 0);
  Value init = filled(builder, loc, sizes, zero);
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  loops.push_back(loopD);
  return generic({left, right},
                 {map(rowLoopsAnd(loopD)), map({loopB, loopH, loopJ, loopD}),
                  map(rowLoopsAnd(loopJ))},
                 init, loops, {loopD},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   Value x = convertFloat(b, l, args[0], type);
                   Value y = convertFloat(b, l, args[1], type);
                   Value product = arith::MulFOp::create(b, l, x, y);
                   return arith::AddFOp::create(b, l, args[2], product);
                 });
}

Value ScoreEmitter::emitScores(Value products, BodyFn change) {
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
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
    return change(b, l, score);
  };
  return generic(operands, maps, products, loops, {}, body);
}
