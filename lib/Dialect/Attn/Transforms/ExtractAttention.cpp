//===- ExtractAttention.cpp - An attention alone --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/ExtractAttention.h"

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

bool attn::isAttention(Operation *op) {
  return isa<AttentionOp, AttentionBackwardOp, LinearAttentionOp>(op);
}

SmallVector<Operation *> attn::findAttentions(ModuleOp module) {
  SmallVector<Operation *> attentions;
  module.walk([&](Operation *op) {
    if (isAttention(op))
      attentions.push_back(op);
  });
  return attentions;
}

SmallVector<Operation *> attn::findPrograms(ModuleOp module) {
  SmallVector<Operation *> found = findAttentions(module);
  if (found.empty())
    module.walk([&](AppendOp append) { found.push_back(append); });
  if (found.empty())
    module.walk([&](MergeOp merge) { found.push_back(merge); });
  return found;
}

/// Everything that the attention reads: operands, and what its regions
/// capture.
static SetVector<Value> getReadValues(Operation *attention) {
  SetVector<Value> values;
  values.insert_range(attention->getOperands());
  for (Region &region : attention->getRegions())
    getUsedValuesDefinedAbove(region, values);
  return values;
}

/// True if `value` is the keys or the values of a forward.
static bool isCache(Value value, Operation *attention) {
  auto forward = dyn_cast<AttentionOp>(attention);
  return forward && (value == forward.getKey() || value == forward.getValue());
}

/// True if a kernel reads what `value` is computed of in its place.
static bool isView(Value value) {
  return isa_and_present<RaggedOp, SequenceLengthsOp, SelectHeadsOp>(
      value.getDefiningOp());
}

/// The attn.pack of a result, where that alone uses it; null if there is none.
/// On a GPU a kernel writes its results there.
static PackOp getPack(Value result) {
  return result.hasOneUse() ? dyn_cast<PackOp>(*result.user_begin()) : PackOp();
}

/// Adds a view of sequences, lengths, or rows that are changed, with
/// what changes them before.
static void addView(Operation *view, SetVector<Operation *> &ops,
                    SetVector<Value> &inputs) {
  for (Value operand : view->getOperands())
    if (Operation *before = operand.getDefiningOp(); getRowSource(before))
      addView(before, ops, inputs);
    else
      inputs.insert(operand);
  ops.insert(view);
}

/// True if kernels of `op` change `rows` that it reads.
static bool isChangedInKernel(Value rows, Operation *op) {
  if (isa<AppendOp>(op))
    return getOnlyRowChain(rows);
  return isa<AttentionOp, AttentionBackwardOp>(op) &&
         getRowSource(rows.getDefiningOp());
}

/// Adds an append, with what changes its rows.
static void addAppend(AppendOp append, SetVector<Operation *> &ops,
                      SetVector<Value> &inputs) {
  for (Value operand : append->getOperands())
    if (isChangedInKernel(operand, append))
      addView(operand.getDefiningOp(), ops, inputs);
    else
      inputs.insert(operand);
  ops.insert(append);
}

/// Adds the scalar ops that compute `value` to `scalars`, operands first, and
/// the values that they start from to `inputs`.
static void addScalar(Value value, SetVector<Operation *> &scalars,
                      SetVector<Value> &inputs) {
  Operation *op = value.getDefiningOp();
  bool isCopied = op && !isa<RankedTensorType>(value.getType()) &&
                  op->getNumRegions() == 0 && isMemoryEffectFree(op);
  if (!isCopied) {
    inputs.insert(value);
    return;
  }
  if (scalars.contains(op))
    return;
  for (Value operand : op->getOperands())
    addScalar(operand, scalars, inputs);
  scalars.insert(op);
}

/// True if `tensor` is among what is read already, or made by `ops`.
static bool isKnown(Value tensor, const SetVector<Operation *> &ops,
                    const SetVector<Value> &inputs) {
  Operation *op = tensor.getDefiningOp();
  return inputs.contains(tensor) || (op && ops.contains(op));
}

/// Adds a slice of columns of what is read already: it is read there.
static void addColumns(Operation *slice, SetVector<Operation *> &ops,
                       SetVector<Value> &inputs) {
  for (Value size : slice->getOperands().drop_front()) {
    auto dim = size.getDefiningOp<tensor::DimOp>();
    if (!dim || !isKnown(dim.getSource(), ops, inputs)) {
      addScalar(size, ops, inputs);
      continue;
    }
    addScalar(dim.getIndex(), ops, inputs);
    ops.insert(dim);
  }
  ops.insert(slice);
}

/// Adds to `ops` the view that `cache` is, through which the loads of a kernel
/// read, and with `appends` what is appended to it before; to `inputs` what
/// these take.
static void addCache(Value cache, bool appends, SetVector<Operation *> &ops,
                     SetVector<Value> &inputs) {
  if (auto paged = cache.getDefiningOp<PagedOp>()) {
    addCache(paged.getPool(), appends, ops, inputs);
    inputs.insert(paged.getTable());
    if (Value offsets = paged.getOffsets())
      inputs.insert(offsets);
    ops.insert(paged);
  } else if (auto append = cache.getDefiningOp<AppendOp>(); append && appends) {
    addAppend(append, ops, inputs);
  } else if (auto heads = cache.getDefiningOp<SelectHeadsOp>()) {
    addCache(heads.getSource(), appends, ops, inputs);
    inputs.insert(heads.getMap());
    ops.insert(heads);
  } else if (isView(cache)) {
    addView(cache.getDefiningOp(), ops, inputs);
  } else if (Value whole = skipColumns(cache);
             whole != cache && isKnown(whole, ops, inputs)) {
    addColumns(cache.getDefiningOp(), ops, inputs);
  } else {
    inputs.insert(cache);
  }
}

/// The attn.pack of each of `results`, where all of them have one.
static SmallVector<PackOp> getPacks(ArrayRef<Value> results) {
  SmallVector<PackOp> packs;
  for (Value result : results)
    if (PackOp pack = getPack(result);
        pack && pack.getInit().getDefiningOp<tensor::EmptyOp>())
      packs.push_back(pack);
  if (packs.size() != results.size())
    packs.clear();
  return packs;
}

/// Each attn.output_mod behind the output of a forward or a gradient of a
/// backward, in their order, where everything else that reads a result is
/// behind them.
static SmallVector<OutputModOp> getOutputMods(Operation *attention) {
  SmallVector<Value> outputs;
  if (auto forward = dyn_cast<AttentionOp>(attention))
    outputs = {forward.getOutput()};
  else if (auto backward = dyn_cast<AttentionBackwardOp>(attention))
    outputs = getGradients(backward);
  SmallVector<OutputModOp> mods;
  SmallVector<Value> results(attention->getResults());
  for (Value output : outputs)
    while (OutputModOp mod = getOutputMod(output)) {
      if (mod->getBlock() != attention->getBlock())
        break;
      mods.push_back(mod);
      llvm::append_range(results, mod->getResults());
      output = mod.getResult();
    }
  if (mods.empty())
    return mods;
  llvm::sort(
      mods, [](OutputModOp a, OutputModOp b) { return a->isBeforeInBlock(b); });
  DominanceInfo dominance;
  for (Value result : results)
    for (Operation *user : result.getUsers())
      if (!llvm::is_contained(mods, user) &&
          !dominance.properlyDominates(mods.back().getOperation(), user))
        return {};
  return mods;
}

SmallVector<SumHeadsOp> attn::getHeadSums(Operation *attention) {
  SmallVector<SumHeadsOp> sums;
  auto backward = dyn_cast<AttentionBackwardOp>(attention);
  if (!backward)
    return sums;
  DominanceInfo dominance;
  for (auto [operand, gradient] :
       {std::pair<Value, Value>{backward.getKey(), backward.getDKey()},
        {backward.getValue(), backward.getDValue()}}) {
    auto view = operand.getDefiningOp<SelectHeadsOp>();
    SumHeadsOp sum =
        view ? getHeadSum(gradient, view.getSource()) : SumHeadsOp();
    if (sum && dominance.properlyDominates(sum.getMap(), attention))
      sums.push_back(sum);
  }
  return sums;
}

/// Adds what makes the destination of `sum`, and the sum, to `ends`, and what
/// these take to `scalars` and `inputs`.
static void addHeadSum(SumHeadsOp sum, SmallVectorImpl<Operation *> &ends,
                       SetVector<Operation *> &scalars,
                       SetVector<Value> &inputs) {
  Value init = sum.getInit();
  auto resize = init.getDefiningOp<tensor::CastOp>();
  auto empty =
      (resize ? resize.getSource() : init).getDefiningOp<tensor::EmptyOp>();
  inputs.insert(sum.getMap());
  if (empty) {
    for (Value size : empty->getOperands())
      addScalar(size, scalars, inputs);
    ends.push_back(empty);
  } else {
    inputs.insert(resize ? resize.getSource() : init);
  }
  if (resize)
    ends.push_back(resize);
  ends.push_back(sum);
}

/// Copies `before`, the attention and `behind` to a function `name` of `inputs`
/// and `results`, in a module like that of the attention.
static func::FuncOp createFunction(Operation *attention, StringRef name,
                                   ArrayRef<Value> inputs,
                                   ArrayRef<Operation *> before,
                                   ArrayRef<Operation *> behind,
                                   ArrayRef<Value> results) {
  auto original = attention->getParentOfType<ModuleOp>();
  auto module = cast<ModuleOp>(original->cloneWithoutRegions());
  OpBuilder builder =
      OpBuilder::atBlockBegin(&module.getRegion().emplaceBlock());
  auto type = builder.getFunctionType(
      llvm::map_to_vector(inputs, [](Value value) { return value.getType(); }),
      TypeRange(ValueRange(results)));
  auto function =
      func::FuncOp::create(builder, attention->getLoc(), name, type);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping map;
  map.map(inputs, body->getArguments());
  for (Operation *op : before)
    builder.clone(*op, map);
  builder.clone(*attention, map);
  for (Operation *op : behind)
    builder.clone(*op, map);
  func::ReturnOp::create(
      builder, attention->getLoc(),
      llvm::map_to_vector(results, [&](Value v) { return map.lookup(v); }));
  return function;
}

ExtractedAttention attn::extractAttention(Operation *attention, StringRef name,
                                          bool appends) {
  SetVector<Operation *> scalars; // and views
  SetVector<Value> inputs;
  for (Value value : getReadValues(attention)) {
    if (isChangedInKernel(value, attention))
      addView(value.getDefiningOp(), scalars, inputs);
    else if (isView(value))
      addCache(value, appends, scalars, inputs);
    else if (isa<RankedTensorType>(value.getType()) &&
             (isCache(value, attention) || value.getDefiningOp<AppendOp>()))
      addCache(value, appends, scalars, inputs); // or the scales of one
    else
      addScalar(value, scalars, inputs);
  }
  SmallVector<Value> results(attention->getResults());
  SmallVector<Operation *> ends; // Behind the attention.
  for (OutputModOp mod : getOutputMods(attention)) {
    SetVector<Value> captures;
    getUsedValuesDefinedAbove(mod.getMod(), captures);
    for (Value capture : captures)
      addScalar(capture, scalars, inputs);
    ends.push_back(mod);
    *llvm::find(results, mod.getSource()) = mod.getResult();
    if (mod.getAmax())
      results.push_back(mod.getAmax());
  }
  Operation *place = ends.empty() ? attention : ends.back();
  SmallVector<PackOp> packs;
  if (appends)
    packs = getPacks(results);
  for (auto [pack, result] : llvm::zip(packs, results)) {
    Operation *empty = pack.getInit().getDefiningOp();
    for (Value size : empty->getOperands())
      addScalar(size, scalars, inputs);
    addScalar(pack.getOffsets(), scalars, inputs);
    llvm::append_values(ends, empty, pack.getOperation());
    result = pack.getResult();
  }
  if (appends)
    for (SumHeadsOp sum : getHeadSums(attention)) {
      addHeadSum(sum, ends, scalars, inputs);
      *llvm::find(results, sum.getSource()) = sum.getResult();
    }
  for (Operation *op : scalars)
    if (isa<AppendOp>(op))
      llvm::append_range(results, op->getResults());

  func::FuncOp function = createFunction(attention, name, inputs.getArrayRef(),
                                         scalars.getArrayRef(), ends, results);
  return {OwningOpRef<ModuleOp>(cast<ModuleOp>(function->getParentOp())),
          function,
          inputs.takeVector(),
          results,
          ends,
          place};
}

void attn::replaceResults(Operation *attention,
                          const ExtractedAttention &extracted,
                          Operation *call) {
  for (auto [old, value] :
       llvm::zip_equal(extracted.results, call->getResults()))
    if (!old.getDefiningOp<AppendOp>())
      Value(old).replaceAllUsesWith(value);
  for (Operation *end : llvm::reverse(extracted.ends))
    if (end->use_empty())
      end->erase();
}

void attn::replacePools(const ExtractedAttention &extracted, Operation *call) {
  DominanceInfo dominance;
  for (auto [old, value] :
       llvm::zip_equal(extracted.results, call->getResults()))
    if (old.getDefiningOp<AppendOp>())
      Value(old).replaceUsesWithIf(value, [&](OpOperand &use) {
        return dominance.properlyDominates(call, use.getOwner());
      });
}
