//===- ModDerivative.cpp - Derivatives of score_mod regions ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table has the rule of each op. A tangent that is known to be 0 is a null
// value and costs nothing; products with the first tangent, which is 1, fold.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ModDerivative.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Arithmetic on tangents
//===----------------------------------------------------------------------===//

namespace {
/// What a rule sees: the op, already in the derivative region, and the tangents
/// of its operands. Sums and products take null for 0.
struct Terms {
  ImplicitLocOpBuilder b;
  Operation *op;
  ArrayRef<Value> tangents;

  Value operand(unsigned i) { return op->getOperand(i); }
  Value result() { return op->getResult(0); }
  Value tangent(unsigned i) { return tangents[i]; }

  Value constant(double value) {
    Type type = getElementTypeOrSelf(result().getType());
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  }
  template <typename OpTy, typename... Args>
  Value make(Args... args) {
    return b.createOrFold<OpTy>(args...);
  }
  Value mul(Value x, Value y) {
    if (!x || !y)
      return Value();
    if (matchPattern(x, m_OneFloat()))
      return y;
    return matchPattern(y, m_OneFloat()) ? x : make<arith::MulFOp>(x, y);
  }
  Value mul(double x, Value y) { return mul(constant(x), y); }
  Value div(Value x, Value y) { return x ? make<arith::DivFOp>(x, y) : x; }
  Value neg(Value x) { return x ? make<arith::NegFOp>(x) : x; }
  Value add(Value x, Value y) {
    return x && y ? make<arith::AddFOp>(x, y) : x ? x : y;
  }
  Value sub(Value x, Value y) {
    return x && y ? make<arith::SubFOp>(x, y) : x ? x : neg(y);
  }
  Value square(Value x) { return mul(x, x); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return make<arith::CmpFOp>(predicate, x, y);
  }
  /// Chooses between tangents, either of which may be 0.
  Value select(Value condition, Value x, Value y) {
    if (!x && !y)
      return Value();
    x = x ? x : constant(0);
    y = y ? y : constant(0);
    return make<arith::SelectOp>(condition, x, y);
  }
};
} // namespace

using Predicate = arith::CmpFPredicate;
/// Gives the tangent of the op's result; at least one operand has one.
using Rule = Value (*)(Terms &t);
/// The derivative of a function of one operand; x is operand(0), y = result().
using Derivative = Value (*)(Terms &t, Value x, Value y);

//===----------------------------------------------------------------------===//
// Functions of one operand
//===----------------------------------------------------------------------===//

/// 1 / sqrt(x)
static Value rsqrt(Terms &t, Value x) {
  Value one = t.constant(1);
  return t.div(one, t.make<math::SqrtOp>(x));
}

static Value oneMinusSquare(Terms &t, Value x) {
  Value one = t.constant(1);
  return t.sub(one, t.square(x));
}

static Value onePlusSquare(Terms &t, Value x) {
  Value one = t.constant(1);
  return t.add(one, t.square(x));
}

/// scale / x
static Value reciprocal(Terms &t, double scale, Value x) {
  return t.div(t.constant(scale), x);
}

/// scale * exp(-x^2), of erf and erfc.
static Value gaussian(Terms &t, double scale, Value x) {
  return t.mul(scale, t.make<math::ExpOp>(t.neg(t.square(x))));
}

/// By comparisons: a GPU computes |x|, but not copysign.
static Value signOrZero(Terms &t, Value x, Value) {
  Value isPositive = t.compare(Predicate::OGT, x, t.constant(0));
  Value isNegative = t.compare(Predicate::OLT, x, t.constant(0));
  Value one = t.constant(1);
  return t.select(isPositive, one,
                  t.select(isNegative, t.constant(-1), Value()));
}

static const llvm::StringMap<Derivative> &getDerivatives() {
  using V = Value;
  static const double ln2 = std::log(2.0), ln10 = std::log(10.0);
  static const double twoOverRootPi = 2 / std::sqrt(std::acos(-1.0));
  static const llvm::StringMap<Derivative> table = {
      {"arith.negf", [](Terms &t, V, V) -> V { return t.constant(-1); }},
      {"math.absf", signOrZero},
      {"math.acos",
       [](Terms &t, V x, V) -> V {
         return t.neg(rsqrt(t, oneMinusSquare(t, x)));
       }},
      {"math.acosh",
       [](Terms &t, V x, V) -> V {
         Value square = t.square(x);
         return rsqrt(t, t.sub(square, t.constant(1)));
       }},
      {"math.asin",
       [](Terms &t, V x, V) -> V { return rsqrt(t, oneMinusSquare(t, x)); }},
      {"math.asinh",
       [](Terms &t, V x, V) -> V { return rsqrt(t, onePlusSquare(t, x)); }},
      {"math.atan",
       [](Terms &t, V x, V) -> V {
         return reciprocal(t, 1, onePlusSquare(t, x));
       }},
      {"math.atanh",
       [](Terms &t, V x, V) -> V {
         return reciprocal(t, 1, oneMinusSquare(t, x));
       }},
      {"math.cbrt",
       [](Terms &t, V, V y) -> V {
         return reciprocal(t, 1.0 / 3, t.square(y));
       }},
      {"math.cos",
       [](Terms &t, V x, V) -> V { return t.neg(t.make<math::SinOp>(x)); }},
      {"math.cosh",
       [](Terms &t, V x, V) -> V { return t.make<math::SinhOp>(x); }},
      {"math.erf",
       [](Terms &t, V x, V) -> V { return gaussian(t, twoOverRootPi, x); }},
      {"math.erfc",
       [](Terms &t, V x, V) -> V { return gaussian(t, -twoOverRootPi, x); }},
      {"math.exp", [](Terms &, V, V y) -> V { return y; }},
      {"math.exp2", [](Terms &t, V, V y) -> V { return t.mul(ln2, y); }},
      {"math.expm1",
       [](Terms &t, V, V y) -> V { return t.add(y, t.constant(1)); }},
      {"math.log", [](Terms &t, V x, V) -> V { return reciprocal(t, 1, x); }},
      {"math.log10",
       [](Terms &t, V x, V) -> V { return reciprocal(t, 1 / ln10, x); }},
      {"math.log1p",
       [](Terms &t, V x, V) -> V {
         return reciprocal(t, 1, t.add(t.constant(1), x));
       }},
      {"math.log2",
       [](Terms &t, V x, V) -> V { return reciprocal(t, 1 / ln2, x); }},
      {"math.rsqrt",
       [](Terms &t, V, V y) -> V {
         return t.mul(-0.5, t.mul(y, t.square(y)));
       }},
      {"math.sin",
       [](Terms &t, V x, V) -> V { return t.make<math::CosOp>(x); }},
      {"math.sinh",
       [](Terms &t, V x, V) -> V { return t.make<math::CoshOp>(x); }},
      {"math.sqrt",
       [](Terms &t, V, V y) -> V { return reciprocal(t, 0.5, y); }},
      {"math.tan", [](Terms &t, V, V y) -> V { return onePlusSquare(t, y); }},
      {"math.tanh", [](Terms &t, V, V y) -> V { return oneMinusSquare(t, y); }},
  };
  return table;
}

static Value applyDerivative(Terms &t) {
  Derivative derivative =
      getDerivatives().lookup(t.op->getName().getStringRef());
  return t.mul(t.tangent(0), derivative(t, t.operand(0), t.result()));
}

//===----------------------------------------------------------------------===//
// Other functions
//===----------------------------------------------------------------------===//

/// Functions that are constant between their jumps, and comparisons.
static Value applyZero(Terms &) { return Value(); }

static Value applyProduct(Terms &t) {
  Value first = t.mul(t.tangent(0), t.operand(1));
  return t.add(first, t.mul(t.operand(0), t.tangent(1)));
}

/// (x' - y' * x/y) / y
static Value applyQuotient(Terms &t) {
  Value numerator = t.sub(t.tangent(0), t.mul(t.tangent(1), t.result()));
  return t.div(numerator, t.operand(1));
}

/// x - y * trunc(x / y): x' - y' * trunc(x / y)
static Value applyRemainder(Terms &t) {
  if (!t.tangent(1))
    return t.tangent(0);
  Value quotient = t.make<math::TruncOp>(t.div(t.operand(0), t.operand(1)));
  return t.sub(t.tangent(0), t.mul(t.tangent(1), quotient));
}

/// The tangent of the first operand where `predicate` holds, else that of the
/// second.
template <Predicate predicate>
static Value applyChoice(Terms &t) {
  return t.select(t.compare(predicate, t.operand(0), t.operand(1)),
                  t.tangent(0), t.tangent(1));
}

/// math.clampf x to [lower, upper]
static Value applyClamp(Terms &t) {
  Value x = t.operand(0), lower = t.operand(1), upper = t.operand(2);
  Value inner =
      t.select(t.compare(Predicate::OLT, x, lower), t.tangent(1), t.tangent(0));
  return t.select(t.compare(Predicate::OGT, x, upper), t.tangent(2), inner);
}

/// x^y: x' * y * x^(y-1) + y' * log(x) * x^y, the last term 0 at x = 0.
static Value applyPower(Terms &t) {
  Value x = t.operand(0), y = t.operand(1), sum;
  if (t.tangent(0)) {
    Value less = t.make<arith::SubFOp>(y, t.constant(1));
    sum = t.mul(t.tangent(0), t.mul(y, t.make<math::PowFOp>(x, less)));
  }
  if (!t.tangent(1))
    return sum;
  Value term = t.mul(t.make<math::LogOp>(x), t.result());
  Value isZero = t.compare(Predicate::OEQ, x, t.constant(0));
  return t.add(sum, t.mul(t.tangent(1), t.select(isZero, Value(), term)));
}

/// x^n: x' * n * x^(n-1), with an integer n.
static Value applyIntegerPower(Terms &t) {
  Value n = t.operand(1);
  Value one = arith::ConstantOp::create(t.b, t.b.getOneAttr(n.getType()));
  Value factor = t.make<arith::SIToFPOp>(t.result().getType(), n);
  Value power =
      t.make<math::FPowIOp>(t.operand(0), t.make<arith::SubIOp>(n, one));
  return t.mul(t.tangent(0), t.mul(factor, power));
}

/// atan2(y, x): (x * y' - y * x') / (x^2 + y^2)
static Value applyAtan2(Terms &t) {
  Value y = t.operand(0), x = t.operand(1);
  Value ofY = t.mul(x, t.tangent(0)), ofX = t.mul(y, t.tangent(1));
  Value numerator = t.sub(ofY, ofX), square = t.square(x);
  return t.div(numerator, t.add(square, t.square(y)));
}

/// |x| with the sign of s: x' * sign(x) * sign(s)
static Value applyCopySign(Terms &t) {
  if (!t.tangent(0))
    return Value();
  Value sign = signOrZero(t, t.operand(0), Value());
  Value other = t.make<math::CopySignOp>(t.constant(1), t.operand(1));
  return t.mul(t.tangent(0), t.mul(sign, other));
}

/// Conversions between float types.
template <typename OpTy>
static Value applyConversion(Terms &t) {
  return t.tangent(0)
             ? OpTy::create(t.b, t.result().getType(), t.tangent(0)).getResult()
             : Value();
}

static const llvm::StringMap<Rule> &getRules() {
  static const llvm::StringMap<Rule> table = [] {
    llvm::StringMap<Rule> rules;
    for (const auto &entry : getDerivatives())
      rules[entry.getKey()] = applyDerivative;
    for (StringRef name :
         {"arith.cmpf", "arith.fptosi", "arith.fptoui", "math.ceil",
          "math.floor", "math.isfinite", "math.isinf", "math.isnan",
          "math.isnormal", "math.round", "math.roundeven", "math.trunc"})
      rules[name] = applyZero;
    rules["arith.addf"] = [](Terms &t) {
      return t.add(t.tangent(0), t.tangent(1));
    };
    rules["arith.subf"] = [](Terms &t) {
      return t.sub(t.tangent(0), t.tangent(1));
    };
    rules["arith.mulf"] = applyProduct;
    rules["arith.divf"] = applyQuotient;
    rules["arith.remf"] = applyRemainder;
    rules["arith.maximumf"] = rules["arith.maxnumf"] =
        applyChoice<Predicate::OGE>;
    rules["arith.minimumf"] = rules["arith.minnumf"] =
        applyChoice<Predicate::OLE>;
    rules["arith.extf"] = applyConversion<arith::ExtFOp>;
    rules["arith.truncf"] = applyConversion<arith::TruncFOp>;
    rules["arith.select"] = [](Terms &t) {
      return t.select(t.operand(0), t.tangent(1), t.tangent(2));
    };
    rules["math.atan2"] = applyAtan2;
    rules["math.clampf"] = applyClamp;
    rules["math.copysign"] = applyCopySign;
    rules["math.fma"] = [](Terms &t) {
      return t.add(applyProduct(t), t.tangent(2));
    };
    rules["math.fpowi"] = applyIntegerPower;
    rules["math.powf"] = applyPower;
    return rules;
  }();
  return table;
}

/// The rule of an op on scalars; null if there is none.
static Rule findRule(Operation &op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (op.getNumResults() != 1 || op.getNumRegions() != 0 ||
      !llvm::all_of(op.getOperandTypes(), isScalar))
    return nullptr;
  return getRules().lookup(op.getName().getStringRef());
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// True if `op`, or an op inside of it, uses one of `values`.
static bool usesAny(Operation &op, const llvm::DenseSet<Value> &values) {
  return op
      .walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value v) { return values.contains(v); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult attn::verifyDifferentiable(Region &mod, ValueRange variables) {
  llvm::DenseSet<Value> dependent(variables.begin(), variables.end());
  for (Operation &op : mod.front().without_terminator()) {
    if (!usesAny(op, dependent))
      continue;
    Rule rule = findRule(op);
    if (!rule)
      return op.emitOpError()
             << "cannot be differentiated: expected a float op of arith or "
                "math on scalars where the result depends on the score or on "
                "a captured tensor whose gradient is asked for";
    if (rule != applyZero)
      dependent.insert(op.getResult(0));
  }
  return success();
}

LogicalResult attn::differentiateMod(Region &mod, ValueRange variables,
                                     Region &derivative) {
  if (failed(verifyDifferentiable(mod, variables)))
    return failure();
  OpBuilder builder(mod.getContext());
  Block &from = mod.front();
  SmallVector<Location> locs(from.getNumArguments(), mod.getLoc());
  Block *to = builder.createBlock(&derivative, derivative.end(),
                                  from.getArgumentTypes(), locs);
  IRMapping values;
  values.map(from.getArguments(), to->getArguments());
  llvm::DenseMap<Value, Value> tangents;
  auto seed = [&](Value of) {
    tangents[of] = arith::ConstantOp::create(
        builder, mod.getLoc(), builder.getFloatAttr(of.getType(), 1.0));
  };
  for (Value variable : variables)
    if (isa<BlockArgument>(variable))
      seed(variable);
  for (Operation &op : from.without_terminator()) {
    Operation *copy = builder.clone(op, values);
    if (op.getNumResults() == 1 &&
        llvm::is_contained(variables, op.getResult(0))) {
      seed(op.getResult(0));
      continue;
    }
    auto ofOperands = llvm::map_to_vector(
        op.getOperands(), [&](Value v) { return tangents.lookup(v); });
    if (llvm::none_of(ofOperands, [](Value v) { return bool(v); }))
      continue;
    Terms terms{ImplicitLocOpBuilder(op.getLoc(), builder), copy, ofOperands};
    tangents[op.getResult(0)] = findRule(op)(terms);
    builder.setInsertionPointToEnd(to);
  }
  auto yield = cast<YieldOp>(from.getTerminator());
  Value result = tangents.lookup(yield.getValue());
  if (!result)
    result = arith::ConstantOp::create(
        builder, yield.getLoc(),
        cast<TypedAttr>(builder.getZeroAttr(yield.getValue().getType())));
  YieldOp::create(builder, yield.getLoc(), result);
  return success();
}
