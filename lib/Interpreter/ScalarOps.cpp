//===- ScalarOps.cpp - Scalar arith and math ops in float64 ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table from op names to functions. Integers wrap at their width; what MLIR
// leaves undefined (division by zero, shifts beyond the width) gives 0. Floats
// are computed as doubles; the yardstick then rounds each to its type.
//
//===----------------------------------------------------------------------===//

#include "ScalarOps.h"

#include "attn/Reference/Element.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Widths
//===----------------------------------------------------------------------===//

static unsigned getBits(Type type) {
  return isa<IntegerType>(type) ? type.getIntOrFloatBitWidth() : 64;
}

static inline uint64_t asUnsigned(int64_t value, unsigned bits) {
  return static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(bits);
}

static inline int64_t asSigned(int64_t value, unsigned bits) {
  return bits == 1 ? -value : value;
}

//===----------------------------------------------------------------------===//
// Makers of table entries
//===----------------------------------------------------------------------===//

static ScalarFunction real1(double (*f)(double)) {
  return [f](const ScalarOpInfo &, const Scalar *a) {
    return Scalar::ofReal(f(a[0].real));
  };
}

static ScalarFunction real2(double (*f)(double, double)) {
  return [f](const ScalarOpInfo &, const Scalar *a) {
    return Scalar::ofReal(f(a[0].real, a[1].real));
  };
}

/// Of signed operands; the result wraps. `f` is a lambda, which is inlined:
/// masks are evaluated for each score.
template <typename Function>
static ScalarFunction signed2(Function f) {
  return [f](const ScalarOpInfo &info, const Scalar *a) {
    unsigned bits = info.operandBits;
    int64_t value =
        f(asSigned(a[0].integer, bits), asSigned(a[1].integer, bits));
    return Scalar::ofInteger(wrapInteger(value, info.resultBits));
  };
}

/// Of unsigned operands; the result wraps.
template <typename Function>
static ScalarFunction unsigned2(Function f) {
  return [f](const ScalarOpInfo &info, const Scalar *a) {
    unsigned bits = info.operandBits;
    uint64_t value =
        f(asUnsigned(a[0].integer, bits), asUnsigned(a[1].integer, bits));
    return Scalar::ofInteger(wrapInteger(value, info.resultBits));
  };
}

/// Shifts by the second operand, 0 beyond the width.
static ScalarFunction shift(uint64_t (*f)(const ScalarOpInfo &, int64_t,
                                          uint64_t)) {
  return [f](const ScalarOpInfo &info, const Scalar *a) {
    uint64_t amount = asUnsigned(a[1].integer, info.operandBits);
    if (amount >= info.operandBits)
      return Scalar();
    return Scalar::ofInteger(
        wrapInteger(f(info, a[0].integer, amount), info.resultBits));
  };
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// arith.maximumf: NaN wins, and +0 over -0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == 0 && b == 0)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

static double minimum(double a, double b) { return -maximum(-a, -b); }

static inline int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1))
    return 0;
  return llvm::divideFloorSigned(a, b);
}

static inline int64_t ceilDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1))
    return 0;
  return llvm::divideCeilSigned(a, b);
}

static inline int64_t truncDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1))
    return 0;
  return a / b;
}

static inline int64_t takeRemainder(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

/// Predicates come in the order less, at most, greater, at least.
template <typename T>
static inline bool isInOrder(uint64_t order, T left, T right) {
  switch (order) {
  case 0:
    return left < right;
  case 1:
    return left <= right;
  case 2:
    return left > right;
  default:
    return left >= right;
  }
}

static Scalar compareIntegers(const ScalarOpInfo &info, const Scalar *a) {
  auto predicate = static_cast<uint64_t>(info.predicate);
  constexpr auto kSigned = static_cast<uint64_t>(arith::CmpIPredicate::slt);
  constexpr auto kUnsigned = static_cast<uint64_t>(arith::CmpIPredicate::ult);
  unsigned bits = info.operandBits;
  uint64_t left = asUnsigned(a[0].integer, bits);
  uint64_t right = asUnsigned(a[1].integer, bits);
  if (predicate < kSigned)
    return Scalar::ofInteger((left == right) == (predicate == 0));
  if (predicate >= kUnsigned)
    return Scalar::ofInteger(isInOrder(predicate - kUnsigned, left, right));
  return Scalar::ofInteger(isInOrder(predicate - kSigned,
                                     llvm::SignExtend64(left, bits),
                                     llvm::SignExtend64(right, bits)));
}

/// A predicate is a set of outcomes: 1 equal, 2 greater, 4 less, 8 unordered.
static Scalar compareReals(const ScalarOpInfo &info, const Scalar *a) {
  double left = a[0].real, right = a[1].real;
  int outcome = left == right ? 1 : left > right ? 2 : left < right ? 4 : 8;
  return Scalar::ofInteger((info.predicate & outcome) != 0);
}

static Scalar choose(const ScalarOpInfo &, const Scalar *a) {
  return a[0].integer ? a[1] : a[2];
}

/// Truncation toward zero, saturating: values out of range are undefined.
static Scalar toInteger(const ScalarOpInfo &info, const Scalar *a) {
  double value = std::trunc(a[0].real);
  if (!(std::fabs(value) < 0x1p63))
    return Scalar();
  return Scalar::ofInteger(wrapInteger(
      static_cast<uint64_t>(static_cast<int64_t>(value)), info.resultBits));
}

static Scalar signedToReal(const ScalarOpInfo &info, const Scalar *a) {
  return Scalar::ofReal(
      static_cast<double>(asSigned(a[0].integer, info.operandBits)));
}

static Scalar unsignedToReal(const ScalarOpInfo &info, const Scalar *a) {
  return Scalar::ofReal(
      static_cast<double>(asUnsigned(a[0].integer, info.operandBits)));
}

static Scalar resizeSigned(const ScalarOpInfo &info, const Scalar *a) {
  return Scalar::ofInteger(
      wrapInteger(asSigned(a[0].integer, info.operandBits), info.resultBits));
}

static Scalar resizeUnsigned(const ScalarOpInfo &info, const Scalar *a) {
  return Scalar::ofInteger(
      wrapInteger(asUnsigned(a[0].integer, info.operandBits), info.resultBits));
}

static Scalar keepReal(const ScalarOpInfo &, const Scalar *a) { return a[0]; }

static Scalar integerPower(const ScalarOpInfo &, const Scalar *a) {
  return Scalar::ofReal(std::pow(a[0].real, static_cast<double>(a[1].integer)));
}

static Scalar multiplyAdd(const ScalarOpInfo &, const Scalar *a) {
  return Scalar::ofReal(std::fma(a[0].real, a[1].real, a[2].real));
}

/// min(max(x, lower), upper), as math.clampf has it.
static Scalar clamp(const ScalarOpInfo &, const Scalar *a) {
  return Scalar::ofReal(minimum(maximum(a[0].real, a[1].real), a[2].real));
}

static Scalar absoluteInteger(const ScalarOpInfo &info, const Scalar *a) {
  int64_t value = asSigned(a[0].integer, info.operandBits);
  uint64_t magnitude = static_cast<uint64_t>(value);
  return Scalar::ofInteger(
      wrapInteger(value < 0 ? 0 - magnitude : magnitude, info.resultBits));
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

using Table = llvm::StringMap<ScalarFunction>;

static void addIntegerOps(Table &table) {
  using S = int64_t;
  using U = uint64_t;
  table["arith.addi"] = unsigned2([](U a, U b) { return a + b; });
  table["arith.subi"] = unsigned2([](U a, U b) { return a - b; });
  table["arith.muli"] = unsigned2([](U a, U b) { return a * b; });
  table["arith.divui"] = unsigned2([](U a, U b) { return b ? a / b : U(0); });
  table["arith.remui"] = unsigned2([](U a, U b) { return b ? a % b : U(0); });
  table["arith.ceildivui"] =
      unsigned2([](U a, U b) { return b ? a / b + (a % b != 0) : U(0); });
  table["arith.divsi"] = signed2([](S a, S b) { return truncDivide(a, b); });
  table["arith.remsi"] = signed2([](S a, S b) { return takeRemainder(a, b); });
  table["arith.floordivsi"] =
      signed2([](S a, S b) { return floorDivide(a, b); });
  table["arith.ceildivsi"] = signed2([](S a, S b) { return ceilDivide(a, b); });
  table["arith.andi"] = unsigned2([](U a, U b) { return a & b; });
  table["arith.ori"] = unsigned2([](U a, U b) { return a | b; });
  table["arith.xori"] = unsigned2([](U a, U b) { return a ^ b; });
  table["arith.maxsi"] = signed2([](S a, S b) { return std::max(a, b); });
  table["arith.minsi"] = signed2([](S a, S b) { return std::min(a, b); });
  table["arith.maxui"] = unsigned2([](U a, U b) { return std::max(a, b); });
  table["arith.minui"] = unsigned2([](U a, U b) { return std::min(a, b); });
  table["arith.shli"] = shift(
      [](const ScalarOpInfo &, S a, U n) { return static_cast<U>(a) << n; });
  table["arith.shrsi"] = shift([](const ScalarOpInfo &info, S a, U n) {
    return static_cast<U>(asSigned(a, info.operandBits) >> n);
  });
  table["arith.shrui"] = shift([](const ScalarOpInfo &info, S a, U n) {
    return asUnsigned(a, info.operandBits) >> n;
  });
  table["math.absi"] = absoluteInteger;
  table["arith.cmpi"] = compareIntegers;
  table["arith.select"] = choose;
}

static void addConversions(Table &table) {
  table["arith.extsi"] = resizeSigned;
  table["arith.index_cast"] = resizeSigned;
  table["arith.trunci"] = resizeSigned;
  table["arith.extui"] = resizeUnsigned;
  table["arith.index_castui"] = resizeUnsigned;
  table["arith.sitofp"] = signedToReal;
  table["arith.uitofp"] = unsignedToReal;
  table["arith.fptosi"] = toInteger;
  table["arith.fptoui"] = toInteger;
  table["arith.extf"] = keepReal;
  table["arith.truncf"] = keepReal;
}

static void addRealOps(Table &table) {
  table["arith.addf"] = real2([](double a, double b) { return a + b; });
  table["arith.subf"] = real2([](double a, double b) { return a - b; });
  table["arith.mulf"] = real2([](double a, double b) { return a * b; });
  table["arith.divf"] = real2([](double a, double b) { return a / b; });
  table["arith.remf"] = real2(std::fmod);
  table["arith.negf"] = real1([](double a) { return -a; });
  table["arith.maximumf"] = real2(maximum);
  table["arith.minimumf"] = real2(minimum);
  table["arith.maxnumf"] = real2(std::fmax);
  table["arith.minnumf"] = real2(std::fmin);
  table["arith.cmpf"] = compareReals;
  table["math.absf"] = real1(std::fabs);
  table["math.acos"] = real1(std::acos);
  table["math.acosh"] = real1(std::acosh);
  table["math.asin"] = real1(std::asin);
  table["math.asinh"] = real1(std::asinh);
  table["math.atan"] = real1(std::atan);
  table["math.atanh"] = real1(std::atanh);
  table["math.cbrt"] = real1(std::cbrt);
  table["math.atan2"] = real2(std::atan2);
  table["math.clampf"] = clamp;
  table["math.ceil"] = real1(std::ceil);
  table["math.copysign"] = real2(std::copysign);
  table["math.cos"] = real1(std::cos);
  table["math.cosh"] = real1(std::cosh);
  table["math.erf"] = real1(std::erf);
  table["math.erfc"] = real1(std::erfc);
  table["math.exp"] = real1(std::exp);
  table["math.exp2"] = real1(std::exp2);
  table["math.expm1"] = real1(std::expm1);
  table["math.floor"] = real1(std::floor);
  table["math.fma"] = multiplyAdd;
  table["math.fpowi"] = integerPower;
  table["math.log"] = real1(std::log);
  table["math.log10"] = real1(std::log10);
  table["math.log1p"] = real1(std::log1p);
  table["math.log2"] = real1(std::log2);
  table["math.powf"] = real2(std::pow);
  table["math.round"] = real1(std::round);
  table["math.roundeven"] = real1(std::nearbyint);
  table["math.rsqrt"] = real1([](double a) { return 1 / std::sqrt(a); });
  table["math.sin"] = real1(std::sin);
  table["math.sinh"] = real1(std::sinh);
  table["math.sqrt"] = real1(std::sqrt);
  table["math.tan"] = real1(std::tan);
  table["math.tanh"] = real1(std::tanh);
  table["math.trunc"] = real1(std::trunc);
}

static const Table &getTable() {
  static const Table table = [] {
    Table made;
    addIntegerOps(made);
    addConversions(made);
    addRealOps(made);
    return made;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Constants and affine.apply
//===----------------------------------------------------------------------===//

static ScalarFunction makeConstant(arith::ConstantOp op) {
  Scalar value;
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    value = Scalar::ofReal(real.getValueAsDouble());
  else if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    value = Scalar::ofInteger(wrapInteger(integer.getValue().getSExtValue(),
                                          getBits(integer.getType())));
  else
    return nullptr;
  return [value](const ScalarOpInfo &, const Scalar *) { return value; };
}

/// `operands` are the map's dimensions, then its symbols.
static int64_t evaluate(AffineExpr expr, unsigned numDims,
                        const Scalar *operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()].integer;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()].integer;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = evaluate(binary.getLHS(), numDims, operands);
  int64_t right = evaluate(binary.getRHS(), numDims, operands);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::FloorDiv:
    return floorDivide(left, right);
  case AffineExprKind::CeilDiv:
    return ceilDivide(left, right);
  case AffineExprKind::Mod:
    return left - floorDivide(left, right) * right;
  default:
    llvm_unreachable("not a binary affine expression");
  }
}

static ScalarFunction makeAffineApply(affine::AffineApplyOp op) {
  AffineMap map = op.getAffineMap();
  return [map](const ScalarOpInfo &, const Scalar *operands) {
    return Scalar::ofInteger(
        evaluate(map.getResult(0), map.getNumDims(), operands));
  };
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

ScalarFunction attn::findScalarFunction(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return makeConstant(constant);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return makeAffineApply(apply);
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (op->getNumResults() != 1 ||
      !llvm::all_of(op->getOperandTypes(), isScalar) ||
      !isScalar(op->getResult(0).getType()))
    return nullptr;
  auto entry = getTable().find(op->getName().getStringRef());
  return entry == getTable().end() ? nullptr : entry->second;
}

Scalar attn::evaluateScalar(const ScalarFunction &function,
                            const ScalarOpInfo &info, const Scalar *operands) {
  Scalar result = function(info, operands);
  if (info.rounding == ElementType::F32)
    result.real = static_cast<float>(result.real);
  else if (info.rounding)
    result.real = reference::roundToElement(result.real, *info.rounding);
  return result;
}

ScalarOpInfo attn::getScalarOpInfo(Operation *op,
                                   EvaluationPrecision precision) {
  ScalarOpInfo info;
  if (op->getNumOperands() > 0)
    info.operandBits = getBits(op->getOperand(0).getType());
  Type type = op->getResult(0).getType();
  info.resultBits = getBits(type);
  if (precision != EvaluationPrecision::Float64 && isa<FloatType>(type))
    info.rounding = toElementType(type);
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    info.predicate = static_cast<int64_t>(cmp.getPredicate());
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    info.predicate = static_cast<int64_t>(cmp.getPredicate());
  return info;
}
