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

namespace attn {
#define GEN_PASS_DEF_SHAREWINDOWPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// True if the attention's result is the same in any order of the keys.
static bool hasNoOrder(AttentionOp op) {
  return !op.hasMaskMod() && !op.hasScoreMod() && !op.hasProbMod() &&
         !op.getBias() && !op.hasLengths() && !op.getDropoutSeed();
}

/// True if `use` returns what `rows` are without the first one.
static bool returnsTheRest(Operation *use, tensor::ConcatOp rows) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(use);
  if (!slice || !slice.hasUnitStride() || !slice->hasOneUse() ||
      !isa<func::ReturnOp>(*slice->user_begin()))
    return false;
  SmallVector<int64_t> offsets(4, 0), shape(rows.getType().getShape());
  offsets[kSequence] = 1;
  shape[kSequence] -= 1;
  return slice.getStaticOffsets() == ArrayRef(offsets) &&
         slice.getType().getShape() == ArrayRef(shape);
}

/// The rows of an argument and one new row, as an attention without order reads
/// them, and all but the first as the function returns them; null otherwise.
static tensor::ConcatOp findWindow(Value rows) {
  auto concat = rows.getDefiningOp<tensor::ConcatOp>();
  if (!concat || concat.getDim() != kSequence ||
      concat.getInputs().size() != 2 || concat.getType().getRank() != 4 ||
      !concat.getType().hasStaticShape() ||
      cast<ShapedType>(concat.getInputs()[1].getType()).getDimSize(kSequence) !=
          1 ||
      !isCacheOf(concat.getInputs()[0], concat))
    return nullptr;
  int64_t returns = 0;
  for (Operation *user : concat->getUsers()) {
    auto attention = dyn_cast<AttentionOp>(user);
    if (attention && hasNoOrder(attention) &&
        attention.getQuery() != concat.getResult())
      continue;
    if (!returnsTheRest(user, concat) || ++returns > 1)
      return nullptr;
  }
  return returns == 1 ? concat : nullptr;
}

/// Gives the function a ring of all rows, with the new one at `place`.
static void makeRing(tensor::ConcatOp rows, Value place,
                     func::FuncOp function) {
  ImplicitLocOpBuilder builder(rows.getLoc(), rows);
  auto ring = cast<BlockArgument>(rows.getInputs()[0]);
  RankedTensorType type = rows.getType();
  ring.setType(type);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, rows.getLoc(), rows.getInputs()[1]);
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, builder.getIndexAttr(1));
  offsets[kSequence] = place;
  Value present = tensor::InsertSliceOp::create(builder, rows.getInputs()[1],
                                                ring, offsets, sizes, strides);
  for (Operation *user : llvm::make_early_inc_range(rows->getUsers()))
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
      slice.replaceAllUsesWith(present);
      slice.erase();
    }
  rows.replaceAllUsesWith(present);
  rows.erase();
  Block &body = function.getBody().front();
  function.setType(builder.getFunctionType(
      body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
}

/// The windows of `function`: keys and values of each attention alike, whose
/// rows would have two orders else.
static llvm::SetVector<tensor::ConcatOp> findWindows(func::FuncOp function) {
  llvm::SetVector<tensor::ConcatOp> windows;
  function.walk([&](AttentionOp op) {
    for (Value rows : {op.getKey(), op.getValue()})
      if (tensor::ConcatOp window = findWindow(rows))
        windows.insert(window);
  });
  auto isWindow = [&](Value rows) {
    auto concat = rows.getDefiningOp<tensor::ConcatOp>();
    return concat && windows.contains(concat);
  };
  auto hasOthers = [&](tensor::ConcatOp window) {
    return llvm::any_of(window->getUsers(), [&](Operation *user) {
      auto op = dyn_cast<AttentionOp>(user);
      return op && !(isWindow(op.getKey()) && isWindow(op.getValue()));
    });
  };
  // Without one of them those beside it are none, either.
  while (windows.remove_if(hasOthers))
    continue;
  return windows;
}

namespace {
struct ShareWindow : public attn::impl::ShareWindowPassBase<ShareWindow> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      llvm::SetVector<tensor::ConcatOp> windows = findWindows(function);
      if (windows.empty())
        continue;
      share(function, windows.getArrayRef());
      numShared += windows.size();
    }
  }

private:
  static void share(func::FuncOp function, ArrayRef<tensor::ConcatOp> windows) {
    Value length = getPastLength(function);
    ImplicitLocOpBuilder builder(function.getLoc(), function);
    builder.setInsertionPointAfterValue(length);
    Value zero = arith::ConstantIndexOp::create(builder, 0);
    emitRoomCheck(builder,
                  arith::CmpIOp::create(builder, arith::CmpIPredicate::sge,
                                        length, zero));
    llvm::DenseMap<int64_t, Value> places;
    for (tensor::ConcatOp rows : windows) {
      int64_t size = rows.getType().getDimSize(kSequence);
      Value &place = places[size];
      if (!place)
        place = arith::RemUIOp::create(
            builder, length, arith::ConstantIndexOp::create(builder, size));
      makeRing(rows, place, function);
    }
  }
};
} // namespace
