//===- KeyRanges.cpp - Keys a tile of rows sees -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KeyRanges.h"

using namespace mlir;
using namespace attn;

using Number = IndexMath::Number;

//===----------------------------------------------------------------------===//
// One band
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates bands for one tile of rows.
class BandEvaluator {
public:
  BandEvaluator(IndexMath math, MLIRContext *context, RowRange rows,
                Number keys, SmallVector<Number> symbols)
      : math(math), context(context), rows(rows), keys(keys),
        symbols(std::move(symbols)) {}

  /// Adds the ranges of a band to `visibility`.
  void add(const MaskBand &band, KeyVisibility &visibility);

private:
  /// Which end of the tile's rows a bound is taken at.
  enum class Extreme { Smallest, Largest };

  /// The value of a form in row `row`.
  Number evaluate(const LinearForm &form, Number row);
  /// The strongest of key bounds, each taken at its extreme in `within`; null
  /// if there is none.
  Number getBound(ArrayRef<LinearForm> bounds, bool isLower, Extreme extreme,
                  RowRange within);
  /// The rows of the tile in which the band is.
  RowRange clipRows(const MaskBand &band);
  /// A range that is empty unless `condition` holds.
  KeyRange restrict(KeyRange range, Number condition);

  IndexMath math;
  MLIRContext *context;
  RowRange rows;
  Number keys;
  SmallVector<Number> symbols;
};
} // namespace

Number BandEvaluator::evaluate(const LinearForm &form, Number row) {
  SmallVector<Number> operands(symbols);
  operands.push_back(row);
  AffineExpr expr = form.toExpr(context).replaceDims(
      {math.symbol(symbols.size()), math.constantExpr(0)});
  return math.apply(expr, operands);
}

Number BandEvaluator::getBound(ArrayRef<LinearForm> bounds, bool isLower,
                               Extreme extreme, RowRange within) {
  SmallVector<Number> numbers;
  for (const LinearForm &bound : bounds) {
    bool atLast = (bound.getRowDirection() == Direction::Up) ==
                  (extreme == Extreme::Largest);
    Number number = evaluate(bound, atLast ? within.last : within.first);
    numbers.push_back(isLower ? number : math.add(number, math.constant(1)));
  }
  if (numbers.size() < 2)
    return numbers.empty() ? Number() : numbers.front();
  return isLower ? math.max(numbers) : math.min(numbers);
}

RowRange BandEvaluator::clipRows(const MaskBand &band) {
  RowRange clipped = rows;
  for (const LinearForm &bound : band.rowFrom)
    clipped.first = math.max({clipped.first, evaluate(bound, rows.first)});
  for (const LinearForm &bound : band.rowUpTo)
    clipped.last = math.min({clipped.last, evaluate(bound, rows.first)});
  return clipped;
}

KeyRange BandEvaluator::restrict(KeyRange range, Number condition) {
  if (condition == math.truth(true))
    return range;
  Number none = range.lower ? range.lower : math.constant(0);
  range.upper = math.select(condition, range.upper ? range.upper : keys, none);
  return range;
}

void BandEvaluator::add(const MaskBand &band, KeyVisibility &visibility) {
  Number holds = math.truth(true);
  for (const LinearForm &condition : band.conditions) {
    auto [left, right] = condition.splitBySign();
    Number low = evaluate(left, rows.first), high = evaluate(right, rows.first);
    holds = math.both(holds, math.atMost(low, high));
  }
  RowRange clipped = clipRows(band);
  bool hasRows = !band.rowFrom.empty() || !band.rowUpTo.empty();

  KeyRange some{
      getBound(band.keyFrom, /*isLower=*/true, Extreme::Smallest, clipped),
      getBound(band.keyUpTo, /*isLower=*/false, Extreme::Largest, clipped)};
  Number isThere =
      hasRows ? math.both(holds, math.atMost(clipped.first, clipped.last))
              : holds;
  visibility.some.push_back(restrict(some, isThere));
  if (!band.isExact)
    return;
  KeyRange all{
      getBound(band.keyFrom, /*isLower=*/true, Extreme::Largest, rows),
      getBound(band.keyUpTo, /*isLower=*/false, Extreme::Smallest, rows)};
  if (hasRows) {
    holds = math.both(holds, math.atMost(clipped.first, rows.first));
    holds = math.both(holds, math.atMost(rows.last, clipped.last));
  }
  visibility.all.push_back(restrict(all, holds));
}

//===----------------------------------------------------------------------===//
// All bands
//===----------------------------------------------------------------------===//

Number KeyVisibility::getFirstKey(IndexMath &math) const {
  SmallVector<Number> lowers;
  for (const KeyRange &range : some) {
    if (!range.lower)
      return {};
    lowers.push_back(range.lower);
  }
  Number first = math.max({math.min(lowers), math.constant(0)});
  return isConstantIntValue(first, 0) ? Number() : first;
}

/// Makes one range of two where that is their union whatever the numbers are:
/// they begin, or end, at the same place.
static void uniteRanges(IndexMath math, SmallVectorImpl<KeyRange> &ranges) {
  for (unsigned i = 0; i < ranges.size(); ++i)
    for (unsigned k = i + 1; k < ranges.size();) {
      KeyRange &a = ranges[i], &b = ranges[k];
      if (a.lower == b.lower)
        a.upper = a.upper && b.upper ? math.max({a.upper, b.upper}) : Number();
      else if (a.upper == b.upper)
        a.lower = a.lower && b.lower ? math.min({a.lower, b.lower}) : Number();
      else {
        ++k;
        continue;
      }
      ranges.erase(ranges.begin() + k);
      k = i + 1;
    }
}

/// The range around two, where an empty one counts as if it were not.
static KeyRange getHull(IndexMath math, KeyRange a, KeyRange b) {
  KeyRange hull;
  if (a.lower && b.lower)
    hull.lower = math.min({a.lower, b.lower});
  if (a.upper && b.upper)
    hull.upper = math.max({a.upper, b.upper});
  return hull;
}

KeyVisibility attn::computeVisibility(OpBuilder &builder, Location loc,
                                      const MaskAnalysis &mask, RowRange rows,
                                      OpFoldResult keys,
                                      TermMaterializer materialize,
                                      unsigned mostRanges) {
  IndexMath math(builder, loc);
  SmallVector<Number> symbols;
  std::vector<MaskBand> bands = mask.getBands();
  for (Value symbol : mask.symbols)
    symbols.push_back(materialize(symbol));
  BandEvaluator evaluator(math, builder.getContext(), rows, keys, symbols);
  KeyVisibility result;
  for (const MaskBand &band : bands)
    evaluator.add(band, result);
  if (bands.empty())
    result.some.push_back({math.constant(0), math.constant(0)});
  uniteRanges(math, result.some);
  uniteRanges(math, result.all);
  while (result.some.size() > mostRanges) {
    KeyRange last = result.some.pop_back_val();
    result.some.back() = getHull(math, result.some.back(), last);
  }
  if (result.all.size() > mostRanges)
    result.all.truncate(mostRanges);
  return result;
}
