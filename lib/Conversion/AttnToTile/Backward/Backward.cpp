//===- Backward.cpp - Kernels of the backward pass ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each loop nest of --attn-tile-backward becomes a kernel, its scf.forall the
// grid. Its loops stay loops, slices become tile loads.
//
//===----------------------------------------------------------------------===//

#include "Backward/Backward.h"

#include "Backward/BackwardKernelBuilder.h"
#include "Backward/BackwardScores.h"
#include "Backward/BackwardSmallCache.h"
#include "Backward/BackwardStep.h"
#include "Backward/BackwardSums.h"
#include "Backward/HeadSums.h"
#include "Backward/TiledBackward.h"
#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"
#include "Launch/PrologueKernels.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Schedule/Family.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Fragments are carried; what is in memory stays where it is.
LogicalResult BackwardKernelBuilder::convertLoop(scf::ForOp loop) {
  SmallVector<unsigned> carried;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    Value value = values.lookup(init);
    if (isa<tile::FragmentType>(value.getType())) {
      carried.push_back(i);
      continue;
    }
    values.map(loop.getRegionIterArg(i), value);
    values.map(loop.getResult(i), value);
  }
  auto lookupCarried = [&](ValueRange all) {
    return llvm::map_to_vector(
        carried, [&](unsigned i) { return values.lookup(all[i]); });
  };
  auto copy = scf::ForOp::create(
      builder, loop.getLoc(), values.lookup(loop.getLowerBound()),
      values.lookup(loop.getUpperBound()), values.lookup(loop.getStep()),
      lookupCarried(loop.getInitArgs()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  values.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [i, arg] : llvm::zip_equal(carried, copy.getRegionIterArgs()))
    values.map(loop.getRegionIterArg(i), arg);
  if (failed(convertBlock(*loop.getBody())))
    return failure();
  scf::YieldOp::create(builder, loop.getLoc(),
                       lookupCarried(loop.getYieldedValues()));
  for (auto [i, result] : llvm::zip_equal(carried, copy.getResults()))
    values.map(loop.getResult(i), result);
  return success();
}

/// The loop over key tiles of a fused nest: each CTA has one of them, and adds
/// to dQ when it gets there.
LogicalResult BackwardKernelBuilder::convertKeyLoop(scf::ForOp loop) {
  values.map(loop.getInductionVar(), position);
  for (ValueRange carried :
       {ValueRange(loop.getRegionIterArgs()), ValueRange(loop.getResults())})
    values.map(carried, lookupAll(loop.getInitArgs()));
  return convertBlock(*loop.getBody());
}

//===----------------------------------------------------------------------===//
// Tiles and steps
//===----------------------------------------------------------------------===//

LogicalResult BackwardKernelBuilder::convertStep(BackwardStepOp step) {
  FailureOr<BackwardTiles> tiles = loadTiles(step);
  if (failed(tiles))
    return failure();
  BackwardStepBuilder scoresBuilder(mods, step, *tiles, nest.keysAreRows(),
                                    factors);
  FailureOr<BackwardStepBuilder::Scores> scores = scoresBuilder.build();
  if (failed(scores))
    return failure();
  struct Product {
    Value gradient, result, a;
    Value tile, whole; ///< the other factor
    Value rounded;     ///< what has the type to which `a` is rounded
  };
  Product ofValue = {step.getDValue(),      step.getDValueResult(),
                     scores->probabilities, step.getDOutput(),
                     tiles->dOutput,        step.getValue()};
  Product ofKey = {step.getDKey(),  step.getDKeyResult(), scores->gradient,
                   step.getQuery(), tiles->query,         step.getDOutput()};
  Product ofQuery = {step.getDQuery(), step.getDQueryResult(),
                     scores->gradient, step.getKey(),
                     tiles->key,       step.getDOutput()};
  auto add = [&](const Product &product) -> LogicalResult {
    if (!product.gradient)
      return success();
    FailureOr<Value> b = loadGradientFactor(product.tile, product.whole);
    if (failed(b))
      return failure();
    Value a = scoresBuilder.toOperand(
        product.a, getElementTypeOrSelf(product.rounded.getType()));
    Value factor = *b;
    if (nest.transposesTiles())
      factor = tile::TransposeBytesOp::create(builder, loc, factor);
    values.map(product.result,
               addProduct(values.lookup(product.gradient), a, factor));
    return success();
  };
  if (step.getAmax())
    addMaxima(step, scores->gradient);
  if (failed(add(ofValue)))
    return failure();
  if (!nest.isFused())
    return failure(failed(add(ofKey)) || failed(add(ofQuery)));
  // dK is under way while the warps hand dQ over.
  Value dQuery = createQueryGradient(scores->gradient, tiles->key);
  if (failed(add(ofKey)))
    return failure();
  SmallVector<Value> at = lookupAll(step.getOffsets().take_front(3));
  tile::AccumulateOp::create(builder, loc, dQuery, sums, at);
  return success();
}

/// sums + a b; with `promote` the product is summed apart.
Value BackwardKernelBuilder::addProduct(Value sums, Value a, Value b) {
  Type type = sums.getType();
  bool promotes = attention.schedule.getValues().promote;
  Value init = promotes ? createFill(builder, loc, type, 0.0f) : sums;
  Value product =
      tile::MmaOp::create(builder, loc, a, b, nest.transposesTiles(), init);
  if (!promotes)
    return product;
  Fragments fragments(builder, loc);
  return fragments.map(type, {sums, product}, [&](ValueRange args) {
    return fragments.add(args[0], args[1]);
  });
}

/// Each lane's part of the maxima of |dS|, which are reduced when they are
/// stored.
void BackwardKernelBuilder::addMaxima(BackwardStepOp step,
                                      Value scoreGradient) {
  Fragments fragments(builder, loc);
  Value sizes = fragments.map(
      scoreGradient.getType(), scoreGradient,
      [&](ValueRange args) { return fragments.absolute(args[0]); });
  values.map(step.getAmaxResult(),
             tile::RowReduceOp::create(builder, loc, tile::Reduction::maximum,
                                       sizes, values.lookup(step.getAmax())));
}

/// What a tile of keys adds to dQ, from dS^T: a warp has rows of keys, of which
/// dQ is the sum, so that it takes the warps' rows in shared memory.
Value BackwardKernelBuilder::createQueryGradient(Value scoreGradient,
                                                 Value key) {
  int64_t rows = nest.getTileM(), keys = nest.getTileN();
  Type element = cast<tile::SharedType>(key.getType()).getElementType();
  auto type = tile::SharedType::get(builder.getContext(), {rows, keys}, element,
                                    tile::SharedType::getSwizzleFor(2 * keys));
  Value shared = tile::ShareOp::create(builder, loc, type, scoreGradient);
  bool isTransposed = backward.sumsAreTransposed();
  int64_t columns = nest.getColumns();
  Value zero =
      createFill(builder, loc,
                 isTransposed ? getAccumulatorType(builder, columns, rows)
                              : getAccumulatorType(builder, rows, columns),
                 0.0f);
  if (isTransposed)
    return tile::MmaOp::create(builder, loc, zero.getType(), key,
                               /*transpose_a=*/true, shared,
                               /*transpose_b=*/true, zero);
  return tile::MmaOp::create(builder, loc, shared, key,
                             /*transposeB=*/false, zero);
}

/// Keeps what the rows of the CTA need, and writes it for the other kernels.
void BackwardKernelBuilder::convertDelta(BackwardDeltaOp op) {
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  auto sourceOf = [&](Value tile) {
    return tile ? values.lookup(getSource(tile)) : tile;
  };
  SmallVector<Value> at = lookupAll(attention.forall.getInductionVars());
  BackwardStepOp step = nest.steps.front();
  rowValues = RowValuesBuilder(builder, loc, at, RowUnits::get(step),
                               /*slice=*/0, factors)
                  .build(type.getDimSize(kSequence), type.getDimSize(kHeadDim),
                         sourceOf(step.getLse()), sourceOf(op.getOutput()),
                         sourceOf(op.getDOutput()), sourceOf(op.getDLse()));
  onlyInFirstSlice([&] {
    tile::StoreOp::create(builder, loc, rowValues.lse, workspaces.lse, at);
    tile::StoreOp::create(builder, loc, rowValues.delta, workspaces.delta, at);
  });
}

void BackwardKernelBuilder::convertFill(linalg::FillOp fill) {
  auto type = cast<RankedTensorType>(fill.getResult(0).getType());
  if (type.getRank() == 3) { // maxima
    values.map(fill.getResult(0),
               createFill(builder, loc,
                          getRowType(builder, type.getDimSize(kSequence)),
                          0.0f));
    return;
  }
  int64_t columns = firstColumn ? nest.getTileColumns()
                                : llvm::alignTo(type.getDimSize(kHeadDim), 16);
  auto sums = getAccumulatorType(builder, type.getDimSize(kSequence), columns);
  values.map(fill.getResult(0),
             createFill(builder, loc, nest.getSumType(sums), 0.0f));
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// True if `expr` is the same for all positions of [k size, (k + 1) size).
static bool isOfRange(AffineExpr expr, AffineExpr position, int64_t size) {
  if (expr == position)
    return false;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() == AffineExprKind::FloorDiv &&
      binary.getLHS() == position)
    return divisor && divisor.getValue() % size == 0;
  return isOfRange(binary.getLHS(), position, size) &&
         isOfRange(binary.getRHS(), position, size);
}

/// The same of what an op makes of the position.
static bool isOfRange(Operation *op, Value position, int64_t size) {
  AffineMap map = TypeSwitch<Operation *, AffineMap>(op)
                      .Case<affine::AffineApplyOp, affine::AffineMinOp,
                            affine::AffineMaxOp>(
                          [](auto affine) { return affine.getMap(); })
                      .Default([](Operation *) { return AffineMap(); });
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (operand != position)
      continue;
    if (!map)
      return false;
    MLIRContext *context = op->getContext();
    unsigned dims = map.getNumDims();
    AffineExpr expr = i < dims ? getAffineDimExpr(i, context)
                               : getAffineSymbolExpr(i - dims, context);
    for (AffineExpr result : map.getResults())
      if (!isOfRange(result, expr, size))
        return false;
  }
  return true;
}

/// True if the CTAs of a cluster walk the same tiles: what bounds of loops, and
/// places of tiles in them, take of the CTA's position is of which cluster.
bool BackwardKernelBuilder::streamsTilesOfCluster() {
  bool keysStay = nest.keysAreRows();
  SetVector<Value> places;
  attention.forall.walk([&](scf::ForOp loop) {
    places.insert_range(ValueRange{loop.getLowerBound(), loop.getUpperBound()});
  });
  for (BackwardStepOp step : nest.steps)
    places.insert(step.getOffsets()[keysStay ? kSequence : kSequence + 1]);
  Value tile = getTiledPosition();
  int64_t size =
      nest.getClusterCtas() * (keysStay ? nest.getTileN() : nest.getTileM());
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  return llvm::all_of(places, [&](Value place) {
    // The variables of loops whose bounds are among the places.
    if (isa<BlockArgument>(place))
      return place != tile;
    SetVector<Operation *> slice;
    return succeeded(getBackwardSlice(place, &slice, options)) &&
           llvm::all_of(
               slice, [&](Operation *op) { return isOfRange(op, tile, size); });
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult BackwardKernelBuilder::convertOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) {
        return nest.isFused() && isa<scf::ForallOp>(loop->getParentOp())
                   ? convertKeyLoop(loop)
                   : convertLoop(loop);
      })
      .Case([&](tensor::InsertSliceOp insert) {
        convertInsert(insert);
        return success();
      })
      .Case([&](tensor::ExtractSliceOp slice) { return convertSlice(slice); })
      .Case([&](BackwardStepOp step) { return convertStep(step); })
      .Case([&](BackwardDeltaOp delta) {
        convertDelta(delta);
        return success();
      })
      .Case([&](linalg::FillOp fill) {
        convertFill(fill);
        return success();
      })
      .Case([&](scf::InParallelOp stores) { return convertStores(stores); })
      // The store rounds.
      .Case([&](arith::TruncFOp truncation) -> LogicalResult {
        if (!isa<RankedTensorType>(truncation.getType()))
          return copyScalar(truncation);
        values.map(truncation.getResult(), values.lookup(truncation.getIn()));
        return success();
      })
      // Where the gradient that an output_mod changes is stored, it is whole.
      .Case<tensor::EmptyOp, tensor::PadOp, scf::YieldOp, OutputModOp>(
          [](Operation *) { return success(); })
      .Default([&](Operation *other) -> LogicalResult {
        if (isScalarOp(other))
          return copyScalar(other);
        return other->emitOpError()
               << "expected only ops that --attn-tile-backward gives";
      });
}

LogicalResult BackwardKernelBuilder::convertBlock(Block &block) {
  for (Operation &op : block)
    if (!isa<arith::ConstantOp>(op) || op.getResult(0).getType().isIntOrIndex())
      if (failed(convertOp(&op)))
        return failure();
  return success();
}

/// Where the tile of a CTA begins, as the tiled form has it.
Value BackwardKernelBuilder::getTiledPosition() {
  if (!nest.isFused())
    return attention.forall.getInductionVars().back();
  auto loops = attention.forall.getBody()->getOps<scf::ForOp>();
  return (*loops.begin()).getInductionVar();
}

/// Grid: x = tiles, and for each the slices of its gradient; y = heads, z =
/// batch. Under a causal mask the last rows and the first keys have the most
/// tiles, and come first: of all heads, unless kernels have no registers to
/// spare for a head that is computed.
void BackwardKernelBuilder::mapGrid() {
  bool hasRoles = getFamily(attention.schedule.getValues().mma).hasRoles();
  TileOfHead of = {getBlockId(gpu::Dimension::x), Value()};
  if (hasRoles && haveLoopsOfTheirPlace(attention.forall, getTiledPosition()))
    of = getTileOfEachHead(nest.getClusterCtas());
  Value number = nest.keysAreRows() ? of.tile : countFromLast(of.tile);
  if (int64_t count = nest.getSlices(); count > 1) {
    Value slices = constant(count);
    Value slice = arith::RemUIOp::create(builder, loc, number, slices);
    number = arith::DivUIOp::create(builder, loc, number, slices);
    firstColumn = arith::MulIOp::create(builder, loc, slice,
                                        constant(nest.getTileColumns()));
  }
  position = arith::MulIOp::create(
      builder, loc, number,
      constant(nest.keysAreRows() ? nest.getTileN() : nest.getTileM()));
  // Read behind the position, and in this order: ptxas spills in a kernel of
  // mma.sync otherwise.
  Value batch = getBlockId(gpu::Dimension::z);
  Value head = of.head ? of.head : getBlockId(gpu::Dimension::y);
  SmallVector<Value> at = {batch, head};
  if (!nest.isFused())
    at.push_back(position);
  values.map(attention.forall.getInductionVars(), at);
}

LogicalResult BackwardKernelBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  if (nest.getClusterCtas() > 1 && !streamsTilesOfCluster())
    return attention.forall.emitOpError()
           << "expected the CTAs of a cluster of " << nest.getClusterCtas()
           << " to stream the same tiles, as --attn-tile-backward makes them";
  FailureOr<tile::KernelOp> kernel = beginKernel(nest.entry);
  if (failed(kernel))
    return failure();
  SmallVector<Value> views = backward.addOwnViews(*kernel);
  if (backward.delta)
    workspaces = {views.end()[-2], views.back()};
  if (nest.isFused()) {
    sums = views.front();
    values.map(attention.forall.getRegionIterArgs()[2], sums);
  }
  for (const HeadSum &sum : backward.headSums)
    values.map(sum.gradient, views[sum.view]);
  mapGrid();
  factors = Float8Factors::load(builder, nest.steps.front(),
                                lookupAll(attention.forall.getInductionVars()),
                                nest.keysAreRows(), values);
  if (failed(convertBlock(*attention.forall.getBody())))
    return failure();
  tile::ReturnOp::create(builder, loc);
  return success();
}

//===----------------------------------------------------------------------===//
// All kernels
//===----------------------------------------------------------------------===//

FailureOr<int64_t> attn::buildBackwardKernels(OpBuilder &builder,
                                              Operation *function,
                                              StringRef name) {
  FailureOr<TiledBackward> backward = TiledBackward::find(function, name);
  if (failed(backward))
    return failure();
  if (backward->nests.front().attention.isSmallCache())
    return buildSmallCacheBackward(builder, *backward, name);
  backward->buildProgram(builder, name);
  if (failed(buildPrologueKernels(builder, backward->nests.front().attention,
                                  name)))
    return failure();
  if (backward->isFused() && failed(buildDeltaKernel(builder, *backward, name)))
    return failure();
  for (BackwardNest &nest : backward->nests)
    if (failed(BackwardKernelBuilder(builder, *backward, nest).build()))
      return failure();
  if (backward->isFused() &&
      failed(buildRoundingKernel(builder, *backward, name)))
    return failure();
  if (failed(buildScoreKernels(builder, *backward)) ||
      failed(buildHeadSumKernels(builder, *backward)))
    return failure();
  return backward->program->getKernels().size();
}
