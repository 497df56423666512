//===- ScalarFolds.cpp - Folds of scalar expressions -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The normal form that the matchers rely on: affine integer arithmetic is one
// index, comparisons are `<`, `<=`, `==` or `!=`, a division by a constant is a
// product, exp2 is exp, a constant stands second, and an op on a choice between
// two constants is a choice between two constants.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Elements/ScalarGraph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn::raise;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr double kLn2 = 0.693147180559945309417;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static std::optional<double> evaluateUnary(StringRef name, double x) {
  using Function = double (*)(double);
  auto function =
      llvm::StringSwitch<Function>(name)
          .Case(
              "arith.negf", +[](double v) { return -v; })
          .Case(
              "math.exp", +[](double v) { return std::exp(v); })
          .Case(
              "math.exp2", +[](double v) { return std::exp2(v); })
          .Case(
              "math.log", +[](double v) { return std::log(v); })
          .Case(
              "math.sqrt", +[](double v) { return std::sqrt(v); })
          .Case(
              "math.rsqrt", +[](double v) { return 1 / std::sqrt(v); })
          .Case(
              "math.tanh", +[](double v) { return std::tanh(v); })
          .Case(
              "math.floor", +[](double v) { return std::floor(v); })
          .Case(
              "math.ceil", +[](double v) { return std::ceil(v); })
          .Cases(
              {"math.absf", "math.absi"},
              +[](double v) { return std::fabs(v); })
          .Cases(
              {"arith.sitofp", "arith.uitofp", "arith.index_cast"},
              +[](double v) { return v; })
          .Case(
              "arith.fptosi", +[](double v) { return std::trunc(v); })
          .Default(nullptr);
  if (!function)
    return std::nullopt;
  return function(x);
}

static std::optional<double> compareInts(int64_t predicate, double a,
                                         double b) {
  switch (static_cast<CmpIPredicate>(predicate)) {
  case CmpIPredicate::eq:
    return a == b;
  case CmpIPredicate::ne:
    return a != b;
  case CmpIPredicate::slt:
    return a < b;
  case CmpIPredicate::sle:
    return a <= b;
  case CmpIPredicate::sgt:
    return a > b;
  case CmpIPredicate::sge:
    return a >= b;
  default:
    return std::nullopt;
  }
}

static std::optional<double> compareFloats(int64_t predicate, double a,
                                           double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (static_cast<CmpFPredicate>(predicate)) {
  case CmpFPredicate::OEQ:
    return a == b;
  case CmpFPredicate::OGT:
    return a > b;
  case CmpFPredicate::OGE:
    return a >= b;
  case CmpFPredicate::OLT:
    return a < b;
  case CmpFPredicate::OLE:
    return a <= b;
  case CmpFPredicate::UEQ:
    return unordered || a == b;
  case CmpFPredicate::UNE:
    return a != b;
  case CmpFPredicate::ONE:
    return !unordered && a != b;
  case CmpFPredicate::UGT:
    return unordered || a > b;
  case CmpFPredicate::ULT:
    return unordered || a < b;
  default:
    return std::nullopt;
  }
}

static std::optional<double> evaluateBinary(StringRef name, double a,
                                            double b) {
  using Function = double (*)(double, double);
  auto function =
      llvm::StringSwitch<Function>(name)
          .Cases(
              {"arith.addf", "arith.addi"},
              +[](double x, double y) { return x + y; })
          .Cases(
              {"arith.subf", "arith.subi"},
              +[](double x, double y) { return x - y; })
          .Cases(
              {"arith.mulf", "arith.muli"},
              +[](double x, double y) { return x * y; })
          .Case(
              "arith.divf", +[](double x, double y) { return x / y; })
          .Cases(
              {"arith.maximumf", "arith.maxnumf", "arith.maxsi"},
              +[](double x, double y) { return std::fmax(x, y); })
          .Cases(
              {"arith.minimumf", "arith.minnumf", "arith.minsi"},
              +[](double x, double y) { return std::fmin(x, y); })
          .Cases(
              {"math.powf", "math.fpowi"},
              +[](double x, double y) { return std::pow(x, y); })
          .Case(
              "arith.andi",
              +[](double x, double y) -> double { return x && y; })
          .Case(
              "arith.ori", +[](double x, double y) -> double { return x || y; })
          .Case(
              "arith.xori",
              +[](double x, double y) -> double { return x != y; })
          .Default(nullptr);
  if (!function)
    return std::nullopt;
  return function(a, b);
}

std::optional<double> attn::raise::evaluate(StringRef name, int64_t predicate,
                                            ArrayRef<double> operands) {
  if (operands.size() == 3 && name == "arith.select")
    return operands[0] != 0 ? operands[1] : operands[2];
  if (operands.size() == 1)
    return evaluateUnary(name, operands[0]);
  if (operands.size() != 2)
    return std::nullopt;
  if (name == "arith.cmpi")
    return compareInts(predicate, operands[0], operands[1]);
  if (name == "arith.cmpf")
    return compareFloats(predicate, operands[0], operands[1]);
  return evaluateBinary(name, operands[0], operands[1]);
}

/// Bitwise ops are logical on bools only.
static bool isBitwiseOnInts(StringRef name, ArrayRef<ScalarRef> operands) {
  bool isBitwise =
      name == "arith.andi" || name == "arith.ori" || name == "arith.xori";
  return isBitwise && operands[0]->number != Number::Bool;
}

/// The kind of number that an op on constants gives.
static Number getResultNumber(StringRef name, ArrayRef<ScalarRef> operands) {
  if (name == "arith.cmpi" || name == "arith.cmpf")
    return Number::Bool;
  if (name == "arith.sitofp" || name == "arith.uitofp")
    return Number::Float;
  if (name == "arith.fptosi")
    return Number::Int;
  return operands.back()->number;
}

ScalarRef ScalarGraph::foldConstants(StringRef name,
                                     ArrayRef<ScalarRef> operands,
                                     int64_t predicate) {
  SmallVector<double> values;
  for (ScalarRef operand : operands) {
    if (!operand->isConstant())
      return nullptr;
    values.push_back(operand->value);
  }
  if (values.empty() || isBitwiseOnInts(name, operands))
    return nullptr;
  std::optional<double> value = evaluate(name, predicate, values);
  if (!value)
    return nullptr;
  Number number =
      name == "math.fpowi" ? Number::Float : getResultNumber(name, operands);
  return constant(number, *value);
}

ScalarRef ScalarGraph::foldThroughSelect(StringRef name, Number number,
                                         ArrayRef<ScalarRef> operands,
                                         Operation *op, int64_t predicate) {
  ScalarRef choice = nullptr;
  for (ScalarRef operand : operands) {
    if (operand->isConstant())
      continue;
    if (choice || !operand->is("arith.select") ||
        !operand->operands[1]->isConstant() ||
        !operand->operands[2]->isConstant())
      return nullptr;
    choice = operand;
  }
  if (!choice || name == "arith.select")
    return nullptr;
  ScalarRef branches[2];
  for (int side : {0, 1}) {
    SmallVector<ScalarRef> constants(operands);
    llvm::replace(constants, choice, choice->operands[side + 1]);
    branches[side] = foldConstants(name, constants, predicate);
    if (!branches[side])
      return nullptr;
  }
  return apply("arith.select", number,
               {choice->operands[0], branches[0], branches[1]}, op);
}

//===----------------------------------------------------------------------===//
// Integers and comparisons
//===----------------------------------------------------------------------===//

AffineExpr attn::raise::toAffine(IndexSpace &space, ScalarRef scalar) {
  if (scalar->isIndex())
    return scalar->affine[0];
  if (scalar->isConstant() && scalar->number == Number::Int &&
      IndexSpace::isSmall(scalar->value))
    return space.constant(static_cast<int64_t>(scalar->value));
  return {};
}

/// The integer that `scalar` is as a float: an integer, its negative, or its
/// quotient by a constant rounded down, which is exact below 2^24.
static AffineExpr asInteger(IndexSpace &space, ScalarRef scalar) {
  if (scalar->is("arith.sitofp"))
    return toAffine(space, scalar->operands[0]);
  bool isFloor = scalar->is("math.floor");
  ScalarRef product = isFloor ? scalar->operands[0] : scalar;
  if (!product->is("arith.mulf") || !product->operands[1]->isConstant())
    return {};
  AffineExpr integer = asInteger(space, product->operands[0]);
  double factor = product->operands[1]->value;
  double divisor = std::round(1 / factor);
  // A product with a reciprocal in f64 would round otherwise.
  bool isQuotient = !isa_and_nonnull<arith::MulFOp>(product->op);
  if (integer && !isFloor && factor == -1)
    return -integer;
  return integer && isFloor && isQuotient && divisor >= 1 &&
                 factor == 1 / divisor
             ? integer.floorDiv(static_cast<int64_t>(divisor))
             : AffineExpr();
}

/// |x| <= c as x <= c and -x <= c, c < |x| as c < x or c < -x.
ScalarRef ScalarGraph::foldCompareOfAbs(ArrayRef<ScalarRef> operands,
                                        int64_t predicate, Operation *op) {
  bool isLeft = operands[0]->is("math.absi");
  ScalarRef absolute = operands[isLeft ? 0 : 1];
  AffineExpr inner = toAffine(space, absolute->operands[0]);
  if (!inner)
    return nullptr;
  auto compare = [&](AffineExpr expr) {
    SmallVector<ScalarRef> sides(operands);
    sides[isLeft ? 0 : 1] = index(expr);
    return apply("arith.cmpi", Number::Bool, sides, op, predicate);
  };
  return apply(isLeft ? "arith.andi" : "arith.ori", Number::Bool,
               {compare(inner), compare(-inner)}, op);
}

ScalarRef ScalarGraph::foldInt(StringRef name, ArrayRef<ScalarRef> operands) {
  if (name == "arith.fptosi")
    if (AffineExpr integer = asInteger(space, operands[0]))
      return index(integer);
  if (operands.size() != 2)
    return nullptr;
  AffineExpr lhs = toAffine(space, operands[0]);
  AffineExpr rhs = toAffine(space, operands[1]);
  if ((name == "arith.addi" || name == "arith.subi") &&
      operands[1]->isConstant(0))
    return operands[0];
  if (!lhs || !rhs)
    return nullptr;
  if (name == "arith.addi")
    return index(lhs + rhs);
  if (name == "arith.subi")
    return index(lhs - rhs);
  if (name == "arith.muli" &&
      (lhs.isSymbolicOrConstant() || rhs.isSymbolicOrConstant()))
    return index(lhs * rhs);
  bool isDivision = llvm::is_contained(
      {"arith.divsi", "arith.divui", "arith.floordivsi"}, name);
  bool isRemainder = name == "arith.remsi" || name == "arith.remui";
  auto low = space.getLowerBound(lhs);
  bool isPlain = low && *low >= 0 && rhs.isSymbolicOrConstant() &&
                 rhs != space.constant(0);
  if (isDivision && isPlain)
    return index(lhs.floorDiv(rhs));
  if (isRemainder && isPlain)
    return index(lhs % rhs);
  std::optional<bool> isLess = space.isNonNegative(rhs - lhs);
  if (name == "arith.minsi" && isLess)
    return operands[*isLess ? 0 : 1];
  if (name == "arith.maxsi" && isLess)
    return operands[*isLess ? 1 : 0];
  return nullptr;
}

ScalarRef ScalarGraph::foldCompare(StringRef name, ArrayRef<ScalarRef> operands,
                                   int64_t predicate, Operation *op) {
  if (name != "arith.cmpi")
    return nullptr;
  ScalarRef lhs = operands[0], rhs = operands[1];
  auto kind = static_cast<CmpIPredicate>(predicate);
  bool isEquality = kind == CmpIPredicate::eq || kind == CmpIPredicate::ne;
  if (lhs->number == Number::Bool && isEquality && rhs->isConstant()) {
    bool keep = (rhs->value != 0) == (kind == CmpIPredicate::eq);
    return keep ? lhs : logicalNot(lhs, op);
  }
  if (kind == CmpIPredicate::sgt || kind == CmpIPredicate::sge) {
    auto swapped =
        kind == CmpIPredicate::sgt ? CmpIPredicate::slt : CmpIPredicate::sle;
    return apply(name, Number::Bool, {rhs, lhs}, op,
                 static_cast<int64_t>(swapped));
  }
  bool isOrder = kind == CmpIPredicate::slt || kind == CmpIPredicate::sle;
  if (lhs == rhs && (isEquality || isOrder))
    return constant(Number::Bool,
                    kind == CmpIPredicate::eq || kind == CmpIPredicate::sle);
  if (isOrder && lhs->is("math.absi") != rhs->is("math.absi"))
    return foldCompareOfAbs(operands, predicate, op);
  AffineExpr a = toAffine(space, lhs), b = toAffine(space, rhs);
  if (!a || !b)
    return nullptr;
  // On numbers that are not negative, unsigned comparisons are signed ones.
  if (kind >= CmpIPredicate::ult && space.isNonNegative(a).value_or(false) &&
      space.isNonNegative(b).value_or(false))
    return apply(name, Number::Bool, operands, op,
                 predicate - static_cast<int64_t>(CmpIPredicate::ult) +
                     static_cast<int64_t>(CmpIPredicate::slt));
  std::optional<bool> holds;
  if (kind == CmpIPredicate::slt)
    holds = space.isNonNegative(b - a - 1);
  else if (kind == CmpIPredicate::sle)
    holds = space.isNonNegative(b - a);
  else if (isEquality) {
    AffineExpr difference = space.simplify(b - a);
    if (difference == space.constant(0))
      holds = kind == CmpIPredicate::eq;
    else if (space.isNonNegative(difference - 1).value_or(false) ||
             space.isNonNegative(-difference - 1).value_or(false))
      holds = kind == CmpIPredicate::ne;
  }
  return holds ? constant(Number::Bool, *holds) : nullptr;
}

//===----------------------------------------------------------------------===//
// Bools and choices
//===----------------------------------------------------------------------===//

ScalarRef ScalarGraph::foldBool(StringRef name, ArrayRef<ScalarRef> operands,
                                Operation *op) {
  if (operands.size() != 2)
    return nullptr;
  ScalarRef lhs = operands[0], rhs = operands[1];
  if (lhs->isConstant())
    std::swap(lhs, rhs);
  if (name == "arith.andi" && (rhs->isConstant(1) || lhs == rhs))
    return lhs;
  if (name == "arith.andi" && rhs->isConstant(0))
    return rhs;
  if (name == "arith.ori" && (rhs->isConstant(0) || lhs == rhs))
    return lhs;
  if (name == "arith.ori" && rhs->isConstant(1))
    return rhs;
  if (name != "arith.xori" || !rhs->isConstant())
    return nullptr;
  if (rhs->isConstant(0))
    return lhs;
  if (lhs->is("arith.xori") && lhs->operands[1]->isConstant(1))
    return lhs->operands[0];
  if (!lhs->is("arith.cmpi"))
    return lhs == operands[0] ? nullptr : logicalNot(lhs, op);
  auto inverted =
      arith::invertPredicate(static_cast<CmpIPredicate>(lhs->predicate));
  return apply("arith.cmpi", Number::Bool, lhs->operands, lhs->op,
               static_cast<int64_t>(inverted));
}

/// True if `condition` is `extent == 1`, or says the same of a part of the
/// extent, and `index` a variable of that extent:
/// then `index` is 0 wherever the condition holds. Dynamic broadcasts are
/// written as such a choice.
static bool isBroadcastGuard(IndexSpace &space, ScalarRef condition,
                             ScalarRef index) {
  if (!condition->is("arith.cmpi") || !index->isIndex() ||
      condition->predicate != static_cast<int64_t>(CmpIPredicate::eq))
    return false;
  AffineExpr lhs = toAffine(space, condition->operands[0]);
  AffineExpr rhs = toAffine(space, condition->operands[1]);
  auto variable = dyn_cast<AffineDimExpr>(index->affine[0]);
  return lhs && rhs && variable &&
         space.simplify(lhs - rhs) ==
             space.simplify(space.getExtent(variable) - 1);
}

ScalarRef ScalarGraph::foldSelect(ArrayRef<ScalarRef> operands, Operation *op) {
  ScalarRef cond = operands[0], yes = operands[1], no = operands[2];
  if (cond->isConstant())
    return cond->value != 0 ? yes : no;
  if (yes == no)
    return yes;
  if (cond->is("arith.xori") && cond->operands[1]->isConstant(1))
    return select(cond->operands[0], no, yes, op);
  if (yes->isConstant(0) && isBroadcastGuard(space, cond, no))
    return no;
  if (yes->number != Number::Bool)
    return nullptr;
  auto logical = [&](StringRef name, ScalarRef lhs, ScalarRef rhs) {
    return apply(name, Number::Bool, {lhs, rhs}, op);
  };
  if (yes->isConstant(1))
    return logical("arith.ori", cond, no);
  if (yes->isConstant(0))
    return logical("arith.andi", logicalNot(cond, op), no);
  if (no->isConstant(0))
    return logical("arith.andi", cond, yes);
  if (no->isConstant(1))
    return logical("arith.ori", logicalNot(cond, op), yes);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

ScalarRef ScalarGraph::foldFloat(StringRef name, ArrayRef<ScalarRef> operands,
                                 Operation *op) {
  if (name == "arith.negf")
    return mul(operands[0], constant(Number::Float, -1), op);
  if (name == "math.exp2")
    return apply("math.exp", Number::Float,
                 {mul(operands[0], constant(Number::Float, kLn2), op)}, op);
  if (operands.size() != 2)
    return nullptr;
  ScalarRef lhs = operands[0], rhs = operands[1];
  bool isMax = name == "arith.maximumf" || name == "arith.maxnumf";
  bool commutes = isMax || name == "arith.addf" || name == "arith.mulf";
  if (commutes && lhs->isConstant())
    return apply(name, Number::Float, {rhs, lhs}, op);
  if (isMax && (rhs->isConstant(-kInfinity) || lhs == rhs))
    return lhs;
  if ((name == "arith.addf" || name == "arith.subf") && rhs->isConstant(0))
    return lhs;
  if (name == "arith.subf" && rhs->isConstant())
    return add(lhs, constant(Number::Float, -rhs->value), op);
  if (name == "arith.divf" && rhs->isConstant() && rhs->value != 0)
    return mul(lhs, constant(Number::Float, 1 / rhs->value), op);
  if (name != "arith.mulf")
    return nullptr;
  for (auto [factor, other] : {std::pair(rhs, lhs), std::pair(lhs, rhs)})
    if (factor->is("arith.divf") && factor->operands[0]->isConstant(1))
      return apply("arith.divf", Number::Float, {other, factor->operands[1]},
                   op);
  // log2(e) rounded to f32, times ln(2), is 1 to within f32 rounding.
  if (rhs->isConstant() && std::fabs(rhs->value - 1) < 1e-7)
    return lhs;
  if (rhs->isConstant() && lhs->is("arith.mulf") &&
      lhs->operands[1]->isConstant())
    return mul(lhs->operands[0],
               constant(Number::Float, lhs->operands[1]->value * rhs->value),
               op);
  return nullptr;
}
