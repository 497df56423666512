//===- ListedBlocks.cpp - Key tiles from lists in tensors -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListedBlocks.h"

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

/// Makes a mask that of blocks that list number `present` has, or none does.
static void decideListed(Region &region, std::optional<unsigned> present) {
  unsigned number = 0;
  for (auto listed :
       llvm::make_early_inc_range(region.getOps<BlockListedOp>())) {
    OpBuilder builder(listed);
    Value isHere = arith::ConstantIntOp::create(builder, listed.getLoc(),
                                                present == number++, 1);
    listed.replaceAllUsesWith(isHere);
    listed.erase();
  }
  foldRegion(region);
}

void attn::specializeMask(Region &maskMod, unsigned present) {
  decideListed(maskMod, present);
}

/// What a mask yields in blocks that list number `present` has, or none does,
/// if that is constant.
static std::optional<bool> getConstantMask(Region &region,
                                           std::optional<unsigned> present) {
  Region decided;
  IRMapping mapping;
  region.cloneInto(&decided, mapping);
  decideListed(decided, present);
  APInt number;
  if (!matchPattern(decided.front().getTerminator()->getOperand(0),
                    m_ConstantInt(&number)))
    return std::nullopt;
  return !number.isZero();
}

std::optional<ListedBlocks> attn::findListedBlocks(const MaskedTile &tile) {
  Region &region = tile.maskMod;
  SmallVector<BlockListedOp> listed(region.getOps<BlockListedOp>());
  if (listed.empty() || listed.size() > 2)
    return std::nullopt;
  ListedBlocks mask;
  mask.rows = listed.front().getBlock()[0];
  mask.keys = listed.front().getBlock()[1];
  if (mask.rows % tile.tileM != 0 || mask.keys % tile.tileN != 0 ||
      getConstantMask(region, std::nullopt) != false)
    return std::nullopt;
  for (auto [number, op] : llvm::enumerate(listed)) {
    SmallVector<Value> at = {op.getBatch(), op.getHead(), op.getRow(),
                             op.getKey()};
    if (op.getBlock() != listed.front().getBlock() ||
        !llvm::equal(at, region.getArguments()))
      return std::nullopt;
    std::optional<bool> constant = getConstantMask(region, number);
    if (constant != false)
      mask.lists.push_back({op.getNumBlocks(), op.getIndices(),
                            /*isFull=*/constant == true, number});
  }
  llvm::stable_sort(mask.lists,
                    [](auto &a, auto &b) { return a.isFull && !b.isFull; });
  return mask;
}

//===----------------------------------------------------------------------===//
// Lists that are made
//===----------------------------------------------------------------------===//

/// True if an integer op repeats, or mixes bits, at a scale of more than `tile`
/// positions: a mask that does less leaves something in every tile of its band.
static bool isCoarse(Operation &op, int64_t tile) {
  if (op.getNumResults() != 1 || op.getResult(0).getType().isInteger(1))
    return false;
  if (isa<arith::XOrIOp, arith::AndIOp, arith::OrIOp, arith::ShLIOp,
          arith::ShRSIOp, arith::ShRUIOp>(op))
    return true;
  if (!isa<arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp,
           arith::FloorDivSIOp>(op))
    return false;
  std::optional<int64_t> divisor =
      getConstantIntValue(getAsOpFoldResult(op.getOperand(1)));
  return !divisor || *divisor > tile;
}

bool attn::isWorthListing(const MaskedTile &tile) {
  constexpr int64_t kFewTiles = 2;
  if (std::optional<int64_t> n = getConstantIntValue(tile.keys))
    if (*n <= kFewTiles * tile.tileN)
      return false;
  return llvm::any_of(tile.maskMod.front(), [&](Operation &op) {
    return isa<tensor::ExtractOp, BlockListedOp, SegmentOp>(op) ||
           isCoarse(op, std::min(tile.tileM, tile.tileN));
  });
}

/// The number of tiles of a size.
static OpFoldResult countTiles(OpBuilder &builder, Location loc,
                               OpFoldResult size, int64_t tile) {
  return affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineSymbolExpr(0).ceilDiv(tile), {size});
}

static int64_t getStatic(OpFoldResult size) {
  return getConstantIntValue(size).value_or(ShapedType::kDynamic);
}

/// An op before the nest that lists blocks of `rows` x `keys` among pairs of
/// the given sizes; its region is empty.
static CreateBlockMaskOp createLists(const MaskedTile &tile,
                                     ArrayRef<OpFoldResult> sizes, int64_t rows,
                                     int64_t keys) {
  Location loc = tile.loc;
  OpBuilder builder(tile.forall);
  int64_t keyBlocks = getStatic(countTiles(builder, loc, sizes[kLoopN], keys));
  SmallVector<int64_t> shape = {
      getStatic(sizes[kLoopB]), getStatic(sizes[kLoopH]),
      getStatic(countTiles(builder, loc, sizes[kLoopM], rows)),
      ShapedType::isDynamic(keyBlocks) ? keyBlocks
                                       : std::max<int64_t>(keyBlocks, 1)};
  auto i32 = builder.getI32Type();
  Type counts = RankedTensorType::get(ArrayRef(shape).drop_back(), i32);
  Type indices = RankedTensorType::get(shape, i32);
  SmallVector<Value> operands;
  for (OpFoldResult size : sizes)
    operands.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return CreateBlockMaskOp::create(
      builder, loc, TypeRange{counts, indices, counts, indices}, operands[0],
      operands[1], operands[2], operands[3], ArrayRef<int64_t>{rows, keys});
}

ListedBlocks attn::createBlockLists(const MaskedTile &tile) {
  SmallVector<OpFoldResult> sizes = tile.getSizes();
  sizes.push_back(tile.keys);
  CreateBlockMaskOp made = createLists(tile, sizes, tile.tileM, tile.tileN);
  IRMapping mapping;
  tile.maskMod.cloneInto(&made.getMaskMod(), mapping);
  ListedBlocks mask{tile.tileM, tile.tileN, {}};
  mask.lists = {
      {made.getFullNumBlocks(), made.getFullIndices(), /*isFull=*/true, {}},
      {made.getNumBlocks(), made.getIndices(), /*isFull=*/false, {}}};
  return mask;
}

CreateBlockMaskOp attn::createListsOfTiles(const MaskedTile &tile) {
  OpBuilder builder(tile.forall);
  SmallVector<OpFoldResult> sizes = tile.getSizes();
  sizes[kLoopM] = countTiles(builder, tile.loc, sizes[kLoopM], tile.tileM);
  sizes.push_back(countTiles(builder, tile.loc, tile.keys, tile.tileN));
  return createLists(tile, sizes, 1, 1);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

ListReader::ListReader(OpBuilder &builder, const MaskedTile &tile,
                       const ListedBlocks &mask, const ListedBlocks::List &list)
    : loc(tile.loc), block(mask.keys), tile(tile.tileN), keys(tile.keys),
      list(list),
      at(tile.getPlace(builder, cast<ShapedType>(list.numBlocks.getType()),
                       mask.rows)) {
  IndexMath math(builder, loc);
  Value room = tensor::DimOp::create(builder, loc, list.indices, int64_t(3));
  lastSlot = toValue(builder, math.sub(room, math.constant(1)));
}

OpFoldResult ListReader::getLength(OpBuilder &builder) const {
  IndexMath math(builder, loc);
  OpFoldResult count = read(builder, list.numBlocks, at);
  if (divides(block, keys))
    return math.mul(count, block);
  OpFoldResult before = math.sub(count, math.constant(1));
  // The blocks ascend: only the last one can be cut off by the end.
  OpFoldResult last = math.mul(readIndex(builder, before), block);
  OpFoldResult end = math.min({math.add(last, math.constant(block)), keys});
  OpFoldResult length = math.mul(before, block);
  length = math.add(length, math.sub(end, last));
  return math.select(math.atMost(math.constant(1), count), length,
                     math.constant(0));
}

OpFoldResult ListReader::getPaddedLength(OpBuilder &builder) const {
  IndexMath math(builder, loc);
  return math.mul(math.ceilDiv(getLength(builder), tile), tile);
}

OpFoldResult ListReader::getKey(OpBuilder &builder, OpFoldResult offset) const {
  IndexMath math(builder, loc);
  Value position = toValue(builder, offset);
  auto divide = [&](int64_t size) -> Value {
    return arith::DivUIOp::create(builder, loc, position,
                                  toValue(builder, math.constant(size)));
  };
  OpFoldResult first = math.mul(readIndex(builder, divide(block)), block);
  if (block == tile)
    return first;
  Value within = arith::RemUIOp::create(builder, loc, position,
                                        toValue(builder, math.constant(block)));
  return math.add(first, OpFoldResult(within));
}

Value ListReader::toValue(OpBuilder &builder, OpFoldResult number) const {
  return getValueOrCreateConstantIndexOp(builder, loc, number);
}

OpFoldResult ListReader::read(OpBuilder &builder, Value tensor,
                              ArrayRef<Value> indices) const {
  Value entry = tensor::ExtractOp::create(builder, loc, tensor, indices);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), entry)
      .getResult();
}

/// The entry at a slot, or where there is none the last slot: copies run ahead
/// of the loops, and look into the lists of all of them.
OpFoldResult ListReader::readIndex(OpBuilder &builder,
                                   OpFoldResult slot) const {
  Value inside =
      arith::MinUIOp::create(builder, loc, toValue(builder, slot), lastSlot);
  SmallVector<Value> indices(at);
  indices.push_back(inside);
  return read(builder, list.indices, indices);
}
