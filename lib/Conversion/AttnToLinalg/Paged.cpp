//===- Paged.cpp - What a view of pages shows, in linalg ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Paged.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/PageBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace attn;

Value attn::emitPaged(OpBuilder &builder, PagedOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(builder, shapes);
  Value init = tensor::EmptyOp::create(builder, loc, shapes.front(),
                                       type.getElementType());
  Value pages = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, op.getPool(), 0));
  Value page = arith::ConstantIndexOp::create(builder, loc, op.getPageSize());
  auto identity = builder.getMultiDimIdentityMap(4);
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location l, ValueRange) {
    SmallVector<Value> at;
    for (unsigned loop = 0; loop < 4; ++loop)
      at.push_back(linalg::IndexOp::create(b, l, loop));
    Value column = arith::DivUIOp::create(b, l, at[kSequence], page);
    Value entry = readEntry(b, l, op, at[kBatch], column);
    Value one = arith::ConstantIndexOp::create(b, l, 1);
    Value last = arith::SubIOp::create(b, l, pages, one);
    at[kBatch] = arith::MinUIOp::create(b, l, entry, last);
    at[kSequence] = arith::RemUIOp::create(b, l, at[kSequence], page);
    linalg::YieldOp::create(
        b, l, tensor::ExtractOp::create(b, l, op.getPool(), at).getResult());
  };
  Value view = linalg::GenericOp::create(
                   builder, loc, TypeRange(init.getType()), ValueRange(),
                   ValueRange(init), ArrayRef<AffineMap>{identity}, loops, body)
                   .getResult(0);
  if (view.getType() != type)
    view = tensor::CastOp::create(builder, loc, type, view);
  return view;
}
