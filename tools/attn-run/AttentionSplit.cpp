//===- AttentionSplit.cpp - The attention apart from its graph ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prologue and epilogue are copies of the whole function that return the
// attention's operands, or take its results as arguments; what is dead in them
// goes when they are compiled. What both need is computed twice.
//
//===----------------------------------------------------------------------===//

#include "AttentionSplit.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/ExtractAttention.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;
using namespace attn::run;

/// The ops of one kind in the function.
template <typename OpTy>
static SmallVector<Operation *> findAll(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](OpTy op) { found.push_back(op); });
  return found;
}

/// The only backward of the function, or else its only attention: a forward
/// that a backward needs is part of the prologue.
static FailureOr<Operation *> findAttention(func::FuncOp function) {
  SmallVector<Operation *> found = findAll<AttentionBackwardOp>(function);
  if (found.empty())
    found = findAll<AttentionOp>(function);
  if (found.size() != 1) {
    InFlightDiagnostic diag = function.emitError()
                              << "expected one attention in @"
                              << function.getName() << " for a GPU, got "
                              << found.size();
    for (Operation *op : found)
      diag.attachNote(op->getLoc()) << "an attention";
    return diag;
  }
  if (found.front()->getParentOp() != function ||
      !function.getBody().hasOneBlock())
    return found.front()->emitOpError()
           << "expected to be at the top level of @" << function.getName();
  return found.front();
}

/// A copy of the module, with what `function` and `attention` are there.
struct Copy {
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  IRMapping map;

  explicit Copy(func::FuncOp original) {
    auto parent = original->getParentOfType<ModuleOp>();
    module = OwningOpRef<ModuleOp>(cast<ModuleOp>(parent->clone(map)));
    function = module->lookupSymbol<func::FuncOp>(original.getName());
  }
  Operation *getReturn() { return function.getBody().front().getTerminator(); }
  /// Makes the type follow arguments and returned values.
  void updateType() {
    function.setType(FunctionType::get(function.getContext(),
                                       function.getBody().getArgumentTypes(),
                                       getReturn()->getOperandTypes()));
  }
};

/// Without what nobody reads: the attention, whose schedule may be none of the
/// CPU's, and what follows it.
static OwningOpRef<ModuleOp> makePrologue(func::FuncOp function,
                                          ArrayRef<Value> inputs) {
  Copy copy(function);
  copy.getReturn()->setOperands(llvm::map_to_vector(
      inputs, [&](Value input) { return copy.map.lookup(input); }));
  Block &body = copy.function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  copy.updateType();
  return std::move(copy.module);
}

static OwningOpRef<ModuleOp> makeEpilogue(func::FuncOp function,
                                          Operation *attention) {
  Copy copy(function);
  for (Value result : attention->getResults()) {
    BlockArgument argument = copy.function.getBody().addArgument(
        result.getType(), attention->getLoc());
    copy.map.lookup(result).replaceAllUsesWith(argument);
  }
  copy.map.lookup(attention)->erase();
  copy.updateType();
  return std::move(copy.module);
}

/// The index of each value in `from`; nothing if one is not there.
static std::optional<SmallVector<unsigned>> indicesIn(ValueRange values,
                                                      ArrayRef<Value> from) {
  SmallVector<unsigned> indices;
  for (Value value : values) {
    const auto *it = llvm::find(from, value);
    if (it == from.end())
      return std::nullopt;
    indices.push_back(it - from.begin());
  }
  return indices;
}

FailureOr<AttentionSplit> attn::run::splitAtAttention(func::FuncOp function) {
  FailureOr<Operation *> attention = findAttention(function);
  if (failed(attention))
    return failure();
  ExtractedAttention extracted =
      extractAttention(*attention, function.getName());
  AttentionSplit split;
  split.attention = std::move(extracted.module);
  SmallVector<Value> given(function.getArguments());
  if (auto arguments = indicesIn(extracted.arguments, given))
    split.arguments = *arguments;
  else
    split.prologue = makePrologue(function, extracted.arguments);
  llvm::append_range(given, (*attention)->getResults());
  ValueRange returned =
      function.getBody().front().getTerminator()->getOperands();
  if (auto results = indicesIn(returned, given))
    split.results = *results;
  else
    split.epilogue = makeEpilogue(function, *attention);
  return split;
}
