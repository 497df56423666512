//===- ScalarEmitter.cpp - Scalars back to ops -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats become the score type, ints become index. What cannot be computed per
// element (a reduction, another contraction) is read from the tensor that holds
// it.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using namespace attn::raise;

void ScalarEmitter::bind(ArrayRef<AffineExpr> digits, Value value) {
  IndexSpace &space = walker.getSpace();
  AffineExpr whole = space.constant(0);
  for (AffineExpr digit : digits)
    whole = whole * space.getExtent(digit) + digit;
  variables[space.simplify(whole)] = value;
  for (size_t k = digits.size(); k > 0; --k) {
    if (k == 1) {
      variables[digits[0]] = value;
      return;
    }
    Value extent = emitAffine(space.getExtent(digits[k - 1]));
    variables[digits[k - 1]] =
        arith::RemUIOp::create(builder, loc, value, extent);
    value = arith::DivUIOp::create(builder, loc, value, extent);
  }
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// `expr * -1` as expr, for subtractions.
static AffineExpr asNegated(AffineExpr expr) {
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || expr.getKind() != AffineExprKind::Mul)
    return {};
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  return factor && factor.getValue() < 0 ? product.getLHS() * -factor.getValue()
                                         : AffineExpr();
}

Value ScalarEmitter::emitAffine(AffineExpr expr) {
  if (auto it = variables.find(expr); it != variables.end())
    return it->second;
  if (auto it = sizes.find(expr); it != sizes.end())
    return it->second;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  if (isa<AffineSymbolExpr>(expr))
    return ifVisible(getValueOrCreateConstantIndexOp(
        builder, loc, walker.getSpace().materialize(builder, loc, expr)));
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return nullptr; // a variable that is not in scope
  if (expr.getKind() == AffineExprKind::Add)
    for (auto [plus, minus] : {std::pair(binary.getLHS(), binary.getRHS()),
                               std::pair(binary.getRHS(), binary.getLHS())})
      if (AffineExpr negated = asNegated(minus)) {
        Value lhs = emitAffine(plus), rhs = emitAffine(negated);
        return lhs && rhs ? arith::SubIOp::create(builder, loc, lhs, rhs)
                          : Value();
      }
  Value lhs = emitAffine(binary.getLHS()), rhs = emitAffine(binary.getRHS());
  if (!lhs || !rhs)
    return nullptr;
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!constant || constant.getValue() >= 0)
      return arith::AddIOp::create(builder, loc, lhs, rhs);
    rhs = arith::ConstantIndexOp::create(builder, loc, -constant.getValue());
    return arith::SubIOp::create(builder, loc, lhs, rhs);
  }
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mod: {
    Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    Value product = arith::MulIOp::create(builder, loc, quotient, rhs);
    return arith::SubIOp::create(builder, loc, lhs, product);
  }
  default:
    return nullptr;
  }
}

/// `value`, or null where it is out of scope: what an op in the body of the
/// graph gives that the walker knows nothing of.
Value ScalarEmitter::ifVisible(Value value) {
  Region *here = builder.getInsertionBlock()->getParent();
  return value.getParentRegion()->isAncestor(here) ? value : Value();
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Value ScalarEmitter::emitRead(Value tensor, ArrayRef<Value> indices) {
  Value element = tensor::ExtractOp::create(builder, loc, tensor, indices);
  Type type = element.getType();
  if (auto floatType = dyn_cast<FloatType>(type)) {
    if (floatType.getWidth() < scoreType.getWidth())
      return arith::ExtFOp::create(builder, loc, scoreType, element);
    if (floatType.getWidth() > scoreType.getWidth())
      return arith::TruncFOp::create(builder, loc, scoreType, element);
    return element;
  }
  if (type.isInteger(1) || type.isIndex())
    return element;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    element);
}

/// A tensor that holds the scalar, read at its position.
Value ScalarEmitter::emitOrigin(ScalarRef scalar) {
  SmallVector<Element> origins(walker.getOrigins(scalar));
  for (const Element &origin : origins) {
    if (!walker.isInBounds(origin.tensor, origin.indices))
      continue;
    if (Value value = emitElement(origin))
      return value;
  }
  return nullptr;
}

Value ScalarEmitter::emitElement(const Element &element) {
  SmallVector<Value> indices;
  for (AffineExpr index : element.indices)
    indices.push_back(emitAffine(index));
  return llvm::is_contained(indices, Value())
             ? Value()
             : emitRead(element.tensor, indices);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value ScalarEmitter::emitApply(ScalarRef scalar, ArrayRef<Value> operands) {
  // Regions compute in the type of scores, and round to no other.
  if (scalar->is("arith.truncf"))
    return Value();
  Type index = builder.getIndexType(), i64 = builder.getI64Type();
  if (scalar->name == "arith.cmpi")
    return arith::CmpIOp::create(
        builder, loc, static_cast<arith::CmpIPredicate>(scalar->predicate),
        operands[0], operands[1]);
  if (scalar->name == "arith.cmpf")
    return arith::CmpFOp::create(
        builder, loc, static_cast<arith::CmpFPredicate>(scalar->predicate),
        operands[0], operands[1]);
  SmallVector<Value> inputs(operands);
  Type result = scalar->number == Number::Float  ? Type(scoreType)
                : scalar->number == Number::Bool ? Type(builder.getI1Type())
                                                 : index;
  // Ops that take or give integers of a width have no form for index.
  bool takesIntegers = result == scoreType && scalar->name != "arith.select";
  for (Value &input : inputs)
    if (takesIntegers && input.getType().isIndex())
      input = arith::IndexCastOp::create(builder, loc, i64, input);
  bool givesInteger = scalar->name == "arith.fptosi";
  OperationState state(loc, scalar->name);
  state.addOperands(inputs);
  state.addTypes(givesInteger ? i64 : result);
  Value value = builder.create(state)->getResult(0);
  return givesInteger ? arith::IndexCastOp::create(builder, loc, index, value)
                      : value;
}

Value ScalarEmitter::emitNew(ScalarRef scalar) {
  if (auto it = tables.find(scalar); it != tables.end())
    return emitElement(it->second);
  switch (scalar->kind) {
  case Scalar::Kind::Constant: {
    TypedAttr attribute =
        scalar->number == Number::Float
            ? TypedAttr(builder.getFloatAttr(scoreType, scalar->value))
        : scalar->number == Number::Bool
            ? TypedAttr(builder.getBoolAttr(scalar->value != 0))
            : TypedAttr(builder.getIndexAttr(scalar->value));
    return arith::ConstantOp::create(builder, loc, attribute);
  }
  case Scalar::Kind::Index:
    return emitAffine(scalar->affine[0]);
  case Scalar::Kind::Outer:
    return ifVisible(scalar->source);
  case Scalar::Kind::Reduce:
  case Scalar::Kind::Contract:
    return emitOrigin(scalar);
  case Scalar::Kind::Read:
  case Scalar::Kind::Apply:
    break;
  }
  SmallVector<Value> operands;
  SmallVector<AffineExpr> indices;
  for (ScalarRef operand : scalar->operands) {
    operands.push_back(emit(operand));
    if (!operands.back())
      return nullptr;
    if (operand->isIndex())
      indices.push_back(operand->affine[0]);
    else if (operand->isConstant())
      indices.push_back(walker.getSpace().constant(operand->value));
  }
  if (scalar->kind == Scalar::Kind::Apply)
    return emitApply(scalar, operands);
  // An index that is itself read is in bounds because it was in the graph.
  bool isAffine = indices.size() == operands.size();
  if (isAffine && !walker.isInBounds(scalar->source, indices))
    return nullptr;
  return emitRead(scalar->source, operands);
}

Value ScalarEmitter::emit(ScalarRef scalar) {
  if (auto it = emitted.find(scalar); it != emitted.end())
    return it->second;
  Value value = emitNew(scalar);
  if (!value && !failed)
    failed = scalar;
  emitted[scalar] = value;
  return value;
}
