//===- InlineMod.cpp - Mod regions on vectors of keys -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineMod.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
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

  /// An op of which each lane has a copy, or which is in a loop over lanes.
  void inlineUnrolled(Operation &op);
  void inlineInLoop(Operation &op);

  /// Memory for `width` elements, and such memory with those of `vector`.
  Value createLanes(Location loc, Type element);
  Value storeLanes(Location loc, Value vector);

  /// Elements as memory has them: a vector of bits would be packed.
  static Type getStoredType(Type type) {
    bool isPart = type.isInteger() && type.getIntOrFloatBitWidth() < 8;
    return isPart ? IntegerType::get(type.getContext(), 8) : type;
  }

  /// `value`, of bits or of the bytes that hold them, in the other of the two.
  Value resize(Location loc, Value value, Type type) {
    if (value.getType() == type)
      return value;
    if (getElementTypeOrSelf(type).isInteger(8))
      return arith::ExtUIOp::create(builder, loc, type, value);
    return arith::TruncIOp::create(builder, loc, type, value);
  }
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
  bool inLoops = false;
  IRMapping mapping;
  /// Of vectors: the memory that has their lanes.
  DenseMap<Value, Value> stored;
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

void ModInliner::inlineUnrolled(Operation &op) {
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

Value ModInliner::createLanes(Location loc, Type element) {
  return memref::AllocaOp::create(builder, loc,
                                  MemRefType::get({width}, element),
                                  builder.getI64IntegerAttr(64));
}

Value ModInliner::storeLanes(Location loc, Value vector) {
  Value &lanes = stored[vector];
  if (lanes)
    return lanes;
  auto type = cast<VectorType>(vector.getType());
  Type element = getStoredType(type.getElementType());
  lanes = createLanes(loc, element);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  vector::StoreOp::create(
      builder, loc, resize(loc, vector, type.clone(element)), lanes, zero);
  return lanes;
}

void ModInliner::inlineInLoop(Operation &op) {
  Location loc = op.getLoc();
  IRMapping scalars;
  SmallVector<std::pair<Value, Value>> lanesOfUses;
  for (Value use : getUses(op)) {
    Value inlined = mapping.lookupOrDefault(use);
    if (isVector(use))
      lanesOfUses.push_back({use, storeLanes(loc, inlined)});
    else
      scalars.map(use, inlined);
  }
  SmallVector<Value> lanesOfResults;
  for (Type type : op.getResultTypes())
    lanesOfResults.push_back(createLanes(loc, getStoredType(type)));

  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  Value zero = index(0);
  Value end = index(width);
  auto loop = scf::ForOp::create(builder, loc, zero, end, index(1));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value lane = loop.getInductionVar();
    for (auto [use, lanes] : lanesOfUses) {
      Value element = memref::LoadOp::create(builder, loc, lanes, lane);
      scalars.map(use, resize(loc, element, use.getType()));
    }
    Operation *copy = builder.clone(op, scalars);
    for (auto [result, lanes] :
         llvm::zip_equal(copy->getResults(), lanesOfResults))
      memref::StoreOp::create(
          builder, loc, resize(loc, result, getStoredType(result.getType())),
          lanes, lane);
  }
  for (auto [result, lanes] :
       llvm::zip_equal(op.getResults(), lanesOfResults)) {
    auto type = VectorType::get({width}, result.getType());
    Value vector = vector::LoadOp::create(
        builder, loc, type.clone(getStoredType(result.getType())), lanes, zero);
    mapping.map(result, resize(loc, vector, type));
  }
}

/// False also of an op that is a call of the C library for each lane, or that
/// takes a scalar beside a vector.
static bool isElementwise(Operation &op) {
  return OpTrait::hasElementwiseMappableTraits(&op) &&
         !isa<math::AcoshOp, math::AsinhOp, math::AtanhOp, math::CbrtOp,
              math::ErfOp, math::ErfcOp, math::FPowIOp>(op);
}

/// Copies for each lane are 5 % faster, and much to compile: bufferization
/// looks at the readings of a tensor pair by pair.
static constexpr int64_t kMostUnrolled = 2;

/// min(max(x, lower), upper): nothing upstream lowers math.clampf right.
void ModInliner::inlineClamp(math::ClampFOp op) {
  Location loc = op.getLoc();
  auto operand = [&](Value value) {
    return asVector(loc, mapping.lookupOrDefault(value));
  };
  Value value = operand(op.getValue());
  Value atLeast =
      arith::MaximumFOp::create(builder, loc, value, operand(op.getMin()));
  Value clamped =
      arith::MinimumFOp::create(builder, loc, atLeast, operand(op.getMax()));
  mapping.map(op.getResult(), clamped);
}

void ModInliner::inlineOp(Operation &op) {
  if (auto clamp = dyn_cast<math::ClampFOp>(op))
    return inlineClamp(clamp);
  if (llvm::none_of(getUses(op), [&](Value use) { return isVector(use); }))
    builder.clone(op, mapping);
  else if (isElementwise(op))
    inlineElementwise(op);
  else if (inLoops)
    inlineInLoop(op);
  else
    inlineUnrolled(op);
}

Value ModInliner::run(Region &region, ArrayRef<Value> arguments) {
  Block &block = region.front();
  mapping.map(block.getArguments(), arguments);
  inLoops = llvm::count_if(block.without_terminator(), [](Operation &op) {
              return !op.getOperands().empty() && !isElementwise(op);
            }) > kMostUnrolled;
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
