//===- RowKernel.cpp - The kernel that turns and normalises -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp for each row of the tensor (Kernel/RowBuilder.h).
//
//===----------------------------------------------------------------------===//

#include "Kernel/RowBuilder.h"
#include "Launch/ElementKernel.h"
#include "Launch/PrologueKernels.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

namespace {
class RowKernelBuilder : ElementKernel {
public:
  RowKernelBuilder(OpBuilder &builder, TiledAttention &attention,
                   Operation *last)
      : ElementKernel(builder, attention, last->getLoc()),
        chain(RowChain::get(last)), result(last->getResult(0)) {}

  LogicalResult build(StringRef name);

private:
  void buildRow(Value number, Value lane);

  RowChain chain;
  Value result;
};
} // namespace

void RowKernelBuilder::buildRow(Value number, Value lane) {
  auto rows = cast<ShapedType>(chain.source.getType());
  SmallVector<Value> row;
  for (Value index :
       getIndices(number, values.lookup(chain.source), rows.getRank() - 1))
    row.push_back(toI64(index));
  auto at = [&](Value column) {
    SmallVector<Value> indices(row);
    indices.push_back(toI64(column));
    return indices;
  };
  RowBuilder::Place place(row);
  if (isPackedRows(rows))
    place.push_back(row.front());
  RowBuilder(builder, loc, chain, values, lane)
      .build(
          {place},
          [&](size_t, Value column) -> Value {
            Value source = values.lookup(chain.source);
            Type type =
                cast<tile::GlobalType>(source.getType()).getElementType();
            return tile::ExtractOp::create(builder, loc, type, source,
                                           at(column));
          },
          [&](size_t, Value column, Value element) {
            tile::InsertOp::create(builder, loc, element, values.lookup(result),
                                   at(column));
          });
}

LogicalResult RowKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(beginKernel(name, kPrologueWarps)))
    return failure();
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kPrologueWarps);
  Value count = getSize(chain.source, 0);
  for (int64_t dim = 1,
               rank = cast<ShapedType>(chain.source.getType()).getRank();
       dim < rank - 1; ++dim)
    count = create<arith::MulIOp>(count, getSize(chain.source, dim));
  // The last CTA may have more warps than there are rows.
  onlyIf(isBelow(warp.number, count),
         [&] { buildRow(warp.number, warp.lane); });
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildRowKernel(OpBuilder &builder,
                                   TiledAttention &attention, Operation *last,
                                   StringRef name) {
  return RowKernelBuilder(builder, attention, last).build(name);
}
