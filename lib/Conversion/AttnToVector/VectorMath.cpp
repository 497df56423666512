//===- VectorMath.cpp - Arithmetic on vectors of scores ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// `type` with the element type `element`.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

static Value createConstant(ImplicitLocOpBuilder &b, Type type,
                            TypedAttr number) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, number));
  return arith::ConstantOp::create(b, number);
}

scf::ForOp attn::createFor(ImplicitLocOpBuilder &b, int64_t size, int64_t step,
                           ValueRange init) {
  Value lower = arith::ConstantIndexOp::create(b, 0);
  Value upper = arith::ConstantIndexOp::create(b, size);
  return scf::ForOp::create(b, lower, upper,
                            arith::ConstantIndexOp::create(b, step), init);
}

Value attn::createSplat(ImplicitLocOpBuilder &b, Type type, double number) {
  return createConstant(b, type,
                        b.getFloatAttr(getElementTypeOrSelf(type), number));
}

Value attn::createSum(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::AddFOp::create(b, x, y);
}

Value attn::createMax(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value greater = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(b, greater, x, y);
}

//===----------------------------------------------------------------------===//
// exp
//===----------------------------------------------------------------------===//

/// 1.5 * 2^23, to which an f32 can be added only as an integer, and the bias of
/// exponents.
static constexpr double kRoundAndBias = 12582912 + 127;

/// 2^n of n + kRoundAndBias for integral n in [-127, 0]: its lowest bits are
/// those of the exponent; 0 for n = -127. Of a NaN it is some number: a
/// conversion to an integer would be poison.
static Value createPowerOfTwo(ImplicitLocOpBuilder &b, Value biased) {
  Type integer = withElement(biased.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, integer, biased);
  Value shift = createConstant(b, integer, b.getI32IntegerAttr(23));
  Value power = arith::ShLIOp::create(b, bits, shift);
  return arith::BitcastOp::create(b, biased.getType(), power);
}

Value attn::createExpOfNonPositive(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return math::ExpOp::create(b, x);
  constexpr double kLog2E = 1.44269504088896340736;
  constexpr double kCoefficients[] = {1.535336188319500e-4,
                                      1.339887440266574e-3,
                                      9.618437357674640e-3,
                                      5.550332471162809e-2,
                                      2.402264791363012e-1,
                                      6.931472028550421e-1,
                                      1.0};
  Value t = arith::MulFOp::create(b, x, createSplat(b, type, kLog2E));
  t = createMax(b, createSplat(b, type, -127.0), t);
  Value roundAndBias = createSplat(b, type, kRoundAndBias);
  Value biased = arith::AddFOp::create(b, t, roundAndBias);
  Value n = arith::SubFOp::create(b, biased, roundAndBias);
  Value f = arith::SubFOp::create(b, t, n);
  Value p = createSplat(b, type, kCoefficients[0]);
  for (double coefficient : llvm::drop_begin(kCoefficients))
    p = math::FmaOp::create(b, p, f, createSplat(b, type, coefficient));
  return arith::MulFOp::create(b, p, createPowerOfTwo(b, biased));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Halves the vector until one lane is left. Lane counts that are not a power
/// of two go lane by lane.
static Value combineLanesOf(ImplicitLocOpBuilder &b, Value vector,
                            Combine combine) {
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  while (width > 1 && llvm::isPowerOf2_64(width)) {
    width /= 2;
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, width));
    SmallVector<int64_t> high =
        llvm::to_vector(llvm::seq<int64_t>(width, 2 * width));
    Value left = vector::ShuffleOp::create(b, vector, vector, low);
    vector =
        combine(b, left, vector::ShuffleOp::create(b, vector, vector, high));
  }
  Value result = vector::ExtractOp::create(b, vector, 0);
  for (int64_t lane = 1; lane < width; ++lane)
    result = combine(b, result, vector::ExtractOp::create(b, vector, lane));
  return result;
}

Value attn::combineLanes(ImplicitLocOpBuilder &b, ValueRange vectors,
                         Combine combine) {
  Value result;
  for (Value vector : vectors) {
    Value scalar = combineLanesOf(b, vector, combine);
    result = result ? combine(b, result, scalar) : scalar;
  }
  return result;
}
