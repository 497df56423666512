//===- Prologue.cpp - What is launched before an attention ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prologue.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
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

/// A size as an expression: a number, or that of an operand, which is `operand`
/// where nothing else is known.
static std::string getSize(const TiledAttention &attention, Value size,
                           StringRef operand, int64_t dim) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return std::to_string(*number);
  // A number of tiles.
  if (auto apply = size.getDefiningOp<affine::AffineApplyOp>()) {
    auto tiles =
        dyn_cast<AffineBinaryOpExpr>(apply.getAffineMap().getResult(0));
    if (tiles && tiles.getKind() == AffineExprKind::CeilDiv)
      if (auto tile = dyn_cast<AffineConstantExpr>(tiles.getRHS()))
        return llvm::formatv(
            "ceildiv({0}, {1})",
            getSize(attention, apply.getOperand(0), operand, dim),
            tile.getValue());
  }
  if (auto op = size.getDefiningOp<tensor::DimOp>())
    for (const KernelOperand &known : attention.operands)
      if (known.tensor == op.getSource() && op.getConstantIndex())
        return llvm::formatv("dim({0}, {1})", known.name,
                             *op.getConstantIndex());
  return llvm::formatv("dim({0}, {1})", operand, dim);
}

/// Where a tensor of keys that is the query itself is no operand of its own.
static StringRef getKeyOperand(const TiledAttention &attention) {
  bool hasKey = llvm::any_of(
      attention.operands, [](auto &operand) { return operand.name == "key"; });
  return hasKey ? "key" : "query";
}

namespace {
/// The sizes of what an op computes, as expressions.
struct PrologueSizes {
  std::string batches, heads, rowTiles;

  PrologueSizes(const TiledAttention &attention, Operation *op, int64_t tile) {
    auto size = [&](unsigned loop) {
      return getSize(attention, op->getOperand(loop), "query", loop);
    };
    batches = size(kLoopB);
    heads = size(kLoopH);
    rowTiles = llvm::formatv("ceildiv({0}, {1})", size(kLoopM), tile);
  }
  PrologueSizes(const TiledAttention &attention, CreateBlockMaskOp op)
      : PrologueSizes(attention, op, op.getBlock()[0]) {}
  PrologueSizes(const TiledAttention &attention, KeyBoundsOp op)
      : PrologueSizes(attention, op, op.getTile()) {}
};
} // namespace

/// The number of key blocks in lists.
static std::string countKeyBlocks(const TiledAttention &attention,
                                  CreateBlockMaskOp op) {
  return llvm::formatv(
      "ceildiv({0}, {1})",
      getSize(attention, op.getKeys(), getKeyOperand(attention), 2),
      op.getBlock()[1]);
}

/// Workspaces of the four lists and the state of each block.
static SmallVector<WorkspaceView> getViews(const TiledAttention &attention,
                                           CreateBlockMaskOp op,
                                           unsigned number) {
  PrologueSizes rows(attention, op);
  SmallVector<std::string> sizes = {rows.batches, rows.heads, rows.rowTiles,
                                    "max(1, " + countKeyBlocks(attention, op) +
                                        ")"};
  auto view = [&](StringRef name, Value like, size_t rank) {
    return getView(getPrologueName(name, number), like.getType(),
                   ArrayRef(sizes).take_front(rank));
  };
  return {view("kv_num_blocks", op.getNumBlocks(), 3),
          view("kv_indices", op.getIndices(), 4),
          view("full_kv_num_blocks", op.getNumBlocks(), 3),
          view("full_kv_indices", op.getIndices(), 4),
          view("block_states", op.getIndices(), 4)};
}

/// The workspace of the bounds.
static SmallVector<WorkspaceView> getViews(const TiledAttention &attention,
                                           KeyBoundsOp op, unsigned number) {
  PrologueSizes rows(attention, op);
  SmallVector<std::string> sizes = {rows.batches, rows.heads, rows.rowTiles,
                                    std::to_string(2 * op.getBounds().size())};
  return {getView(getPrologueName("key_bounds", number), op.getType(), sizes)};
}

//===----------------------------------------------------------------------===//
// The order of the tiles of rows
//===----------------------------------------------------------------------===//

/// True if `op` has the keys of each tile that a CTA of `attention` takes, the
/// same for all heads.
static bool hasKeysOfTiles(const TiledAttention &attention, Operation *op) {
  if (!isPrologueOp(op))
    return false;
  auto lists = dyn_cast<CreateBlockMaskOp>(op);
  int64_t rows = lists ? lists.getBlock()[0] : cast<KeyBoundsOp>(op).getTile();
  Value heads = op->getOperand(kLoopH); // of both ops
  return rows == attention.getTilePositions() && isConstantIntValue(heads, 1);
}

std::optional<TileOrder> attn::getTileOrder(const TiledAttention &attention) {
  for (auto [number, prologue] : llvm::enumerate(attention.prologue))
    if (prologue.ordersTiles)
      return TileOrder{unsigned(number),
                       !isConstantIntValue(prologue.op->getOperand(kLoopB), 1)};
  return std::nullopt;
}

/// The number of row tiles in the order.
static std::string countOrderedTiles(const TiledAttention &attention,
                                     Operation *op) {
  PrologueSizes sizes(attention, op, attention.getTilePositions());
  return sizes.batches == "1" ? sizes.rowTiles
                              : sizes.rowTiles + " * " + sizes.batches;
}

/// Makes the first op that can do so put the tiles in order, where each CTA
/// takes one.
static void orderTiles(TiledAttention &attention) {
  bool isForward = static_cast<bool>(attention.first);
  if (!isForward || attention.isSmallCache() ||
      getSchedule(attention.schedule).persistentCtas > 0)
    return;
  auto found = llvm::find_if(attention.prologue, [&](PrologueOp &prologue) {
    return hasKeysOfTiles(attention, prologue.op);
  });
  if (found == attention.prologue.end())
    return;
  auto type = RankedTensorType::get(
      {ShapedType::kDynamic}, IntegerType::get(found->op->getContext(), 32));
  found->views.push_back(
      getView("tile_order", type, {countOrderedTiles(attention, found->op)}));
  found->ordersTiles = true;
}

/// Adds the prologue ops whose results `op` reads, each after those that it
/// reads itself.
static void addProducers(Operation *op, SetVector<Operation *> &ops) {
  op->walk([&](Operation *reader) {
    for (Value operand : reader->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!isPrologueOp(producer) || ops.contains(producer))
        continue;
      addProducers(producer, ops);
      ops.insert(producer);
    }
  });
}

void attn::findPrologue(TiledAttention &attention,
                        ArrayRef<scf::ForallOp> nests) {
  // What is read is checked before it is.
  SetVector<Operation *> ops;
  auto function = attention.forall->getParentOfType<FunctionOpInterface>();
  function->walk([&](DeviceAssertOp check) { ops.insert(check); });
  for (scf::ForallOp nest : nests)
    addProducers(nest, ops);
  for (auto [number, op] : llvm::enumerate(ops)) {
    PrologueOp &prologue = attention.prologue.emplace_back();
    prologue.op = op;
    if (auto lists = dyn_cast<CreateBlockMaskOp>(op))
      prologue.views = getViews(attention, lists, number);
    else if (auto bounds = dyn_cast<KeyBoundsOp>(op))
      prologue.views = getViews(attention, bounds, number);
  }
  orderTiles(attention);
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
  for (auto [number, prologue] : llvm::enumerate(attention.prologue)) {
    plan.workspaces.append(prologue.views);
    auto add = [&, number = number](StringRef suffix,
                                    std::array<std::string, 3> grid) {
      plan.kernels.push_back({getPrologueName(name + suffix, number),
                              std::move(grid), kPrologueWarps,
                              /*clusterCtas=*/1, /*isPrologue=*/true});
    };
    if (auto lists = dyn_cast<CreateBlockMaskOp>(prologue.op)) {
      PrologueSizes sizes(attention, lists);
      add("_block_states",
          {perWarp(countKeyBlocks(attention, lists)), sizes.rowTiles,
           llvm::formatv("{0} * {1}", sizes.batches, sizes.heads)});
      add("_block_lists",
          {perWarp(sizes.rowTiles), sizes.heads, sizes.batches});
    } else if (auto bounds = dyn_cast<KeyBoundsOp>(prologue.op)) {
      PrologueSizes sizes(attention, bounds);
      add("_key_bounds", {perWarp(sizes.rowTiles), sizes.heads, sizes.batches});
    } else {
      add("_assert", {std::to_string(kAssertCtas), "1", "1"});
    }
    if (prologue.ordersTiles)
      add("_tile_order",
          {perWarp(countOrderedTiles(attention, prologue.op)), "1", "1"});
  }
}
