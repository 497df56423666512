//===- SharePast.cpp - Caches that grow, in place ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-share-past: a step that returns what it was given with new
// rows behind it (transformers' DynamicCache, ONNX's past and present) gets a
// buffer with room for them, and how many rows it has.
//
//===----------------------------------------------------------------------===//

#include "PastLength.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_SHAREPASTPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// True if `concat` puts rows behind those of an argument, of any number, and
/// is returned.
static bool grows(tensor::ConcatOp concat) {
  auto isReturn = [](Operation *user) { return isa<func::ReturnOp>(user); };
  if (concat.getDim() != kSequence || concat.getInputs().size() != 2 ||
      concat.getType().getRank() != 4 ||
      !concat.getType().isDynamicDim(kSequence) ||
      llvm::count_if(concat->getUsers(), isReturn) != 1)
    return false;
  Value past = concat.getInputs()[0];
  return cast<RankedTensorType>(past.getType()).isDynamicDim(kSequence) &&
         isCacheOf(past, {concat});
}

namespace {
/// Rewrites the caches of one function, which have as many rows.
class Sharing {
public:
  explicit Sharing(func::FuncOp function)
      : builder(function.getLoc(), function), length(getPastLength(function)) {}

  void share(tensor::ConcatOp concat);

private:
  Value getEnd(OpFoldResult added);

  ImplicitLocOpBuilder builder;
  Value length;
  /// Sums of it and of numbers of new rows.
  SmallVector<std::pair<OpFoldResult, Value>> ends;
};
} // namespace

/// Where the rows end with `added` new ones.
Value Sharing::getEnd(OpFoldResult added) {
  for (auto [rows, end] : ends)
    if (isEqualConstantIntOrValue(rows, added))
      return end;
  Value rows =
      getValueOrCreateConstantIndexOp(builder, builder.getLoc(), added);
  Value end = arith::AddIOp::create(builder, length, rows);
  ends.push_back({added, end});
  return end;
}

/// Puts the new rows into the argument, which becomes the buffer, and takes
/// what is there with them out of it for those that read them.
void Sharing::share(tensor::ConcatOp concat) {
  Value past = concat.getInputs()[0], rows = concat.getInputs()[1];
  for (Operation *user : llvm::make_early_inc_range(past.getUsers()))
    if (auto dim = dyn_cast<tensor::DimOp>(user);
        dim && dim.getConstantIndex() == kSequence)
      dim.replaceAllUsesWith(length);
  builder.setInsertionPoint(concat);
  builder.setLoc(concat.getLoc());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, builder.getLoc(), rows);
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, builder.getIndexAttr(1));
  Value end = getEnd(sizes[kSequence]);
  Value room = tensor::DimOp::create(builder, past, kSequence);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value begins =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, length, zero);
  Value fits =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::sle, end, room);
  emitRoomCheck(builder, arith::AndIOp::create(builder, begins, fits));
  offsets[kSequence] = length;
  Value present = tensor::InsertSliceOp::create(builder, rows, past, offsets,
                                                sizes, strides);
  offsets[kSequence] = builder.getIndexAttr(0);
  sizes[kSequence] = end;
  Value known = tensor::ExtractSliceOp::create(
      builder, concat.getType(), present, offsets, sizes, strides);
  concat.getResult().replaceUsesWithIf(present, [](OpOperand &use) {
    return isa<func::ReturnOp>(use.getOwner());
  });
  concat.replaceAllUsesWith(known);
  concat.erase();
}

namespace {
struct SharePast : public attn::impl::SharePastPassBase<SharePast> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<tensor::ConcatOp> caches;
      function.walk([&](tensor::ConcatOp concat) {
        if (grows(concat))
          caches.push_back(concat);
      });
      if (caches.empty())
        continue;
      Sharing sharing(function);
      for (tensor::ConcatOp concat : caches)
        sharing.share(concat);
      numShared += caches.size();
    }
  }
};
} // namespace
