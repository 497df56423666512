//===- Float8Factors.cpp - Gradients by 8-bit products --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/Float8Factors.h"

#include "Backward/TiledBackward.h"
#include "Kernel/Fragments.h"
#include "Kernel/KernelChecks.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Schedule/Family.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

bool BackwardNest::transposesTiles() {
  Type element = getElementTypeOrSelf(steps.front().getQuery().getType());
  return isFloat8(element) && getFamily(attention.schedule.getValues().mma)
                                  .transposesValue(getFloat8(element));
}

tile::FragmentType BackwardNest::getSumType(tile::FragmentType sums) {
  // Of a product in tensor memory each lane reads the columns that it wants.
  if (getFamily(attention.schedule.getValues().mma).facts.tensorColumns > 0)
    return sums;
  Type element = getElementTypeOrSelf(steps.front().getQuery().getType());
  return tile::FragmentType::get(
      sums.getContext(), sums.getShape(), sums.getElementType(),
      tile::FragmentType::getProductLayout(element, transposesTiles()));
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {
/// Reads what is of a batch and key head.
class FactorReader {
public:
  FactorReader(OpBuilder &builder, BackwardStepOp step, ValueRange at,
               const IRMapping &values)
      : builder(builder), loc(step.getLoc()), step(step), batch(at[kBatch]),
        head(at[kHead]), values(values), fragments(builder, loc) {}

  /// Of the CTA's query head its key head.
  void toKeyHead() {
    head = arith::MulIOp::create(builder, loc, head, heads(step.getKey()));
    head = arith::DivUIOp::create(builder, loc, head, heads(step.getQuery()));
  }

  /// The number of `tensor`, [1] or [B, Hkv]; 1 if it is null.
  Value read(Value tensor) {
    if (!tensor)
      return fragments.constant(1);
    SmallVector<Value> indices;
    Type i64 = builder.getI64Type();
    if (cast<ShapedType>(tensor.getType()).getRank() == 2)
      for (Value index : {batch, head})
        indices.push_back(arith::IndexCastOp::create(builder, loc, i64, index));
    else
      indices.push_back(arith::ConstantIntOp::create(builder, loc, 0, 64));
    return tile::ExtractOp::create(builder, loc, builder.getF32Type(),
                                   values.lookup(tensor), indices);
  }

  Value multiply(ArrayRef<Value> numbers) {
    Value product = numbers.front();
    for (Value number : numbers.drop_front())
      product = fragments.mul(product, number);
    return product;
  }

private:
  Value heads(Value tile) {
    return tile::DimOp::create(builder, loc, values.lookup(getSource(tile)),
                               kHead);
  }

  OpBuilder &builder;
  Location loc;
  BackwardStepOp step;
  Value batch, head;
  const IRMapping &values;
  Fragments fragments;
};
} // namespace

Float8Factors Float8Factors::load(OpBuilder &builder, BackwardStepOp step,
                                  ValueRange at, bool keysAreRows,
                                  const IRMapping &values) {
  Float8Factors factors;
  if (!isFloat8(step.getQuery().getType()))
    return factors;
  FactorReader reader(builder, step, at, values);
  if (!keysAreRows)
    reader.toKeyHead();
  Fragments fragments(builder, step.getLoc());
  Value query = reader.read(step.getDescaleOf(0)),
        key = reader.read(step.getDescaleOf(1)),
        value = reader.read(step.getDescaleOf(2)),
        scaleDs = reader.read(step.getScaleDs());
  factors.dOutput = reader.read(step.getDescaleOf(3));
  Value scale = fragments.constant(step.getScaleValue());
  Value ofWeight = fragments.constant(std::exp2(-kFloat8WeightBits));
  Value log2e = fragments.constant(llvm::numbers::log2e);
  factors.score = reader.multiply({scale, query, key});
  factors.exponent = reader.multiply({factors.score, log2e});
  factors.delta = reader.multiply({scale, scaleDs, ofWeight});
  factors.gradient = reader.multiply({factors.delta, value, factors.dOutput});
  factors.amax = fragments.divide(fragments.constant(1), scaleDs);
  factors.dQuery = reader.multiply({key, factors.amax});
  factors.dKey = reader.multiply({query, factors.amax});
  factors.dValue = reader.multiply({factors.dOutput, ofWeight});
  return factors;
}
