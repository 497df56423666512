//===- BlockMaskWalk.cpp - Loops over listed blocks -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockMaskWalk.h"

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Lists that a mask looks into
//===----------------------------------------------------------------------===//

/// Folds what can be folded in a region's block, and erases what is dead.
static void foldRegion(Region &region) {
  bool changes = true;
  while (changes) {
    changes = false;
    for (Operation &op :
         llvm::make_early_inc_range(region.front().without_terminator())) {
      SmallVector<Value> results;
      OpBuilder builder(&op);
      if (succeeded(builder.tryFold(&op, results)) && !results.empty())
        op.replaceAllUsesWith(results);
      else if (!isOpTriviallyDead(&op))
        continue;
      op.erase();
      changes = true;
    }
  }
}

/// `region` where list number `present` has the block and the others do not;
/// -1 for none.
static std::shared_ptr<Region> specialize(Region &region, int present) {
  auto result = std::make_shared<Region>();
  IRMapping mapping;
  region.cloneInto(result.get(), mapping);
  int number = 0;
  for (auto listed :
       llvm::make_early_inc_range(result->getOps<BlockListedOp>())) {
    OpBuilder builder(listed);
    Value isHere = arith::ConstantIntOp::create(builder, listed.getLoc(),
                                                number++ == present, 1);
    listed.replaceAllUsesWith(isHere);
    listed.erase();
  }
  foldRegion(*result);
  return result;
}

/// What a region yields, if that is constant.
static std::optional<bool> getConstantMask(Region &region) {
  APInt number;
  if (!matchPattern(region.front().getTerminator()->getOperand(0),
                    m_ConstantInt(&number)))
    return std::nullopt;
  return !number.isZero();
}

std::optional<ListedBlocks> attn::findListedBlocks(OnlineAttentionOp step) {
  Region &region = step.getMaskMod();
  SmallVector<BlockListedOp> listed(region.getOps<BlockListedOp>());
  if (listed.empty() || listed.size() > 2)
    return std::nullopt;
  ScheduleAttr schedule = *step.getSchedule();
  ListedBlocks mask;
  mask.rows = listed.front().getBlock()[0];
  mask.keys = listed.front().getBlock()[1];
  int64_t tileRows = schedule.getTileM() / AttentionDims::get(step).queryHeads;
  if (mask.rows % tileRows != 0 || mask.keys % schedule.getTileN() != 0 ||
      getConstantMask(*specialize(region, -1)) != false)
    return std::nullopt;
  for (auto [number, op] : llvm::enumerate(listed)) {
    SmallVector<Value> at = {op.getBatch(), op.getHead(), op.getRow(),
                             op.getKey()};
    if (op.getBlock() != listed.front().getBlock() ||
        !llvm::equal(at, region.getArguments()))
      return std::nullopt;
    ListedBlocks::List list{op.getNumBlocks(), op.getIndices(), false,
                            specialize(region, number)};
    std::optional<bool> constant = getConstantMask(*list.maskMod);
    list.isFull = constant == true;
    if (constant != false)
      mask.lists.push_back(list);
  }
  llvm::stable_sort(mask.lists,
                    [](auto &a, auto &b) { return a.isFull && !b.isFull; });
  return mask;
}

//===----------------------------------------------------------------------===//
// Lists that are made
//===----------------------------------------------------------------------===//

/// The number of tiles of a size.
static OpFoldResult countTiles(OpBuilder &builder, Location loc,
                               OpFoldResult size, int64_t tile) {
  return affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineSymbolExpr(0).ceilDiv(tile), {size});
}

static int64_t getStatic(OpFoldResult size) {
  return getConstantIntValue(size).value_or(ShapedType::kDynamic);
}

ListedBlocks attn::createBlockLists(OnlineAttentionOp step, OpFoldResult keys) {
  Location loc = step.getLoc();
  auto forall = step->getParentOfType<scf::ForallOp>();
  OpBuilder builder(forall);
  Region &region = step.getMaskMod();
  ScheduleAttr schedule = *step.getSchedule();
  ListedBlocks mask;
  mask.rows = schedule.getTileM() / AttentionDims::get(step).queryHeads;
  mask.keys = schedule.getTileN();
  SmallVector<OpFoldResult> sizes(forall.getMixedUpperBound());
  for (unsigned dim : {kLoopB, kLoopH})
    if (!dependsOnArgument(region, dim))
      sizes[dim] = builder.getIndexAttr(1);
  sizes.push_back(keys);
  SmallVector<int64_t> shape = {
      getStatic(sizes[kLoopB]), getStatic(sizes[kLoopH]),
      getStatic(countTiles(builder, loc, sizes[kLoopM], mask.rows))};
  auto i32 = builder.getI32Type();
  Type counts = RankedTensorType::get(shape, i32);
  int64_t keyTiles = getStatic(countTiles(builder, loc, keys, mask.keys));
  shape.push_back(ShapedType::isDynamic(keyTiles)
                      ? keyTiles
                      : std::max<int64_t>(keyTiles, 1));
  Type indices = RankedTensorType::get(shape, i32);
  SmallVector<Value> operands;
  for (OpFoldResult size : sizes)
    operands.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  auto made = CreateBlockMaskOp::create(
      builder, loc, TypeRange{counts, indices, counts, indices}, operands[0],
      operands[1], operands[2], operands[3],
      ArrayRef<int64_t>{mask.rows, mask.keys});
  IRMapping mapping;
  region.cloneInto(&made.getMaskMod(), mapping);
  mask.lists = {{made.getFullNumBlocks(), made.getFullIndices(), true, nullptr},
                {made.getNumBlocks(), made.getIndices(), false, nullptr}};
  return mask;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

namespace {
/// Reads a list at the rows of a tile.
class ListReader {
public:
  ListReader(OpBuilder &builder, OnlineAttentionOp step,
             const ListedBlocks &mask, const ListedBlocks::List &list)
      : loc(step.getLoc()), block(mask.keys),
        tile(step.getSchedule()->getTileN()), list(list) {
    IndexMath math(builder, loc);
    auto type = cast<ShapedType>(list.numBlocks.getType());
    for (unsigned dim : {kLoopB, kLoopH})
      at.push_back(type.getDimSize(dim) == 1
                       ? toValue(builder, math.constant(0))
                       : step.getOffsets()[dim]);
    at.push_back(
        toValue(builder, math.floorDiv(step.getOffsets()[kLoopM], mask.rows)));
    Value room = tensor::DimOp::create(builder, loc, list.indices, int64_t(3));
    lastSlot = toValue(builder, math.sub(room, math.constant(1)));
  }

  /// The keys in the listed blocks, of which there are `keys`.
  OpFoldResult getLength(OpBuilder &builder, OpFoldResult keys) {
    IndexMath math(builder, loc);
    OpFoldResult count = read(builder, list.numBlocks, at);
    if (divides(block, keys))
      return math.mul(count, block);
    OpFoldResult before = math.sub(count, math.constant(1));
    // The blocks ascend: only the last one can be cut off by the end.
    OpFoldResult last = math.mul(readIndex(builder, before), block);
    OpFoldResult end = math.min({math.add(last, math.constant(block)), keys});
    OpFoldResult length =
        math.add(math.mul(before, block), math.sub(end, last));
    return math.select(math.atMost(math.constant(1), count), length,
                       math.constant(0));
  }

  /// The first key of the tile that is `offset` keys into the list.
  OpFoldResult getKey(OpBuilder &builder, OpFoldResult offset) const {
    IndexMath math(builder, loc);
    Value position = toValue(builder, offset);
    auto divide = [&](int64_t size) -> Value {
      return arith::DivUIOp::create(builder, loc, position,
                                    toValue(builder, math.constant(size)));
    };
    OpFoldResult first = math.mul(readIndex(builder, divide(block)), block);
    if (block == tile)
      return first;
    Value within = arith::RemUIOp::create(
        builder, loc, position, toValue(builder, math.constant(block)));
    return math.add(first, OpFoldResult(within));
  }

private:
  Value toValue(OpBuilder &builder, OpFoldResult number) const {
    return getValueOrCreateConstantIndexOp(builder, loc, number);
  }

  OpFoldResult read(OpBuilder &builder, Value tensor,
                    ArrayRef<Value> indices) const {
    Value entry = tensor::ExtractOp::create(builder, loc, tensor, indices);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      entry)
        .getResult();
  }

  /// The entry at a slot, or where there is none the last slot: copies run
  /// ahead of the loops, and look into the lists of all of them.
  OpFoldResult readIndex(OpBuilder &builder, OpFoldResult slot) const {
    Value inside =
        arith::MinUIOp::create(builder, loc, toValue(builder, slot), lastSlot);
    SmallVector<Value> indices(at);
    indices.push_back(inside);
    return read(builder, list.indices, indices);
  }

  Location loc;
  int64_t block, tile;
  ListedBlocks::List list;
  SmallVector<Value> at; ///< batch, head, row block
  Value lastSlot;
};
} // namespace

/// Gives the step of a loop another mask.
static void setMask(scf::ForOp loop, Region &maskMod) {
  Region &mask = getStep(loop).getMaskMod();
  removeMask(loop);
  IRMapping mapping;
  maskMod.cloneInto(&mask, mapping);
}

void attn::walkListedBlocks(OpBuilder &builder, UnsplitLoops loops,
                            const ListedBlocks &mask) {
  OnlineAttentionOp step = getStep(loops.first());
  Location loc = step.getLoc();
  int64_t tile = step.getSchedule()->getTileN();
  IndexMath math(builder, loc);
  OpFoldResult keys = getAsOpFoldResult(loops.last().getUpperBound());
  OpFoldResult raggedKey = math.mul(math.floorDiv(keys, tile), tile);
  OpFoldResult end = math.constant(0);
  SmallVector<WalkPart> whole, ragged;
  SmallVector<OpFoldResult> rests;
  for (const ListedBlocks::List &list : mask.lists) {
    ListReader reader(builder, step, mask, list);
    OpFoldResult length = reader.getLength(builder, keys);
    OpFoldResult tiles = math.mul(math.floorDiv(length, tile), tile);
    rests.push_back(math.sub(length, tiles));
    auto prepare = [&list](scf::ForOp copy) {
      if (list.maskMod && !list.isFull)
        setMask(copy, *list.maskMod);
    };
    OpFoldResult begin = end;
    end = math.add(end, tiles);
    auto find = [reader, begin](IndexMath &inside, OpFoldResult count) {
      return reader.getKey(inside.getBuilder(), inside.sub(count, begin));
    };
    whole.push_back({loops.whole,
                     getValueOrCreateConstantIndexOp(builder, loc, end),
                     list.isFull, find, prepare});
    ragged.push_back({loops.ragged, Value(), list.isFull, nullptr, prepare});
  }
  for (auto [part, rest] : llvm::zip_equal(ragged, rests)) {
    OpFoldResult begin = end;
    part.find = [raggedKey, begin](IndexMath &inside, OpFoldResult count) {
      return inside.add(raggedKey, inside.sub(count, begin));
    };
    end = math.add(end, rest);
    part.end = getValueOrCreateConstantIndexOp(builder, loc, end);
  }
  whole.append(ragged);
  walkParts(builder, loops, whole);
}
