//===- TiledBackward.cpp - What the kernels of a backward take ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/TiledBackward.h"

#include "Backward/Backward.h"
#include "Backward/BackwardScores.h"
#include "Backward/GradientMods.h"
#include "Backward/HeadSums.h"
#include "Kernel/KernelChecks.h"
#include "Kernel/RowChains.h"
#include "Launch/PrologueKernels.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

/// Rows of a warp: one row of blocks of mma.sync, so that the accumulators of
/// dK and dV fit into the registers.
static constexpr int64_t kRowsPerWarp = 16;

tensor::ExtractSliceOp attn::getSlice(Value tile) {
  if (auto pad = tile.getDefiningOp<tensor::PadOp>())
    tile = pad.getSource();
  return tile.getDefiningOp<tensor::ExtractSliceOp>();
}

Value attn::getSource(Value tile) { return getSlice(tile).getSource(); }

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

/// What a product takes, or of rows that a kernel before computes, what that
/// reads.
static void addFactor(TiledAttention &attention, StringRef name, Value tensor) {
  Value source = skipRowOps(tensor);
  // Tiles are copied by 16 bytes.
  addOperand(attention, name, source, source == tensor ? 8 : 1);
}

static bool isMapped(Value tile) {
  return getHeadMap(getSlice(tile)) != nullptr;
}

/// The gradient of what `tile` is sliced from: the sum of its heads where that
/// is all that the function has of it.
static void addKeyGradient(TiledAttention &attention, TiledBackward &backward,
                           StringRef name, Value gradient, Value tile) {
  for (HeadSum &sum : backward.headSums)
    if (sum.gradient == gradient)
      return addOperand(attention, name, sum.op.getResult(), 1,
                        /*isOutput=*/true);
  addOperand(attention, name, gradient, 2, /*isOutput=*/true);
  attention.operands.back().isMapped = isMapped(tile);
}

static void addGradients(TiledAttention &attention, TiledBackward &backward) {
  for (BackwardNest &nest : backward.nests) {
    auto outputs = nest.attention.forall.getRegionIterArgs();
    if (nest.isFused())
      addOperand(attention, "d_query",
                 backward.rounding.getRegionIterArgs().front(), 2,
                 /*isOutput=*/true);
    if (!nest.keysAreRows())
      addOperand(attention, "d_query", outputs[0], 2, /*isOutput=*/true);
    if (nest.hasDKey())
      addKeyGradient(attention, backward, "d_key", outputs[0],
                     nest.steps.front().getKey());
    if (nest.steps.front().getDValue())
      addKeyGradient(attention, backward, "d_value", outputs[nest.hasDKey()],
                     nest.steps.front().getValue());
  }
}

/// Of inputs of 8 bits.
static void addScales(TiledAttention &attention, BackwardStepOp step) {
  constexpr StringRef kDescales[] = {"descale_query", "descale_key",
                                     "descale_value", "descale_d_output"};
  for (auto [name, descale] : llvm::zip(kDescales, step.getDescales()))
    addOperand(attention, name, descale, 1);
  if (step.getScaleDs())
    addOperand(attention, "scale_ds", step.getScaleDs(), 1);
}

static LogicalResult addOperands(TiledBackward &backward) {
  TiledAttention attention;
  BackwardStepOp step = backward.nests.front().steps.front();
  std::pair<StringRef, Value> factors[] = {{"query", step.getQuery()},
                                           {"key", step.getKey()},
                                           {"value", step.getValue()},
                                           {"d_output", step.getDOutput()}};
  for (auto [name, tile] : factors)
    addFactor(attention, name, getSource(tile));
  for (Value tile : {step.getKey(), step.getValue()})
    markMapped(attention, getSlice(tile));
  if (step.getBias())
    addOperand(attention, "bias", getSource(step.getBias()), 1);
  addScales(attention, step);
  if (BackwardDeltaOp delta = backward.delta) {
    addOperand(attention, "output", getSource(delta.getOutput()), 1);
    addOperand(attention, "lse", getSource(step.getLse()), 1);
    if (Value dLse = delta.getDLse())
      addOperand(attention, "d_lse", getSource(dLse), 1);
  }
  SmallVector<scf::ForallOp> foralls;
  for (BackwardNest &nest : backward.nests)
    foralls.push_back(nest.attention.forall);
  for (ScoreNest &nest : backward.scoreNests)
    foralls.push_back(nest.attention.forall);
  attention.forall = foralls.front();
  attention.schedule = backward.nests.front().attention.schedule;
  findPrologue(attention, foralls);
  if (failed(addRowOperands(attention)))
    return failure();
  SetVector<Value> captures;
  for (BackwardNest &nest : backward.nests) {
    nest.attention.prologue = attention.prologue;
    captures.insert_range(findTensorsRead(nest.attention));
  }
  for (ScoreNest &nest : backward.scoreNests) {
    nest.attention.prologue = attention.prologue;
    captures.insert_range(findTensorsRead(nest.attention));
  }
  findHeadSums(backward);
  for (HeadSum &sum : backward.headSums)
    if (!matchPattern(sum.op.getMap(), m_Constant()))
      captures.insert(sum.op.getMap());
  for (auto [i, capture] : llvm::enumerate(captures))
    addOperand(attention, "capture" + std::to_string(i), capture, 1);
  for (BackwardNest &nest : backward.nests)
    addSizes(attention, nest.attention);
  for (ScoreNest &nest : backward.scoreNests)
    addSizes(attention, nest.attention);
  addGradients(attention, backward);
  addScoreOperands(attention, backward);
  // In the order of the results of the op.
  if (step.getAmax()) {
    auto outputs = backward.nests.front().attention.forall.getRegionIterArgs();
    addOperand(attention, "amax_ds", outputs[/*dQ and delta*/ 2], 1,
               /*isOutput=*/true);
  }
  addGradientMaxima(attention, backward);
  for (BackwardNest &nest : backward.nests)
    nest.attention.operands = attention.operands;
  for (ScoreNest &nest : backward.scoreNests)
    nest.attention.operands = attention.operands;
  return success();
}

//===----------------------------------------------------------------------===//
// The backward of a function
//===----------------------------------------------------------------------===//

bool attn::holdsBackward(Operation *function) {
  return function->walk([](BackwardStepOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static LogicalResult checkOperands(BackwardStepOp step) {
  Type element = getElementTypeOrSelf(step.getQuery().getType());
  Type gradient = getElementTypeOrSelf(step.getDOutput().getType());
  if (!element.isF16() && !element.isBF16() && !isFloat8(element))
    return step.emitOpError()
           << "expected f16 or bf16 inputs of a backward on the GPU, got "
           << element;
  if (gradient != element && !(isFloat8(gradient) && isFloat8(element)))
    return step.emitOpError()
           << "expected d_output in the type of query on the GPU, got "
           << step.getDOutput().getType();
  AttentionDims dims = AttentionDims::get(step);
  for (auto [name, size] : {std::pair<StringRef, int64_t>{"D", dims.headDim},
                            {"Dv", dims.valueDim}})
    if (size % 8 != 0)
      return step.emitOpError()
             << "expected " << name << " to be a multiple of 8, got " << size;
  return success();
}

static int64_t getTileSize(Value tile) {
  return cast<ShapedType>(tile.getType()).getDimSize(kSequence);
}

/// Scores are added up in either order: there the keys stay if the loops are
/// inside of them.
bool BackwardNest::keysAreRows() {
  BackwardStepOp step = steps.front();
  if (!step.getDScores())
    return !step.getDQuery() || isFused();
  return !getSlice(step.getKey())->getParentOfType<scf::ForOp>();
}

int64_t BackwardNest::getTileM() {
  return getTileSize(steps.front().getQuery());
}

int64_t BackwardNest::getTileN() { return getTileSize(steps.front().getKey()); }

int64_t BackwardNest::getColumns() {
  AttentionDims dims = AttentionDims::get(steps.front());
  return llvm::alignTo(needsScoreGradient() ? dims.headDim : dims.valueDim, 16);
}

int64_t BackwardNest::getTileColumns() {
  bool isSliced = !hasDKey() || !steps.front().getDValue();
  const Schedule &schedule = attention.schedule.getValues();
  StringRef field = needsScoreGradient() ? "tile_d" : "tile_dv";
  if (!isSliced || !attention.schedule.getFields().has(field))
    return getColumns();
  return std::min(needsScoreGradient() ? schedule.tileD : schedule.tileDv,
                  getColumns());
}

StringRef BackwardNest::getGradientName(Value output) {
  auto outputs = attention.forall.getRegionIterArgs();
  if (!keysAreRows())
    return output == outputs.front() ? "d_query" : "";
  if (hasDKey() && output == outputs.front())
    return "d_key";
  bool isDValue = steps.front().getDValue() && output == outputs[hasDKey()];
  return isDValue ? "d_value" : "";
}

SmallVector<Value> TiledBackward::addOwnViews(tile::KernelOp kernel) {
  return llvm::map_to_vector(
      program->getOwnViews(), [&](tile::GlobalType type) -> Value {
        return kernel.getBody().front().addArgument(type, kernel.getLoc());
      });
}

bool TiledBackward::sumsAreTransposed() {
  BackwardNest &nest = nests.front();
  return nest.getColumns() ==
         nest.attention.schedule.getValues().warps * kRowsPerWarp;
}

ScheduleAttr TiledBackward::getRowSchedule() {
  BackwardNest &nest = nests.front();
  Schedule schedule = nest.attention.schedule.getValues();
  schedule.mma = MmaFamily::MmaSync;
  schedule.stages = 1;
  schedule.warps = nest.getTileM() / kRowsPerWarp;
  schedule.producerWarps = 0;
  schedule.fused = false;
  return ScheduleAttr::get(nest.attention.schedule.getContext(), schedule,
                           AttentionPass::Backward);
}

/// A warp has 16 rows of what it adds to dQ, as its fragments are in memory.
static LogicalResult checkSums(TiledBackward &backward) {
  BackwardNest &nest = backward.nests.front();
  int64_t rows = nest.attention.schedule.getValues().warps * kRowsPerWarp;
  if (backward.sumsAreTransposed() || nest.getTileM() == rows)
    return success();
  return nest.steps.front().emitOpError()
         << "expected tile_m or D to be 16 for each of the "
         << nest.attention.schedule.getValues().warps
         << " warps of a fused backward, got " << nest.getTileM() << " and "
         << nest.getColumns();
}

/// Tiles of blocks of mma.sync; what the first nest leaves for the others is
/// there for whole tiles of its rows.
static LogicalResult checkTiles(TiledBackward &backward) {
  int64_t firstM = backward.nests.front().getTileM();
  for (BackwardNest &nest : backward.nests) {
    int64_t m = nest.getTileM(), n = nest.getTileN();
    if (m % kRowsPerWarp != 0 || n % kRowsPerWarp != 0)
      return nest.steps.front().emitOpError()
             << "expected tile_m and tile_n to be multiples of " << kRowsPerWarp
             << " in a backward on the GPU, got " << m << " and " << n;
    int64_t warps = nest.attention.schedule.getValues().warps;
    int64_t rows = nest.keysAreRows() ? n : m;
    // Small-cache kernels have a check, and warps for the keys, of their own.
    if (!nest.attention.isSmallCache() && rows % (warps * kRowsPerWarp) != 0)
      return nest.steps.front().emitOpError()
             << "expected " << (nest.keysAreRows() ? "tile_n" : "tile_m")
             << " to be a multiple of " << kRowsPerWarp << " for each of the "
             << warps << " warps of a backward on the GPU, got " << rows;
    if (firstM % m != 0)
      return nest.steps.front().emitOpError()
             << "expected the tile_m of dK and dV to divide that of dQ, "
             << firstM << ", got " << m;
  }
  return success();
}

/// The schedule of the step where it is complete; else one for mma.sync.
static ScheduleAttr getNestSchedule(BackwardNest &nest) {
  BackwardStepOp step = nest.steps.front();
  if (step.getSchedule() && step.getSchedule()->getFields().has("warps"))
    return step.getScheduleAttr();
  AttentionDims dims = AttentionDims::get(step);
  Schedule schedule;
  schedule.tileM = nest.getTileM();
  schedule.tileN = nest.getTileN();
  schedule.tileD = dims.headDim;
  schedule.tileDv = dims.valueDim;
  schedule.stages = 1;
  schedule.warps =
      (nest.keysAreRows() ? schedule.tileN : schedule.tileM) / kRowsPerWarp;
  return ScheduleAttr::get(step.getContext(), schedule,
                           AttentionPass::Backward);
}

/// The nests of the steps, in order.
static SmallVector<BackwardNest, 0> findNests(Operation *function,
                                              StringRef name) {
  SmallVector<BackwardNest, 0> nests;
  function->walk([&](BackwardStepOp step) {
    auto forall = step->getParentOfType<scf::ForallOp>();
    if (nests.empty() || nests.back().attention.forall != forall) {
      nests.emplace_back();
      nests.back().attention.forall = forall;
    }
    nests.back().steps.push_back(step);
  });
  for (BackwardNest &nest : nests) {
    BackwardStepOp step = nest.steps.front();
    nest.entry = name.str() + (nest.isFused()      ? "_dqkv"
                               : step.getDQuery()  ? "_dq"
                               : !step.getDValue() ? "_dk"
                               : !step.getDKey()   ? "_dv"
                                                   : "_dkv");
    nest.attention.schedule = getNestSchedule(nest);
    nest.attention.semantics = "attention_backward";
    nest.attention.scale = step.getScaleValue();
    nest.attention.deterministic = !nest.isFused();
  }
  return nests;
}

/// Loops over the tiles of a nest: batch, head and rows, or of the gradient of
/// a score those of its tensor; of a fused backward batch and key head, and of
/// a sum by index its parts.
static int64_t getLoops(BackwardNest &nest) {
  scf::ForallOp forall = nest.attention.forall;
  auto found =
      forall->walk([](BackwardScatterOp) { return WalkResult::interrupt(); });
  if (found.wasInterrupted())
    return 1;
  if (nest.isFused())
    return 2;
  if (nest.steps.front().getDScores())
    return cast<ShapedType>(forall.getResult(0).getType()).getRank();
  return 3;
}

static LogicalResult checkNests(MutableArrayRef<BackwardNest> nests) {
  for (BackwardNest &nest : nests) {
    scf::ForallOp forall = nest.attention.forall;
    if (failed(
            checkNest(nest.steps.front(), forall, forall ? getLoops(nest) : 3)))
      return failure();
  }
  return success();
}

/// Fails for a tile that is no slice, as only IR by hand has.
static LogicalResult checkSlices(Operation *function) {
  WalkResult result = function->walk([](Operation *op) {
    SmallVector<Value> tiles;
    if (auto step = dyn_cast<BackwardStepOp>(op))
      tiles = {step.getQuery(),   step.getKey(),  step.getValue(),
               step.getDOutput(), step.getBias(), step.getLse()};
    else if (auto delta = dyn_cast<BackwardDeltaOp>(op))
      tiles = {delta.getOutput(), delta.getDLse()};
    bool areSlices =
        llvm::all_of(tiles, [](Value tile) { return !tile || getSlice(tile); });
    if (areSlices)
      return WalkResult::advance();
    op->emitOpError() << "expected tiles that are slices of tensors, as "
                         "--attn-tile-backward gives";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

FailureOr<TiledBackward> TiledBackward::find(Operation *function,
                                             StringRef name) {
  TiledBackward backward;
  WalkResult forward = function->walk([](OnlineAttentionOp op) {
    op.emitOpError() << "expected no attention beside a backward in a function "
                        "on a GPU: put it into a function of a module of its "
                        "own";
    return WalkResult::interrupt();
  });
  if (forward.wasInterrupted())
    return failure();
  if (failed(checkSlices(function)))
    return failure();
  backward.nests = findNests(function, name);
  if (failed(checkNests(backward.nests)))
    return failure();
  takeScoreNests(backward, function);
  unsigned numDeltas = 0;
  function->walk([&](BackwardDeltaOp op) {
    backward.delta = op;
    ++numDeltas;
  });
  bool isComplete = backward.nests.size() == 1
                        ? backward.isFused()
                        : backward.nests.size() > 1 &&
                              !backward.nests[0].keysAreRows() &&
                              backward.nests[1].hasDKey();
  BackwardStepOp first;
  if (!backward.nests.empty())
    first = backward.nests[0].steps[0];
  bool hasLse = first && first.getLse();
  if (numDeltas != hasLse || !isComplete)
    return function->emitError()
           << "expected one backward in a function on a GPU, as "
              "--attn-tile-backward gives";
  if (!hasLse &&
      (backward.isFused() || backward.nests[0].attention.isSmallCache()))
    return first.emitOpError()
           << "expected normalization #attn.softmax with a fused or "
              "small-cache backward on the GPU, got "
           << first.getNormalization();
  if (failed(checkOperands(backward.nests[0].steps[0])) ||
      failed(checkTiles(backward)))
    return failure();
  if (backward.isFused()) {
    if (failed(checkSums(backward)))
      return failure();
    Value sums = backward.nests[0].attention.forall.getResult(2);
    if (sums.use_empty())
      return backward.nests[0].steps[0]->emitOpError()
             << "expected the function to return the dQ of a fused backward, "
                "got no use of it";
    backward.rounding =
        (*sums.getUsers().begin())->getParentOfType<scf::ForallOp>();
  }
  if (failed(checkGradientMods(backward)) || failed(checkScores(backward)) ||
      failed(addOperands(backward)))
    return failure();
  return backward;
}
