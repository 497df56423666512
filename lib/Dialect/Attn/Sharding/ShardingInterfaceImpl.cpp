//===- ShardingInterfaceImpl.cpp - Attention on a grid of devices ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Batches and heads are shared out among devices, each of which then has an
// attention of its own: mods see positions of the whole by what is added to b
// and h, and gradients that all batches or heads have a part in are summed over
// devices. Rows and keys are not: masks compare their positions, and what of
// them to move where is what plans say (lib/Distributed).
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Sharding/ShardingInterfaceImpl.h"

#include "Loops.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::sharding;
using shard::GridAxis, shard::GridOp, shard::Sharding;

using Axes = SmallVector<GridAxis>;

/// Fails with a diagnostic if a loop other than those of batches and heads has
/// axes of the grid.
static LogicalResult checkLoops(Operation *op, ArrayRef<Axes> axesOfLoops) {
  for (auto [loop, axes] : llvm::enumerate(axesOfLoops))
    if (loop != kBatches && loop != kHeads && !axes.empty())
      return op->emitOpError("expected shards of batches and heads, got shards "
                             "of ")
             << getLoopName(loop)
             << ": replicate them, or use a plan of attn-schedule --ranks";
  return success();
}

/// The number of devices along the axes, a divisor of each size of `dim` in
/// query, key and value.
static LogicalResult checkSizes(Operation *op, GridOp grid, Dim dim,
                                const Axes &axes) {
  int64_t devices = shard::collectiveProcessGroupSize(axes, grid);
  if (ShapedType::isDynamic(devices))
    return op->emitOpError("expected a grid of static sizes, got @")
           << grid.getSymName();
  for (Value operand : op->getOperands().take_front(3)) {
    int64_t size = cast<RankedTensorType>(operand.getType()).getDimSize(dim);
    if (!ShapedType::isDynamic(size) && size % devices != 0)
      return op->emitOpError("expected ")
             << (dim == kBatch ? "batches" : "query and key heads") << " that "
             << devices << " devices share out, got " << size;
  }
  return success();
}

/// True if probabilities are dropped.
static bool hasDropout(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AttentionOp, AttentionBackwardOp>(
          [](auto attention) { return !!attention.getDropoutSeed(); })
      .Default(false);
}

static LogicalResult checkAxes(Operation *op, GridOp grid,
                               ArrayRef<Axes> axesOfLoops) {
  if (failed(checkLoops(op, axesOfLoops)) ||
      failed(checkSizes(op, grid, kBatch, axesOfLoops[kBatches])) ||
      failed(checkSizes(op, grid, kHead, axesOfLoops[kHeads])))
    return failure();
  bool isShared =
      !axesOfLoops[kBatches].empty() || !axesOfLoops[kHeads].empty();
  if (isShared && hasDropout(op))
    return op->emitOpError("expected no dropout on shards, got one: what it "
                           "drops follows from batches and heads of the part");
  return success();
}

/// The grid's axes of each loop, as the shardings of all tensors have them.
static FailureOr<SmallVector<Axes>> getAxes(Operation *op, const LoopNest &nest,
                                            ArrayRef<Sharding> shardings) {
  SmallVector<std::optional<Axes>> found(nest.types.size());
  for (auto [map, sharding] : llvm::zip_equal(nest.maps, shardings)) {
    if (!sharding)
      continue;
    ArrayRef<shard::GridAxesAttr> split = sharding.getSplitAxes();
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      Axes axes;
      if (d < split.size())
        axes.assign(split[d].asArrayRef().begin(), split[d].asArrayRef().end());
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (found[loop] && *found[loop] != axes)
        return op->emitOpError("expected one sharding of ")
               << getLoopName(loop) << " in all tensors, got several";
      found[loop] = axes;
    }
  }
  return llvm::map_to_vector(
      found, [](const auto &axes) { return axes.value_or(Axes()); });
}

/// The first of the device's positions along a dimension of which it has
/// `size`; axes are from major to minor.
static Value buildFirst(ImplicitLocOpBuilder &b, GridOp grid, const Axes &axes,
                        OpFoldResult size) {
  auto indices = shard::ProcessMultiIndexOp::create(b, grid.getSymName(), axes);
  Value linear;
  for (auto [axis, index] : llvm::zip_equal(axes, indices.getResults())) {
    if (!linear) {
      linear = index;
      continue;
    }
    Value extent = arith::ConstantIndexOp::create(b, grid.getShape()[axis]);
    linear = arith::AddIOp::create(b, arith::MulIOp::create(b, linear, extent),
                                   index);
  }
  return arith::MulIOp::create(
      b, linear, getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
}

/// Adds `first` to what the region reads of its argument. Batch, head, row and
/// key are the last arguments.
static void shiftArgument(Region &region, Loop loop, Value first) {
  if (region.empty())
    return;
  BlockArgument argument =
      region.getArgument(region.getNumArguments() - 4 + loop);
  if (argument.use_empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  auto sum = arith::AddIOp::create(builder, argument.getLoc(), argument, first);
  argument.replaceAllUsesExcept(sum, sum);
}

/// True if a mod reads the argument of that loop.
static bool isRead(Operation *op, Loop loop) {
  return llvm::any_of(op->getRegions(), [&](Region &region) {
    return !region.empty() &&
           !region.getArgument(region.getNumArguments() - 4 + loop).use_empty();
  });
}

/// Fails unless each tensor that a mod reads is whole on the device.
static LogicalResult checkReads(Operation *op, const IRMapping &partitionMap) {
  llvm::SetVector<Value> captures;
  getUsedValuesDefinedAbove(op->getRegions(), captures);
  for (Value capture : captures) {
    Value part = partitionMap.lookupOrNull(capture);
    if (part && part.getType() != capture.getType())
      return op->emitOpError("expected tensors that mods read whole on each "
                             "device, got ")
             << part.getType() << " of " << capture.getType();
  }
  return success();
}

/// Sums a result over the devices that have other batches or heads, unless it
/// has a part for each of these.
static Value buildSum(OpBuilder &builder, Value result, AffineMap map,
                      GridOp grid, ArrayRef<Axes> axesOfLoops) {
  Axes axes;
  for (unsigned loop : {kBatches, kHeads})
    if (!map.isFunctionOfDim(loop))
      llvm::append_range(axes, axesOfLoops[loop]);
  if (axes.empty())
    return result;
  return shard::AllReduceOp::create(builder, result.getLoc(), result,
                                    grid.getSymName(), axes,
                                    shard::ReductionKind::Sum);
}

namespace {

template <typename OpTy>
struct AttentionSharding
    : shard::ShardingInterface::ExternalModel<AttentionSharding<OpTy>, OpTy> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return getLoopNest(op).types;
  }

  /// Of keys, under softmax, and of head dims.
  SmallVector<shard::ReductionKind>
  getReductionLoopIteratorKinds(Operation *) const {
    return {shard::ReductionKind::Generic, shard::ReductionKind::Sum};
  }

  SmallVector<AffineMap> getIndexingMaps(Operation *op) const {
    return getLoopNest(op).maps;
  }

  FailureOr<shard::ShardingOption>
  getShardingOption(Operation *op, ArrayRef<Sharding> operandShardings,
                    ArrayRef<Sharding> resultShardings) const {
    FailureOr<shard::ShardingOption> option =
        shard::detail::defaultGetShardingOption(op, operandShardings,
                                                resultShardings);
    if (failed(option) || option->empty)
      return option;
    SymbolTableCollection symbols;
    GridOp grid = shard::getGridOrNull(op, option->grid, symbols);
    SmallVector<Axes> axes(option->shardingArray);
    axes.resize(getLoopNest(op).types.size());
    if (!grid || failed(checkAxes(op, grid, axes)))
      return failure();
    return option;
  }

  LogicalResult partition(Operation *op, ArrayRef<Value> operands,
                          ArrayRef<Sharding> operandShardings,
                          ArrayRef<Sharding> resultShardings,
                          IRMapping &partitionMap,
                          SymbolTableCollection &symbols,
                          OpBuilder &builder) const {
    LoopNest nest = getLoopNest(op);
    std::vector<Sharding> shardings(operandShardings);
    llvm::append_range(shardings, resultShardings);
    FailureOr<SmallVector<Axes>> axes = getAxes(op, nest, shardings);
    if (failed(axes))
      return failure();
    auto known =
        llvm::find_if(shardings, [](const Sharding &s) { return bool(s); });
    assert(known != shardings.end() &&
           "the pass itself copies ops of which no tensor is sharded");
    GridOp grid = shard::getGrid(op, known->getGridAttr(), symbols);
    if (failed(checkAxes(op, grid, *axes)) ||
        failed(checkReads(op, partitionMap)))
      return failure();

    IRMapping values = partitionMap;
    values.map(op->getOperands(), operands);
    ImplicitLocOpBuilder b(op->getLoc(), builder);
    SmallVector<std::pair<Loop, Value>> firsts;
    for (auto [loop, dim, name] : {std::tuple(kLoopB, kBatch, kBatches),
                                   std::tuple(kLoopH, kHead, kHeads)})
      if (const Axes &split = (*axes)[name]; !split.empty() && isRead(op, loop))
        firsts.emplace_back(
            loop, buildFirst(b, grid, split,
                             getDim(b, op->getLoc(), operands[0], dim)));
    Operation *part = b.clone(*op, values);
    for (auto [loop, first] : firsts)
      for (Region &region : part->getRegions())
        shiftArgument(region, loop, first);
    ArrayRef<AffineMap> maps =
        ArrayRef(nest.maps).drop_front(op->getNumOperands());
    for (auto [old, result, map, sharding] : llvm::zip_equal(
             op->getResults(), part->getResults(), maps, resultShardings)) {
      result.setType(shard::shardType(old.getType(), grid, sharding));
      partitionMap.map(old, buildSum(b, result, map, grid, *axes));
    }
    return success();
  }
};

} // namespace

void attn::registerShardingInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *,
                            shard::ShardDialect *) {
    AttentionOp::attachInterface<AttentionSharding<AttentionOp>>(*context);
    AttentionBackwardOp::attachInterface<
        AttentionSharding<AttentionBackwardOp>>(*context);
    LinearAttentionOp::attachInterface<AttentionSharding<LinearAttentionOp>>(
        *context);
  });
}
