//===- KernelOperands.cpp - What a kernel reads and writes -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/KernelOperands.h"

#include "Kernel/Appends.h"
#include "Kernel/KernelChecks.h"
#include "Kernel/Prologue.h"
#include "Kernel/Ragged.h"
#include "Kernel/RowChains.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Schedule/Family.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attn;

/// The tensor that a tile of an operand is sliced from: of pages, their pool,
/// of columns, the whole rows, of rows that a kernel before computes, what it
/// reads.
static Value sourceOf(Value tile) {
  if (PagedOp pages = getPages(tile))
    return skipColumns(pages.getPool());
  if (RaggedOp ragged = getRagged(tile))
    return skipRowOps(ragged.getPacked());
  auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return tile;
  Value source = skipRowOps(slice.getSource());
  return source == slice.getSource() ? skipColumns(source) : source;
}

bool attn::readsValueInKey(const TiledAttention &attention) {
  OnlineAttentionOp step = attention.first;
  auto key = step.getKey().getDefiningOp<tensor::ExtractSliceOp>(),
       value = step.getValue().getDefiningOp<tensor::ExtractSliceOp>();
  int64_t columns = attention.getTileDv();
  auto lastColumn = static_cast<int64_t>(
      llvm::alignTo(attention.getPaddedValueDim(), columns));
  return key && value && !attention.isSmallCache() &&
         (!getFamily(attention.schedule.getValues().mma).hasRoles() ||
          attention.getSharing() > 1) &&
         columns % 64 == 0 && lastColumn <= attention.getPaddedHeadDim() &&
         readsValueInKey(step, key.getSource(), value.getSource());
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

Value TiledAttention::getDescale() const {
  NormalizeOp op = normalize;
  return op.getDescale() ? sourceOf(op.getDescale()) : Value();
}

Value TiledAttention::getOutput(StringRef name) const {
  for (const KernelOperand &operand : operands)
    if (operand.isOutput && operand.name == name)
      return operand.tensor;
  return Value();
}

int64_t TiledAttention::getPadding() const {
  OnlineAttentionOp op = first;
  return isByte(op.getKey().getType()) ? 32 : 16;
}

int64_t TiledAttention::getPaddedHeadDim() const {
  return llvm::alignTo(AttentionDims::get(first).headDim, getPadding());
}

int64_t TiledAttention::getPaddedValueDim() const {
  return llvm::alignTo(AttentionDims::get(first).valueDim, getPadding());
}

int64_t TiledAttention::getTileHeads() const {
  OnlineAttentionOp op = first;
  return cast<RankedTensorType>(op.getQuery().getType()).getDimSize(kHead);
}

int64_t TiledAttention::getTileDv() const {
  return schedule.getFields().has("tile_dv") ? schedule.getValues().tileDv
                                             : getPaddedValueDim();
}

int64_t TiledAttention::getSharing() const {
  return schedule ? schedule.getValues().getSharing() : 1;
}

tile::GlobalType attn::getGlobalType(const KernelOperand &operand) {
  return tile::GlobalType::get(operand.type.getContext(),
                               operand.type.getShape(),
                               operand.type.getElementType());
}

void attn::addInput(TiledAttention &attention, StringRef name, Value tensor,
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

void attn::markMapped(TiledAttention &attention, Value tile) {
  if (!getHeadMap(tile))
    return;
  for (KernelOperand &operand : attention.operands)
    operand.isMapped |= operand.tensor == sourceOf(tile);
}

/// The tensors that an op reads elements of.
static SmallVector<Value> getTensorsRead(Operation *op) {
  if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
    bool isInRegion =
        isa_and_nonnull<OnlineAttentionOp, BackwardStepOp, BackwardScatterOp,
                        CreateBlockMaskOp, KeyBoundsOp, DeviceAssertOp,
                        OutputModOp>(op->getParentOp());
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

/// The tensor of the function's arguments that an op reads the size of.
static SmallVector<Value> getTensorsSized(Operation *op) {
  auto size = dyn_cast<tensor::DimOp>(op);
  auto argument =
      size ? dyn_cast<BlockArgument>(size.getSource()) : BlockArgument();
  if (!argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return {};
  return {argument};
}

/// What `getTensors` finds in an attention and in what is computed before it.
static SetVector<Value>
collectTensors(const TiledAttention &attention,
               llvm::function_ref<SmallVector<Value>(Operation *)> getTensors) {
  SetVector<Value> reads;
  SmallVector<Operation *> worklist;
  auto collect = [&](Operation *op) {
    reads.insert_range(getTensors(op));
    worklist.push_back(op);
  };
  scf::ForallOp forall = attention.forall;
  forall->walk<WalkOrder::PreOrder>(collect);
  for (OutputModOp mod : attention.outputMods)
    mod->walk<WalkOrder::PreOrder>(collect);
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
      reads.insert_range(getTensors(op));
      worklist.push_back(op);
    }
  reads.remove_if(
      [](Value tensor) { return isPrologueOp(tensor.getDefiningOp()); });
  return reads;
}

SetVector<Value> attn::findTensorsRead(const TiledAttention &attention) {
  return collectTensors(attention, getTensorsRead);
}

void attn::addSizes(TiledAttention &attention, const TiledAttention &nest) {
  unsigned count =
      llvm::count_if(attention.operands, [](const KernelOperand &operand) {
        return StringRef(operand.name).starts_with("capture");
      });
  for (Value tensor : collectTensors(nest, getTensorsSized)) {
    size_t before = attention.operands.size();
    addInput(attention, "capture" + std::to_string(count), tensor, 1);
    count += attention.operands.size() > before;
  }
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

std::string TiledAttention::getAmaxName(OutputModOp mod) const {
  unsigned number = 0;
  for (OutputModOp op : outputMods)
    number += op.getAmax() && op->isBeforeInBlock(mod);
  return number == 0 ? "amax" : "amax" + std::to_string(number);
}

/// The result of the nest that `stored`, tiles of an output or of values of its
/// rows, is inserted into.
static LogicalResult addOutput(TiledAttention &attention,
                               const std::string &name, Value stored) {
  tensor::ParallelInsertSliceOp insert;
  for (Operation *user : stored.getUsers())
    if (auto op = dyn_cast<tensor::ParallelInsertSliceOp>(user))
      insert = op;
  if (!insert)
    return stored.getDefiningOp()->emitOpError()
           << "expected " << name
           << " to be inserted into a result of the scf.forall";
  KernelOperand operand;
  operand.name = name;
  operand.tensor = insert.getDest();
  operand.type = cast<RankedTensorType>(insert.getDest().getType());
  operand.isOutput = true;
  bool isRow = operand.type.getRank() == kHeadDim;
  operand.vectorElements = isRow ? 1 : 2;
  if (failed(packOutput(attention, operand)))
    return failure();
  attention.operands.push_back(operand);
  return success();
}

/// Outputs, in the order of the normalize op's results, then of what follows.
static LogicalResult addOutputs(TiledAttention &attention) {
  NormalizeOp end = attention.normalize;
  MutableArrayRef<OutputModOp> mods = attention.outputMods;
  if (failed(addOutput(attention, "output",
                       mods.empty() ? end.getOutput()
                                    : Value(mods.back().getResult()))))
    return failure();
  if (end.getLse()) {
    if (failed(addOutput(attention, "lse", end.getLse())))
      return failure();
    attention.lse = attention.operands.back().tensor;
  }
  for (OutputModOp mod : mods)
    if (mod.getAmax() &&
        failed(addOutput(attention, attention.getAmaxName(mod), mod.getAmax())))
      return failure();
  return success();
}

/// The workspace of a stack of states, as the kernels see it; of sequences
/// behind each other one split is behind another. How many there are may be up
/// to a plan.
static WorkspaceView getPartialView(StringRef name, Value stack, bool isPacked,
                                    bool isPlanned) {
  auto type = cast<RankedTensorType>(stack.getType());
  SmallVector<int64_t> shape(type.getShape().drop_front());
  if (isPacked && shape.size() > kHeadDim)
    shape = {ShapedType::kDynamic, shape[kHead], shape[kHeadDim]};
  else if (isPacked)
    shape = {shape[kHead], ShapedType::kDynamic};
  else
    shape[kBatch] = isPlanned || type.isDynamicDim(0) || type.isDynamicDim(1)
                        ? ShapedType::kDynamic
                        : type.getDimSize(0) * type.getDimSize(1);
  return {name.str(), tile::GlobalType::get(type.getContext(), shape,
                                            type.getElementType())};
}

/// The nest whose states `combine` takes.
static scf::ForallOp getPartialNest(CombineOp combine) {
  auto slice = combine.getAcc().getDefiningOp<tensor::ExtractSliceOp>();
  return slice ? slice.getSource().getDefiningOp<scf::ForallOp>()
               : scf::ForallOp();
}

/// Finds the nest of the key loops that `attention.normalize` ends: the one
/// around it, or that of its splits.
static void findKeyNest(TiledAttention &attention) {
  attention.forall = attention.normalize->getParentOfType<scf::ForallOp>();
  attention.combine = attention.normalize.getAcc().getDefiningOp<CombineOp>();
  if (!attention.combine)
    return;
  attention.forall = getPartialNest(attention.combine);
}

/// Adds the workspaces of the states of splits.
static void addPartials(TiledAttention &attention) {
  if (!attention.combine)
    return;
  OnlineAttentionOp step = attention.first;
  bool isPacked = static_cast<bool>(getRagged(step.getQuery()));
  SmallVector<std::string> names = {"partial_output"};
  for (const RowValue &row :
       attention.combine.getNormalization().getRowValues())
    names.push_back(("partial_" + row.name).str());
  for (auto [name, stack] :
       llvm::zip_equal(names, attention.forall.getResults()))
    attention.partials.push_back(
        getPartialView(name, stack, isPacked, plansRanges(attention)));
}

/// The nest that ends in `end`, without operands.
static FailureOr<TiledAttention> findNest(NormalizeOp end, bool allowTf32) {
  TiledAttention attention;
  attention.normalize = end;
  findOutputMods(attention);
  findKeyNest(attention);
  // A step for each loop over keys.
  if (attention.forall)
    attention.forall->walk([&](OnlineAttentionOp op) { attention.first = op; });
  if (!attention.first)
    return end.emitOpError() << "expected one attention in normal form tiled";
  if (failed(checkNest(end, end->getParentOfType<scf::ForallOp>(), 3)) ||
      failed(checkNest(attention.first, attention.forall,
                       attention.combine ? 4 : 3)))
    return failure();
  attention.schedule = attention.first.getScheduleAttr();
  attention.scale = attention.first.getScaleValue();
  if (!attention.schedule || !attention.schedule.isComplete())
    return attention.first.emitOpError() << "expected a complete schedule, as "
                                            "--attn-select-schedule gives";
  addPartials(attention);
  if (failed(checkSupported(attention, allowTf32)) ||
      failed(addWorklist(attention)))
    return failure();
  return attention;
}

/// Finds inputs and outputs; before the tensors that are read, the prologue of
/// `nests`.
static LogicalResult addOperands(TiledAttention &attention,
                                 ArrayRef<scf::ForallOp> nests) {
  OnlineAttentionOp op = attention.first;
  // Tiles are copied by 16 bytes.
  auto addTiled = [&](StringRef name, Value slice) {
    Type element = getElementTypeOrSelf(slice.getType());
    addInput(attention, name, sourceOf(slice),
             128 / element.getIntOrFloatBitWidth());
    attention.operands.back().isPaged |= static_cast<bool>(getPages(slice));
    markMapped(attention, slice);
  };
  addTiled("query", op.getQuery());
  addTiled("key", op.getKey());
  addTiled("value", op.getValue());
  if (op.getBias())
    addInput(attention, "bias", sourceOf(op.getBias()), 1);
  if (Value sink = attention.getSink())
    addInput(attention, "sink", sink, 1);
  if (Value descale = attention.getDescale())
    addInput(attention, "descale_value", descale, 1);
  for (auto [name, slice] :
       {std::pair<StringRef, Value>{"key_table", op.getKey()},
        {"value_table", op.getValue()}})
    if (PagedOp pages = getPages(slice)) {
      addInput(attention, name, pages.getTable(), 1);
      if (Value offsets = pages.getOffsets())
        addInput(attention, (name + "_offsets").str(), offsets, 1);
    }
  if (failed(addSequences(attention)))
    return failure();
  if (op.getKeyLengths() &&
      !op.getKeyLengths().getDefiningOp<SequenceLengthsOp>())
    addInput(attention, "key_lengths", op.getKeyLengths(), 1);
  if (!nests.empty())
    findPrologue(attention, nests);
  addAppended(attention);
  if (failed(addRowOperands(attention)))
    return failure();
  addCaptures(attention);
  addSizes(attention, attention);
  return addOutputs(attention);
}

//===----------------------------------------------------------------------===//
// Repaired rows
//===----------------------------------------------------------------------===//

/// The CTAs of what repairs have a tile each, all columns of it, and do not
/// wait for each other: they may end at once.
static LogicalResult checkRepair(const TiledForward &forward) {
  const TiledAttention &whole = *forward.whole;
  Schedule schedule = whole.schedule.getValues();
  bool isLargeCache = !forward.main.isSmallCache() && !whole.isSmallCache();
  if (isLargeCache && schedule.persistentCtas == 0 &&
      whole.getClusterCtas() == 1 && whole.getDvSlices() == 1)
    return success();
  OnlineAttentionOp step = whole.first;
  return step.emitOpError()
         << "expected large-cache schedules of a repaired attention, and that "
            "of what repairs without a persistent grid, clusters or slices of "
            "Dv, got "
         << whole.schedule;
}

/// Gives both attentions the inputs of both.
static void shareInputs(TiledAttention &main, TiledAttention &whole) {
  SmallVector<KernelOperand> inputs, outputs[2];
  unsigned captures = 0;
  auto take = [&](const TiledAttention &attention,
                  SmallVectorImpl<KernelOperand> &own) {
    for (KernelOperand operand : attention.operands) {
      bool isKnown = llvm::any_of(inputs, [&](const KernelOperand &known) {
        return known.tensor == operand.tensor;
      });
      if (operand.isOutput) {
        own.push_back(operand);
      } else if (!isKnown) {
        if (StringRef(operand.name).starts_with("capture"))
          operand.name = "capture" + std::to_string(captures++);
        inputs.push_back(operand);
      }
    }
  };
  take(main, outputs[0]);
  take(whole, outputs[1]);
  main.operands = inputs;
  main.operands.append(outputs[0]);
  whole.operands = inputs;
  whole.operands.append(outputs[1]);
}

/// The LSE is a workspace unless the function returns it.
static void keepLse(TiledAttention &attention) {
  KernelOperand lse = attention.operands.pop_back_val();
  attention.lseView = WorkspaceView{"row_lse", getGlobalType(lse)};
}

FailureOr<TiledForward> attn::findTiledForward(Operation *function,
                                               bool allowTf32) {
  if (failed(appendInPlace(function)))
    return failure();
  SmallVector<NormalizeOp> ends;
  RepairOp repair;
  function->walk([&](NormalizeOp op) { ends.push_back(op); });
  function->walk([&](RepairOp op) { repair = op; });
  if (ends.size() > (repair ? 2 : 1))
    return ends[1].emitOpError()
           << "expected one attention in a function on a GPU, got "
           << ends.size()
           << ": put each into a function of a module of its own";
  if (ends.size() != (repair ? 2 : 1))
    return function->emitError()
           << "expected one attention in normal form tiled";
  TiledForward forward;
  FailureOr<TiledAttention> main = findNest(ends[0], allowTf32);
  if (failed(main))
    return failure();
  forward.main = std::move(*main);
  if (repair) {
    FailureOr<TiledAttention> whole = findNest(ends[1], allowTf32);
    if (failed(whole))
      return failure();
    if (forward.main.forall == repair.getWhole().getDefiningOp())
      std::swap(forward.main, *whole);
    forward.whole = std::move(*whole);
    forward.whole->onlyBelow = repair.getBelow().convertToDouble();
    if (failed(checkRepair(forward)))
      return failure();
  }
  SmallVector<scf::ForallOp> nests = {forward.main.forall};
  if (repair)
    nests.push_back(forward.whole->forall);
  if (failed(addOperands(forward.main, nests)))
    return failure();
  if (!repair)
    return forward;
  forward.whole->prologue = forward.main.prologue;
  if (failed(addOperands(*forward.whole, {})))
    return failure();
  if (repair.getLseResult().use_empty()) {
    keepLse(forward.main);
    keepLse(*forward.whole);
  }
  shareInputs(forward.main, *forward.whole);
  return forward;
}
