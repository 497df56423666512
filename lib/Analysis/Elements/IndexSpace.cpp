//===- IndexSpace.cpp - Index expressions over named ranges -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An expression is flattened to a sum of terms `coefficient * product of
// symbols * base`, where a base is a variable or a division that could not be
// resolved. Division by a term splits the sum into a divisible part and a rest;
// the rest disappears if its range lies below the divisor.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Elements/IndexSpace.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineMap.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn::raise;

AffineExpr IndexSpace::constant(int64_t value) const {
  return getAffineConstantExpr(value, context);
}

AffineExpr IndexSpace::addVariable(AffineExpr extent, bool canSplit) {
  extents.push_back(extent);
  splittable.push_back(canSplit);
  return getAffineDimExpr(extents.size() - 1, context);
}

void IndexSpace::freeze(ArrayRef<AffineExpr> variables) {
  for (AffineExpr variable : variables)
    splittable[cast<AffineDimExpr>(variable).getPosition()] = false;
}

AffineExpr IndexSpace::getExtent(AffineExpr variable) {
  return simplify(extents[cast<AffineDimExpr>(variable).getPosition()]);
}

AffineExpr IndexSpace::getSymbol(DynamicSize size) {
  for (auto [position, known] : llvm::enumerate(symbols))
    if (known.value == size.value && known.dimension == size.dimension)
      return getAffineSymbolExpr(position, context);
  symbols.push_back(size);
  return getAffineSymbolExpr(symbols.size() - 1, context);
}

void IndexSpace::equate(AffineExpr lhs, AffineExpr rhs) {
  lhs = simplify(lhs);
  rhs = simplify(rhs);
  // The later symbol gives way, so that chains end.
  auto left = dyn_cast<AffineSymbolExpr>(lhs);
  auto right = dyn_cast<AffineSymbolExpr>(rhs);
  if (left && (isa<AffineConstantExpr>(rhs) ||
               (right && right.getPosition() < left.getPosition())))
    equalSizes[lhs] = rhs;
  else if (right && (isa<AffineConstantExpr>(lhs) ||
                     (left && left.getPosition() < right.getPosition())))
    equalSizes[rhs] = lhs;
}

bool attn::raise::dependsOn(AffineExpr expr, AffineExpr variable) {
  bool found = false;
  expr.walk([&](AffineExpr inner) { found |= inner == variable; });
  return found;
}

//===----------------------------------------------------------------------===//
// Sums of terms
//===----------------------------------------------------------------------===//

/// Products and sums wrap around, as those of an index do.
static int64_t multiplyNumbers(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

static int64_t addNumbers(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

static unsigned symbolPosition(AffineExpr symbol) {
  return cast<AffineSymbolExpr>(symbol).getPosition();
}

IndexSpace::Terms IndexSpace::multiply(ArrayRef<Term> lhs,
                                       ArrayRef<Term> rhs) const {
  Terms product;
  for (const Term &left : lhs)
    for (const Term &right : rhs) {
      Term term = left;
      term.coefficient = multiplyNumbers(left.coefficient, right.coefficient);
      term.symbols.append(right.symbols.begin(), right.symbols.end());
      llvm::sort(term.symbols, [](AffineExpr a, AffineExpr b) {
        return symbolPosition(a) < symbolPosition(b);
      });
      if (left.base && right.base)
        term.base = left.base * right.base;
      else if (right.base)
        term.base = right.base;
      product.push_back(term);
    }
  return product;
}

/// Adds `term` to the sum, merging it with a term of the same factors.
template <typename Terms, typename Term>
static void addTerm(Terms &terms, const Term &term) {
  for (auto *it = terms.begin(); it != terms.end(); ++it)
    if (it->hasSameFactors(term)) {
      it->coefficient = addNumbers(it->coefficient, term.coefficient);
      if (it->coefficient == 0)
        terms.erase(it);
      return;
    }
  if (term.coefficient != 0)
    terms.push_back(term);
}

/// Puts numbers together again that were taken apart: x floordiv d * d + x mod
/// d is x.
IndexSpace::Terms IndexSpace::recombine(Terms terms) {
  for (const Term &rest : terms) {
    if (!rest.base || rest.base.getKind() != AffineExprKind::Mod)
      continue;
    auto mod = cast<AffineBinaryOpExpr>(rest.base);
    Terms scaled = multiply({rest.getStride()}, flatten(mod.getRHS()));
    AffineExpr quotient = getAffineBinaryOpExpr(AffineExprKind::FloorDiv,
                                                mod.getLHS(), mod.getRHS());
    bool isWhole = scaled.size() == 1 && llvm::any_of(terms, [&](auto &term) {
                     return term.base == quotient &&
                            term.symbols == scaled[0].symbols &&
                            term.coefficient == scaled[0].coefficient;
                   });
    if (!isWhole)
      continue;
    Terms whole = multiply({rest.getStride()}, flatten(mod.getLHS())), result;
    for (const Term &term : terms)
      if (term.base != quotient && term.base != rest.base)
        addTerm(result, term);
    for (const Term &term : whole)
      addTerm(result, term);
    return recombine(result);
  }
  return terms;
}

IndexSpace::Terms IndexSpace::flatten(AffineExpr expr) {
  Terms terms;
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    addTerm(terms, Term{value.getValue(), {}, {}});
    return terms;
  }
  if (isa<AffineSymbolExpr>(expr)) {
    auto equal = equalSizes.find(expr);
    return equal == equalSizes.end() ? Terms{Term{1, {expr}, {}}}
                                     : flatten(equal->second);
  }
  if (isa<AffineDimExpr>(expr)) {
    if (getExtent(expr) == constant(1))
      return {};
    return {Term{1, {}, expr}};
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Terms lhs = flatten(binary.getLHS()), rhs = flatten(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    terms = lhs;
    for (const Term &term : rhs)
      addTerm(terms, term);
    return recombine(terms);
  case AffineExprKind::Mul:
    for (const Term &term : multiply(lhs, rhs))
      addTerm(terms, term);
    return terms;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod:
    if (rhs.size() == 1 && !rhs[0].base && rhs[0].coefficient > 0)
      return divide(lhs, rhs[0], expr.getKind() == AffineExprKind::Mod);
    break;
  default:
    break;
  }
  return {
      Term{1,
           {},
           getAffineBinaryOpExpr(expr.getKind(), rebuild(lhs), rebuild(rhs))}};
}

AffineExpr IndexSpace::rebuild(ArrayRef<Term> terms) const {
  AffineExpr sum = constant(0);
  for (const Term &term : terms) {
    AffineExpr product = term.base ? term.base : constant(1);
    for (AffineExpr symbol : term.symbols)
      product = product * symbol;
    sum = sum + product * term.coefficient;
  }
  return sum;
}

/// Orders terms so that equal sums print and compare equal.
template <typename Term>
static bool isBefore(const Term &a, const Term &b) {
  auto rank = [](const Term &term) -> std::tuple<int, int64_t, int64_t> {
    if (!term.base)
      return {2, 0, static_cast<int64_t>(term.symbols.size())};
    if (auto dim = dyn_cast<AffineDimExpr>(term.base))
      return {0, dim.getPosition(), 0};
    return {1, 0, 0};
  };
  return rank(a) < rank(b);
}

AffineExpr IndexSpace::simplify(AffineExpr expr) {
  Terms terms = flatten(expr);
  llvm::stable_sort(
      terms, [](const Term &a, const Term &b) { return isBefore(a, b); });
  return rebuild(terms);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// `term / divisor` if it divides without rest.
template <typename Term>
static std::optional<Term> divideExactly(const Term &term,
                                         const Term &divisor) {
  if (term.coefficient % divisor.coefficient != 0)
    return std::nullopt;
  Term quotient = term;
  quotient.coefficient /= divisor.coefficient;
  for (AffineExpr symbol : divisor.symbols) {
    auto *it = llvm::find(quotient.symbols, symbol);
    if (it == quotient.symbols.end())
      return std::nullopt;
    quotient.symbols.erase(it);
  }
  return quotient;
}

AffineExpr IndexSpace::getExtentOf(const Term &term) {
  if (isa<AffineDimExpr>(term.base))
    return getExtent(term.base);
  auto binary = dyn_cast<AffineBinaryOpExpr>(term.base);
  if (!binary)
    return {};
  if (binary.getKind() == AffineExprKind::Mod)
    return binary.getRHS();
  if (binary.getKind() != AffineExprKind::FloorDiv)
    return {};
  // As many quotients as the last number has.
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  std::optional<int64_t> low = getLowerBound(-binary.getLHS());
  if (!divisor || divisor.getValue() <= 0 || !low || *low > 0)
    return {};
  return constant(-*low / divisor.getValue() + 1);
}

/// True if 0 <= sum of `terms` < divisor: numerically, or because the terms
/// are the digits of a mixed-radix number whose range divides the divisor.
bool IndexSpace::isBelow(ArrayRef<Term> terms, const Term &divisor) {
  AffineExpr sum = rebuild(terms);
  std::optional<int64_t> low = getLowerBound(sum);
  if (!low || *low < 0)
    return false;
  std::optional<int64_t> slack = getLowerBound(rebuild({divisor}) - sum - 1);
  if (slack && *slack >= 0)
    return true;
  Terms rest(terms);
  Term range; // the product of the extents so far
  while (!rest.empty()) {
    auto *next = llvm::find_if(rest, [&](const Term &term) {
      return term.base && term.getStride().hasSameFactors(range) &&
             term.coefficient == range.coefficient;
    });
    if (next == rest.end())
      return false;
    AffineExpr extent = getExtentOf(*next);
    Terms product = extent ? multiply({range}, flatten(extent)) : Terms();
    if (product.size() != 1)
      return false;
    range = product.front();
    rest.erase(next);
  }
  return divideExactly(divisor, range).has_value();
}

/// Records the variable whose digits the divisor cuts in two.
void IndexSpace::wantSplit(ArrayRef<Term> terms, const Term &divisor) {
  if (wanted)
    return;
  for (const Term &term : terms) {
    auto variable = dyn_cast_or_null<AffineDimExpr>(term.base);
    if (!variable || !splittable[variable.getPosition()])
      continue;
    std::optional<Term> inner = divideExactly(divisor, term.getStride());
    Terms extent = flatten(getExtent(variable));
    if (!inner || extent.size() != 1)
      continue;
    std::optional<Term> outer = divideExactly(extent.front(), *inner);
    if (outer && !(outer->symbols.empty() && outer->coefficient == 1)) {
      wanted = Split{variable.getPosition(), rebuild({*inner})};
      return;
    }
  }
}

/// Takes multiples of a constant divisor out of `terms` so that what is left is
/// below it, with coefficients of either sign: 47 * i + j + 24 is 48 * i and
/// j - i + 24. False if no such rest is found.
bool IndexSpace::reduce(Terms &terms, const Term &divisor, Terms &quotient) {
  auto isLarge = [](const Term &term) {
    return !IndexSpace::isSmall(term.coefficient);
  };
  if (!divisor.symbols.empty() || divisor.base || isLarge(divisor) ||
      llvm::any_of(terms, isLarge))
    return false;
  int64_t size = divisor.coefficient, shift = 0;
  Terms rest, whole;
  for (const Term &term : terms) {
    if (!term.base && term.symbols.empty()) {
      shift = term.coefficient;
      continue;
    }
    Term multiple = term, left = term;
    multiple.coefficient =
        llvm::divideFloorSigned(2 * term.coefficient + size, 2 * size);
    left.coefficient -= multiple.coefficient * size;
    addTerm(rest, left);
    addTerm(whole, multiple);
  }
  std::optional<int64_t> low = getLowerBound(rebuild(rest));
  if (!low || !isSmall(*low))
    return false;
  // The least constant that makes the rest non-negative.
  int64_t steps = llvm::divideCeilSigned(-*low - shift, size);
  addTerm(rest, Term{shift + steps * size, {}, {}});
  addTerm(whole, Term{-steps, {}, {}});
  if (!isBelow(rest, divisor))
    return false;
  terms = rest;
  quotient.append(whole);
  return true;
}

IndexSpace::Terms IndexSpace::divide(ArrayRef<Term> terms, const Term &divisor,
                                     bool remainder) {
  Terms quotient, rest;
  for (const Term &term : terms) {
    if (std::optional<Term> exact = divideExactly(term, divisor))
      quotient.push_back(*exact);
    else
      rest.push_back(term);
  }
  if (rest.empty() || isBelow(rest, divisor) || reduce(rest, divisor, quotient))
    return remainder ? rest : quotient;
  wantSplit(rest, divisor);
  AffineExpr lhs = rebuild(rest), rhs = rebuild({divisor});
  if (remainder)
    return {Term{1, {}, getAffineBinaryOpExpr(AffineExprKind::Mod, lhs, rhs)}};
  AffineExpr opaque = getAffineBinaryOpExpr(AffineExprKind::FloorDiv, lhs, rhs);
  quotient.push_back(Term{1, {}, opaque});
  return quotient;
}

//===----------------------------------------------------------------------===//
// Ranges and digits
//===----------------------------------------------------------------------===//

/// Variables and remainders are at least 0; quotients if what they divide is.
bool IndexSpace::isBaseNonNegative(AffineExpr base) {
  if (isa<AffineDimExpr>(base) || base.getKind() == AffineExprKind::Mod)
    return true;
  if (base.getKind() != AffineExprKind::FloorDiv)
    return false;
  std::optional<int64_t> low =
      getLowerBound(cast<AffineBinaryOpExpr>(base).getLHS());
  return low && *low >= 0;
}

std::optional<int64_t> IndexSpace::getLowerBound(AffineExpr expr) {
  // Put every variable at the end of its range where the sum is least; what
  // is left is a polynomial of sizes, least when each size is 0.
  for (int round = 0; round < 4; ++round) {
    Terms terms = flatten(expr), bounded;
    bool substituted = false;
    for (const Term &term : terms) {
      if (!term.base) {
        addTerm(bounded, term);
        continue;
      }
      if (term.coefficient > 0) {
        if (!isBaseNonNegative(term.base))
          return std::nullopt;
        continue;
      }
      AffineExpr extent = getExtentOf(term);
      if (!extent)
        return std::nullopt;
      substituted = true;
      for (const Term &end : multiply({term.getStride()}, flatten(extent - 1)))
        addTerm(bounded, end);
    }
    if (substituted) {
      expr = rebuild(bounded);
      continue;
    }
    int64_t least = 0;
    for (const Term &term : bounded) {
      bool isUnknown = term.symbols.empty()
                           ? llvm::AddOverflow(least, term.coefficient, least)
                           : term.coefficient < 0;
      if (isUnknown)
        return std::nullopt;
    }
    return least;
  }
  return std::nullopt;
}

std::optional<bool> IndexSpace::isNonNegative(AffineExpr expr) {
  std::optional<int64_t> low = getLowerBound(expr);
  if (low && *low >= 0)
    return true;
  std::optional<int64_t> negated = getLowerBound(-expr - 1);
  if (negated && *negated >= 0)
    return false;
  return std::nullopt;
}

std::optional<SmallVector<AffineExpr>> IndexSpace::getDigits(AffineExpr expr,
                                                             AffineExpr size) {
  Terms rest = flatten(expr);
  SmallVector<AffineExpr> digits;
  Term range;
  Terms product = {range};
  while (!rest.empty()) {
    // Of a sum, as rows before and new ones, only the last digit may have
    // as many.
    if (product.size() != 1)
      return std::nullopt;
    range = product.front();
    auto *next = llvm::find_if(rest, [&](const Term &term) {
      return term.base && isa<AffineDimExpr>(term.base) &&
             term.symbols == range.symbols &&
             term.coefficient == range.coefficient;
    });
    if (next == rest.end())
      return std::nullopt;
    product = multiply({range}, flatten(getExtentOf(*next)));
    digits.push_back(next->base);
    rest.erase(next);
  }
  if (simplify(rebuild(product) - size) != constant(0))
    return std::nullopt;
  std::reverse(digits.begin(), digits.end());
  return digits;
}

OpFoldResult IndexSpace::materialize(OpBuilder &builder, Location loc,
                                     AffineExpr expr) const {
  SmallVector<OpFoldResult> values;
  for (const DynamicSize &size : symbols) {
    bool used = dependsOn(expr, getAffineSymbolExpr(values.size(), context));
    if (!used)
      values.push_back(builder.getIndexAttr(0));
    else if (size.dimension < 0)
      values.push_back(size.value);
    else
      values.push_back(
          builder.createOrFold<tensor::DimOp>(loc, size.value, size.dimension));
  }
  return affine::makeComposedFoldedAffineApply(
      builder, loc, AffineMap::get(0, symbols.size(), expr), values);
}
