//===- InlineMod.cpp - Mod regions on vectors of keys -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineMod.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn;

namespace {
class ModInliner {
public:
  ModInliner(OpBuilder &builder, int64_t width)
      : builder(builder), width(width) {}

  Value run(Region &region, ArrayRef<Value> arguments);

private:
  void inlineOp(Operation &op);
  void inlineElementwise(Operation &op);
  void inlineByLane(Operation &op);
  void inlineClamp(math::ClampFOp op);

  /// The values that `op` uses, its regions included.
  static SetVector<Value> getUses(Operation &op) {
    SetVector<Value> uses(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), uses);
    return uses;
  }

  /// True if `value` of the region differs from lane to lane.
  bool isVector(Value value) {
    Value inlined = mapping.lookupOrDefault(value);
    return inlined != value && isa<VectorType>(inlined.getType());
  }

  Value asVector(Location loc, Value value) {
    if (isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(
        builder, loc, VectorType::get({width}, value.getType()), value);
  }

  OpBuilder &builder;
  int64_t width;
  IRMapping mapping;
};
} // namespace

void ModInliner::inlineElementwise(Operation &op) {
  OperationState state(op.getLoc(), op.getName());
  state.addAttributes(op.getAttrs());
  for (Value operand : op.getOperands())
    state.operands.push_back(
        asVector(op.getLoc(), mapping.lookupOrDefault(operand)));
  for (Type type : op.getResultTypes())
    state.types.push_back(VectorType::get({width}, type));
  mapping.map(op.getResults(), builder.create(state)->getResults());
}

void ModInliner::inlineByLane(Operation &op) {
  Location loc = op.getLoc();
  SmallVector<SmallVector<Value>> lanes(op.getNumResults());
  for (int64_t lane = 0; lane < width; ++lane) {
    IRMapping scalars;
    for (Value use : getUses(op)) {
      Value inlined = mapping.lookupOrDefault(use);
      if (isVector(use))
        inlined = vector::ExtractOp::create(builder, loc, inlined, lane);
      scalars.map(use, inlined);
    }
    Operation *copy = builder.clone(op, scalars);
    for (auto [elements, result] : llvm::zip_equal(lanes, copy->getResults()))
      elements.push_back(result);
  }
  for (auto [result, elements] : llvm::zip_equal(op.getResults(), lanes))
    mapping.map(result,
                vector::FromElementsOp::create(
                    builder, loc, VectorType::get({width}, result.getType()),
                    elements));
}

/// True if the op is a call of the C library for each lane, or takes a scalar
/// beside a vector.
static bool isScalarFunction(Operation &op) {
  return isa<math::AcoshOp, math::AsinhOp, math::AtanhOp, math::CbrtOp,
             math::ErfOp, math::ErfcOp, math::FPowIOp>(op);
}

/// min(max(x, lower), upper): nothing upstream lowers math.clampf right.
void ModInliner::inlineClamp(math::ClampFOp op) {
  Location loc = op.getLoc();
  auto operand = [&](Value value) {
    return asVector(loc, mapping.lookupOrDefault(value));
  };
  Value atLeast = arith::MaximumFOp::create(
      builder, loc, operand(op.getValue()), operand(op.getMin()));
  Value clamped =
      arith::MinimumFOp::create(builder, loc, atLeast, operand(op.getMax()));
  mapping.map(op.getResult(), clamped);
}

void ModInliner::inlineOp(Operation &op) {
  if (auto clamp = dyn_cast<math::ClampFOp>(op))
    return inlineClamp(clamp);
  if (llvm::none_of(getUses(op), [&](Value use) { return isVector(use); }))
    builder.clone(op, mapping);
  else if (OpTrait::hasElementwiseMappableTraits(&op) && !isScalarFunction(op))
    inlineElementwise(op);
  else
    inlineByLane(op);
}

Value ModInliner::run(Region &region, ArrayRef<Value> arguments) {
  Block &block = region.front();
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    inlineOp(op);
  Operation *yield = block.getTerminator();
  return asVector(yield->getLoc(),
                  mapping.lookupOrDefault(yield->getOperand(0)));
}

Value attn::inlineMod(OpBuilder &builder, Region &region,
                      ArrayRef<Value> arguments, int64_t width) {
  return ModInliner(builder, width).run(region, arguments);
}
