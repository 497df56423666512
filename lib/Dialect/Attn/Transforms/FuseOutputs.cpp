//===- FuseOutputs.cpp - What follows an attention, in its tiles ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-fuse-outputs.
//
//===----------------------------------------------------------------------===//

#include "TiledForm.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

namespace attn {
#define GEN_PASS_DEF_FUSEOUTPUTSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Rows of a tile where there is no attention to share one with.
static constexpr int64_t kTileRows = 64;

/// A tensor of the leading sizes of `like`, of `type`.
static Value createEmpty(OpBuilder &builder, Location loc, Value like,
                         Type resultType) {
  auto type = cast<RankedTensorType>(resultType);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, like);
  sizes.resize(type.getRank());
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  if (empty.getType() != type)
    empty = tensor::CastOp::create(builder, loc, type, empty);
  return empty;
}

/// `op` of the `tile` of its source that begins at `offsets`.
static OutputModOp createOfTile(OpBuilder &builder, OutputModOp op, Value tile,
                                ArrayRef<OpFoldResult> offsets) {
  SmallVector<Value> at = llvm::map_to_vector(offsets, [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, op.getLoc(), size);
  });
  auto type = cast<RankedTensorType>(tile.getType());
  Type rows;
  if (op.getAmax())
    rows = type.clone(type.getShape().drop_back(),
                      getElementTypeOrSelf(op.getAmax().getType()));
  auto ofTile = OutputModOp::create(
      builder, op.getLoc(),
      type.clone(getElementTypeOrSelf(op.getResult().getType())), rows, tile,
      at);
  IRMapping mapping;
  op.getMod().cloneInto(&ofTile.getMod(), mapping);
  return ofTile;
}

/// Inserts the rows of the largest magnitudes of a tile, if it has them, into
/// `destination` at the place of the tile.
static void insertAmax(OpBuilder &builder, OutputModOp ofTile,
                       Value destination, ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(kHeadDim, builder.getIndexAttr(1));
  tensor::ParallelInsertSliceOp::create(
      builder, ofTile.getLoc(), ofTile.getAmax(), destination,
      offsets.take_front(kHeadDim), sizes.take_front(kHeadDim), strides);
}

/// True if a tile is a gradient of the query, the key or the value, which the
/// loops over what streams have summed up, rounded or cut to what is valid.
static bool isGradientTile(Value tile) {
  while (Operation *producer = tile.getDefiningOp()) {
    if (isa<tensor::ExtractSliceOp, arith::TruncFOp>(producer))
      tile = producer->getOperand(0);
    else if (auto loop = dyn_cast<scf::ForOp>(producer))
      tile = loop.getYieldedValues()[cast<OpResult>(tile).getResultNumber()];
    else if (auto step = dyn_cast<BackwardStepOp>(producer))
      return llvm::is_contained({step.getDQueryResult(), step.getDKeyResult(),
                                 step.getDValueResult()},
                                tile);
    else
      return false;
  }
  return false;
}

/// True if a tile is that of an attention's output, or of a gradient, or what
/// follows it.
static bool isOutputTile(Value tile) {
  if (auto end = tile.getDefiningOp<NormalizeOp>())
    return tile == end.getOutput();
  if (auto mod = tile.getDefiningOp<OutputModOp>())
    return isOutputTile(mod.getSource());
  return isGradientTile(tile);
}

/// Where the tiles of `result` of a nest are inserted, if they are those of an
/// attention's output or of a gradient; null if they are not.
static tensor::ParallelInsertSliceOp getOutputTile(OpResult result) {
  auto nest = cast<scf::ForallOp>(result.getOwner());
  BlockArgument out = nest.getTiedBlockArgument(nest.getTiedOpOperand(result));
  for (Operation *user : out.getUsers())
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user);
        insert && isOutputTile(insert.getSource()))
      return insert;
  return {};
}

/// True if a tile has all columns of its rows.
static bool hasWholeRows(tensor::ParallelInsertSliceOp insert) {
  return insert.getSourceType().getDimSize(kHeadDim) ==
         insert.getDestType().getDimSize(kHeadDim);
}

/// True if every use of the results of `nest` is behind `op`, or is its.
static bool canMoveTo(scf::ForallOp nest, OutputModOp op,
                      const DominanceInfo &dominance) {
  if (nest->getBlock() != op->getBlock())
    return false;
  return llvm::all_of(nest->getUsers(), [&](Operation *user) {
    return user == op || dominance.properlyDominates(op.getOperation(), user);
  });
}

/// True if what `op` takes from outside, but for its source, is there at
/// `place`.
static bool isKnownAt(OutputModOp op, Operation *place,
                      const DominanceInfo &dominance) {
  WalkResult result = op.getMod().walk([&](Operation *inner) {
    bool isKnown = llvm::all_of(inner->getOperands(), [&](Value operand) {
      return op.getMod().isAncestor(operand.getParentRegion()) ||
             dominance.properlyDominates(operand, place);
    });
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// Where the nest that is fused with `op` can be: where `nest` is, since the
/// kernels of dK and dV read what that of dQ leaves them, or in the place of
/// `op`, if it captures what follows the attention. Null if it can be in
/// neither.
static Operation *findPlace(scf::ForallOp nest, OutputModOp op,
                            const DominanceInfo &dominance) {
  if (isKnownAt(op, nest, dominance))
    return nest;
  return canMoveTo(nest, op, dominance) ? op.getOperation() : nullptr;
}

/// Makes result `number` of `nest` that of `op`, in place of an output that
/// nothing else reads, at `place`. Returns the results of `op`.
static SmallVector<Value> fuseInto(scf::ForallOp nest, unsigned number,
                                   OutputModOp op, Operation *place,
                                   tensor::ParallelInsertSliceOp insert) {
  OpBuilder builder(place);
  Location loc = nest.getLoc();
  SmallVector<Value> outputs(nest.getOutputs());
  Value replaced = outputs[number];
  Type type = op.getResult().getType();
  outputs[number] = createEmpty(builder, loc, replaced, type);
  if (op.getAmax())
    outputs.push_back(
        createEmpty(builder, loc, replaced, op.getAmax().getType()));
  auto fused = scf::ForallOp::create(
      builder, loc, nest.getMixedLowerBound(), nest.getMixedUpperBound(),
      nest.getMixedStep(), outputs, nest.getMapping());
  fused.getRegion().takeBody(nest.getRegion());
  if (op.getAmax())
    fused.getBody()->addArgument(op.getAmax().getType(), loc);
  fused.getRegionIterArgs()[number].setType(type);
  scf::InParallelOp stores = fused.getTerminator();
  builder.setInsertionPoint(stores);
  OutputModOp ofTile =
      createOfTile(builder, op, insert.getSource(), insert.getMixedOffsets());
  insert.getSourceMutable().assign(ofTile.getResult());
  SmallVector<Value> results = {fused.getResult(number)};
  if (op.getAmax()) {
    builder.setInsertionPointToEnd(stores.getBody());
    insertAmax(builder, ofTile, fused.getRegionIterArgs().back(),
               insert.getMixedOffsets(), insert.getMixedSizes());
    results.push_back(fused.getResults().back());
  }
  for (auto [old, result] : llvm::zip(nest.getResults(), fused.getResults()))
    if (old.getResultNumber() != number)
      old.replaceAllUsesWith(result);
  return results;
}

/// The output that `op` reads, if it alone does.
static OpResult getOwnOutput(Value source) {
  auto result = dyn_cast<OpResult>(source);
  return result && result.hasOneUse() && isa<scf::ForallOp>(result.getOwner())
             ? result
             : OpResult();
}

/// Fuses `op` into the nest whose output it reads; false if there is none.
static bool fuse(OutputModOp op, const DominanceInfo &dominance) {
  OpResult output = getOwnOutput(op.getSource());
  tensor::ParallelInsertSliceOp insert;
  if (output)
    insert = getOutputTile(output);
  if (!insert || (op.getAmax() && !hasWholeRows(insert)))
    return false;
  auto nest = cast<scf::ForallOp>(output.getOwner());
  Operation *place = findPlace(nest, op, dominance);
  if (!place)
    return false;
  unsigned number = output.getResultNumber();
  Value empty = nest.getOutputs()[number];
  op->replaceAllUsesWith(fuseInto(nest, number, op, place, insert));
  op.erase();
  nest.erase();
  if (Operation *unused = empty.getDefiningOp(); unused && unused->use_empty())
    eraseWithProducers(unused);
  return true;
}

/// The rows of a repaired attention are those of one of two: `op` of it is the
/// repair of `op` of both. The new ones take their place in `worklist`.
static bool moveBeforeRepair(OutputModOp op,
                             SmallVectorImpl<OutputModOp> &worklist) {
  auto repair = op.getSource().getDefiningOp<RepairOp>();
  if (!repair || op.getSource() != repair.getOutputResult() ||
      !op.getSource().hasOneUse() || op.getAmax())
    return false;
  OpBuilder builder(repair);
  if (!isKnownAt(op, repair, DominanceInfo()))
    return false;
  auto ofPart = [&](Value part) {
    auto mod = OutputModOp::create(
        builder, op.getLoc(), op.getResult().getType(), part, ValueRange());
    IRMapping mapping;
    op.getMod().cloneInto(&mod.getMod(), mapping);
    worklist.push_back(mod);
    return mod.getResult();
  };
  Value output = ofPart(repair.getOutput()), whole = ofPart(repair.getWhole());
  auto repaired =
      RepairOp::create(builder, repair.getLoc(), output.getType(),
                       repair.getLse().getType(), output, repair.getLse(),
                       whole, repair.getWholeLse(), repair.getBelowAttr());
  op.getResult().replaceAllUsesWith(repaired.getOutputResult());
  op.erase();
  repair.getLseResult().replaceAllUsesWith(repaired.getLseResult());
  repair.erase();
  return true;
}

/// A nest of its own, where there is no attention to be fused with.
static void tileAlone(OutputModOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value source = op.getSource();
  SmallVector<Value> destinations;
  for (Type type : op->getResultTypes())
    destinations.push_back(createEmpty(builder, loc, source, type));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1),
               rows = builder.getIndexAttr(kTileRows);
  auto nest = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero, zero, zero},
      ArrayRef(sizes).drop_back(), ArrayRef<OpFoldResult>{one, one, rows},
      destinations, std::nullopt);
  builder.setInsertionPoint(nest.getTerminator());
  SmallVector<OpFoldResult> offsets =
      getAsOpFoldResult(ValueRange(nest.getInductionVars()));
  if (!divides(kTileRows, sizes[kSequence]))
    rows = boundedTile(builder, loc, kTileRows, offsets[kSequence],
                       sizes[kSequence]);
  offsets.push_back(zero);
  SmallVector<OpFoldResult> tileSizes = {one, one, rows, sizes.back()};
  SmallVector<OpFoldResult> strides(4, one);
  Value tile = tensor::ExtractSliceOp::create(builder, loc, source, offsets,
                                              tileSizes, strides);
  OutputModOp ofTile = createOfTile(builder, op, tile, offsets);
  builder.setInsertionPointToEnd(nest.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, ofTile.getResult(),
                                        nest.getRegionIterArgs().front(),
                                        offsets, tileSizes, strides);
  if (op.getAmax())
    insertAmax(builder, ofTile, nest.getRegionIterArgs().back(), offsets,
               tileSizes);
  op->replaceAllUsesWith(nest.getResults());
  op.erase();
}

namespace {
struct FuseOutputs : public attn::impl::FuseOutputsPassBase<FuseOutputs> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<OutputModOp> worklist;
    getOperation().walk([&](OutputModOp op) {
      if (op.getOffsets().empty())
        worklist.push_back(op);
    });
    for (size_t next = 0; next < worklist.size(); ++next) {
      OutputModOp op = worklist[next];
      if (moveBeforeRepair(op, worklist))
        continue;
      if (fuse(op, DominanceInfo()))
        ++numFused;
      else if (!cast<ShapedType>(op.getSource().getType())
                    .isDynamicDim(kHeadDim))
        tileAlone(op);
    }
  }
};
} // namespace
