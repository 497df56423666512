//===- Backward.cpp - Kernels of the backward pass ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each loop nest of --attn-tile-backward becomes a kernel, its scf.forall the
// grid. Tiles are copied where they are sliced and waited for by the step that
// reads them; nothing is in flight while a step computes.
//
//===----------------------------------------------------------------------===//

#include "Backward.h"

#include "BackwardStep.h"
#include "Fragments.h"
#include "KernelScope.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

/// Rows of a warp: one row of blocks of mma.sync, so that the accumulators of
/// dK and dV fit into the registers.
static constexpr int64_t kRowsPerWarp = 16;

/// The slice that a tile is, under its padding; null if it is none.
static tensor::ExtractSliceOp getSlice(Value tile) {
  if (auto pad = tile.getDefiningOp<tensor::PadOp>())
    tile = pad.getSource();
  return tile.getDefiningOp<tensor::ExtractSliceOp>();
}

/// The tensor that a tile is sliced from.
static Value getSource(Value tile) { return getSlice(tile).getSource(); }

namespace {
/// The two nests of a backward, and what both kernels take.
struct TiledBackward {
  TiledAttention queries, keys;
  BackwardStepOp queryStep, keyStep;
  BackwardDeltaOp delta;
  LaunchPlan plan;
};

/// Builds one of the kernels.
class BackwardKernelBuilder : KernelScope {
public:
  BackwardKernelBuilder(OpBuilder &builder, TiledBackward &backward,
                        bool keysAreRows)
      : KernelScope(builder, keysAreRows ? backward.keys : backward.queries),
        backward(backward), keysAreRows(keysAreRows),
        loc(attention.forall.getLoc()) {}

  LogicalResult build(StringRef name, DictionaryAttr manifest);

private:
  LogicalResult convertBlock(Block &block);
  LogicalResult convertOp(Operation *op);
  LogicalResult convertLoop(scf::ForOp loop);
  LogicalResult convertBranch(scf::IfOp branch);
  LogicalResult convertSlice(tensor::ExtractSliceOp slice);
  LogicalResult convertStep(BackwardStepOp step);
  LogicalResult convertDelta(BackwardDeltaOp op);
  void convertFill(linalg::FillOp fill);
  void convertStores(scf::InParallelOp op);
  SmallVector<Value> lookupAll(ValueRange outside) {
    return llvm::map_to_vector(outside,
                               [&](Value v) { return values.lookup(v); });
  }

  TiledBackward &backward;
  bool keysAreRows;
  Location loc;
  /// True while copies are under way that no step has waited for.
  bool isCopying = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult BackwardKernelBuilder::convertLoop(scf::ForOp loop) {
  auto copy = scf::ForOp::create(
      builder, loop.getLoc(), values.lookup(loop.getLowerBound()),
      values.lookup(loop.getUpperBound()), values.lookup(loop.getStep()),
      lookupAll(loop.getInitArgs()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  values.map(loop.getInductionVar(), copy.getInductionVar());
  values.map(ValueRange(loop.getRegionIterArgs()),
             ValueRange(copy.getRegionIterArgs()));
  isCopying = false; // The first step of the loop waits for all copies.
  if (failed(convertBlock(*loop.getBody())))
    return failure();
  scf::YieldOp::create(builder, loop.getLoc(),
                       lookupAll(loop.getYieldedValues()));
  values.map(loop.getResults(), copy.getResults());
  return success();
}

/// The condition is the same for all threads of a CTA: branches may hold
/// barriers.
LogicalResult BackwardKernelBuilder::convertBranch(scf::IfOp branch) {
  SmallVector<Value> otherwise = lookupAll(branch.elseYield().getOperands());
  auto copy = scf::IfOp::create(builder, branch.getLoc(), TypeRange(otherwise),
                                values.lookup(branch.getCondition()), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.elseBlock());
  scf::YieldOp::create(builder, branch.getLoc(), otherwise);
  builder.setInsertionPointToStart(copy.thenBlock());
  if (failed(convertBlock(*branch.thenBlock())))
    return failure();
  scf::YieldOp::create(builder, branch.getLoc(),
                       lookupAll(branch.thenYield().getOperands()));
  values.map(branch.getResults(), copy.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles and steps
//===----------------------------------------------------------------------===//

/// True if a step multiplies with the tile.
static bool isFactor(Value tile) {
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    auto step = dyn_cast<BackwardStepOp>(user);
    return step &&
           llvm::is_contained(ValueRange{step.getQuery(), step.getKey(),
                                         step.getValue(), step.getDOutput()},
                              tile);
  });
}

/// Starts the copy of a tile that a step multiplies with; other tiles are read
/// where they are.
LogicalResult
BackwardKernelBuilder::convertSlice(tensor::ExtractSliceOp slice) {
  // What is cut off a ragged result: the store does that by itself.
  if (Value fragment = values.lookupOrNull(slice.getSource());
      fragment && isa<tile::FragmentType>(fragment.getType())) {
    values.map(slice.getResult(), fragment);
    return success();
  }
  Value source = values.lookup(slice.getSource());
  Value tile = slice.getResult();
  for (Operation *user : slice->getUsers())
    if (isa<tensor::PadOp>(user))
      tile = user->getResult(0);
  if (!isFactor(tile)) {
    values.map(tile, source);
    return success();
  }
  SmallVector<Value> indices;
  for (OpFoldResult offset :
       ArrayRef<OpFoldResult>(slice.getMixedOffsets()).drop_back()) {
    FailureOr<Value> index = materialize(cast<Value>(offset));
    if (failed(index))
      return failure();
    indices.push_back(*index);
  }
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t cols = llvm::alignTo(type.getDimSize(kHeadDim), 16);
  auto shared = tile::SharedType::get(
      builder.getContext(), {type.getDimSize(kSequence), cols},
      type.getElementType(), tile::SharedType::getSwizzleFor(2 * cols));
  OpBuilder entry =
      OpBuilder::atBlockBegin(&builder.getBlock()
                                   ->getParent()
                                   ->getParentOfType<tile::KernelOp>()
                                   .getBody()
                                   .front());
  Value buffer =
      tile::AllocOp::create(entry, loc, shared, /*offset=*/IntegerAttr());
  // The step before has read what is overwritten now.
  if (!isCopying)
    gpu::BarrierOp::create(builder, loc);
  isCopying = true;
  tile::CopyAsyncOp::create(builder, loc, source, indices, buffer,
                            /*in_bounds=*/false);
  values.map(tile, buffer);
  return success();
}

LogicalResult BackwardKernelBuilder::convertStep(BackwardStepOp step) {
  tile::CommitGroupOp::create(builder, loc);
  tile::WaitGroupOp::create(builder, loc, 0);
  gpu::BarrierOp::create(builder, loc);
  isCopying = false;
  Value lse = values.lookup(getSource(step.getLse()));
  Value delta = keysAreRows ? values.lookup(getSource(step.getDelta()))
                            : values.lookup(step.getDelta());
  BackwardTiles tiles{values.lookup(step.getQuery()),
                      values.lookup(step.getKey()),
                      values.lookup(step.getValue()),
                      values.lookup(step.getDOutput()),
                      lse,
                      delta};
  FailureOr<BackwardStepBuilder::Operands> operands =
      BackwardStepBuilder(mods, step, tiles, keysAreRows).build();
  if (failed(operands))
    return failure();
  auto accumulate = [&](Value gradient, Value result, Value a, Value b) {
    values.map(result,
               tile::MmaOp::create(builder, loc, a, b, /*transpose_b=*/false,
                                   values.lookup(gradient))
                   .getResult());
  };
  if (keysAreRows) {
    accumulate(step.getDKey(), step.getDKeyResult(), operands->dScores,
               tiles.query);
    accumulate(step.getDValue(), step.getDValueResult(),
               operands->probabilities, tiles.dOutput);
  } else {
    accumulate(step.getDQuery(), step.getDQueryResult(), operands->dScores,
               tiles.key);
  }
  return success();
}

/// delta = rowsum(dO * O) - dLSE. Each CTA writes that of its rows, and reads
/// it again from there.
LogicalResult BackwardKernelBuilder::convertDelta(BackwardDeltaOp op) {
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  int64_t rows = type.getDimSize(kSequence), cols = type.getDimSize(kHeadDim);
  SmallVector<Value> at = lookupAll(attention.forall.getInductionVars());
  auto toI64 = [&](Value value) -> Value {
    Type i64 = builder.getI64Type();
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(builder, loc, i64, value);
    return arith::ExtSIOp::create(builder, loc, i64, value);
  };
  Value output = values.lookup(getSource(op.getOutput()));
  Value dOutput = values.lookup(getSource(op.getDOutput()));
  Value size = toI64(tile::DimOp::create(builder, loc, output, kSequence));
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  Value last = arith::SubIOp::create(builder, loc, size, one);
  SmallVector<Value> first = llvm::map_to_vector(at, toI64);
  auto getRow = [&](Value row) -> SmallVector<Value> {
    Value i = arith::AddIOp::create(builder, loc, first[2], toI64(row));
    i = arith::MinSIOp::create(builder, loc, i, last);
    return {first[0], first[1], i};
  };
  auto read = [&](Value tensor, ArrayRef<Value> indices) -> Value {
    Type element = cast<tile::GlobalType>(tensor.getType()).getElementType();
    Value number =
        tile::ExtractOp::create(builder, loc, element, tensor, indices);
    if (element.isF32())
      return number;
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), number);
  };
  auto createMap = [&](Type result, ValueRange inputs,
                       function_ref<Value(ValueRange)> body) -> Value {
    OpBuilder::InsertionGuard guard(builder);
    auto map = tile::MapOp::create(builder, loc, result, inputs);
    SmallVector<Type> types(inputs.size(), builder.getF32Type());
    types.append(cast<tile::FragmentType>(result).isRow() ? 1 : 2,
                 builder.getI32Type());
    Block *block = builder.createBlock(
        &map.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    tile::YieldOp::create(builder, loc, body(block->getArguments()));
    return map.getResult();
  };
  Fragments fragments(builder, loc);
  Value products = createMap(
      getAccumulatorType(builder, rows, llvm::alignTo(cols, 16)), ValueRange(),
      [&](ValueRange args) -> Value {
        SmallVector<Value> indices = getRow(args[0]);
        Value col = toI64(args[1]);
        Value end = arith::ConstantIntOp::create(builder, loc, cols - 1, 64);
        indices.push_back(arith::MinSIOp::create(builder, loc, col, end));
        Value product =
            fragments.mul(read(output, indices), read(dOutput, indices));
        Value exists = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::sle, col, end);
        return arith::SelectOp::create(builder, loc, exists, product,
                                       fragments.constant(0));
      });
  Value delta = fragments.reduce(tile::Reduction::sum, products, 0.0f);
  if (Value slice = op.getDLse()) {
    Value dLse = values.lookup(getSource(slice));
    delta = createMap(delta.getType(), delta, [&](ValueRange args) {
      return fragments.sub(args[0], read(dLse, getRow(args[1])));
    });
  }
  Value workspace = values.lookup(attention.forall.getRegionIterArgs()[1]);
  tile::StoreOp::create(builder, loc, delta, workspace, at);
  gpu::BarrierOp::create(builder, loc);
  values.map(op.getDelta(), workspace);
  return success();
}

void BackwardKernelBuilder::convertFill(linalg::FillOp fill) {
  auto type = cast<RankedTensorType>(fill.getResult(0).getType());
  Value zero = createFill(
      builder, loc,
      getAccumulatorType(builder, type.getDimSize(kSequence),
                         llvm::alignTo(type.getDimSize(kHeadDim), 16)),
      0.0f);
  values.map(fill.getResult(0), zero);
}

void BackwardKernelBuilder::convertStores(scf::InParallelOp op) {
  for (Operation &yielding : op.getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(yielding);
    Value source = values.lookup(insert.getSource());
    if (!isa<tile::FragmentType>(source.getType()))
      continue; // delta, which is there.
    tile::StoreOp::create(builder, insert.getLoc(), source,
                          values.lookup(insert.getDest()),
                          lookupAll(attention.forall.getInductionVars()));
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult BackwardKernelBuilder::convertOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return convertLoop(loop); })
      .Case([&](scf::IfOp branch) { return convertBranch(branch); })
      .Case([&](tensor::ExtractSliceOp slice) { return convertSlice(slice); })
      .Case([&](BackwardStepOp step) { return convertStep(step); })
      .Case([&](BackwardDeltaOp delta) { return convertDelta(delta); })
      .Case([&](linalg::FillOp fill) {
        convertFill(fill);
        return success();
      })
      .Case([&](scf::InParallelOp stores) {
        convertStores(stores);
        return success();
      })
      // The store rounds.
      .Case([&](arith::TruncFOp truncation) -> LogicalResult {
        if (!isa<RankedTensorType>(truncation.getType()))
          return copyScalar(truncation);
        values.map(truncation.getResult(), values.lookup(truncation.getIn()));
        return success();
      })
      .Case<tensor::EmptyOp, tensor::PadOp, scf::YieldOp>(
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

LogicalResult BackwardKernelBuilder::build(StringRef name,
                                           DictionaryAttr manifest) {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(name, manifest);
  if (failed(kernel))
    return failure();
  Value delta = kernel->getBody().front().addArgument(
      backward.plan.workspaces[0].type, loc);
  scf::ForallOp first = backward.queries.forall;
  values.map(first.getRegionIterArgs()[1], delta);
  values.map(first.getResult(1), delta);
  int64_t tile = keysAreRows ? attention.schedule.getTileN()
                             : attention.schedule.getTileM();
  Value position =
      arith::MulIOp::create(builder, loc, getReversedBlockId(), constant(tile));
  values.map(attention.forall.getInductionVars(),
             SmallVector<Value>{getBlockId(gpu::Dimension::z),
                                getBlockId(gpu::Dimension::y), position});
  if (failed(convertBlock(*attention.forall.getBody())))
    return failure();
  tile::ReturnOp::create(builder, loc);
  return success();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// One tensor that is several operands, query and key say, is several
/// parameters: each names the sizes that the gradients have.
static void addOperand(TiledAttention &attention, StringRef name, Value tensor,
                       int64_t vectorElements, bool isOutput = false) {
  attention.operands.push_back({name.str(), tensor,
                                cast<RankedTensorType>(tensor.getType()),
                                isOutput, vectorElements});
}

static void addOperands(TiledBackward &backward) {
  TiledAttention &attention = backward.queries;
  BackwardStepOp step = backward.queryStep;
  // Tiles are copied by 16 bytes.
  std::pair<StringRef, Value> factors[] = {{"query", step.getQuery()},
                                           {"key", step.getKey()},
                                           {"value", step.getValue()},
                                           {"d_output", step.getDOutput()}};
  for (auto [name, tile] : factors)
    addOperand(attention, name, getSource(tile), 8);
  if (step.getBias())
    addOperand(attention, "bias", getSource(step.getBias()), 1);
  addOperand(attention, "output", getSource(backward.delta.getOutput()), 1);
  addOperand(attention, "lse", getSource(step.getLse()), 1);
  if (Value dLse = backward.delta.getDLse())
    addOperand(attention, "d_lse", getSource(dLse), 1);
  SetVector<Value> captures;
  step->walk(
      [&](tensor::ExtractOp extract) { captures.insert(extract.getTensor()); });
  for (auto [i, capture] : llvm::enumerate(captures))
    addOperand(attention, "capture" + std::to_string(i), capture, 1);
  auto rows = backward.queries.forall.getRegionIterArgs();
  auto keys = backward.keys.forall.getRegionIterArgs();
  addOperand(attention, "d_query", rows[0], 2, /*isOutput=*/true);
  addOperand(attention, "d_key", keys[0], 2, /*isOutput=*/true);
  addOperand(attention, "d_value", keys[1], 2, /*isOutput=*/true);
  backward.keys.operands = attention.operands;
}

/// delta [B, Hq, M], written by the first kernel.
static WorkspaceView getDeltaView(TiledBackward &backward) {
  auto type =
      cast<RankedTensorType>(getSource(backward.queryStep.getLse()).getType());
  WorkspaceView view;
  view.name = "delta";
  view.type = tile::GlobalType::get(type.getContext(), type.getShape(),
                                    type.getElementType());
  std::string sizes[] = {"dim(query, 0)", "dim(query, 1)", "dim(query, 2)"};
  view.bytes = sizes[0] + " * " + sizes[1] + " * " + sizes[2] + " * 4";
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (type.isDynamicDim(dim))
      view.sizes.push_back(size);
  view.strides = {sizes[1] + " * " + sizes[2], sizes[2]};
  view.byteOffset = "0";
  return view;
}

static LaunchPlan getPlan(TiledBackward &backward, StringRef name) {
  ScheduleAttr rows = backward.queries.schedule;
  ScheduleAttr keys = backward.keys.schedule;
  auto tiles = [](StringRef operand, int64_t tile) {
    return "ceildiv(dim(" + operand.str() + ", 2), " + std::to_string(tile) +
           ")";
  };
  LaunchPlan plan;
  plan.kernels = {
      {name.str() + "_dq",
       {tiles("query", rows.getTileM()), "dim(query, 1)", "dim(query, 0)"},
       rows.getWarps()},
      {name.str() + "_dkv",
       {tiles("key", keys.getTileN()), "dim(key, 1)", "dim(query, 0)"},
       keys.getWarps()}};
  plan.workspaces = {getDeltaView(backward)};
  return plan;
}

//===----------------------------------------------------------------------===//
// The backward of a function
//===----------------------------------------------------------------------===//

bool attn::holdsBackward(Operation *function) {
  return function->walk([](BackwardStepOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static LogicalResult checkSupported(BackwardStepOp step, int64_t tileM,
                                    int64_t tileN) {
  Type element = getElementTypeOrSelf(step.getQuery().getType());
  if (!element.isF16() && !element.isBF16())
    return step.emitOpError()
           << "expected f16 or bf16 inputs of a backward on the GPU, got "
           << element;
  if (getElementTypeOrSelf(step.getDOutput().getType()) != element)
    return step.emitOpError()
           << "expected d_output in the type of query on the GPU, got "
           << step.getDOutput().getType();
  AttentionDims dims = AttentionDims::get(step);
  for (auto [name, size] : {std::pair<StringRef, int64_t>{"D", dims.headDim},
                            {"Dv", dims.valueDim}})
    if (size % 8 != 0)
      return step.emitOpError()
             << "expected " << name << " to be a multiple of 8, got " << size;
  if (tileM % kRowsPerWarp != 0 || tileN % kRowsPerWarp != 0)
    return step.emitOpError()
           << "expected tile_m and tile_n to be multiples of " << kRowsPerWarp
           << " in a backward on the GPU, got " << tileM << " and " << tileN;
  return success();
}

static FailureOr<TiledBackward> findBackward(Operation *function) {
  TiledBackward backward;
  SmallVector<BackwardStepOp> steps;
  function->walk([&](BackwardStepOp op) { steps.push_back(op); });
  function->walk([&](BackwardDeltaOp op) { backward.delta = op; });
  WalkResult forward = function->walk([](OnlineAttentionOp op) {
    op.emitOpError() << "expected no attention beside a backward in a function "
                        "on a GPU: put it into a function of a module of its "
                        "own";
    return WalkResult::interrupt();
  });
  if (forward.wasInterrupted())
    return failure();
  if (steps.size() != 2 || !backward.delta || !steps[0].getDQuery() ||
      !steps[1].getDKey())
    return function->emitError()
           << "expected one backward in a function on a GPU, as "
              "--attn-tile-backward gives";
  backward.queryStep = steps[0];
  backward.keyStep = steps[1];
  int64_t tileM =
      cast<ShapedType>(steps[0].getQuery().getType()).getDimSize(kSequence);
  int64_t tileN =
      cast<ShapedType>(steps[0].getKey().getType()).getDimSize(kSequence);
  if (failed(checkSupported(steps[0], tileM, tileN)))
    return failure();
  AttentionDims dims = AttentionDims::get(steps[0]);
  Schedule schedule;
  schedule.tileM = tileM;
  schedule.tileN = tileN;
  schedule.tileD = dims.headDim;
  schedule.tileDv = dims.valueDim;
  schedule.stages = 1;
  for (auto [attention, step] : {std::pair<TiledAttention *, BackwardStepOp>{
                                     &backward.queries, steps[0]},
                                 {&backward.keys, steps[1]}}) {
    attention->forall = step->getParentOfType<scf::ForallOp>();
    int64_t rows = step.getDQuery() ? tileM : tileN;
    schedule.warps = rows / kRowsPerWarp;
    attention->schedule = getScheduleAttr(function->getContext(), schedule);
    attention->semantics = "attention_backward";
    attention->scale = step.getScaleValue();
  }
  addOperands(backward);
  return backward;
}

LogicalResult attn::buildBackwardKernels(OpBuilder &builder,
                                         Operation *function, StringRef name) {
  FailureOr<TiledBackward> backward = findBackward(function);
  if (failed(backward))
    return failure();
  backward->plan = getPlan(*backward, name);
  if (failed(BackwardKernelBuilder(builder, *backward, /*keysAreRows=*/false)
                 .build(backward->plan.kernels[0].entry,
                        buildManifest(backward->queries, backward->plan))))
    return failure();
  return BackwardKernelBuilder(builder, *backward, /*keysAreRows=*/true)
      .build(backward->plan.kernels[1].entry,
             buildScheduleManifest(backward->keys));
}
