//===- KernelOperands.cpp - What a kernel reads and writes -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelOperands.h"

#include "Prologue.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attn;

/// The tensor that a tile of an operand is sliced from.
static Value sourceOf(Value tile) {
  if (auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>())
    return slice.getSource();
  return tile;
}

RankedTensorType TiledAttention::getQueryType() const {
  OnlineAttentionOp op = first;
  return cast<RankedTensorType>(sourceOf(op.getQuery()).getType());
}

RankedTensorType TiledAttention::getKeyType() const {
  OnlineAttentionOp op = first;
  return cast<RankedTensorType>(sourceOf(op.getKey()).getType());
}

Value TiledAttention::getSink() const {
  NormalizeOp op = normalize;
  return op.getSink() ? sourceOf(op.getSink()) : Value();
}

Value TiledAttention::getOutput(StringRef name) const {
  for (const KernelOperand &operand : operands)
    if (operand.isOutput && operand.name == name)
      return operand.tensor;
  return Value();
}

int64_t TiledAttention::getPaddedHeadDim() const {
  return llvm::alignTo(AttentionDims::get(first).headDim, 16);
}

int64_t TiledAttention::getPaddedValueDim() const {
  return llvm::alignTo(AttentionDims::get(first).valueDim, 16);
}

int64_t TiledAttention::getTileHeads() const {
  OnlineAttentionOp op = first;
  return cast<RankedTensorType>(op.getQuery().getType()).getDimSize(kHead);
}

int64_t TiledAttention::getTileDv() const {
  int64_t columns = schedule.getTileDv();
  return columns ? columns : getPaddedValueDim();
}

tile::GlobalType attn::getGlobalType(const KernelOperand &operand) {
  return tile::GlobalType::get(operand.type.getContext(),
                               operand.type.getShape(),
                               operand.type.getElementType());
}

/// Adds `tensor` to the operands unless it is there.
static void addInput(TiledAttention &attention, StringRef name, Value tensor,
                     int64_t vectorElements) {
  for (const KernelOperand &operand : attention.operands)
    if (operand.tensor == tensor)
      return;
  KernelOperand operand;
  operand.name = name.str();
  operand.tensor = tensor;
  operand.type = cast<RankedTensorType>(tensor.getType());
  operand.vectorElements = vectorElements;
  attention.operands.push_back(operand);
}

/// The tensors that an op reads elements of.
static SmallVector<Value> getTensorsRead(Operation *op) {
  if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
    bool isInRegion =
        isa_and_nonnull<OnlineAttentionOp, BackwardStepOp, BackwardScatterOp,
                        CreateBlockMaskOp, KeyBoundsOp, DeviceAssertOp>(
            op->getParentOp());
    if (!isInRegion && matchPattern(read.getTensor(), m_Constant()))
      return {};
    return {read.getTensor()};
  }
  if (auto listed = dyn_cast<BlockListedOp>(op))
    return {listed.getNumBlocks(), listed.getIndices()};
  if (auto segment = dyn_cast<SegmentOp>(op))
    return {segment.getOffsets()};
  return {};
}

SetVector<Value> attn::findTensorsRead(const TiledAttention &attention) {
  SetVector<Value> reads;
  SmallVector<Operation *> worklist;
  auto collect = [&](Operation *op) {
    reads.insert_range(getTensorsRead(op));
    worklist.push_back(op);
  };
  scf::ForallOp forall = attention.forall;
  forall->walk<WalkOrder::PreOrder>(collect);
  for (const PrologueOp &prologue : attention.prologue)
    prologue.op->walk<WalkOrder::PreOrder>(collect);
  // And outside, for scalars used inside.
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty())
    for (Value operand : worklist.pop_back_val()->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || forall->isAncestor(op) || !seen.insert(op).second ||
          !operand.getType().isIntOrIndexOrFloat())
        continue;
      reads.insert_range(getTensorsRead(op));
      worklist.push_back(op);
    }
  reads.remove_if(
      [](Value tensor) { return isPrologueOp(tensor.getDefiningOp()); });
  return reads;
}

/// Tensors that are read element by element.
static void addCaptures(TiledAttention &attention) {
  unsigned count = 0;
  for (Value tensor : findTensorsRead(attention)) {
    size_t before = attention.operands.size();
    addInput(attention, "capture" + std::to_string(count), tensor, 1);
    count += attention.operands.size() > before;
  }
}

/// Outputs, in the order of the normalize op's results.
static LogicalResult addOutputs(TiledAttention &attention) {
  for (auto [i, result] : llvm::enumerate(attention.normalize.getResults())) {
    if (!result)
      continue;
    tensor::ParallelInsertSliceOp insert;
    for (Operation *user : result.getUsers())
      if (auto op = dyn_cast<tensor::ParallelInsertSliceOp>(user))
        insert = op;
    if (!insert)
      return attention.normalize.emitOpError()
             << "expected result #" << i
             << " to be inserted into a result of the scf.forall";
    KernelOperand operand;
    operand.name = i == 0 ? "output" : "lse";
    operand.tensor = insert.getDest();
    operand.type = cast<RankedTensorType>(insert.getDest().getType());
    operand.isOutput = true;
    operand.vectorElements = i == 0 ? 2 : 1;
    attention.operands.push_back(operand);
  }
  return success();
}

/// Fields that the small-cache kernels need.
static LogicalResult checkSmallCache(TiledAttention &attention) {
  ScheduleAttr schedule = attention.schedule;
  int64_t chunk = schedule.getChunkRows();
  if (chunk < 1 || chunk % schedule.getTileM() != 0)
    return attention.first.emitOpError()
           << "expected chunk_rows to be a positive multiple of tile_m, got "
           << schedule;
  for (int64_t tile : {schedule.getTileD(), schedule.getTileDv()})
    if (tile < 1 || tile % 16 != 0)
      return attention.first.emitOpError()
             << "expected tile_d and tile_dv to be positive multiples of 16, "
                "got "
             << schedule;
  if (getElementTypeOrSelf(attention.first.getQuery().getType()).isF32())
    return attention.first.emitOpError()
           << "expected f16 or bf16 inputs with kind = \"small_cache\" on the "
              "GPU, got f32";
  if (!schedule.getSpill().empty() && schedule.getSpill() != "probabilities")
    return attention.first.emitOpError()
           << "expected spill = \"probabilities\" on the GPU, got " << schedule;
  return success();
}

/// What this target computes: types of tensor cores and head dims of whole
/// 16-byte chunks.
static LogicalResult checkSupported(TiledAttention &attention, bool allowTf32) {
  OnlineAttentionOp op = attention.first;
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return op.emitOpError()
           << "expected f16, bf16 or f32 (computed as tf32) inputs on the GPU, "
              "got "
           << element;
  if (element.isF32() && !allowTf32)
    return op.emitOpError()
           << "expected f16 or bf16 inputs on a GPU, got f32; products rounded "
              "to tf32 need the option allow-tf32";
  AttentionDims dims = AttentionDims::get(op);
  std::pair<StringRef, int64_t> headDims[] = {{"D", dims.headDim},
                                              {"Dv", dims.valueDim}};
  for (auto [name, size] : headDims)
    if (size % 8 != 0)
      return op.emitOpError()
             << "expected " << name << " to be a multiple of 8, got " << size;
  int64_t rowsPerWarp =
      attention.schedule.getTileM() / attention.schedule.getWarps();
  if (rowsPerWarp % 16 != 0 || attention.schedule.getTileN() % 16 != 0)
    return op.emitOpError() << "expected tile_m to be a multiple of 16 * warps "
                               "and tile_n of 16, "
                               "got "
                            << attention.schedule;
  return attention.isSmallCache() ? checkSmallCache(attention) : success();
}

FailureOr<TiledAttention> attn::findTiledAttention(Operation *function,
                                                   bool allowTf32) {
  TiledAttention attention;
  // A step for each loop over keys, one end.
  SmallVector<NormalizeOp> ends;
  function->walk([&](OnlineAttentionOp op) { attention.first = op; });
  function->walk([&](NormalizeOp op) { ends.push_back(op); });
  if (ends.size() > 1)
    return ends[1].emitOpError()
           << "expected one attention in a function on a GPU, got "
           << ends.size()
           << ": put each into a function of a module of its own";
  if (ends.size() == 1)
    attention.normalize = ends.front();
  if (attention.first)
    attention.forall = attention.first->getParentOfType<scf::ForallOp>();
  if (!attention.forall || !attention.normalize) {
    function->emitError() << "expected one attention in normal form tiled";
    return failure();
  }
  attention.schedule = attention.first.getScheduleAttr();
  attention.scale = attention.first.getScaleValue();
  if (!attention.schedule) {
    attention.first.emitOpError() << "expected a schedule";
    return failure();
  }
  if (failed(checkSupported(attention, allowTf32)))
    return failure();
  OnlineAttentionOp op = attention.first;
  // Tiles are copied by 16 bytes.
  auto addTiled = [&](StringRef name, Value slice) {
    Type element = getElementTypeOrSelf(slice.getType());
    addInput(attention, name, sourceOf(slice),
             128 / element.getIntOrFloatBitWidth());
  };
  addTiled("query", op.getQuery());
  addTiled("key", op.getKey());
  addTiled("value", op.getValue());
  if (op.getBias())
    addInput(attention, "bias", sourceOf(op.getBias()), 1);
  if (Value sink = attention.getSink())
    addInput(attention, "sink", sink, 1);
  findPrologue(attention, attention.forall);
  addCaptures(attention);
  if (failed(addOutputs(attention)))
    return failure();
  return attention;
}
