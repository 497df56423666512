//===- MaskTest.cpp - Masks against brute force ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskTest.h"

using namespace mlir;
using namespace attn;

static int64_t toNumber(OpFoldResult number) {
  return *getConstantIntValue(number);
}

/// The value of an index or i1 that depends on constants and the argument h
/// only.
static Attribute evaluate(Value value, Attribute head) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return head;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluate(operand, head));
  SmallVector<OpFoldResult> results;
  EXPECT_TRUE(succeeded(op->fold(operands, results)));
  if (Attribute result = dyn_cast<Attribute>(results.front()))
    return result;
  return evaluate(cast<Value>(results.front()), head);
}

void MaskChecker::check(Sizes sizes, ArrayRef<int64_t> tileRows,
                        ArrayRef<int64_t> tileKeys) {
  SCOPED_TRACE(testing::Message() << "M=" << sizes.rows << " N=" << sizes.keys
                                  << " h=" << sizes.head);
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  Region region;
  Block *block = addMaskModBlock(builder, loc, region);
  ImplicitLocOpBuilder inside(loc, builder);
  MaskBuilder mask{inside, block->getArgument(1), block->getArgument(2),
                   block->getArgument(3), sizes};
  YieldOp::create(inside, build(mask));
  MaskAnalysis analysis = analyzeMask(region);
  for (int64_t tileM : tileRows)
    for (int64_t tileN : tileKeys)
      checkBlocks(region, sizes, tileM, tileN);
  if (testing::Test::HasFatalFailure())
    return;
  for (int64_t tileM : tileRows)
    for (int64_t tileN : tileKeys)
      for (int64_t row = 0; row < sizes.rows; row += tileM) {
        checkRows(analysis, sizes, row, std::min(row + tileM, sizes.rows) - 1,
                  tileN);
        if (testing::Test::HasFatalFailure())
          return;
      }
}

/// The block map is exact whatever the mask.
void MaskChecker::checkBlocks(Region &region, Sizes sizes, int64_t tileM,
                              int64_t tileN) {
  if (sizes.keys == 0)
    return;
  Interval head{sizes.head, sizes.head};
  MaskBox problem{{0, 0}, head, {0, sizes.rows - 1}, {0, sizes.keys - 1}};
  std::optional<BlockMap> map =
      MaskProgram(region).classifyBlocks(problem, tileM, tileN, 1 << 20);
  ASSERT_TRUE(map.has_value());
  int64_t visitedBefore = numVisited, visibleBefore = numVisible;
  for (int64_t row = 0; row < map->rowTiles; ++row) {
    std::vector<TileState> tiles;
    for (int64_t key = 0; key < map->keyTiles; ++key) {
      BlockState state = map->get(row, key);
      tiles.push_back({state != BlockState::Empty, state == BlockState::Full});
    }
    int64_t first = row * tileM;
    int64_t last = std::min(first + tileM, sizes.rows) - 1;
    checkTiles(tiles, sizes, first, last, tileN, Precision::Exact);
  }
  numVisited = visitedBefore;
  numVisible = visibleBefore;
}

KeyVisibility MaskChecker::getVisibility(const MaskAnalysis &mask, Sizes sizes,
                                         int64_t first, int64_t last,
                                         unsigned mostRanges) {
  OpBuilder builder(&context);
  RowRange rows{builder.getIndexAttr(first), builder.getIndexAttr(last)};
  return computeVisibility(
      builder, builder.getUnknownLoc(), mask, rows,
      builder.getIndexAttr(sizes.keys),
      [&](Value term) {
        Attribute value = evaluate(term, builder.getIndexAttr(sizes.head));
        if (term.getType().isInteger(1)) // 0 or 1, as castToTerm has it
          value =
              builder.getIndexAttr(cast<IntegerAttr>(value).getValue() != 0);
        return OpFoldResult(value);
      },
      mostRanges);
}

void MaskChecker::checkRows(const MaskAnalysis &mask, Sizes sizes,
                            int64_t first, int64_t last, int64_t tileN) {
  for (unsigned mostRanges : {4, 1}) {
    SCOPED_TRACE(testing::Message()
                 << "rows " << first << ".." << last << " tile_n=" << tileN
                 << " ranges=" << mostRanges);
    KeyVisibility visibility =
        getVisibility(mask, sizes, first, last, mostRanges);
    Precision expected = mostRanges == 4 ? precision : Precision::Bounded;
    checkTiles(getWalkTiles(visibility, sizes.keys, tileN), sizes, first, last,
               tileN, expected);
    if (!testing::Test::HasFatalFailure() && visibility.isBand())
      checkTiles(getBandTiles(visibility, sizes.keys, tileN), sizes, first,
                 last, tileN, expected);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

std::vector<TileState>
MaskChecker::getBandTiles(const KeyVisibility &visibility, int64_t keys,
                          int64_t tileN) {
  OpBuilder builder(&context);
  KeyTileBounds bounds =
      computeKeyTileBounds(builder, builder.getUnknownLoc(), visibility, tileN,
                           builder.getIndexAttr(keys));
  int64_t begin = toNumber(bounds.begin), end = toNumber(bounds.end),
          fullBegin = toNumber(bounds.fullBegin),
          fullEnd = toNumber(bounds.fullEnd),
          raggedEnd = toNumber(bounds.raggedEnd);
  int64_t staticEnd = keys / tileN * tileN;
  EXPECT_TRUE(0 <= begin && begin <= fullBegin && fullBegin <= fullEnd &&
              fullEnd <= end && end <= staticEnd && end <= raggedEnd &&
              raggedEnd <= std::max(end, keys))
      << begin << " " << fullBegin << " " << fullEnd << " " << end << " "
      << raggedEnd;
  for (int64_t bound : {begin, fullBegin, fullEnd, end})
    EXPECT_EQ(bound % tileN, 0);
  // The ragged loop runs once, over the ragged tile, or not at all.
  EXPECT_TRUE(raggedEnd == end || end == staticEnd);
  std::vector<TileState> tiles;
  for (int64_t n = 0; n < keys; n += tileN) {
    bool isVisited = n < staticEnd ? begin <= n && n < end : n < raggedEnd;
    tiles.push_back({isVisited, fullBegin <= n && n < fullEnd});
  }
  return tiles;
}

void MaskChecker::addSequence(const KeyTileSequence &sequence, int64_t tileN,
                              bool isFull, std::vector<TileState> &tiles) {
  OpBuilder builder(&context);
  IndexMath math(builder, builder.getUnknownLoc());
  int64_t length = toNumber(sequence.length);
  ASSERT_GE(length, 0);
  ASSERT_EQ(length % tileN, 0);
  for (int64_t offset = 0; offset < length; offset += tileN) {
    int64_t key = toNumber(sequence.getKey(math, builder.getIndexAttr(offset)));
    ASSERT_EQ(key % tileN, 0);
    ASSERT_TRUE(0 <= key && key / tileN < static_cast<int64_t>(tiles.size()))
        << key;
    ASSERT_FALSE(tiles[key / tileN].isVisited) << "twice at " << key;
    tiles[key / tileN] = {true, isFull};
  }
}

std::vector<TileState>
MaskChecker::getWalkTiles(const KeyVisibility &visibility, int64_t keys,
                          int64_t tileN) {
  OpBuilder builder(&context);
  KeyTileWalk walk =
      computeKeyTileWalk(builder, builder.getUnknownLoc(), visibility, tileN,
                         builder.getIndexAttr(keys));
  std::vector<TileState> tiles(keys / tileN);
  addSequence(walk.full, tileN, /*isFull=*/true, tiles);
  addSequence(walk.partial, tileN, /*isFull=*/false, tiles);
  int64_t ragged = keys % tileN, length = toNumber(walk.ragged.length);
  EXPECT_TRUE(length == 0 || length == ragged) << length;
  EXPECT_EQ(toNumber(walk.ragged.first), keys - ragged);
  if (ragged)
    tiles.push_back({length != 0, false});
  return tiles;
}

void MaskChecker::checkTiles(ArrayRef<TileState> tiles, Sizes sizes,
                             int64_t first, int64_t last, int64_t tileN,
                             Precision precision) {
  for (auto [index, tile] : llvm::enumerate(tiles)) {
    int64_t begin = index * tileN, end = std::min(begin + tileN, sizes.keys);
    bool some = false, all = true;
    for (int64_t i = first; i <= last; ++i)
      for (int64_t j = begin; j < end; ++j) {
        bool visible = isVisible(i, j, sizes);
        some |= visible;
        all &= visible;
      }
    numVisited += tile.isVisited;
    numVisible += some;
    ASSERT_TRUE(tile.isVisited || !some) << "visible tile skipped at " << begin;
    ASSERT_TRUE(!tile.isFull || all)
        << "masked pair in a full tile at " << begin;
    if (precision == Precision::Bounded)
      continue;
    ASSERT_EQ(tile.isVisited, some) << "at " << begin;
    // The ragged tile has the mask of the end of the keys in any case.
    if (end - begin == tileN && precision == Precision::Exact) {
      ASSERT_EQ(tile.isFull, all) << "at " << begin;
    }
  }
}
