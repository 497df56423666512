//===- ProloguePlan.cpp - Launches that precede an attention ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/RowChains.h"
#include "Launch/LaunchProgram.h"
#include "Launch/PrologueKernels.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

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
  Size ctas = perWarp(blocks);
  program.addKernel(named("_block_states"), ctas, sizes.rowTiles,
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

/// append_c3, where the verifier could not check it.
static void addPoolConstraints(LaunchProgram &program, AppendOp op,
                               function_ref<StringRef(Value)> getName) {
  auto getSize = [&](Value pool, unsigned dim) {
    int64_t size = cast<ShapedType>(pool.getType()).getDimSize(dim);
    return ShapedType::isDynamic(size) ? program.dim(getName(pool), dim)
                                       : program.constant(size);
  };
  Value first = op.getPools().front();
  for (Value pool : op.getDpsInits().drop_front())
    for (unsigned dim : {kBatch, kHead, kSequence}) {
      Size wanted = getSize(first, dim);
      Size missing = wanted - getSize(pool, dim);
      if (missing.getConstant() != 0)
        program.addConstraint(missing,
                              ("expected dimension " + Twine(dim) + " of " +
                               getName(pool) + " to be as in " + getName(first))
                                  .str());
    }
}

/// The rows of a head of what is under a chain.
static Size getRows(LaunchProgram &program, Value source) {
  StringRef name = program.getName(source);
  return isPackedRows(cast<ShapedType>(source.getType()))
             ? program.getPackedRows(name)
             : program.dim(name, kSequence);
}

/// rotary_c4, where the verifier could not check it.
static void addPositionConstraints(LaunchProgram &program, RotaryOp op,
                                   StringRef source, Size rows) {
  auto positions = cast<ShapedType>(op.getPositions().getType());
  StringRef name = program.getName(op.getPositions());
  program.addConstraint(
      rows - program.dim(name, positions.getRank() - 1),
      ("expected " + name + " to have one for each row of " + source).str());
  if (positions.getRank() == 2 && positions.getDimSize(0) != 1) {
    Size batches = program.dim(source, kBatch);
    program.addConstraint(
        batches - program.dim(name, 0),
        ("expected " + name + " of each batch of " + source).str());
  }
}

/// rotary_c3, where the verifier could not check it.
static void addTableConstraints(LaunchProgram &program, RotaryOp op) {
  auto table = cast<ShapedType>(op.getCos().getType());
  Value rows = skipRowOps(op.getSource());
  StringRef source = program.getName(rows);
  Size needed = getRows(program, rows);
  if (op.getPositions()) {
    addPositionConstraints(program, op, source, needed);
    needed = needed.min(1);
  }
  for (Value tensor : {op.getCos(), op.getSin()}) {
    StringRef name = program.getName(tensor);
    Size missing = needed - program.dim(name, table.getRank() - 2);
    program.addConstraint(
        missing.max(program.constant(0)),
        ("expected " + name + " to have a row for each position of " + source)
            .str());
  }
}

static void addTableConstraints(LaunchProgram &program, Operation *last) {
  for (Operation *op : RowChain::get(last).ops)
    if (auto rotary = dyn_cast<RotaryOp>(op))
      addTableConstraints(program, rotary);
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
  addPoolConstraints(program, op, find);
  for (Operation *last : getChangedRows(op))
    addTableConstraints(program, last);
  auto slots = cast<ShapedType>(op.getSlots().getType());
  Size rows = program.getProduct(find(op.getSlots()), slots.getRank());
  Size heads = program.dim(find(op.getPools().front()), kHead);
  program.addKernel(name, perWarp(rows * heads));
}

/// The kernel of a chain of row ops: a warp for each row.
static void addRows(LaunchProgram &program, const PrologueOp &prologue,
                    const Twine &name) {
  addTableConstraints(program, prologue.op);
  Value rows = skipRowOps(prologue.op->getResult(0));
  StringRef source = program.getName(rows);
  Size heads = program.dim(source, kHead);
  SmallVector<Size> sizes = {getRows(program, rows), heads};
  if (!isPackedRows(cast<ShapedType>(rows.getType())))
    sizes = {program.dim(source, kBatch), heads, sizes.front()};
  Size count = program.constant(1);
  for (Size size : sizes)
    count = count * size;
  sizes.push_back(program.dim(source, kHeadDim));
  program.addWorkspace(prologue.views.front(), sizes);
  program.addKernel(name, perWarp(count));
}

/// Words of the worklist: what stands in front of its entries, and room for as
/// many as there are if all sequences are the longest; of ranges that a plan
/// chooses for the whole ones of all CTAs, and for a rest of each sequence.
static Size getWorklistWords(LaunchProgram &program,
                             const TiledAttention &attention) {
  Size batches = program.dim("query", kBatch), tiles = batches;
  if (plansRowTiles(attention))
    tiles = (batches + program.getPackedRows("query").floorDiv(
                           attention.getTilePositions())) *
            attention.getDvSlices();
  int64_t words = getEntryWords(attention);
  if (plansRanges(attention))
    return (program.getPlannedTiles(attention) + tiles) * words + batches +
           program.constant(kFirstStates);
  return tiles * program.getSplits(attention) * words +
         program.constant(kEntryCount + 1);
}

void attn::addPrologue(LaunchProgram &program, const TiledAttention &attention,
                       StringRef name) {
  if (Operation *fused =
          attention.first ? getFusedRows(attention.first) : nullptr)
    addTableConstraints(program, fused);
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
    else if (isa<MergeOp>(prologue.op))
      addMerge(program, name);
    else if (getRowSource(prologue.op))
      addRows(program, prologue, named("_rows"));
    else
      program.addKernel(named("_assert"), program.constant(kAssertCtas));
    if (prologue.ordersTiles) {
      PrologueSizes sizes(program, prologue.op, attention.getTilePositions());
      Size tiles = sizes.rowTiles * sizes.batches;
      program.addWorkspace(prologue.views.back(), {tiles});
      program.addKernel(named("_tile_order"), perWarp(tiles));
    }
  }
  if (attention.worklist) {
    program.addWorkspace(*attention.worklist,
                         {getWorklistWords(program, attention)});
    program.addKernel(name + "_plan", perWarp(program.dim("query", kBatch)));
  }
  program.endPrologue();
}
