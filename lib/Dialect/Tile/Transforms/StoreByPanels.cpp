//===- StoreByPanels.cpp - Outputs through one panel ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-store-by-panels: an output tile of one panel of
// columns, through which the panels go one after the other.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "FragmentSlices.h"
#include "KeyStream.h"

namespace attn::tile {
#define GEN_PASS_DEF_STOREBYPANELSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {
/// What writes an output tile, and the copy of it to global memory.
struct Output {
  AllocOp tile;
  SmallVector<StoreSharedOp> writes; ///< in order
  StoreTmaOp store;

  int64_t getPanel() const {
    return AllocOp(tile).getBuffer().getType().getPanelCols();
  }
};
} // namespace

/// The output whose tile `alloc` is, if columns of sums go to it one after the
/// other, and then all of it to global memory.
static std::optional<Output> match(AllocOp alloc) {
  Output output{alloc, {}, {}};
  for (Operation *user : alloc->getUsers()) {
    if (auto store = dyn_cast<StoreTmaOp>(user); store && !output.store)
      output.store = store;
    else if (auto write = dyn_cast<StoreSharedOp>(user);
             write && !write.getTranspose() && !write.getPairs())
      output.writes.push_back(write);
    else
      return std::nullopt;
  }
  SharedType type = alloc.getBuffer().getType();
  if (!output.store || type.isRing() || output.writes.empty() ||
      type.getCols() <= output.getPanel())
    return std::nullopt;
  Block *block = output.store->getBlock();
  for (StoreSharedOp write : output.writes)
    if (write->getBlock() != block || !write->isBeforeInBlock(output.store))
      return std::nullopt;
  llvm::sort(output.writes, [](StoreSharedOp a, StoreSharedOp b) {
    return a->isBeforeInBlock(b);
  });
  int64_t next = 0;
  for (StoreSharedOp write : output.writes) {
    if (static_cast<int64_t>(write.getColumn()) != next)
      return std::nullopt;
    next += write.getSource().getType().getShape()[1];
  }
  return next == type.getCols() ? std::make_optional(output) : std::nullopt;
}

/// Writes columns from `column` of the output on, all of one panel, and copies
/// the panel when that was its last.
static void storePart(OpBuilder &builder, const Output &output, Value tile,
                      Value part, int64_t column) {
  StoreTmaOp store = output.store;
  Location loc = store.getLoc();
  int64_t panel = output.getPanel(), inPanel = column % panel;
  if (inPanel == 0)
    WaitStoresOp::create(builder, loc);
  StoreSharedOp::create(builder, loc, part, tile, /*transpose=*/false,
                        /*pairs=*/false, inPanel);
  int64_t columns = cast<FragmentType>(part.getType()).getShape()[1];
  if (inPanel + columns < panel)
    return;
  StoreTmaOp::create(builder, loc, tile, store.getWarpgroup(),
                     store.getDestination(), store.getIndices(), /*async=*/true,
                     /*one_thread=*/false, store.getHeads(), column - inPanel);
}

/// Before the first columns are written the whole tile was waited for.
static void dropWait(Operation *write) {
  while ((write = write->getPrevNode()))
    if (auto wait = dyn_cast<WaitStoresOp>(write))
      return wait->erase();
}

/// The tile takes `panel` columns at a time.
static void narrow(const Output &output) {
  AllocOp alloc = output.tile;
  SharedType type = alloc.getBuffer().getType();
  int64_t panel = output.getPanel();
  OpBuilder builder(alloc);
  Value tile = AllocOp::create(
      builder, alloc.getLoc(),
      SharedType::get(type.getContext(), {type.getRows(), panel},
                      type.getElementType(), type.getSwizzle()),
      /*offset=*/IntegerAttr());
  dropWait(output.writes.front());
  for (StoreSharedOp write : output.writes) {
    builder.setInsertionPoint(write);
    Value source = write.getSource();
    auto all = cast<FragmentType>(source.getType());
    int64_t begin = static_cast<int64_t>(write.getColumn());
    for (int64_t column = 0; column < all.getShape()[1];) {
      int64_t columns = std::min(panel - (begin + column) % panel,
                                 all.getShape()[1] - column);
      Value part = source;
      if (columns < all.getShape()[1])
        part = FragmentColumnsOp::create(builder, write.getLoc(),
                                         getSliceType(all, columns), source,
                                         column);
      storePart(builder, output, tile, part, begin + column);
      column += columns;
    }
    write->erase();
  }
  output.store->erase();
  alloc->erase();
}

namespace {
struct StoreByPanelsPass
    : public attn::tile::impl::StoreByPanelsPassBase<StoreByPanelsPass> {
  using StoreByPanelsPassBase::StoreByPanelsPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Block &body = kernel.getBody().front();
    if (!getScheduleOf(kernel).outputTile ||
        body.getOps<AllocTensorsOp>().empty())
      return;
    for (auto alloc : llvm::make_early_inc_range(body.getOps<AllocOp>()))
      if (std::optional<Output> output = match(alloc)) {
        narrow(*output);
        ++numOutputs;
      }
  }
};
} // namespace
