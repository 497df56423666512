//===- TiledBackward.cpp - What the kernels of a backward take ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TiledBackward.h"

#include "Backward.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"

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

FailureOr<TiledBackward> TiledBackward::find(Operation *function,
                                             StringRef name) {
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
  backward.plan = getPlan(backward, name);
  return backward;
}
