//===- Prologue.cpp - What is launched before an attention ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prologue.h"

#include "LaunchProgram.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

bool attn::isPrologueOp(Operation *op) {
  return isa_and_nonnull<CreateBlockMaskOp, KeyBoundsOp>(op);
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

/// A workspace of i32 in the shape of a tensor.
static WorkspaceView getView(std::string name, Type like) {
  auto tensor = cast<RankedTensorType>(like);
  return {std::move(name),
          tile::GlobalType::get(like.getContext(), tensor.getShape(),
                                tensor.getElementType())};
}

/// Workspaces of the four lists and the state of each block.
static SmallVector<WorkspaceView> getViews(CreateBlockMaskOp op,
                                           unsigned number) {
  auto view = [&](StringRef name, Value like) {
    return getView(getPrologueName(name, number), like.getType());
  };
  return {view("kv_num_blocks", op.getNumBlocks()),
          view("kv_indices", op.getIndices()),
          view("full_kv_num_blocks", op.getNumBlocks()),
          view("full_kv_indices", op.getIndices()),
          view("block_states", op.getIndices())};
}

/// The workspace of the bounds.
static SmallVector<WorkspaceView> getViews(KeyBoundsOp op, unsigned number) {
  return {getView(getPrologueName("key_bounds", number), op.getType())};
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
  found->views.push_back(getView("tile_order", type));
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
  if (attention.first)
    function->walk([&](AppendOp append) { ops.insert(append); });
  for (scf::ForallOp nest : nests)
    addProducers(nest, ops);
  for (auto [number, op] : llvm::enumerate(ops)) {
    PrologueOp &prologue = attention.prologue.emplace_back();
    prologue.op = op;
    if (auto lists = dyn_cast<CreateBlockMaskOp>(op))
      prologue.views = getViews(lists, number);
    else if (auto bounds = dyn_cast<KeyBoundsOp>(op))
      prologue.views = getViews(bounds, number);
  }
  orderTiles(attention);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of what an op computes.
struct PrologueSizes {
  PrologueSizes(LaunchProgram &program, Operation *op, int64_t tile)
      : batches(get(program, op, kLoopB)), heads(get(program, op, kLoopH)),
        rowTiles(get(program, op, kLoopM).ceilDiv(tile)) {}
  PrologueSizes(LaunchProgram &program, CreateBlockMaskOp op)
      : PrologueSizes(program, op, op.getBlock()[0]) {}
  PrologueSizes(LaunchProgram &program, KeyBoundsOp op)
      : PrologueSizes(program, op, op.getTile()) {}

  Size batches, heads, rowTiles;

private:
  static Size get(LaunchProgram &program, Operation *op, unsigned loop) {
    return program.getSize(op->getOperand(loop), program.dim("query", loop));
  }
};
} // namespace

/// `count` in CTAs, of which each takes as many as it has warps.
static Size perWarp(Size count) { return count.ceilDiv(kPrologueWarps); }

/// The kernels and workspaces of the lists of blocks.
static void addBlockMask(LaunchProgram &program, const PrologueOp &prologue,
                         CreateBlockMaskOp op,
                         function_ref<std::string(StringRef)> named) {
  PrologueSizes sizes(program, op);
  Size keys = program.getSize(op.getKeys(), program.dim("key", kSequence));
  Size blocks = keys.ceilDiv(op.getBlock()[1]);
  Size all[] = {sizes.batches, sizes.heads, sizes.rowTiles, blocks.max(1)};
  for (const WorkspaceView &view :
       ArrayRef(prologue.views).drop_back(prologue.ordersTiles))
    program.addWorkspace(view, ArrayRef(all).take_front(view.type.getRank()));
  program.addKernel(named("_block_states"), perWarp(blocks), sizes.rowTiles,
                    sizes.batches * sizes.heads);
  program.addKernel(named("_block_lists"), perWarp(sizes.rowTiles), sizes.heads,
                    sizes.batches);
}

/// The kernel and workspace of the bounds of the keys of each tile of rows.
static void addKeyBounds(LaunchProgram &program, const PrologueOp &prologue,
                         KeyBoundsOp op,
                         function_ref<std::string(StringRef)> named) {
  PrologueSizes sizes(program, op);
  program.addWorkspace(prologue.views.front(),
                       {sizes.batches, sizes.heads, sizes.rowTiles,
                        program.constant(2 * op.getBounds().size())});
  program.addKernel(named("_key_bounds"), perWarp(sizes.rowTiles), sizes.heads,
                    sizes.batches);
}

/// The kernel of an attn.append: a warp for each new row of a head.
static void addAppend(LaunchProgram &program, const TiledAttention &attention,
                      AppendOp op, const Twine &name) {
  auto find = [&](Value tensor) -> StringRef {
    for (const KernelOperand &operand : attention.operands)
      if (operand.tensor == tensor)
        return operand.name;
    llvm_unreachable("expected an operand");
  };
  auto slots = cast<ShapedType>(op.getSlots().getType());
  Size rows = program.getProduct(find(op.getSlots()), slots.getRank());
  Size heads = program.dim(find(op.getPools().front()), kHead);
  program.addKernel(name, perWarp(rows * heads));
}

void attn::addPrologue(LaunchProgram &program, const TiledAttention &attention,
                       StringRef name) {
  for (auto [number, prologue] : llvm::enumerate(attention.prologue)) {
    auto named = [&, number = number](StringRef suffix) {
      return getPrologueName(name + suffix, number);
    };
    if (auto lists = dyn_cast<CreateBlockMaskOp>(prologue.op))
      addBlockMask(program, prologue, lists, named);
    else if (auto bounds = dyn_cast<KeyBoundsOp>(prologue.op))
      addKeyBounds(program, prologue, bounds, named);
    else if (auto append = dyn_cast<AppendOp>(prologue.op))
      addAppend(program, attention, append, named("_append"));
    else
      program.addKernel(named("_assert"), program.constant(kAssertCtas));
    if (prologue.ordersTiles) {
      PrologueSizes sizes(program, prologue.op, attention.getTilePositions());
      Size tiles = sizes.rowTiles * sizes.batches;
      program.addWorkspace(prologue.views.back(), {tiles});
      program.addKernel(named("_tile_order"), perWarp(tiles));
    }
  }
  program.endPrologue();
}
