//===- IndexRanges.cpp - Which index values 32 bits hold --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/IndexRanges.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

static ConstantIntRanges getRange(int64_t min, int64_t max, unsigned width) {
  return ConstantIntRanges::fromSigned(
      APInt(width, min, /*isSigned=*/true, /*implicitTrunc=*/true),
      APInt(width, max, /*isSigned=*/true, /*implicitTrunc=*/true));
}

ConstantIntRanges IndexRanges::get(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  ConstantIntRanges range = compute(value);
  known.insert({value, range});
  return range;
}

bool IndexRanges::isPlace(Value value) {
  if (!value.getType().isIndex())
    return false;
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return !isa_and_nonnull<FunctionOpInterface>(
        cast<BlockArgument>(value).getOwner()->getParentOp());
  if (isa<affine::AffineDialect>(producer->getDialect()))
    return llvm::all_of(producer->getOperands(),
                        [&](Value operand) { return fits32Bits(operand); });
  return !isa<arith::ArithDialect>(producer->getDialect());
}

ConstantIntRanges IndexRanges::compute(Value value) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  if (width == 0)
    return ConstantIntRanges::maxRange(1); // no integer
  if (isPlace(value)) {
    bool isSigned = value.getDefiningOp<affine::AffineApplyOp>() ||
                    value.getDefiningOp<affine::AffineMinOp>() ||
                    value.getDefiningOp<affine::AffineMaxOp>();
    return getRange(isSigned ? -kMaxSize : 0, kMaxSize, width);
  }
  ConstantIntRanges result = ConstantIntRanges::maxRange(width);
  auto inferable = value.getDefiningOp<InferIntRangeInterface>();
  if (!inferable)
    return result;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : inferable->getOperands())
    operands.push_back(get(operand));
  inferable.inferResultRanges(operands,
                              [&](Value of, const ConstantIntRanges &range) {
                                if (of == value)
                                  result = range;
                              });
  return result;
}

bool IndexRanges::fits32Bits(Value value) {
  ConstantIntRanges range = get(value);
  return range.smin().isSignedIntN(32) && range.smax().isSignedIntN(32);
}

bool IndexRanges::needs64Bits(Operation &op) {
  return isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp,
             arith::ShRUIOp>(op) &&
         llvm::any_of(op.getOperands(), [&](Value operand) {
           return operand.getType().isIndex() &&
                  get(operand).smin().isNegative();
         });
}

bool IndexRanges::isComparedOnly(Value value,
                                 function_ref<bool(Operation *)> isOwn) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (isOwn(use.getOwner()))
      return true;
    auto compare = dyn_cast<arith::CmpIOp>(use.getOwner());
    if (!compare || static_cast<int>(compare.getPredicate()) >=
                        static_cast<int>(arith::CmpIPredicate::ult))
      return false;
    ConstantIntRanges other =
        get(compare.getOperand(1 - use.getOperandNumber()));
    return other.smin().sgt(std::numeric_limits<int32_t>::min()) &&
           other.smax().slt(std::numeric_limits<int32_t>::max());
  });
}

void IndexRanges::setSaturated(Value value) {
  known.erase(value);
  known.insert({value, getRange(std::numeric_limits<int32_t>::min(),
                                std::numeric_limits<int32_t>::max(), 64)});
}

/// `value` between two numbers.
static Value clamp(OpBuilder &builder, Location loc, Value value, int64_t low,
                   int64_t high) {
  auto limit = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(value.getType(), number));
  };
  value = arith::MaxSIOp::create(builder, loc, value, limit(low));
  return arith::MinSIOp::create(builder, loc, value, limit(high));
}

Value attn::castToTerm(OpBuilder &builder, Location loc, Value value) {
  Type index = builder.getIndexType();
  if (value.getType().isInteger(1))
    return arith::IndexCastUIOp::create(builder, loc, index, value);
  if (!value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, loc, index, value);
  constexpr int64_t far = IndexRanges::kFar;
  ConstantIntRanges range = IndexRanges().get(value);
  bool isWithin = range.smin().sge(-far) && range.smax().sle(far);
  return isWithin ? value : clamp(builder, loc, value, -far, far);
}

Value attn::cutTo32Bits(OpBuilder &builder, Location loc, Value value) {
  return clamp(builder, loc, value, std::numeric_limits<int32_t>::min(),
               std::numeric_limits<int32_t>::max());
}
