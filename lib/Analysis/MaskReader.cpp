//===- MaskReader.cpp - Integers of a mask_mod ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskReader.h"

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// A number, unless it is very large.
static MaybeTree readConstant(int64_t number) {
  std::optional<LinearForm> form = LinearForm().plus(LinearForm(number));
  return form ? MaybeTree(IntegerTree::get(*form)) : std::nullopt;
}

std::optional<int64_t> MaskReader::getNumber(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.trySExtValue();
}

//===----------------------------------------------------------------------===//
// Values that are the same for all pairs
//===----------------------------------------------------------------------===//

bool MaskReader::isBefore(Value value, unsigned end,
                          DenseMap<Value, bool> &known) {
  if (!region.isAncestor(value.getParentRegion()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &region.front() &&
           argument.getArgNumber() < end;
  auto [entry, isNew] = known.try_emplace(value, false);
  if (!isNew)
    return entry->second;
  Operation *op = value.getDefiningOp();
  // Kernels compute such values in 32 bits.
  bool result = op->getNumRegions() == 0 &&
                !ranges.getIndexRanges().needs64Bits(*op) &&
                llvm::all_of(op->getOperands(),
                             [&](Value v) { return isBefore(v, end, known); });
  known[value] = result;
  return result;
}

LinearForm MaskReader::getSymbol(Value value) {
  bool isSymbol = isInvariant(value);
  std::vector<Value> &known = isSymbol ? symbols : rowValues;
  auto place = llvm::find(known, value);
  unsigned position = place - known.begin();
  if (place == known.end())
    known.push_back(value);
  return *LinearForm::get(
      isSymbol ? getAffineSymbolExpr(position, context())
               : getAffineDimExpr(kFirstRowValue + position, context()));
}

/// Sizes and positions are, and maxima with 0, as lengths are (buildLength).
bool MaskReader::isNonNegative(AffineExpr core) {
  if (auto dim = dyn_cast<AffineDimExpr>(core))
    return dim.getPosition() < kFirstRowValue ||
           isa_and_nonnull<SegmentOp>(
               rowValues[dim.getPosition() - kFirstRowValue].getDefiningOp());
  if (auto quotient = dyn_cast<AffineBinaryOpExpr>(core)) {
    std::optional<LinearForm> dividend = LinearForm::get(quotient.getLHS());
    return dividend && isNonNegative(*dividend);
  }
  Value value = symbols[cast<AffineSymbolExpr>(core).getPosition()];
  if (isa<BlockArgument>(value))
    return value.getParentRegion() == &region;
  if (auto max = value.getDefiningOp<arith::MaxSIOp>())
    return getNumber(max.getRhs()).value_or(-1) >= 0;
  return isa<LengthOp, tensor::DimOp>(value.getDefiningOp());
}

bool MaskReader::isNonNegative(const LinearForm &form) {
  return form.getConstant() >= 0 &&
         llvm::all_of(form.getTerms(), [&](auto &term) {
           return term.second >= 0 && isNonNegative(term.first);
         });
}

bool MaskReader::isNonNegative(const IntegerTree &tree) {
  if (tree.kind == IntegerTree::Leaf)
    return isNonNegative(tree.form);
  auto isOperand = [&](const IntegerTree &t) { return isNonNegative(t); };
  return tree.kind == IntegerTree::Max ? llvm::any_of(tree.operands, isOperand)
                                       : llvm::all_of(tree.operands, isOperand);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

MaybeTree MaskReader::readInteger(Value value) {
  auto [entry, isNew] = trees.try_emplace(value, std::nullopt);
  if (!isNew)
    return entry->second;
  Type type = value.getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  // Positions fit 32 bits, not always fewer.
  if (width < 32 || width > 64 || --budget < 0)
    return std::nullopt;
  MaybeTree tree = computeInteger(value);
  // A constant near the type's limits could make a sum wrap around.
  int64_t limit = int64_t(1) << (width - 3);
  if (tree)
    tree = tree->map([&](const LinearForm &form) -> MaybeTree {
      int64_t number = form.getConstant();
      if (number > limit || number < -limit)
        return std::nullopt;
      return IntegerTree::get(form);
    });
  trees[value] = tree;
  return tree;
}

/// A number that is the same for all rows and keys, such as the length that
/// entries of a table with offsets leave, is one symbol, where its minima and
/// maxima would make a band for each of many cases.
bool MaskReader::isBetterAsSymbol(Value value, const IntegerTree &tree) {
  constexpr unsigned kMostCases = 4;
  return isInvariant(value) && tree.countLeaves() > kMostCases;
}

MaybeTree MaskReader::computeInteger(Value value) {
  if (std::optional<int64_t> number = getNumber(value))
    return readConstant(*number);
  for (auto [argument, position] :
       {std::pair(kLoopM, kRow), std::pair(kLoopN, kKey)})
    if (value == region.getArgument(argument))
      return IntegerTree::get(
          *LinearForm::get(getAffineDimExpr(position, context())));
  if (Operation *op = value.getDefiningOp())
    if (region.isAncestor(op->getParentRegion()))
      if (!ranges.mayWrap(op))
        if (MaybeTree result = readResult(op);
            result && isExact(*result) && !isBetterAsSymbol(value, *result))
          return result;
  if (!isOfRow(value))
    return std::nullopt;
  return IntegerTree::get(getSymbol(value));
}

MaybeTree MaskReader::sum(const MaybeTree &a, const MaybeTree &b,
                          int64_t factor) {
  return a && b ? a->plus(*b, factor) : std::nullopt;
}

MaybeTree MaskReader::multiply(const MaybeTree &a, const MaybeTree &b) {
  for (auto [left, right] : {std::pair(&a, &b), std::pair(&b, &a)})
    if (*left && *right && (*right)->kind == IntegerTree::Leaf &&
        (*right)->form.isConstant())
      return (*left)->times((*right)->form.getConstant());
  return std::nullopt;
}

/// Rounds a form towards zero, as divsi does: as floor where it is known not to
/// be negative, else by cases.
MaybeTree MaskReader::divideTowardsZero(const LinearForm &form,
                                        int64_t divisor) {
  std::optional<LinearForm> down = form.floorDiv(divisor);
  std::optional<LinearForm> up = form.ceilDiv(divisor);
  std::optional<LinearForm> negated = form.times(-1);
  std::optional<LinearForm> next = form.plus(LinearForm(1));
  if (!down || !up || !negated || !next)
    return std::nullopt;
  return IntegerTree::get(atMostZero(*negated), atMostZero(*next),
                          IntegerTree::get(*down), IntegerTree::get(*up));
}

/// Quotients and remainders by constants.
MaybeTree MaskReader::readDivision(Operation *op) {
  MaybeTree dividend = readInteger(op->getOperand(0));
  std::optional<int64_t> divisor = getNumber(op->getOperand(1));
  if (!dividend || !divisor || *divisor < 1)
    return std::nullopt;
  bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
  bool isRemainder = isa<arith::RemUIOp, arith::RemSIOp>(op);
  bool isUp = isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
  if ((isUnsigned && !isNonNegative(*dividend)) ||
      (isRemainder && dividend->hasMinMax()))
    return std::nullopt;
  auto divide = [&](const LinearForm &form) -> MaybeTree {
    if (isa<arith::DivSIOp, arith::RemSIOp>(op) && !isNonNegative(form))
      return divideTowardsZero(form, *divisor);
    std::optional<LinearForm> quotient =
        isUp ? form.ceilDiv(*divisor) : form.floorDiv(*divisor);
    return quotient ? MaybeTree(IntegerTree::get(*quotient)) : std::nullopt;
  };
  if (!isRemainder)
    return dividend->map(divide);
  return dividend->map([&](const LinearForm &form) {
    return sum(IntegerTree::get(form), divide(form), -*divisor);
  });
}

/// Shifts, and masks of the low bits.
MaybeTree MaskReader::readBits(Operation *op) {
  MaybeTree value = readInteger(op->getOperand(0));
  std::optional<int64_t> number = getNumber(op->getOperand(1));
  if (!value || !number)
    return std::nullopt;
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op)) {
    if (*number < 0 || *number > 30 ||
        (isa<arith::ShRUIOp>(op) && !isNonNegative(*value)))
      return std::nullopt;
    int64_t power = int64_t(1) << *number;
    if (isa<arith::ShLIOp>(op))
      return value->times(power);
    return value->map([&](const LinearForm &form) -> MaybeTree {
      std::optional<LinearForm> quotient = form.floorDiv(power);
      return quotient ? MaybeTree(IntegerTree::get(*quotient)) : std::nullopt;
    });
  }
  // x & (2^k - 1) = x mod 2^k, and x & -2^k = x - x mod 2^k.
  bool isHigh = *number < 0;
  int64_t power = isHigh ? -*number : *number + 1;
  if (!llvm::isPowerOf2_64(power) || (value->hasMinMax() && !isHigh))
    return std::nullopt;
  return value->map([&](const LinearForm &form) -> MaybeTree {
    std::optional<LinearForm> rest = form.mod(power);
    std::optional<LinearForm> result =
        rest && isHigh ? form.plus(*rest, -1) : rest;
    return result ? MaybeTree(IntegerTree::get(*result)) : std::nullopt;
  });
}

/// Minima, maxima and selections.
MaybeTree MaskReader::readChoice(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    MaybeTree a = readInteger(select.getTrueValue());
    MaybeTree b = readInteger(select.getFalseValue());
    if (!a || !b)
      return std::nullopt;
    MaskFormula isA = readFormula(select.getCondition(), false);
    MaskFormula isB = readFormula(select.getCondition(), true);
    return IntegerTree::get(std::move(isA), std::move(isB), std::move(*a),
                            std::move(*b));
  }
  MaybeTree a = readInteger(op->getOperand(0));
  MaybeTree b = readInteger(op->getOperand(1));
  bool isUnsigned = isa<arith::MinUIOp, arith::MaxUIOp>(op);
  if (!a || !b || (isUnsigned && !(isNonNegative(*a) && isNonNegative(*b))))
    return std::nullopt;
  bool isMin = isa<arith::MinSIOp, arith::MinUIOp>(op);
  return IntegerTree::get(isMin ? IntegerTree::Min : IntegerTree::Max,
                          std::move(*a), std::move(*b));
}

MaybeTree MaskReader::readExpr(AffineExpr expr, ValueRange operands,
                               unsigned numDims) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return readConstant(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return readInteger(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return readInteger(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  MaybeTree left = readExpr(binary.getLHS(), operands, numDims);
  MaybeTree right = readExpr(binary.getRHS(), operands, numDims);
  if (expr.getKind() == AffineExprKind::Add)
    return sum(left, right, 1);
  if (expr.getKind() == AffineExprKind::Mul)
    return multiply(left, right);
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool isMod = expr.getKind() == AffineExprKind::Mod;
  if (!left || !divisor || (isMod && left->hasMinMax()))
    return std::nullopt;
  return left->map([&](const LinearForm &form) -> MaybeTree {
    int64_t number = divisor.getValue();
    std::optional<LinearForm> result =
        isMod                                        ? form.mod(number)
        : expr.getKind() == AffineExprKind::FloorDiv ? form.floorDiv(number)
                                                     : form.ceilDiv(number);
    return result ? MaybeTree(IntegerTree::get(*result)) : std::nullopt;
  });
}

MaybeTree MaskReader::readExtremum(AffineMap map, ValueRange operands,
                                   IntegerTree::Kind kind) {
  MaybeTree result;
  for (AffineExpr expr : map.getResults()) {
    MaybeTree tree = readExpr(expr, operands, map.getNumDims());
    if (!tree)
      return std::nullopt;
    result = result
                 ? IntegerTree::get(kind, std::move(*result), std::move(*tree))
                 : *tree;
  }
  return result;
}

MaybeTree MaskReader::readResult(Operation *op) {
  return llvm::TypeSwitch<Operation *, MaybeTree>(op)
      .Case<arith::AddIOp>([&](auto add) {
        MaybeTree a = readInteger(add.getLhs()), b = readInteger(add.getRhs());
        return sum(a, b, 1);
      })
      .Case<arith::SubIOp>([&](auto sub) {
        MaybeTree a = readInteger(sub.getLhs()), b = readInteger(sub.getRhs());
        return sum(a, b, -1);
      })
      .Case<arith::MulIOp>([&](auto mul) {
        MaybeTree a = readInteger(mul.getLhs()), b = readInteger(mul.getRhs());
        return multiply(a, b);
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp, arith::RemSIOp,
            arith::RemUIOp>([&](auto div) { return readDivision(div); })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, arith::AndIOp>(
          [&](auto bits) { return readBits(bits); })
      .Case<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp,
            arith::SelectOp>([&](auto choice) { return readChoice(choice); })
      .Case<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(
          [&](auto cast) { return readInteger(cast.getIn()); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto cast) {
        MaybeTree tree = readInteger(cast.getIn());
        return tree && isNonNegative(*tree) ? tree : std::nullopt;
      })
      .Case<affine::AffineApplyOp>([&](auto apply) {
        return readExpr(apply.getAffineMap().getResult(0),
                        apply.getMapOperands(),
                        apply.getAffineMap().getNumDims());
      })
      .Case<affine::AffineMinOp>([&](auto min) {
        return readExtremum(min.getAffineMap(), min.getOperands(),
                            IntegerTree::Min);
      })
      .Case<affine::AffineMaxOp>([&](auto max) {
        return readExtremum(max.getAffineMap(), max.getOperands(),
                            IntegerTree::Max);
      })
      .Default([](Operation *) { return std::nullopt; });
}
