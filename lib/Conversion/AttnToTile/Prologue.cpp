//===- Prologue.cpp - What is launched before an attention ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prologue.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

bool attn::isPrologueOp(Operation *op) {
  return isa_and_nonnull<CreateBlockMaskOp, KeyBoundsOp>(op);
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

/// A workspace of i32 whose dimensions have the given sizes, one after the
/// other.
static WorkspaceView getView(StringRef name, Type type,
                             ArrayRef<std::string> sizes) {
  auto tensor = cast<RankedTensorType>(type);
  WorkspaceView view;
  view.name = name.str();
  view.type = tile::GlobalType::get(type.getContext(), tensor.getShape(),
                                    tensor.getElementType());
  view.bytes = "4";
  std::string stride = "1";
  for (int64_t dim = tensor.getRank() - 1; dim >= 0; --dim) {
    if (tensor.isDynamicDim(dim))
      view.sizes.insert(view.sizes.begin(), sizes[dim]);
    if (dim + 1 < tensor.getRank())
      view.strides.insert(view.strides.begin(), stride);
    if (dim + 1 < tensor.getRank())
      stride = llvm::formatv("{0} * {1}", stride, sizes[dim]);
    else
      stride = sizes[dim];
    view.bytes += " * " + sizes[dim];
  }
  view.byteOffset = "0";
  return view;
}

/// A size as an expression: a number, or that of an operand.
static std::string getSize(Value size, StringRef operand, int64_t dim) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return std::to_string(*number);
  return llvm::formatv("dim({0}, {1})", operand, dim);
}

/// Where a tensor of keys that is the query itself is no operand of its own.
static StringRef getKeyOperand(const TiledAttention &attention) {
  bool hasKey = llvm::any_of(
      attention.operands, [](auto &operand) { return operand.name == "key"; });
  return hasKey ? "key" : "query";
}

std::optional<int64_t> attn::getOrderedTile(Operation *op) {
  auto isOne = [](Value size) { return isConstantIntValue(size, 1); };
  if (auto bounds = dyn_cast<KeyBoundsOp>(op))
    if (isOne(bounds.getBatches()) && isOne(bounds.getHeads()))
      return bounds.getTile();
  if (auto lists = dyn_cast<CreateBlockMaskOp>(op))
    if (isOne(lists.getBatches()) && isOne(lists.getHeads()))
      return lists.getBlock()[0];
  return std::nullopt;
}

/// The workspace for the order of the tiles of rows, if there is one; sizes and
/// shape are [B, H, tiles, ...].
static void addTileOrder(Operation *op, ArrayRef<std::string> sizes,
                         ArrayRef<int64_t> shape,
                         SmallVectorImpl<WorkspaceView> &views) {
  if (!getOrderedTile(op))
    return;
  auto type = RankedTensorType::get(shape.take_front(3),
                                    IntegerType::get(op->getContext(), 32));
  views.push_back(getView("tile_order", type, sizes.take_front(3)));
}

/// Workspaces of the four lists, the state of each block, and the order of the
/// tiles.
static SmallVector<WorkspaceView> getViews(CreateBlockMaskOp op,
                                           StringRef key) {
  ArrayRef<int64_t> block = op.getBlock();
  SmallVector<std::string> sizes = {
      getSize(op.getBatches(), "query", 0), getSize(op.getHeads(), "query", 1),
      llvm::formatv("ceildiv({0}, {1})", getSize(op.getRows(), "query", 2),
                    block[0]),
      llvm::formatv("max(1, ceildiv({0}, {1}))", getSize(op.getKeys(), key, 2),
                    block[1])};
  ArrayRef<std::string> rows = ArrayRef(sizes).drop_back();
  SmallVector<WorkspaceView> views = {
      getView("kv_num_blocks", op.getNumBlocks().getType(), rows),
      getView("kv_indices", op.getIndices().getType(), sizes),
      getView("full_kv_num_blocks", op.getNumBlocks().getType(), rows),
      getView("full_kv_indices", op.getIndices().getType(), sizes),
      getView("block_states", op.getIndices().getType(), sizes)};
  addTileOrder(op, sizes, op.getNumBlocks().getType().getShape(), views);
  return views;
}

/// Workspaces of the bounds, and of the order of the tiles.
static SmallVector<WorkspaceView> getViews(KeyBoundsOp op) {
  SmallVector<std::string> sizes = {
      getSize(op.getBatches(), "query", 0), getSize(op.getHeads(), "query", 1),
      llvm::formatv("ceildiv({0}, {1})", getSize(op.getRows(), "query", 2),
                    op.getTile()),
      std::to_string(2 * op.getBounds().size())};
  SmallVector<WorkspaceView> views = {
      getView("key_bounds", op.getType(), sizes)};
  addTileOrder(op, sizes, op.getType().getShape(), views);
  return views;
}

void attn::findPrologue(TiledAttention &attention) {
  SetVector<Operation *> ops;
  attention.forall->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        if (isPrologueOp(producer))
          ops.insert(producer);
  });
  StringRef key = getKeyOperand(attention);
  for (Operation *op : ops)
    if (auto lists = dyn_cast<CreateBlockMaskOp>(op))
      attention.prologue.push_back({op, getViews(lists, key)});
    else
      attention.prologue.push_back({op, getViews(cast<KeyBoundsOp>(op))});
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// `count` in CTAs, of which each takes as many as it has warps.
static std::string perWarp(StringRef count) {
  return llvm::formatv("ceildiv({0}, {1})", count, kPrologueWarps);
}

void attn::addPrologue(LaunchPlan &plan, TiledAttention &attention,
                       StringRef name) {
  StringRef key = getKeyOperand(attention);
  for (const PrologueOp &prologue : attention.prologue) {
    plan.workspaces.append(prologue.views);
    auto add = [&](StringRef suffix, std::array<std::string, 3> grid) {
      plan.kernels.push_back({name.str() + suffix.str(), std::move(grid),
                              kPrologueWarps, /*clusterCtas=*/1,
                              /*isPrologue=*/true});
    };
    // The sizes of the lists, as their views have them.
    auto rowTiles = [](Value rows, int64_t tile) -> std::string {
      return llvm::formatv("ceildiv({0}, {1})", getSize(rows, "query", 2),
                           tile);
    };
    if (auto op = dyn_cast<CreateBlockMaskOp>(prologue.op)) {
      std::string batches = getSize(op.getBatches(), "query", 0);
      std::string heads = getSize(op.getHeads(), "query", 1);
      std::string rows = rowTiles(op.getRows(), op.getBlock()[0]);
      std::string keys = llvm::formatv(
          "ceildiv({0}, {1})", getSize(op.getKeys(), key, 2), op.getBlock()[1]);
      add("_block_states",
          {perWarp(keys), rows, llvm::formatv("{0} * {1}", batches, heads)});
      add("_block_lists", {perWarp(rows), heads, batches});
    } else if (auto op = dyn_cast<KeyBoundsOp>(prologue.op)) {
      add("_key_bounds", {perWarp(rowTiles(op.getRows(), op.getTile())),
                          getSize(op.getHeads(), "query", 1),
                          getSize(op.getBatches(), "query", 0)});
    }
    if (std::optional<int64_t> tile = getOrderedTile(prologue.op)) {
      constexpr unsigned kRows = 2; // after batches and heads, in both ops
      Value rows = prologue.op->getOperand(kRows);
      add("_tile_order", {perWarp(rowTiles(rows, *tile)), "1", "1"});
    }
  }
}
