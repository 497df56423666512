//===- LinearForm.cpp - Quasi-affine functions of a position ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/LinearForm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Numbers beyond this are given up on: the product of two that are not, and
/// the sum of such products, does not overflow. Positions are below it.
static constexpr int64_t kLargest = int64_t(1) << 31;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool isLarge(int64_t number) {
  return number > kLargest || number < -kLargest;
}

bool LinearForm::add(AffineExpr core, int64_t coefficient) {
  auto term = llvm::find_if(terms, [&](auto &t) { return t.first == core; });
  if (term == terms.end())
    term = terms.insert(term, {core, 0});
  term->second += coefficient;
  if (isLarge(term->second))
    return false;
  if (term->second == 0)
    terms.erase(term);
  return true;
}

std::optional<LinearForm> LinearForm::plus(const LinearForm &other,
                                           int64_t factor) const {
  if (isLarge(factor))
    return std::nullopt;
  LinearForm sum = *this;
  sum.constant += other.constant * factor;
  bool fits = !isLarge(other.constant) && !isLarge(sum.constant);
  for (auto [core, coefficient] : other.terms)
    fits = fits && sum.add(core, coefficient * factor);
  return fits ? std::optional(sum) : std::nullopt;
}

/// (divisor * whole + rest) floordiv divisor = whole + rest floordiv divisor.
std::optional<LinearForm> LinearForm::floorDiv(int64_t divisor) const {
  if (divisor < 1 || isLarge(divisor))
    return std::nullopt;
  LinearForm whole(llvm::divideFloorSigned(constant, divisor));
  LinearForm rest(constant - whole.constant * divisor);
  for (auto [core, coefficient] : terms)
    if (coefficient % divisor == 0)
      whole.add(core, coefficient / divisor);
    else
      rest.add(core, coefficient);
  if (rest.isConstant())
    return whole;
  MLIRContext *context = rest.terms.front().first.getContext();
  whole.add(rest.toExpr(context).floorDiv(divisor), 1);
  return whole;
}

/// ceil(x / c) = -floor(-x / c).
std::optional<LinearForm> LinearForm::ceilDiv(int64_t divisor) const {
  std::optional<LinearForm> result = times(-1);
  if (result)
    result = result->floorDiv(divisor);
  return result ? result->times(-1) : std::nullopt;
}

std::optional<LinearForm> LinearForm::mod(int64_t divisor) const {
  std::optional<LinearForm> quotient = floorDiv(divisor);
  return quotient ? plus(*quotient, -divisor) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Affine expressions
//===----------------------------------------------------------------------===//

std::optional<LinearForm> LinearForm::get(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return LinearForm().plus(LinearForm(number.getValue()));
  LinearForm form;
  if (isa<AffineDimExpr, AffineSymbolExpr>(expr)) {
    form.add(expr, 1);
    return form;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<LinearForm> left = get(binary.getLHS());
  std::optional<LinearForm> right = get(binary.getRHS());
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return left->plus(*right);
  if (!right->isConstant())
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return left->times(right->constant);
  case AffineExprKind::FloorDiv:
    return left->floorDiv(right->constant);
  case AffineExprKind::CeilDiv:
    return left->ceilDiv(right->constant);
  default:
    return left->mod(right->constant);
  }
}

AffineExpr LinearForm::toExpr(MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(constant, context);
  for (auto [core, coefficient] : terms)
    sum = sum + core * coefficient;
  return sum;
}

std::pair<LinearForm, LinearForm> LinearForm::splitBySign() const {
  LinearForm sides[2];
  sides[constant < 0].constant = std::abs(constant);
  for (auto [core, coefficient] : terms)
    sides[coefficient < 0].terms.push_back({core, std::abs(coefficient)});
  return {sides[0], sides[1]};
}

/// True for `x floordiv c`; the form of x is put into `dividend`.
static bool isQuotient(AffineExpr core, LinearForm &dividend,
                       int64_t &divisor) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(core);
  if (!binary || binary.getKind() != AffineExprKind::FloorDiv)
    return false;
  std::optional<LinearForm> form = LinearForm::get(binary.getLHS());
  if (!form)
    return false;
  dividend = *form;
  divisor = cast<AffineConstantExpr>(binary.getRHS()).getValue();
  return true;
}

bool LinearForm::dependsOn(Position position) const {
  return llvm::any_of(
      terms, [&](auto &term) { return term.first.isFunctionOfDim(position); });
}

/// True if `expr` has a dimension that is no position.
static bool hasRowValue(AffineExpr expr) {
  return expr
      .walk([](AffineExpr inner) {
        auto dim = dyn_cast<AffineDimExpr>(inner);
        return dim && dim.getPosition() >= kFirstRowValue
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool LinearForm::hasRowValue() const {
  return llvm::any_of(terms,
                      [](auto &term) { return ::hasRowValue(term.first); });
}

Direction LinearForm::getRowDirection() const {
  if (hasRowValue())
    return Direction::Unknown;
  Direction result = Direction::Constant;
  for (auto [core, coefficient] : terms) {
    if (!core.isFunctionOfDim(kRow))
      continue;
    Direction direction = Direction::Up;
    LinearForm dividend;
    int64_t divisor;
    if (!isa<AffineDimExpr>(core))
      direction = isQuotient(core, dividend, divisor)
                      ? dividend.getRowDirection()
                      : Direction::Unknown;
    if (coefficient < 0 && direction != Direction::Unknown)
      direction = direction == Direction::Up ? Direction::Down : Direction::Up;
    if (result != Direction::Constant && result != direction)
      return Direction::Unknown;
    result = direction;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

std::optional<PositionBound> attn::solveAtMostZero(const LinearForm &form,
                                                   Position position) {
  LinearForm rest = form;
  auto isFunction = [&](auto &term) {
    return term.first.isFunctionOfDim(position);
  };
  auto *place = llvm::find_if(rest.terms, isFunction);
  if (place == rest.terms.end())
    return std::nullopt;
  auto [core, coefficient] = *place;
  rest.terms.erase(place);
  if (llvm::any_of(rest.terms, isFunction))
    return std::nullopt;
  // core <= floor(-rest / c), or core >= ceil(rest / -c).
  bool isLower = coefficient < 0;
  std::optional<LinearForm> bound = rest.times(isLower ? 1 : -1);
  if (bound)
    bound =
        isLower ? bound->ceilDiv(-coefficient) : bound->floorDiv(coefficient);
  if (!bound || isa<AffineDimExpr>(core))
    return bound ? std::optional(PositionBound{isLower, *bound}) : std::nullopt;
  // x floordiv d <= q: x - d * q - (d - 1) <= 0, and >= q: d * q - x <= 0.
  LinearForm dividend;
  int64_t divisor;
  if (!isQuotient(core, dividend, divisor))
    return std::nullopt;
  std::optional<LinearForm> inner =
      isLower ? bound->times(divisor) : dividend.plus(*bound, -divisor);
  if (inner)
    inner = isLower ? inner->plus(dividend, -1)
                    : inner->plus(LinearForm(divisor - 1), -1);
  return inner ? solveAtMostZero(*inner, position) : std::nullopt;
}
