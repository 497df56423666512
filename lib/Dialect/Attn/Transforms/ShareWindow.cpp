//===- ShareWindow.cpp - Caches of a window, in place -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-share-window: a step that is given the rows of a window,
// and returns them moved by one with the new one at the end, gets a ring, of
// which the new row takes the place of the oldest. Keys that all rows see have
// no order.
//
//===----------------------------------------------------------------------===//

#include "PastLength.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/MapVector.h"

namespace attn {
#define GEN_PASS_DEF_SHAREWINDOWPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// The last rows of a cache, and a new one behind them.
struct Window {
  Value rows;
  /// As many, of which the first is dropped, or all but the new one.
  BlockArgument cache;
  Value newRow;

  bool dropsRow() const { return cache.getType() == rows.getType(); }
};
} // namespace

/// True if `mod` does not know where a key is.
static bool hasNoOrder(Region &mod) {
  return mod.empty() || mod.getArguments().back().use_empty();
}

/// True if the attention's result is the same in any order of the keys.
static bool hasNoOrder(AttentionOp op) {
  return hasNoOrder(op.getMaskMod()) && hasNoOrder(op.getScoreMod()) &&
         hasNoOrder(op.getProbMod()) && !op.getBias() && !op.hasLengths() &&
         !op.getDropoutSeed();
}

static int64_t getNumRows(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getDimSize(kSequence);
}

static Value peelCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

/// True if `slice` is `count` rows of its source, from `first` on.
static bool isRows(tensor::ExtractSliceOp slice, int64_t first, int64_t count) {
  SmallVector<int64_t> offsets(4, 0);
  SmallVector<int64_t> shape(slice.getSourceType().getShape());
  if (shape.size() != 4 || !slice.hasUnitStride())
    return false;
  offsets[kSequence] = first;
  shape[kSequence] = count;
  return slice.getStaticOffsets() == ArrayRef(offsets) &&
         slice.getType().getShape() == ArrayRef(shape);
}

/// Rows of an argument of as many rows as `window` has: `count` from `first`
/// on.
static tensor::ExtractSliceOp getCacheRows(Value rows, Value window,
                                           int64_t first, int64_t count) {
  auto slice = peelCasts(rows).getDefiningOp<tensor::ExtractSliceOp>();
  return slice && slice.getSourceType() == window.getType() &&
                 isa<BlockArgument>(slice.getSource()) &&
                 isRows(slice, first, count)
             ? slice
             : nullptr;
}

/// True if `use` returns what `window` is without its first row.
static bool returnsTheRest(Operation *use, Value window) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(use);
  return slice && isRows(slice, 1, getNumRows(window) - 1) &&
         slice->hasOneUse() && isa<func::ReturnOp>(*slice->user_begin());
}

/// What puts one row behind others, by tensor.concat.
static std::optional<Window> matchConcat(tensor::ConcatOp concat) {
  if (concat.getDim() != kSequence || concat.getInputs().size() != 2)
    return std::nullopt;
  Value window = concat.getResult(), past = concat.getInputs()[0];
  Value newRow = peelCasts(concat.getInputs()[1]);
  if (getNumRows(newRow) != 1)
    return std::nullopt;
  if (auto slice = getCacheRows(past, window, 1, getNumRows(window) - 1))
    if (isCacheOf(slice.getSource(), {slice}))
      return Window{window, cast<BlockArgument>(slice.getSource()), newRow};
  if (isCacheOf(past, {concat}))
    return Window{window, cast<BlockArgument>(past), newRow};
  return std::nullopt;
}

/// Rows that are rolled by one, where the new one takes the place of the first,
/// which has become the last.
static std::optional<Window> matchRoll(tensor::InsertSliceOp insert) {
  Value window = insert.getResult();
  auto roll = insert.getDest().getDefiningOp<tensor::ConcatOp>();
  if (!roll || !roll->hasOneUse() || roll.getDim() != kSequence ||
      roll.getInputs().size() != 2)
    return std::nullopt;
  int64_t last = getNumRows(window) - 1;
  auto rest = getCacheRows(roll.getInputs()[0], window, 1, last);
  auto first = getCacheRows(roll.getInputs()[1], window, 0, 1);
  SmallVector<int64_t> offsets(4, 0);
  offsets[kSequence] = last;
  if (!rest || !first || rest.getSource() != first.getSource() ||
      insert.getSourceType() != first.getType() || !insert.hasUnitStride() ||
      insert.getStaticOffsets() != ArrayRef(offsets) ||
      !isCacheOf(rest.getSource(), {rest, first}))
    return std::nullopt;
  return Window{window, cast<BlockArgument>(rest.getSource()),
                insert.getSource()};
}

/// The window that `rows` are, which attentions without order read, and the
/// function returns; nothing otherwise.
static std::optional<Window> findWindow(Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  if (type.getRank() != 4 || !type.hasStaticShape())
    return std::nullopt;
  std::optional<Window> window;
  if (auto concat = rows.getDefiningOp<tensor::ConcatOp>())
    window = matchConcat(concat);
  else if (auto insert = rows.getDefiningOp<tensor::InsertSliceOp>())
    window = matchRoll(insert);
  if (!window)
    return std::nullopt;
  int64_t returns = 0;
  for (Operation *user : rows.getUsers()) {
    auto attention = dyn_cast<AttentionOp>(user);
    if (attention && hasNoOrder(attention) && attention.getQuery() != rows)
      continue;
    bool isReturn = window->dropsRow() ? isa<func::ReturnOp>(user)
                                       : returnsTheRest(user, rows);
    if (!isReturn || ++returns > 1)
      return std::nullopt;
  }
  return returns == 1 ? window : std::nullopt;
}

/// Erases `op` and what only it has used.
static void eraseWithSources(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *source = operand.getDefiningOp();
        source && isOpTriviallyDead(source))
      eraseWithSources(source);
}

/// Gives the function a ring of all rows, with the new one at `place`.
static void makeRing(Window window, Value place, func::FuncOp function) {
  Operation *op = window.rows.getDefiningOp();
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  bool dropsRow = window.dropsRow();
  BlockArgument ring = window.cache;
  ring.setType(window.rows.getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, op->getLoc(), window.newRow);
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, builder.getIndexAttr(1));
  offsets[kSequence] = place;
  Value present = tensor::InsertSliceOp::create(builder, window.newRow, ring,
                                                offsets, sizes, strides);
  for (Operation *user : llvm::make_early_inc_range(window.rows.getUsers()))
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
        slice && !dropsRow) {
      slice.replaceAllUsesWith(present);
      slice.erase();
    }
  window.rows.replaceAllUsesWith(present);
  eraseWithSources(op);
  Block &body = function.getBody().front();
  function.setType(builder.getFunctionType(
      body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
}

/// By their rows.
using Windows = llvm::MapVector<Value, Window>;

/// The windows of `function`: keys and values of each attention alike, whose
/// rows would have two orders else.
static Windows findWindows(func::FuncOp function) {
  Windows windows;
  function.walk([&](AttentionOp op) {
    for (Value rows : {op.getKey(), op.getValue()})
      if (std::optional<Window> window = findWindow(rows))
        windows.insert({rows, *window});
  });
  auto hasOthers = [&](const std::pair<Value, Window> &window) {
    return llvm::any_of(window.first.getUsers(), [&](Operation *user) {
      auto op = dyn_cast<AttentionOp>(user);
      return op && !(windows.contains(op.getKey()) &&
                     windows.contains(op.getValue()));
    });
  };
  // Without one of them those beside it are none, either.
  for (size_t before = 0; before != windows.size();) {
    before = windows.size();
    windows.remove_if(hasOthers);
  }
  return windows;
}

namespace {
struct ShareWindow : public attn::impl::ShareWindowPassBase<ShareWindow> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Windows windows = findWindows(function);
      if (windows.empty())
        continue;
      share(function, windows);
      numShared += windows.size();
    }
  }

private:
  static void share(func::FuncOp function, const Windows &windows) {
    Value length = getPastLength(function);
    ImplicitLocOpBuilder builder(function.getLoc(), function);
    builder.setInsertionPointAfterValue(length);
    Value zero = arith::ConstantIndexOp::create(builder, 0);
    emitRoomCheck(builder,
                  arith::CmpIOp::create(builder, arith::CmpIPredicate::sge,
                                        length, zero));
    llvm::DenseMap<int64_t, Value> places;
    for (const auto &[rows, window] : windows) {
      int64_t size = getNumRows(rows);
      Value &place = places[size];
      if (!place)
        place = arith::RemUIOp::create(
            builder, length, arith::ConstantIndexOp::create(builder, size));
      makeRing(window, place, function);
    }
  }
};
} // namespace
