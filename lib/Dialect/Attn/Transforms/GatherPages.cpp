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
class RowGatherer {
public:
  RowGatherer(PagedOp view, tensor::ExtractSliceOp slice)
      : view(view), slice(slice), builder(slice), loc(slice.getLoc()),
        offsets(slice.getMixedOffsets()), sizes(slice.getMixedSizes()) {}

  Value emit();

private:
  Value emitRow(OpBuilder &b, Value row);

  PagedOp view;
  tensor::ExtractSliceOp slice;
  OpBuilder builder;
  Location loc;
  SmallVector<OpFoldResult> offsets, sizes;
};
} // namespace

/// Row `row` of the slice, [1, 1, 1, columns]. An entry that is no page counts
/// as the nearest one.
Value RowGatherer::emitRow(OpBuilder &b, Value row) {
  AffineExpr j = b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1);
  int64_t page = view.getPageSize();
  auto apply = [&](AffineExpr expr) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr,
                                                 {offsets[kSequence], row});
  };
  auto index = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, loc, size);
  };
  Value entry = tensor::ExtractOp::create(
      b, loc, view.getTable(),
      ValueRange{index(offsets[kBatch]), index(apply(j.floorDiv(page)))});
  entry = arith::IndexCastOp::create(b, loc, b.getIndexType(), entry);
  Value pages = index(getDim(b, loc, view.getPool(), 0));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, pages, one);
  entry = arith::MinUIOp::create(b, loc, entry, last);
  SmallVector<OpFoldResult> at = {entry, offsets[kHead], apply(j % page),
                                  offsets[kHeadDim]};
  SmallVector<OpFoldResult> ones(4, b.getIndexAttr(1));
  SmallVector<OpFoldResult> extents(ones);
  extents[kHeadDim] = sizes[kHeadDim];
  return tensor::ExtractSliceOp::create(b, loc, view.getPool(), at, extents,
                                        ones);
}

Value RowGatherer::emit() {
  Value tile = tensor::EmptyOp::create(builder, loc, sizes,
                                       slice.getType().getElementType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(builder, loc, sizes[kSequence]);
  // Of a pool without pages nothing can be read.
  Value pages = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, view.getPool(), 0));
  Value isEmpty = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        pages, zero);
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

namespace {
struct GatherPages : public attn::impl::GatherPagesPassBase<GatherPages> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<PagedOp> views;
    getOperation().walk([&](PagedOp view) { views.push_back(view); });
    for (PagedOp view : views) {
      for (Operation *user : llvm::make_early_inc_range(view->getUsers())) {
        auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
        if (!isTile(slice)) {
          InFlightDiagnostic diag =
              view.emitOpError()
              << "expected only attentions to read the view, tile by tile";
          diag.attachNote(user->getLoc()) << "read here";
          return signalPassFailure();
        }
        slice.replaceAllUsesWith(RowGatherer(view, slice).emit());
        slice.erase();
        ++numGathered;
      }
      view.erase();
    }
  }
};
} // namespace
