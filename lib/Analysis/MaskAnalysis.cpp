//===- MaskAnalysis.cpp - What a mask leaves visible ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAnalysis.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <optional>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Linear forms
//===----------------------------------------------------------------------===//

/// a + factor * b, unless it overflows.
static std::optional<LinearForm> addScaled(LinearForm a, const LinearForm &b,
                                           int64_t factor) {
  auto add = [&](int64_t &to, int64_t number) {
    std::optional<int64_t> product = llvm::checkedMul(number, factor);
    std::optional<int64_t> sum =
        product ? llvm::checkedAdd(to, *product) : std::nullopt;
    to = sum.value_or(0);
    return sum.has_value();
  };
  bool fits =
      add(a.row, b.row) && add(a.key, b.key) && add(a.constant, b.constant);
  for (auto [value, coefficient] : b.terms)
    fits = fits && add(a.terms[value], coefficient);
  if (!fits)
    return std::nullopt;
  a.terms.remove_if([](auto &term) { return term.second == 0; });
  return a;
}

namespace {
/// Reads the integer values of a mask_mod region as linear forms.
class LinearReader {
public:
  explicit LinearReader(Region &region) : region(region) {}

  /// The linear form of an index or integer value, if it has one.
  std::optional<LinearForm> read(Value value) {
    auto [entry, isNew] = forms.try_emplace(value, std::nullopt);
    if (!isNew)
      return entry->second;
    Type type = value.getType();
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    // Positions fit 32 bits, not always fewer.
    if (width < 32 || width > 64)
      return std::nullopt;
    std::optional<LinearForm> form = compute(value);
    // A constant near the type's limits could make a sum wrap around.
    int64_t limit = int64_t(1) << (width - 3);
    if (form && (form->constant > limit || form->constant < -limit))
      form = std::nullopt;
    forms[value] = form;
    return form;
  }

private:
  std::optional<LinearForm> compute(Value value);
  std::optional<LinearForm> readResult(Operation *op);
  std::optional<LinearForm> readSum(Value a, Value b, int64_t factor);
  std::optional<LinearForm> readProduct(Value a, Value b);
  std::optional<LinearForm> readExpr(AffineExpr expr, ValueRange operands,
                                     unsigned numDims);

  /// True if `value` depends neither on i nor on j.
  bool isInvariant(Value value);

  Region &region;
  DenseMap<Value, std::optional<LinearForm>> forms;
  DenseMap<Value, bool> invariants;
};
} // namespace

bool LinearReader::isInvariant(Value value) {
  if (!region.isAncestor(value.getParentRegion()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &region.front() &&
           argument.getArgNumber() < kLoopM;
  auto [entry, isNew] = invariants.try_emplace(value, false);
  if (!isNew)
    return entry->second;
  Operation *op = value.getDefiningOp();
  bool result =
      op->getNumRegions() == 0 &&
      llvm::all_of(op->getOperands(), [&](Value v) { return isInvariant(v); });
  invariants[value] = result;
  return result;
}

std::optional<LinearForm> LinearReader::readSum(Value a, Value b,
                                                int64_t factor) {
  std::optional<LinearForm> left = read(a), right = read(b);
  return left && right ? addScaled(*left, *right, factor) : std::nullopt;
}

std::optional<LinearForm> LinearReader::readProduct(Value a, Value b) {
  std::optional<LinearForm> left = read(a), right = read(b);
  if (!left || !right)
    return std::nullopt;
  if (!right->isConstant())
    std::swap(left, right);
  return right->isConstant() ? addScaled({}, *left, right->constant)
                             : std::nullopt;
}

std::optional<LinearForm>
LinearReader::readExpr(AffineExpr expr, ValueRange operands, unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    LinearForm form;
    form.constant = constant.getValue();
    return form;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return read(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return read(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<LinearForm> left = readExpr(binary.getLHS(), operands, numDims);
  std::optional<LinearForm> right =
      readExpr(binary.getRHS(), operands, numDims);
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return addScaled(*left, *right, 1);
  if (expr.getKind() == AffineExprKind::Mul && right->isConstant())
    return addScaled({}, *left, right->constant);
  return std::nullopt;
}

std::optional<LinearForm> LinearReader::readResult(Operation *op) {
  if (auto add = dyn_cast<arith::AddIOp>(op))
    return readSum(add.getLhs(), add.getRhs(), 1);
  if (auto sub = dyn_cast<arith::SubIOp>(op))
    return readSum(sub.getLhs(), sub.getRhs(), -1);
  if (auto mul = dyn_cast<arith::MulIOp>(op))
    return readProduct(mul.getLhs(), mul.getRhs());
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
    return read(op->getOperand(0));
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return readExpr(apply.getAffineMap().getResult(0), apply.getMapOperands(),
                    apply.getAffineMap().getNumDims());
  return std::nullopt;
}

std::optional<LinearForm> LinearReader::compute(Value value) {
  LinearForm form;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    form.constant = constant.getSExtValue();
    return form;
  }
  if (value == region.getArgument(kLoopM)) {
    form.row = 1;
    return form;
  }
  if (value == region.getArgument(kLoopN)) {
    form.key = 1;
    return form;
  }
  if (Operation *op = value.getDefiningOp())
    if (std::optional<LinearForm> result = readResult(op))
      return result;
  if (!isInvariant(value))
    return std::nullopt;
  form.terms[value] = 1;
  return form;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

static MaskFormula makeFormula(MaskFormula::Kind kind) {
  MaskFormula formula;
  formula.kind = kind;
  return formula;
}

/// And or Or of two formulas, without operands that decide nothing.
static MaskFormula combine(MaskFormula::Kind kind, MaskFormula a,
                           MaskFormula b) {
  bool isAnd = kind == MaskFormula::And;
  MaskFormula::Kind neutral = isAnd ? MaskFormula::Always : MaskFormula::Never;
  MaskFormula::Kind absorbing =
      isAnd ? MaskFormula::Never : MaskFormula::Always;
  if (a.kind == absorbing || b.kind == neutral)
    return a;
  if (b.kind == absorbing || a.kind == neutral)
    return b;
  MaskFormula formula = makeFormula(kind);
  formula.operands.push_back(std::move(a));
  formula.operands.push_back(std::move(b));
  return formula;
}

/// The formula of `form <= 0`.
static MaskFormula atMostZero(LinearForm form) {
  if (form.isConstant())
    return makeFormula(form.constant <= 0 ? MaskFormula::Always
                                          : MaskFormula::Never);
  int64_t key = std::exchange(form.key, 0);
  // Conditions on the row alone do not bound the keys.
  if (key == 0)
    return makeFormula(MaskFormula::Unknown);
  // key * j + rest <= 0  <=>  j <= floor(-rest / key) for a positive key,
  //                           j >= ceil(rest / -key) for a negative one.
  std::optional<LinearForm> bound = addScaled({}, form, key > 0 ? -1 : 1);
  if (!bound || key == std::numeric_limits<int64_t>::min())
    return makeFormula(MaskFormula::Unknown);
  MaskFormula formula =
      makeFormula(key > 0 ? MaskFormula::UpTo : MaskFormula::From);
  formula.bound = std::move(*bound);
  formula.divisor = std::abs(key);
  return formula;
}

namespace {
/// Reads the i1 values of a mask_mod region as formulas.
class FormulaReader {
public:
  explicit FormulaReader(Region &region) : linear(region) {}

  /// The formula of `value`, or of its negation.
  MaskFormula read(Value value, bool negated);

private:
  MaskFormula readCompare(arith::CmpIPredicate predicate, Value lhs, Value rhs);
  MaskFormula readSelect(arith::SelectOp op, bool negated);

  /// `a <= b`, or `a < b`.
  MaskFormula readOrder(Value a, Value b, bool isStrict);

  LinearReader linear;
  /// Values that may still be read: a formula is a tree, so that values used
  /// many times could make it exponentially large.
  int budget = 256;
};
} // namespace

MaskFormula FormulaReader::readOrder(Value a, Value b, bool isStrict) {
  std::optional<LinearForm> left = linear.read(a), right = linear.read(b);
  if (!left || !right)
    return makeFormula(MaskFormula::Unknown);
  std::optional<LinearForm> difference = addScaled(*left, *right, -1);
  if (!difference)
    return makeFormula(MaskFormula::Unknown);
  difference->constant += isStrict;
  return atMostZero(*difference);
}

MaskFormula FormulaReader::readCompare(arith::CmpIPredicate predicate,
                                       Value lhs, Value rhs) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::sle:
    return readOrder(lhs, rhs, /*isStrict=*/false);
  case Predicate::slt:
    return readOrder(lhs, rhs, /*isStrict=*/true);
  case Predicate::sge:
    return readOrder(rhs, lhs, /*isStrict=*/false);
  case Predicate::sgt:
    return readOrder(rhs, lhs, /*isStrict=*/true);
  case Predicate::eq:
    return combine(MaskFormula::And, readOrder(lhs, rhs, false),
                   readOrder(rhs, lhs, false));
  case Predicate::ne:
    return combine(MaskFormula::Or, readOrder(lhs, rhs, true),
                   readOrder(rhs, lhs, true));
  default: // unsigned
    return makeFormula(MaskFormula::Unknown);
  }
}

MaskFormula FormulaReader::readSelect(arith::SelectOp op, bool negated) {
  Value condition = op.getCondition();
  return combine(MaskFormula::Or,
                 combine(MaskFormula::And, read(condition, false),
                         read(op.getTrueValue(), negated)),
                 combine(MaskFormula::And, read(condition, true),
                         read(op.getFalseValue(), negated)));
}

MaskFormula FormulaReader::read(Value value, bool negated) {
  if (--budget < 0)
    return makeFormula(MaskFormula::Unknown);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return makeFormula(constant.isZero() == negated ? MaskFormula::Always
                                                    : MaskFormula::Never);
  Operation *op = value.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    arith::CmpIPredicate predicate = compare.getPredicate();
    if (negated)
      predicate = arith::invertPredicate(predicate);
    return readCompare(predicate, compare.getLhs(), compare.getRhs());
  }
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    bool isAnd = isa<arith::AndIOp>(op) != negated;
    return combine(isAnd ? MaskFormula::And : MaskFormula::Or,
                   read(op->getOperand(0), negated),
                   read(op->getOperand(1), negated));
  }
  if (auto flip = dyn_cast_or_null<arith::XOrIOp>(op))
    if (matchPattern(flip.getRhs(), m_One()))
      return read(flip.getLhs(), !negated);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return readSelect(select, negated);
  return makeFormula(MaskFormula::Unknown);
}

MaskFormula attn::analyzeMask(Region &maskMod) {
  Operation *yield = maskMod.front().getTerminator();
  return FormulaReader(maskMod).read(yield->getOperand(0), /*negated=*/false);
}
