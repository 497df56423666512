//===- RowBounds.cpp - Ranges of keys that come from data -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowBounds.h"

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The bounds of one row
//===----------------------------------------------------------------------===//

namespace {
/// Builds a region (b, h, i) that yields a bound of a band.
class BoundBuilder {
public:
  BoundBuilder(Region &region, Region &maskMod, const MaskAnalysis &mask,
               Location loc)
      : builder(&region), maskMod(maskMod), mask(mask), loc(loc) {
    SmallVector<Type> types(3, builder.getIndexType());
    Block *block =
        builder.createBlock(&region, {}, types, SmallVector<Location>(3, loc));
    for (unsigned i : {kLoopB, kLoopH, kLoopM})
      mapping.map(maskMod.getArgument(i), block->getArgument(i));
    row = block->getArgument(kLoopM);
  }

  /// The first key that the row may see.
  void buildLower(const MaskBand &band) {
    Value result = constant(0);
    for (const LinearForm &bound : band.keyFrom)
      result = arith::MaxSIOp::create(builder, loc, result, evaluate(bound));
    YieldOp::create(builder, loc, result);
  }

  /// The key after the last one, 0 where the band does not have the row.
  void buildUpper(const MaskBand &band, Value keys) {
    Value result = keys;
    for (const LinearForm &bound : band.keyUpTo) {
      Value end =
          arith::AddIOp::create(builder, loc, evaluate(bound), constant(1));
      result = arith::MinSIOp::create(builder, loc, result, end);
    }
    auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
      Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
      result =
          arith::SelectOp::create(builder, loc, holds, result, constant(0));
    };
    for (const LinearForm &bound : band.rowFrom)
      require(arith::CmpIPredicate::sge, row, evaluate(bound));
    for (const LinearForm &bound : band.rowUpTo)
      require(arith::CmpIPredicate::sle, row, evaluate(bound));
    for (const LinearForm &condition : band.conditions)
      require(arith::CmpIPredicate::sle, evaluate(condition), constant(0));
    YieldOp::create(builder, loc, result);
  }

private:
  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }

  Value evaluate(const LinearForm &form) {
    SmallVector<Value> dims = {row, constant(0)}, symbols;
    for (Value value : mask.rowValues)
      dims.push_back(materialize(value));
    for (Value value : mask.symbols)
      symbols.push_back(materialize(value));
    return affine::expandAffineExpr(
        builder, loc, form.toExpr(builder.getContext()), dims, symbols);
  }

  /// A value of the mask, as an index.
  Value materialize(Value value) {
    Value copy = clone(value);
    if (copy.getType().isIndex())
      return copy;
    if (copy.getType().isInteger(1))
      return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                          copy);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      copy);
  }

  Value clone(Value value) {
    if (mapping.contains(value))
      return mapping.lookup(value);
    if (!maskMod.isAncestor(value.getParentRegion()))
      return value;
    for (Value operand : value.getDefiningOp()->getOperands())
      clone(operand);
    builder.clone(*value.getDefiningOp(), mapping);
    return mapping.lookup(value);
  }

  OpBuilder builder;
  Region &maskMod;
  const MaskAnalysis &mask;
  Location loc;
  IRMapping mapping;
  Value row;
};
} // namespace

//===----------------------------------------------------------------------===//
// The bounds of all tiles
//===----------------------------------------------------------------------===//

/// Bounds for every tile of rows, computed before the loop over them.
static KeyBoundsOp createKeyBounds(OnlineAttentionOp step,
                                   const MaskAnalysis &mask,
                                   ArrayRef<MaskBand> bands,
                                   OpFoldResult keys) {
  Location loc = step.getLoc();
  auto forall = step->getParentOfType<scf::ForallOp>();
  OpBuilder builder(forall);
  Region &maskMod = step.getMaskMod();
  int64_t tile =
      step.getSchedule()->getTileM() / AttentionDims::get(step).queryHeads;
  SmallVector<OpFoldResult> sizes(forall.getMixedUpperBound());
  for (unsigned dim : {kLoopB, kLoopH})
    if (!dependsOnArgument(maskMod, dim))
      sizes[dim] = builder.getIndexAttr(1);
  SmallVector<int64_t> shape;
  SmallVector<Value> operands;
  for (OpFoldResult size : sizes) {
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    operands.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  }
  if (!ShapedType::isDynamic(shape[kLoopM]))
    shape[kLoopM] = llvm::divideCeil(shape[kLoopM], tile);
  shape.push_back(4 * bands.size());
  Value end = getValueOrCreateConstantIndexOp(builder, loc, keys);
  auto bounds = KeyBoundsOp::create(
      builder, loc, RankedTensorType::get(shape, builder.getI32Type()),
      operands[0], operands[1], operands[2], tile, 2 * bands.size());
  for (auto [number, band] : llvm::enumerate(bands)) {
    BoundBuilder(bounds.getBounds()[2 * number], maskMod, mask, loc)
        .buildLower(band);
    BoundBuilder(bounds.getBounds()[2 * number + 1], maskMod, mask, loc)
        .buildUpper(band, end);
  }
  return bounds;
}

/// Reads the ranges of the row tile of a step.
static KeyVisibility readVisibility(OpBuilder &builder, OnlineAttentionOp step,
                                    KeyBoundsOp bounds,
                                    ArrayRef<MaskBand> bands) {
  Location loc = step.getLoc();
  auto toValue = [&](OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(builder, loc, number);
  };
  IndexMath math(builder, loc);
  SmallVector<Value> at;
  for (unsigned dim : {kLoopB, kLoopH})
    at.push_back(bounds.getType().getDimSize(dim) == 1
                     ? toValue(math.constant(0))
                     : step.getOffsets()[dim]);
  at.push_back(
      toValue(math.floorDiv(step.getOffsets()[kLoopM], bounds.getTile())));
  at.push_back(Value());
  auto read = [&](int64_t number) -> OpFoldResult {
    at.back() = toValue(math.constant(number));
    Value entry = tensor::ExtractOp::create(builder, loc, bounds, at);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      entry)
        .getResult();
  };
  KeyVisibility visibility;
  for (size_t band = 0; band < bands.size(); ++band) {
    int64_t first = 4 * band;
    visibility.some.push_back({read(first), read(first + 1)});
    if (bands[band].isExact)
      visibility.all.push_back({read(first + 2), read(first + 3)});
  }
  return visibility;
}

std::optional<KeyVisibility>
attn::computeRowVisibility(OpBuilder &builder, OnlineAttentionOp step,
                           const MaskAnalysis &mask, OpFoldResult keys,
                           unsigned mostRanges) {
  std::vector<MaskBand> bands = mask.getRowBands();
  if (mask.rowValues.empty() || bands.empty() || bands.size() > mostRanges)
    return std::nullopt;
  for (const MaskBand &band : bands)
    if (!band.isExact)
      return std::nullopt;
  return readVisibility(builder, step, createKeyBounds(step, mask, bands, keys),
                        bands);
}
