//===- MaskAnalysis.cpp - What a mask leaves visible ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAnalysis.h"

#include "MaskReader.h"

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

MaskFormula MaskReader::atMostZero(const LinearForm &form) {
  return ranges.isExact(form) ? MaskFormula::atMostZero(form)
                              : MaskFormula::get(MaskFormula::Unknown);
}

bool MaskReader::isExact(const IntegerTree &tree) {
  return tree.kind == IntegerTree::Leaf
             ? ranges.isExact(tree.form)
             : llvm::all_of(tree.operands, [&](const IntegerTree &operand) {
                 return isExact(operand);
               });
}

MaskFormula MaskReader::readOrder(const MaybeTree &a, const MaybeTree &b,
                                  bool isStrict) {
  MaybeTree difference = sum(a, b, -1);
  if (difference && isStrict)
    difference = sum(difference, IntegerTree::get(LinearForm(1)), 1);
  return difference && isExact(*difference)
             ? difference->atMostZero()
             : MaskFormula::get(MaskFormula::Unknown);
}

MaskFormula MaskReader::readCompare(arith::CmpIOp op, bool negated) {
  using Predicate = arith::CmpIPredicate;
  Value lhs = op.getLhs(), rhs = op.getRhs();
  Predicate predicate = op.getPredicate();
  if (negated)
    predicate = arith::invertPredicate(predicate);
  if (lhs.getType().isInteger(1) &&
      (predicate == Predicate::eq || predicate == Predicate::ne))
    return readXor(lhs, rhs, predicate == Predicate::eq);
  MaybeTree a = readInteger(lhs), b = readInteger(rhs);
  switch (predicate) {
  case Predicate::eq:
    return MaskFormula::combine(MaskFormula::And, readOrder(a, b, false),
                                readOrder(b, a, false));
  case Predicate::ne:
    return MaskFormula::combine(MaskFormula::Or, readOrder(a, b, true),
                                readOrder(b, a, true));
  case Predicate::ule:
  case Predicate::ugt:
    std::swap(a, b);
    break;
  default:
    break;
  }
  switch (predicate) {
  case Predicate::sle:
    return readOrder(a, b, /*isStrict=*/false);
  case Predicate::slt:
    return readOrder(a, b, /*isStrict=*/true);
  case Predicate::sge:
    return readOrder(b, a, /*isStrict=*/false);
  case Predicate::sgt:
    return readOrder(b, a, /*isStrict=*/true);
  default:
    break;
  }
  // Unsigned, as `a < b` (ult, ugt) or `a >= b` (ule, uge): as signed, but that
  // a negative number is above all others.
  bool isLess = predicate == Predicate::ult || predicate == Predicate::ugt;
  MaybeTree zero = IntegerTree::get(LinearForm(0));
  if (!a || !b || !(isNonNegative(*a) || isNonNegative(*b)))
    return MaskFormula::get(MaskFormula::Unknown);
  MaskFormula order = isLess ? readOrder(a, b, true) : readOrder(b, a, false);
  bool mayBeA = !isNonNegative(*a);
  if (!mayBeA && isNonNegative(*b))
    return order;
  // a negative: a >= b; b negative: a < b.
  MaskFormula sign = isLess == mayBeA ? readOrder(zero, mayBeA ? a : b, false)
                                      : readOrder(mayBeA ? a : b, zero, true);
  return MaskFormula::combine(isLess == mayBeA ? MaskFormula::And
                                               : MaskFormula::Or,
                              std::move(sign), std::move(order));
}

MaskFormula MaskReader::readBranches(Value condition, Value a, bool negatesA,
                                     Value b, bool negatesB) {
  MaskFormula isA = readFormula(condition, false);
  MaskFormula ofA = readFormula(a, negatesA);
  MaskFormula isB = readFormula(condition, true);
  MaskFormula ofB = readFormula(b, negatesB);
  return MaskFormula::combine(
      MaskFormula::Or,
      MaskFormula::combine(MaskFormula::And, std::move(isA), std::move(ofA)),
      MaskFormula::combine(MaskFormula::And, std::move(isB), std::move(ofB)));
}

MaskFormula MaskReader::readSelect(arith::SelectOp op, bool negated) {
  return readBranches(op.getCondition(), op.getTrueValue(), negated,
                      op.getFalseValue(), negated);
}

/// a != b; negated: a == b.
MaskFormula MaskReader::readXor(Value a, Value b, bool negated) {
  if (std::optional<int64_t> number = getNumber(b))
    return readFormula(a, (*number != 0) != negated);
  return readBranches(a, b, !negated, b, negated);
}

static bool isKnown(const MaskFormula &formula) {
  return formula.kind != MaskFormula::Unknown &&
         llvm::all_of(formula.operands, isKnown);
}

MaskFormula MaskReader::readFormula(Value value, bool negated) {
  if (--budget < 0)
    return MaskFormula::get(MaskFormula::Unknown);
  if (std::optional<int64_t> number = getNumber(value))
    return MaskFormula::get((*number != 0) != negated);
  Operation *op = value.getDefiningOp();
  if (op && !region.isAncestor(op->getParentRegion()))
    op = nullptr;
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    if (MaskFormula order = readCompare(compare, negated);
        isKnown(order) || !isOfRow(value))
      return order;
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    bool isAnd = isa<arith::AndIOp>(op) != negated;
    MaskFormula a = readFormula(op->getOperand(0), negated);
    MaskFormula b = readFormula(op->getOperand(1), negated);
    return MaskFormula::combine(isAnd ? MaskFormula::And : MaskFormula::Or,
                                std::move(a), std::move(b));
  }
  if (isa_and_nonnull<arith::XOrIOp>(op))
    return readXor(op->getOperand(0), op->getOperand(1), negated);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return readSelect(select, negated);
  if (!isOfRow(value))
    return MaskFormula::get(MaskFormula::Unknown);
  // flag >= 1, or flag <= 0.
  LinearForm flag = getSymbol(value);
  return negated ? MaskFormula::atMostZero(flag)
                 : MaskFormula::atMostZero(*LinearForm(1).plus(flag, -1));
}

MaskAnalysis attn::analyzeMask(Region &maskMod) {
  MaskAnalysis result;
  Value yielded = maskMod.front().getTerminator()->getOperand(0);
  result.formula = MaskReader(maskMod, result).readFormula(yielded, false);
  return result;
}
