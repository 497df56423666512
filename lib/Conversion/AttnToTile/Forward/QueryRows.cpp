//===- QueryRows.cpp - Queries that change in their tile --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forward/QueryRows.h"

#include "Kernel/KernelScope.h"
#include "Kernel/RowBuilder.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

/// Rows that a warp has at once: what one waits for, the others hide. A warp
/// has 16 rows or a multiple.
static constexpr int64_t kRowsAtOnce = 4;

namespace {
/// Where the rows of a loaded tile are in their tensor.
class RowPlaces {
public:
  RowPlaces(OpBuilder &builder, tile::LoadOp load)
      : builder(builder), loc(load.getLoc()), load(load),
        positions(load.getTile().getType().getRows() / load.getHeads()) {
    Value rows = tile::DimOp::create(builder, loc, load.getSource(), kSequence);
    last = arith::SubIOp::create(builder, loc, rows, constant(1));
  }

  /// That of row `row` (index) of the tile; past the last one, its place.
  RowBuilder::Place get(Value row) {
    ValueRange first = load.getIndices();
    Value head = first[kHead];
    if (load.getHeads() > 1) {
      Value count = constant(positions);
      head = arith::AddIOp::create(
          builder, loc, head, arith::DivUIOp::create(builder, loc, row, count));
      row = arith::RemUIOp::create(builder, loc, row, count);
    }
    Value position = arith::MinUIOp::create(
        builder, loc,
        arith::AddIOp::create(builder, loc, first[kSequence], row), last);
    RowBuilder::Place place;
    for (Value index : {first[kBatch], head, position})
      place.push_back(arith::IndexCastOp::create(builder, loc,
                                                 builder.getI64Type(), index));
    return place;
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  OpBuilder &builder;
  Location loc;
  tile::LoadOp load;
  int64_t positions; ///< rows of a head
  Value last;
};
} // namespace

void attn::changeQueryRows(OpBuilder &builder, tile::LoadOp load,
                           const RowChain &chain, const IRMapping &values) {
  Location loc = chain.ops.back()->getLoc();
  Value tile = load.getTile();
  RowPlaces places(builder, load);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value lane = arith::RemUIOp::create(
      builder, loc, thread,
      arith::ConstantIndexOp::create(builder, loc, kLanes));
  auto change =
      tile::ChangeRowsOp::create(builder, loc, tile, /*warpgroup=*/Value());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(
      &change.getBody(), {},
      SmallVector<Type>(kRowsAtOnce, builder.getIndexType()),
      SmallVector<Location>(kRowsAtOnce, loc));
  Type element = load.getTile().getType().getElementType();
  RowBuilder(builder, loc, chain, values, lane)
      .build(
          llvm::map_to_vector(block->getArguments(),
                              [&](Value row) { return places.get(row); }),
          [&](size_t row, Value column) -> Value {
            return tile::LoadElementOp::create(builder, loc, element, tile,
                                               block->getArgument(row), column);
          },
          [&](size_t row, Value column, Value changed) {
            tile::StoreElementOp::create(builder, loc, changed, tile,
                                         block->getArgument(row), column);
          });
}
