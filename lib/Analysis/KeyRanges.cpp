//===- KeyRanges.cpp - Keys a tile of rows sees -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KeyRanges.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Arithmetic on OpFoldResult
//===----------------------------------------------------------------------===//

namespace {
/// Builds folded index arithmetic at one place.
class IndexMath {
public:
  IndexMath(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  OpFoldResult constant(int64_t number) { return builder.getIndexAttr(number); }
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> symbols) {
    return affine::makeComposedFoldedAffineApply(builder, loc, expr, symbols);
  }
  OpFoldResult min(ArrayRef<OpFoldResult> numbers) {
    return affine::makeComposedFoldedAffineMin(
        builder, loc, identity(numbers.size()), numbers);
  }
  OpFoldResult max(ArrayRef<OpFoldResult> numbers) {
    return affine::makeComposedFoldedAffineMax(
        builder, loc, identity(numbers.size()), numbers);
  }
  AffineExpr symbol(unsigned position) {
    return builder.getAffineSymbolExpr(position);
  }

private:
  AffineMap identity(unsigned count) {
    SmallVector<AffineExpr> exprs;
    for (unsigned i = 0; i < count; ++i)
      exprs.push_back(symbol(i));
    return AffineMap::get(0, count, exprs, builder.getContext());
  }

  OpBuilder &builder;
  Location loc;
};
} // namespace

//===----------------------------------------------------------------------===//
// Visibility
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates a formula for one tile of rows.
class Evaluator {
public:
  Evaluator(IndexMath math, RowRange rows, TermMaterializer materialize)
      : math(math), rows(rows), materialize(materialize) {}

  KeyVisibility evaluate(const MaskFormula &formula);

private:
  /// Which end of the tile's rows a bound is taken at.
  enum class Extreme { Smallest, Largest };
  OpFoldResult getBound(const MaskFormula &formula, Extreme extreme);

  KeyVisibility intersect(const KeyVisibility &a, const KeyVisibility &b);
  KeyVisibility unite(const KeyVisibility &a, const KeyVisibility &b);

  /// The smaller or larger of two bounds, where null is no limit: the weakest
  /// bound of a union, and none at all in an intersection.
  OpFoldResult pick(OpFoldResult a, OpFoldResult b, bool isUnion, bool isMax);

  IndexMath math;
  RowRange rows;
  TermMaterializer materialize;
};
} // namespace

OpFoldResult Evaluator::pick(OpFoldResult a, OpFoldResult b, bool isUnion,
                             bool isMax) {
  if (!a || !b) {
    if (isUnion)
      return OpFoldResult();
    return a ? a : b;
  }
  return isMax ? math.max({a, b}) : math.min({a, b});
}

/// ceil(bound / divisor) of a From, floor(bound / divisor) + 1 of an UpTo.
OpFoldResult Evaluator::getBound(const MaskFormula &formula, Extreme extreme) {
  const LinearForm &bound = formula.bound;
  bool atLast = (bound.row > 0) == (extreme == Extreme::Largest);
  SmallVector<OpFoldResult> symbols;
  AffineExpr expr = math.symbol(0) * bound.row + bound.constant;
  symbols.push_back(atLast ? rows.last : rows.first);
  for (auto [value, coefficient] : bound.terms) {
    expr = expr + math.symbol(symbols.size()) * coefficient;
    symbols.push_back(materialize(value));
  }
  expr = formula.kind == MaskFormula::From ? expr.ceilDiv(formula.divisor)
                                           : expr.floorDiv(formula.divisor) + 1;
  return math.apply(expr, symbols);
}

KeyVisibility Evaluator::intersect(const KeyVisibility &a,
                                   const KeyVisibility &b) {
  auto intersectRanges = [&](const KeyRange &x, const KeyRange &y) {
    return KeyRange{pick(x.lower, y.lower, /*isUnion=*/false, /*isMax=*/true),
                    pick(x.upper, y.upper, /*isUnion=*/false, /*isMax=*/false)};
  };
  KeyVisibility result;
  result.some = intersectRanges(a.some, b.some);
  if (a.all && b.all)
    result.all = intersectRanges(*a.all, *b.all);
  return result;
}

KeyVisibility Evaluator::unite(const KeyVisibility &a, const KeyVisibility &b) {
  auto around = [&](const KeyRange &x, const KeyRange &y) {
    return KeyRange{pick(x.lower, y.lower, /*isUnion=*/true, /*isMax=*/false),
                    pick(x.upper, y.upper, /*isUnion=*/true, /*isMax=*/true)};
  };
  KeyVisibility result;
  result.some = around(a.some, b.some);
  result.all = a.all ? a.all : b.all;
  // Half-lines to the same side: their union is a half-line. Of other ranges
  // either one will do.
  bool isBelow = a.all && b.all && !a.all->lower && !b.all->lower;
  bool isAbove = a.all && b.all && !a.all->upper && !b.all->upper;
  if (isBelow || isAbove)
    result.all = around(*a.all, *b.all);
  return result;
}

KeyVisibility Evaluator::evaluate(const MaskFormula &formula) {
  KeyVisibility result;
  switch (formula.kind) {
  case MaskFormula::Always:
    result.all = KeyRange();
    return result;
  case MaskFormula::Never:
    result.some.upper = math.constant(0);
    return result;
  case MaskFormula::Unknown:
    return result;
  case MaskFormula::From:
    result.some.lower = getBound(formula, Extreme::Smallest);
    result.all = KeyRange{getBound(formula, Extreme::Largest), {}};
    return result;
  case MaskFormula::UpTo:
    result.some.upper = getBound(formula, Extreme::Largest);
    result.all = KeyRange{{}, getBound(formula, Extreme::Smallest)};
    return result;
  case MaskFormula::And:
  case MaskFormula::Or:
    result = evaluate(formula.operands.front());
    for (const MaskFormula &operand : llvm::drop_begin(llvm::make_range(
             formula.operands.begin(), formula.operands.end())))
      result = formula.kind == MaskFormula::And
                   ? intersect(result, evaluate(operand))
                   : unite(result, evaluate(operand));
    return result;
  }
  llvm_unreachable("unknown kind of mask formula");
}

KeyVisibility attn::computeVisibility(OpBuilder &builder, Location loc,
                                      const MaskFormula &formula, RowRange rows,
                                      TermMaterializer materialize) {
  return Evaluator(IndexMath(builder, loc), rows, materialize)
      .evaluate(formula);
}

//===----------------------------------------------------------------------===//
// Bounds of the key loops
//===----------------------------------------------------------------------===//

KeyTileBounds attn::computeKeyTileBounds(OpBuilder &builder, Location loc,
                                         const KeyVisibility &visibility,
                                         int64_t tileN, OpFoldResult keys) {
  IndexMath math(builder, loc);
  AffineExpr s0 = math.symbol(0), s1 = math.symbol(1);
  auto roundDown = [&](OpFoldResult key) {
    return math.apply(s0.floorDiv(tileN) * tileN, {key});
  };
  auto roundUp = [&](OpFoldResult key) {
    return math.apply(s0.ceilDiv(tileN) * tileN, {key});
  };
  const KeyRange &some = visibility.some;
  OpFoldResult zero = math.constant(0), staticEnd = roundDown(keys);
  OpFoldResult lower = some.lower ? math.max({some.lower, zero}) : zero;
  OpFoldResult upper = some.upper ? math.min({some.upper, keys}) : keys;

  KeyTileBounds bounds;
  bounds.begin = some.lower ? math.min({roundDown(lower), staticEnd}) : zero;
  bounds.end = staticEnd;
  bounds.raggedEnd = keys;
  if (some.lower) {
    // If no key is visible at all, `limit` is `begin`, and so are both ends;
    // else it does not bind, for n >= 1 keys touch at most n tiles.
    OpFoldResult count = math.max({math.apply(s0 - s1, {upper, lower}), zero});
    OpFoldResult limit = math.apply(s0 + s1 * tileN, {bounds.begin, count});
    bounds.end =
        math.max({bounds.begin, math.min({roundUp(upper), limit, staticEnd})});
    bounds.raggedEnd = math.max({bounds.end, math.min({upper, limit})});
  } else if (some.upper) {
    bounds.end = math.max({zero, math.min({roundUp(upper), staticEnd})});
    bounds.raggedEnd = math.max({bounds.end, upper});
  }
  auto clamp = [&](OpFoldResult key, OpFoldResult low) {
    return math.max({low, math.min({key, bounds.end})});
  };
  bounds.fullBegin = bounds.fullEnd = bounds.begin;
  if (const std::optional<KeyRange> &all = visibility.all) {
    if (all->lower)
      bounds.fullBegin = clamp(roundUp(all->lower), bounds.begin);
    bounds.fullEnd = all->upper ? clamp(roundDown(all->upper), bounds.fullBegin)
                                : bounds.end;
  }
  return bounds;
}
