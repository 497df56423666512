//===- RowGrad.cpp - Gradients of rotary embedding and norm -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/GenericBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

Value attn::differentiateRotary(OpBuilder &builder, RotaryOp op,
                                Value gradient) {
  return RotaryOp::create(
      builder, op.getLoc(), op.getType(), gradient, op.getCos(), op.getSin(),
      op.getPositions(), op.getInterleavedAttr(), op.getColumnsAttr(),
      op.getTransposed() ? UnitAttr() : builder.getUnitAttr());
}

namespace {
/// The gradients of one attn.qk_norm, of y = x r w with r = 1 / sqrt(mean of
/// x^2 + epsilon):
///
///   dx = r (dy w - x r mean(dy w x r)),   dw = sum over rows of dy x r
class NormGradBuilder {
public:
  NormGradBuilder(OpBuilder &builder, QkNormOp op, Value gradient)
      : b(op.getLoc(), builder), op(op), gradient(gradient), x(op.getSource()),
        type(getScoreType(x)), sizes(tensor::getMixedSizes(b, b.getLoc(), x)) {}

  NormGradients run();

private:
  using Body = llvm::function_ref<Value(ValueRange)>;

  /// A number for each row, of sums over `operands`.
  Value sumRows(ValueRange operands, ArrayRef<LoopsOfDims> loops, Body body);
  Value mapRows(Value rows, Body body);
  Value getSourceGradient(Value factors);
  Value getWeightGradient(Value factors);

  Value zeros(ArrayRef<OpFoldResult> shape);
  Value widen(Value value) {
    return value.getType() == type
               ? value
               : arith::ExtFOp::create(b, type, value).getResult();
  }
  Value narrow(Value value, Type element) {
    return value.getType() == element
               ? value
               : arith::TruncFOp::create(b, element, value).getResult();
  }
  Value mul(Value left, Value right) {
    return arith::MulFOp::create(b, left, right);
  }
  Value add(Value left, Value right) {
    return arith::AddFOp::create(b, left, right);
  }

  ImplicitLocOpBuilder b;
  QkNormOp op;
  Value gradient, x;
  Type type;
  SmallVector<OpFoldResult> sizes;
  const LoopsOfDims all = {0, 1, 2, 3}, ofRow = {0, 1, 2}, ofColumn = {3};
};
} // namespace

Value NormGradBuilder::zeros(ArrayRef<OpFoldResult> shape) {
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(type, 0));
  Value empty = tensor::EmptyOp::create(b, shape, type);
  return linalg::FillOp::create(b, zero, empty).getResult(0);
}

Value NormGradBuilder::sumRows(ValueRange operands, ArrayRef<LoopsOfDims> loops,
                               Body body) {
  return buildGeneric(
      b, operands, loops, zeros(ArrayRef(sizes).drop_back()), ofRow,
      [&](ValueRange in) { return add(in.back(), body(in.drop_back())); });
}

Value NormGradBuilder::mapRows(Value rows, Body body) {
  Value init = tensor::EmptyOp::create(b, ArrayRef(sizes).drop_back(), type);
  return buildGeneric(b, rows, {ofRow}, init, ofRow, body);
}

Value NormGradBuilder::getSourceGradient(Value factors) {
  SmallVector<Value> operands = {gradient, x, factors};
  SmallVector<LoopsOfDims> loops = {all, all, ofRow};
  if (op.getWeight()) {
    operands.push_back(op.getWeight());
    loops.push_back(ofColumn);
  }
  // dy w, and x r.
  auto weigh = [&](Value dy, ValueRange weight) {
    dy = widen(dy);
    return weight.empty() ? dy : mul(dy, widen(weight[0]));
  };
  auto scale = [&](ValueRange in) { return mul(widen(in[1]), in[2]); };
  size_t count = operands.size();
  Value products = sumRows(operands, loops, [&](ValueRange in) {
    Value weighed = weigh(in[0], in.drop_front(3));
    return mul(weighed, scale(in));
  });
  operands.push_back(products);
  loops.push_back(ofRow);
  auto columns =
      static_cast<double>(cast<ShapedType>(x.getType()).getDimSize(kHeadDim));
  Type element = getElementTypeOrSelf(x);
  Value init = tensor::EmptyOp::create(b, sizes, element);
  Value result =
      buildGeneric(b, operands, loops, init, all, [&](ValueRange in) {
        Value weighed = weigh(in[0], in.slice(3, count - 3));
        Value share =
            arith::ConstantOp::create(b, b.getFloatAttr(type, 1 / columns));
        Value common = scale(in);
        common = mul(common, mul(in[count], share));
        Value difference = arith::SubFOp::create(b, weighed, common);
        return narrow(mul(in[2], difference), element);
      });
  return result.getType() == x.getType()
             ? result
             : tensor::CastOp::create(b, x.getType(), result).getResult();
}

/// Null without a weight.
Value NormGradBuilder::getWeightGradient(Value factors) {
  if (!op.getWeight())
    return Value();
  Value operands[] = {gradient, x, factors};
  Value sums =
      buildGeneric(b, operands, {all, all, ofRow}, zeros(sizes.back()),
                   ofColumn, [&](ValueRange in) {
                     Value dy = widen(in[0]);
                     return add(in[3], mul(dy, mul(widen(in[1]), in[2])));
                   });
  Type element = getElementTypeOrSelf(op.getWeight());
  Value init = tensor::EmptyOp::create(b, sizes.back(), element);
  return buildGeneric(b, sums, {LoopsOfDims{0}}, init, {0}, [&](ValueRange in) {
    // A weight may be wider than what is computed in.
    if (element.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, element, in[0]).getResult();
    return narrow(in[0], element);
  });
}

NormGradients NormGradBuilder::run() {
  Value sums = sumRows(x, {all}, [&](ValueRange in) {
    Value value = widen(in[0]);
    return mul(value, value);
  });
  int64_t columns = cast<ShapedType>(x.getType()).getDimSize(kHeadDim);
  Value factors = mapRows(sums, [&](ValueRange in) {
    return buildRowScale(b, b.getLoc(), in[0], columns,
                         op.getEpsilon().convertToDouble());
  });
  return {getSourceGradient(factors), getWeightGradient(factors)};
}

NormGradients attn::differentiateNorm(OpBuilder &builder, QkNormOp op,
                                      Value gradient) {
  return NormGradBuilder(builder, op, gradient).run();
}
