//===- RowChains.cpp - Rows that change before an attention -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/RowChains.h"

#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// Adds the chain that ends in `last` behind the one that it reads.
static void addChain(Operation *last, SetVector<Operation *> &ops) {
  Operation *before = RowChain::get(last).source.getDefiningOp();
  if (getRowSource(before))
    addChain(before, ops);
  ops.insert(last);
}

Operation *attn::getFusedRows(OnlineAttentionOp step) {
  ScheduleAttr schedule = step.getScheduleAttr();
  auto slice = step.getQuery().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || !schedule ||
      schedule.getValues().queryPrologue != QueryPrologue::Fused)
    return nullptr;
  Operation *last = slice.getSource().getDefiningOp();
  return getRowSource(last) ? last : nullptr;
}

/// True if the rows of `slice` change in their tile.
static bool isFused(tensor::ExtractSliceOp slice) {
  return llvm::all_of(slice->getUsers(), [&](Operation *user) {
    auto step = dyn_cast<OnlineAttentionOp>(user);
    return step && step.getQuery() == slice.getResult() && getFusedRows(step);
  });
}

void attn::findRowChains(Operation *nest, SetVector<Operation *> &ops) {
  nest->walk([&](tensor::ExtractSliceOp slice) {
    Operation *last = slice.getSource().getDefiningOp();
    if (RaggedOp ragged = getRagged(slice))
      last = ragged.getPacked().getDefiningOp();
    if (getRowSource(last) && isFused(slice))
      last = RowChain::get(last).source.getDefiningOp();
    if (getRowSource(last))
      addChain(last, ops);
  });
}

/// `name`, with a number behind it if an operand or view has it.
static std::string getFreeName(const TiledAttention &attention,
                               StringRef name) {
  auto isTaken = [&](StringRef candidate) {
    return llvm::any_of(attention.operands,
                        [&](const KernelOperand &operand) {
                          return operand.name == candidate;
                        }) ||
           llvm::any_of(attention.prologue, [&](const PrologueOp &prologue) {
             return llvm::any_of(prologue.views,
                                 [&](const WorkspaceView &view) {
                                   return view.name == candidate;
                                 });
           });
  };
  std::string free = name.str();
  for (unsigned number = 1; isTaken(free); ++number)
    free = (name + Twine(number)).str();
  return free;
}

WorkspaceView attn::getRowView(const TiledAttention &attention,
                               Operation *last) {
  auto type = cast<RankedTensorType>(last->getResult(0).getType());
  const KernelOperand *source =
      llvm::find_if(attention.operands, [&](const KernelOperand &operand) {
        return operand.tensor == skipRowOps(last->getResult(0));
      });
  return {getFreeName(attention, source->name + "_rows"),
          tile::GlobalType::get(type.getContext(), type.getShape(),
                                type.getElementType())};
}

static void addTable(TiledAttention &attention, StringRef name, Value tensor) {
  if (tensor)
    addInput(attention, getFreeName(attention, name), tensor, 1);
}

/// A chain reads memory as it is.
static LogicalResult checkSource(Operation *op) {
  Operation *view = skipRowOps(op->getResult(0)).getDefiningOp();
  if (!isa_and_present<PagedOp, RaggedOp>(view))
    return success();
  return op->emitOpError()
         << "expected rows of a tensor on a GPU, got those of '"
         << view->getName() << "'";
}

SmallVector<Operation *> attn::getChangedRows(Operation *op) {
  if (getRowSource(op))
    return {op};
  SmallVector<Operation *> chains;
  if (auto append = dyn_cast<AppendOp>(op))
    for (Value rows : append.getRows())
      if (Operation *last = getOnlyRowChain(rows))
        chains.push_back(last);
  return chains;
}

/// The name of what a chain reads beside `source`, an operand.
static std::string getName(const TiledAttention &attention, Value source,
                           StringRef prefix) {
  const KernelOperand *operand =
      llvm::find_if(attention.operands, [&](const KernelOperand &operand) {
        return operand.tensor == source;
      });
  return (prefix + operand->name).str();
}

static LogicalResult addOperandsOf(TiledAttention &attention, Operation *last) {
  if (failed(checkSource(last)))
    return failure();
  for (Operation *op : RowChain::get(last).ops) {
    if (auto rotary = dyn_cast<RotaryOp>(op)) {
      addTable(attention, "cos", rotary.getCos());
      addTable(attention, "sin", rotary.getSin());
      addTable(attention, "positions", rotary.getPositions());
    } else if (auto norm = dyn_cast<QkNormOp>(op)) {
      addTable(attention, "norm_weight", norm.getWeight());
    } else {
      auto wide = cast<DequantizeOp>(op);
      addTable(attention, getName(attention, wide.getSource(), "descale_"),
               wide.getDescale());
    }
  }
  return success();
}

LogicalResult attn::addRowOperands(TiledAttention &attention) {
  for (const PrologueOp &prologue : attention.prologue)
    for (Operation *last : getChangedRows(prologue.op))
      if (failed(addOperandsOf(attention, last)))
        return failure();
  Operation *fused = attention.first ? getFusedRows(attention.first) : nullptr;
  return fused ? addOperandsOf(attention, fused) : success();
}
