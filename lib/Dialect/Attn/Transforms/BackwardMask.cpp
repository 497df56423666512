//===- BackwardMask.cpp - Tiles that a backward visits ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardMask.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

VisitedTiles::VisitedTiles(Region &maskMod, unsigned streamed)
    : region(std::make_unique<Region>()) {
  if (maskMod.empty())
    return;
  // The analysis bounds keys for given rows: exchanged, rows for given keys.
  Block &from = maskMod.front(), &to = region->emplaceBlock();
  for (BlockArgument argument : from.getArguments())
    to.addArgument(argument.getType(), argument.getLoc());
  IRMapping mapping;
  mapping.map(from.getArguments(), to.getArguments());
  if (streamed == kLoopM) {
    mapping.map(from.getArgument(kLoopM), to.getArgument(kLoopN));
    mapping.map(from.getArgument(kLoopN), to.getArgument(kLoopM));
  }
  OpBuilder builder(from.back().getContext());
  builder.setInsertionPointToEnd(&to);
  for (Operation &op : from)
    builder.clone(op, mapping);
  mask = analyzeMask(*region);
  if (mask->formula.kind == MaskFormula::Unknown)
    mask.reset();
}

bool VisitedTiles::differsByHead() const {
  return !region->empty() && !region->getArgument(kLoopH).use_empty();
}

/// Computes `value` of a mask at the given place, outside of it.
static Value cloneOut(OpBuilder &builder, Value value, Region &region,
                      IRMapping &mapping) {
  if (mapping.contains(value) || value.getParentRegion() != &region)
    return mapping.lookupOrDefault(value);
  for (Value operand : value.getDefiningOp()->getOperands())
    cloneOut(builder, operand, region, mapping);
  builder.clone(*value.getDefiningOp(), mapping);
  return mapping.lookup(value);
}

KeyTileBounds VisitedTiles::getBounds(OpBuilder &builder, Location loc,
                                      Value batch, Value head,
                                      const RowRange &stay, int64_t tile,
                                      OpFoldResult total) {
  OpFoldResult zero = builder.getIndexAttr(0);
  if (!mask && !region->empty())
    return {zero, zero, zero, total, total};
  if (!mask) {
    AffineExpr s0 = builder.getAffineSymbolExpr(0);
    OpFoldResult whole = affine::makeComposedFoldedAffineApply(
        builder, loc, s0.floorDiv(tile) * tile, {total});
    return {zero, zero, whole, whole, total};
  }
  IRMapping mapping;
  mapping.map(region->getArgument(kLoopB), batch);
  mapping.map(region->getArgument(kLoopH), head);
  auto materialize = [&](Value term) -> OpFoldResult {
    Value value = cloneOut(builder, term, *region, mapping);
    Type index = builder.getIndexType();
    if (value.getType().isInteger(1))
      value = arith::IndexCastUIOp::create(builder, loc, index, value);
    else if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, loc, index, value);
    return getAsOpFoldResult(value);
  };
  KeyVisibility visibility = computeVisibility(builder, loc, *mask, stay, total,
                                               materialize, /*mostRanges=*/1);
  return computeKeyTileBounds(builder, loc, visibility, tile, total);
}

SmallVector<TileRange> VisitedTiles::get(OpBuilder &builder, Location loc,
                                         Value batch, Value head,
                                         const RowRange &stay, int64_t tile,
                                         OpFoldResult total, bool masksEnd) {
  if (!masksEnd) {
    AffineExpr s0 = builder.getAffineSymbolExpr(0);
    total = affine::makeComposedFoldedAffineApply(
        builder, loc, s0.ceilDiv(tile) * tile, {total});
  }
  KeyTileBounds bounds =
      getBounds(builder, loc, batch, head, stay, tile, total);
  if (!masksEnd) // All tiles are whole.
    bounds.raggedEnd = bounds.end;
  OpFoldResult ends[] = {bounds.begin, bounds.fullBegin, bounds.fullEnd,
                         bounds.raggedEnd};
  SmallVector<TileRange> ranges;
  Value lower = getValueOrCreateConstantIndexOp(builder, loc, ends[0]);
  for (unsigned part = 0; part < 3; ++part) {
    // Ranges that are known to be empty are left out; one stays.
    bool isLast = part == 2 && ranges.empty();
    if (isEqualConstantIntOrValue(ends[part], ends[part + 1]) && !isLast)
      continue;
    Value upper = getValueOrCreateConstantIndexOp(builder, loc, ends[part + 1]);
    ranges.push_back({lower, upper, /*isMasked=*/part != 1});
    lower = upper;
  }
  return ranges;
}
