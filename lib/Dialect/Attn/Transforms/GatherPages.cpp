//===- GatherPages.cpp - Tiles of keys out of their pages -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-gather-pages.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/LengthBuilder.h"
#include "attn/Dialect/Attn/Utils/PageBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace attn {
#define GEN_PASS_DEF_GATHERPAGESPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Copies the rows of one slice of a view.
template <typename ViewOp>
class RowGatherer {
public:
  RowGatherer(ViewOp view, tensor::ExtractSliceOp slice)
      : view(view), slice(slice), builder(slice), loc(slice.getLoc()),
        offsets(slice.getMixedOffsets()), sizes(slice.getMixedSizes()) {}

  Value emit();

private:
  Value getStored() {
    if constexpr (std::is_same_v<ViewOp, PagedOp>)
      return view.getPool();
    else
      return view.getPacked();
  }
  Value emitRow(OpBuilder &b, Value row);
  Value toIndex(OpBuilder &b, OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, loc, size);
  }
  /// `entry`, or the nearest one among the first entries of `tensor`.
  Value clamp(OpBuilder &b, Value entry, Value tensor) {
    Value size = toIndex(b, getDim(b, loc, tensor, 0));
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value last = arith::SubIOp::create(b, loc, size, one);
    return arith::MinUIOp::create(b, loc, entry, last);
  }

  ViewOp view;
  tensor::ExtractSliceOp slice;
  OpBuilder builder;
  Location loc;
  SmallVector<OpFoldResult> offsets, sizes;
};
} // namespace

/// Row `row` of the slice, [1, 1, 1, columns]. An entry that is no page counts
/// as the nearest one.
template <>
Value RowGatherer<PagedOp>::emitRow(OpBuilder &b, Value row) {
  AffineExpr j = b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1);
  int64_t page = view.getPageSize();
  auto apply = [&](AffineExpr expr) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr,
                                                 {offsets[kSequence], row});
  };
  Value batch = toIndex(b, offsets[kBatch]);
  Value entry =
      readEntry(b, loc, view, batch, toIndex(b, apply(j.floorDiv(page))));
  entry = clamp(b, entry, view.getPool());
  SmallVector<OpFoldResult> at = {entry, offsets[kHead], apply(j % page),
                                  offsets[kHeadDim]};
  SmallVector<OpFoldResult> ones(4, b.getIndexAttr(1));
  SmallVector<OpFoldResult> extents(ones);
  extents[kHeadDim] = sizes[kHeadDim];
  return tensor::ExtractSliceOp::create(b, loc, view.getPool(), at, extents,
                                        ones);
}

/// Row `row` of the slice, [columns]. One behind the tensor counts as the last.
template <>
Value RowGatherer<RaggedOp>::emitRow(OpBuilder &b, Value row) {
  Value begin =
      readOffset(b, loc, view.getOffsets(), toIndex(b, offsets[kBatch]), 0);
  Value inSequence =
      arith::AddIOp::create(b, loc, toIndex(b, offsets[kSequence]), row);
  Value at = arith::AddIOp::create(b, loc, begin, inSequence);
  at = clamp(b, at, view.getPacked());
  OpFoldResult one = b.getIndexAttr(1);
  auto type = RankedTensorType::get(
      {getConstantIntValue(sizes[kHeadDim]).value_or(ShapedType::kDynamic)},
      slice.getType().getElementType());
  return tensor::ExtractSliceOp::create(
      b, loc, type, view.getPacked(),
      ArrayRef<OpFoldResult>{at, offsets[kHead], offsets[kHeadDim]},
      ArrayRef<OpFoldResult>{one, one, sizes[kHeadDim]},
      ArrayRef<OpFoldResult>{one, one, one});
}

template <typename ViewOp>
Value RowGatherer<ViewOp>::emit() {
  Value tile = tensor::EmptyOp::create(builder, loc, sizes,
                                       slice.getType().getElementType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(builder, loc, sizes[kSequence]);
  // Of a pool without pages, or no rows, nothing can be read.
  Value stored = toIndex(builder, getDim(builder, loc, getStored(), 0));
  Value isEmpty = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        stored, zero);
  count = arith::SelectOp::create(builder, loc, isEmpty, zero, count);
  auto rows = scf::ForOp::create(builder, loc, zero, count, one, tile);
  // The body is built in place: affine ops look at the loops around them.
  OpBuilder b = OpBuilder::atBlockBegin(rows.getBody());
  Value values = emitRow(b, rows.getInductionVar());
  OpFoldResult start = b.getIndexAttr(0);
  SmallVector<OpFoldResult> ones(4, b.getIndexAttr(1));
  SmallVector<OpFoldResult> extents(ones);
  extents[kHeadDim] = sizes[kHeadDim];
  Value next = tensor::InsertSliceOp::create(
      b, loc, values, rows.getRegionIterArg(0),
      ArrayRef<OpFoldResult>{start, start, rows.getInductionVar(), start},
      extents, ones);
  scf::YieldOp::create(b, loc, next);
  Value result = rows.getResult(0);
  if (result.getType() != slice.getType())
    result = tensor::CastOp::create(builder, loc, slice.getType(), result);
  return result;
}

/// A slice of rows of one batch and head.
static bool isTile(tensor::ExtractSliceOp slice) {
  return slice && slice.hasUnitStride() && slice.getType().getRank() == 4 &&
         isConstantIntValue(slice.getMixedSizes()[kBatch], 1) &&
         isConstantIntValue(slice.getMixedSizes()[kHead], 1);
}

/// Gathers each tile of `view`; fails where something else reads it.
template <typename ViewOp>
static FailureOr<unsigned> gatherTiles(ViewOp view) {
  unsigned count = 0;
  for (Operation *user : llvm::make_early_inc_range(view->getUsers())) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!isTile(slice)) {
      InFlightDiagnostic diag =
          view.emitOpError()
          << "expected only attentions to read the view, tile by tile";
      diag.attachNote(user->getLoc()) << "read here";
      return failure();
    }
    slice.replaceAllUsesWith(RowGatherer<ViewOp>(view, slice).emit());
    slice.erase();
    ++count;
  }
  view.erase();
  return count;
}

namespace {
struct GatherPages : public attn::impl::GatherPagesPassBase<GatherPages> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(gatherAll<PagedOp>()) || failed(gatherAll<RaggedOp>()))
      signalPassFailure();
  }

private:
  template <typename ViewOp>
  LogicalResult gatherAll() {
    SmallVector<ViewOp> views;
    getOperation().walk([&](ViewOp view) { views.push_back(view); });
    for (ViewOp view : views) {
      FailureOr<unsigned> count = gatherTiles(view);
      if (failed(count))
        return failure();
      numGathered += *count;
    }
    return success();
  }
};
} // namespace
