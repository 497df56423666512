//===- AssertBuilder.cpp - Checks of data on the device -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssertBuilder.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

void AssertBuilder::expect(Location loc, ValueRange sizes, const Twine &message,
                           Condition condition) {
  auto check = DeviceAssertOp::create(builder, loc, sizes, message.str());
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(sizes.size(), builder.getIndexType());
  Block *body = builder.createBlock(&check.getCondition(), {}, types,
                                    SmallVector<Location>(sizes.size(), loc));
  YieldOp::create(builder, condition(body->getArguments()));
  ++count;
}

Value AssertBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

Value AssertBuilder::getSize(Value tensor, int64_t dim) {
  return getValueOrCreateConstantIndexOp(
      builder, builder.getLoc(),
      getDim(builder, builder.getLoc(), tensor, dim));
}

SmallVector<Value> AssertBuilder::getSizes(Value tensor) {
  return llvm::map_to_vector(
      llvm::seq(cast<ShapedType>(tensor.getType()).getRank()),
      [&](int64_t dim) { return getSize(tensor, dim); });
}

Value AssertBuilder::compare(Predicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(builder, predicate, a, b);
}

Value AssertBuilder::both(Value a, Value b) {
  return arith::AndIOp::create(builder, a, b);
}

Value AssertBuilder::either(Value a, Value b) {
  return arith::OrIOp::create(builder, a, b);
}

Value AssertBuilder::minus(Value a, int64_t b) {
  return arith::SubIOp::create(builder, a, constant(b));
}

Value AssertBuilder::read(Value tensor, ValueRange at) {
  Value entry = tensor::ExtractOp::create(builder, tensor, at);
  return arith::IndexCastOp::create(builder, builder.getIndexType(), entry);
}
