//===- NamedMods.cpp - Masks and score changes with a name -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/NamedMods.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"

#include <algorithm>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

Block *attn::addMaskModBlock(OpBuilder &builder, Location loc, Region &region) {
  SmallVector<Type> types(4, builder.getIndexType());
  SmallVector<Location> locs(4, loc);
  return builder.createBlock(&region, region.end(), types, locs);
}

Block *attn::addScoreModBlock(OpBuilder &builder, Location loc, Region &region,
                              FloatType scoreType) {
  SmallVector<Type> types(5, builder.getIndexType());
  types[0] = scoreType;
  SmallVector<Location> locs(5, loc);
  return builder.createBlock(&region, region.end(), types, locs);
}

void attn::buildCausalMask(OpBuilder &builder, Location loc, Region &region,
                           CausalAlignment alignment) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = addMaskModBlock(builder, loc, region);
  Value last = block->getArgument(2), j = block->getArgument(3);
  if (alignment == CausalAlignment::BottomRight) {
    Value m = LengthOp::create(builder, loc, Sequence::query);
    Value n = LengthOp::create(builder, loc, Sequence::key);
    Value shift = arith::SubIOp::create(builder, loc, n, m);
    last = arith::AddIOp::create(builder, loc, last, shift);
  }
  Value visible =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, j, last);
  YieldOp::create(builder, loc, visible);
}

void attn::buildSlidingWindowMask(OpBuilder &builder, Location loc,
                                  Region &region, int64_t left, int64_t right) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = addMaskModBlock(builder, loc, region);
  Value i = block->getArgument(2), j = block->getArgument(3);
  // So far is no limit, and its sum with a position still has 64 bits.
  right = std::min(right, int64_t(1) << 62);
  Value visible;
  if (left >= 0) {
    Value first = i; // a width of 0 is no op: it would not survive folding
    if (left > 0) {
      Value width = arith::ConstantIndexOp::create(builder, loc, left);
      first = arith::SubIOp::create(builder, loc, i, width);
    }
    visible = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, j,
                                    first);
  }
  if (right >= 0) {
    Value last = i;
    if (right > 0) {
      Value width = arith::ConstantIndexOp::create(builder, loc, right);
      last = arith::AddIOp::create(builder, loc, i, width);
    }
    Value notAfter =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, j, last);
    visible =
        visible
            ? arith::AndIOp::create(builder, loc, visible, notAfter).getResult()
            : notAfter;
  }
  if (!visible)
    visible =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  YieldOp::create(builder, loc, visible);
}

void attn::buildSoftCap(OpBuilder &builder, Location loc, Region &region,
                        FloatType scoreType, double cap) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = addScoreModBlock(builder, loc, region, scoreType);
  Value capValue = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(scoreType, cap));
  Value ratio =
      arith::DivFOp::create(builder, loc, block->getArgument(0), capValue);
  Value bounded = math::TanhOp::create(builder, loc, ratio);
  Value capped = arith::MulFOp::create(builder, loc, bounded, capValue);
  YieldOp::create(builder, loc, capped);
}

void attn::buildNamedMod(OpBuilder &builder, Location loc, Region &region,
                         FloatType scoreType, const NamedMod &mod) {
  switch (mod.kind) {
  case NamedMod::Causal:
    return buildCausalMask(builder, loc, region, mod.alignment);
  case NamedMod::SlidingWindow:
    return buildSlidingWindowMask(builder, loc, region, mod.left, mod.right);
  case NamedMod::SoftCap:
    return buildSoftCap(builder, loc, region, scoreType, mod.cap);
  }
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// Clones `region` with each constant, wherever it was, right before its first
/// use: the place where the builders put it. Folders and CSE move constants.
static void cloneWithSunkConstants(Region &region, Region &clone) {
  IRMapping mapping;
  region.cloneInto(&clone, mapping);
  Block &block = clone.front();
  llvm::DenseMap<Attribute, Operation *> sunk;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    for (OpOperand &operand : op.getOpOperands()) {
      auto constant = operand.get().getDefiningOp<arith::ConstantOp>();
      if (!constant)
        continue;
      Operation *&copy = sunk[constant.getValue()];
      if (!copy) {
        copy = constant->clone();
        block.getOperations().insert(op.getIterator(), copy);
      }
      operand.set(copy->getResult(0));
    }
  }
  for (Operation &op : llvm::make_early_inc_range(block))
    if (op.hasTrait<OpTrait::ConstantLike>() && op.use_empty())
      op.erase();
}

/// True if `region`, with sunk constants, has exactly the ops that `mod`'s
/// builder makes.
static bool isExactly(Region &region, const NamedMod &mod) {
  FloatType scoreType = dyn_cast<FloatType>(region.getArgument(0).getType());
  bool wantsScore = mod.kind == NamedMod::SoftCap;
  if (wantsScore != static_cast<bool>(scoreType))
    return false;
  Region expected;
  OpBuilder builder(region.getArgument(0).getContext());
  Region built;
  buildNamedMod(builder, builder.getUnknownLoc(), built, scoreType, mod);
  cloneWithSunkConstants(built, expected);
  return OperationEquivalence::isRegionEquivalentTo(
      &region, &expected, OperationEquivalence::IgnoreLocations);
}

/// The first constant of a region, as the parameter that a builder was given.
static Attribute firstConstant(Region &region) {
  for (auto constant : region.getOps<arith::ConstantOp>())
    return constant.getValue();
  return {};
}

/// Candidates for a mask: whatever the constants in the region could mean.
static SmallVector<NamedMod> maskCandidates(Region &region) {
  SmallVector<NamedMod> candidates;
  for (CausalAlignment alignment :
       {CausalAlignment::TopLeft, CausalAlignment::BottomRight}) {
    NamedMod causal{NamedMod::Causal};
    causal.alignment = alignment;
    candidates.push_back(causal);
  }
  SmallVector<int64_t> widths;
  for (auto constant : region.getOps<arith::ConstantOp>())
    if (auto width = dyn_cast<IntegerAttr>(constant.getValue()))
      if (width.getType().isIndex())
        widths.push_back(width.getInt());
  // Each side is a width of the region, 0, or unlimited (-1).
  auto addWindow = [&](int64_t left, int64_t right) {
    NamedMod window{NamedMod::SlidingWindow};
    window.left = left;
    window.right = right;
    candidates.push_back(window);
  };
  if (widths.size() == 2) {
    addWindow(widths[0], widths[1]);
  } else if (widths.size() == 1) {
    for (int64_t other : {-1, 0}) {
      addWindow(widths[0], other);
      addWindow(other, widths[0]);
    }
    addWindow(widths[0], widths[0]);
  } else if (widths.empty()) {
    addWindow(0, 0);
    addWindow(0, -1);
  }
  return candidates;
}

bool attn::isSoftCap(double cap, FloatType scoreType) {
  APFloat rounded(cap);
  bool losesInfo = false;
  rounded.convert(scoreType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.isNormal() && !rounded.isNegative();
}

std::optional<NamedMod> attn::recognizeNamedMod(Region &original) {
  if (!original.hasOneBlock() || original.front().getNumArguments() < 4)
    return std::nullopt;
  Region region;
  cloneWithSunkConstants(original, region);
  SmallVector<NamedMod> candidates;
  if (region.front().getNumArguments() == 4) {
    candidates = maskCandidates(region);
  } else if (auto cap = dyn_cast_or_null<FloatAttr>(firstConstant(region))) {
    NamedMod softCap{NamedMod::SoftCap};
    softCap.cap = cap.getValueAsDouble();
    if (isSoftCap(softCap.cap, cast<FloatType>(cap.getType())))
      candidates.push_back(softCap);
  }
  for (const NamedMod &candidate : candidates)
    if (isExactly(region, candidate))
      return candidate;
  return std::nullopt;
}
