//===- BlockLists.cpp - Lists of key tiles for each row tile ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLists.h"

#include "attn/Analysis/KeyTiles.h"
#include "attn/Analysis/MaskProgram.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;

/// Entries of a table: what a kernel's module may hold without making its text
/// long to read.
static constexpr int64_t kMostEntries = 1 << 15;
/// Boxes that may be evaluated for one mask: about 10 ms.
static constexpr int64_t kMostBoxes = 1 << 17;
/// Row tiles at which lists and ranges are compared.
static constexpr int64_t kMostSamples = 64;

/// Tiles of some row tiles.
namespace {
struct TileCounts {
  int64_t visited = 0, full = 0;

  void operator+=(const TileCounts &other) {
    visited += other.visited;
    full += other.full;
  }
  bool operator==(const TileCounts &other) const {
    return visited == other.visited && full == other.full;
  }
};
} // namespace

/// What the ranges of keys visit; all of it is constant.
static TileCounts countRangeTiles(OpBuilder &builder, const MaskAnalysis &mask,
                                  const BlockMap &map, int64_t row,
                                  int64_t rows, int64_t keys,
                                  unsigned mostRanges) {
  Location loc = builder.getUnknownLoc();
  int64_t first = row * map.tileM;
  RowRange range{builder.getIndexAttr(first),
                 builder.getIndexAttr(std::min(first + map.tileM, rows) - 1)};
  auto noTerm = [](Value) -> OpFoldResult {
    llvm_unreachable("expected a mask without symbols");
  };
  OpFoldResult end = builder.getIndexAttr(keys);
  KeyTileWalk walk = computeKeyTileWalk(
      builder, loc,
      computeVisibility(builder, loc, mask, range, end, noTerm, mostRanges),
      map.tileN, end);
  auto count = [&](const KeyTileSequence &sequence) {
    return llvm::divideCeil(*getConstantIntValue(sequence.length), map.tileN);
  };
  TileCounts counts;
  counts.full = count(walk.full);
  counts.visited = counts.full + count(walk.partial) + count(walk.ragged);
  return counts;
}

/// What the lists visit. The ragged tile is never full: it has the mask of the
/// end of the keys.
static TileCounts countListTiles(const BlockMap &map, int64_t row,
                                 int64_t keys) {
  TileCounts counts;
  for (int64_t key = 0; key < map.keyTiles; ++key) {
    BlockState state = map.get(row, key);
    counts.visited += state != BlockState::Empty;
    counts.full += state == BlockState::Full && (key + 1) * map.tileN <= keys;
  }
  return counts;
}

/// Full tiles, partial tiles, the ragged tile, each as their first keys.
static BlockLists makeLists(const BlockMap &map, int64_t keys) {
  BlockLists lists;
  lists.table.resize(map.rowTiles * BlockLists::kHeader);
  int64_t whole = keys / map.tileN;
  for (int64_t row = 0; row < map.rowTiles; ++row) {
    int64_t begin = lists.table.size();
    auto append = [&](BlockState state) {
      for (int64_t key = 0; key < whole; ++key)
        if (map.get(row, key) == state)
          lists.table.push_back(key * map.tileN);
      return (lists.table.size() - begin) * map.tileN;
    };
    int64_t fullEnd = append(BlockState::Full);
    int64_t partialEnd = append(BlockState::Partial), raggedEnd = partialEnd;
    if (whole < map.keyTiles && map.get(row, whole) != BlockState::Empty) {
      lists.table.push_back(whole * map.tileN);
      raggedEnd += keys - whole * map.tileN;
    }
    int32_t *header = lists.table.data() + row * BlockLists::kHeader;
    header[BlockLists::kBegin] = begin;
    header[BlockLists::kFullEnd] = fullEnd;
    header[BlockLists::kPartialEnd] = partialEnd;
    header[BlockLists::kRaggedEnd] = raggedEnd;
  }
  return lists;
}

/// True if the bands of a mask say all there is to know without looking.
static bool isOneBand(const MaskAnalysis &mask) {
  std::vector<MaskBand> bands = mask.getBands();
  return bands.size() <= 1 && (bands.empty() || bands.front().isExact);
}

StaticTiles attn::findStaticTiles(Region &maskMod, const MaskAnalysis &mask,
                                  const TileGrid &grid, unsigned mostRanges) {
  if (isOneBand(mask))
    return {true, std::nullopt};
  std::optional<int64_t> m;
  if (grid.rows)
    m = getConstantIntValue(grid.rows);
  std::optional<int64_t> n = getConstantIntValue(grid.keys);
  bool readsData = llvm::any_of(maskMod.front(), [](Operation &op) {
    return isa<tensor::ExtractOp, BlockListedOp, SegmentOp>(op);
  });
  if (!m || !n || *m < 1 || *n < 1 || !mask.symbols.empty() || readsData)
    return {};
  constexpr int64_t kMany = int64_t(1) << 31;
  MaskBox problem{{0, kMany}, {0, kMany}, {0, *m - 1}, {0, *n - 1}};
  std::optional<BlockMap> map = MaskProgram(maskMod).classifyBlocks(
      problem, grid.tileM, grid.tileN, kMostBoxes);
  if (!map)
    return {};
  if (grid.isEndWhole)
    n = llvm::alignTo(*n, grid.tileN);
  // The region may be in no op.
  OpBuilder builder(maskMod.front().back().getContext());
  int64_t stride = llvm::divideCeil(map->rowTiles, kMostSamples);
  TileCounts lists, ranges;
  for (int64_t row = 0; row < map->rowTiles; row += stride) {
    lists += countListTiles(*map, row, *n);
    ranges += countRangeTiles(builder, mask, *map, row, *m, *n, mostRanges);
  }
  if (lists == ranges)
    return {true, std::nullopt};
  BlockLists result = makeLists(*map, *n);
  if (result.table.size() > kMostEntries)
    return {};
  return {false, std::move(result)};
}

//===----------------------------------------------------------------------===//
// Reading a table
//===----------------------------------------------------------------------===//

ListedTiles attn::readList(OpBuilder &builder, Location loc,
                           const BlockLists &lists, OpFoldResult number,
                           int64_t tileN) {
  auto type = RankedTensorType::get(lists.table.size(), builder.getI32Type());
  auto forall = builder.getInsertionBlock()
                    ->getParent()
                    ->getParentOfType<scf::ForallOp>();
  OpBuilder outside(forall);
  Value table = arith::ConstantOp::create(
      outside, loc, DenseIntElementsAttr::get(type, lists.table));
  auto read = [=](OpBuilder &inside, OpFoldResult position) -> Value {
    Value entry = tensor::ExtractOp::create(
        inside, loc, table,
        getValueOrCreateConstantIndexOp(inside, loc, position));
    return arith::IndexCastOp::create(inside, loc, inside.getIndexType(),
                                      entry);
  };
  IndexMath math(builder, loc);
  OpFoldResult header = math.mul(number, BlockLists::kHeader);
  auto readHeader = [&](BlockLists::Header field) {
    return read(builder, math.add(header, math.constant(field)));
  };
  Value begin = readHeader(BlockLists::kBegin);
  Value step = arith::ConstantIndexOp::create(builder, loc, tileN);
  auto find = [=](IndexMath &inside, OpFoldResult count) -> OpFoldResult {
    OpBuilder &body = inside.getBuilder();
    Value tile = arith::DivUIOp::create(
        body, loc, getValueOrCreateConstantIndexOp(body, loc, count), step);
    Value position = arith::AddIOp::create(body, loc, begin, tile);
    return read(body, position);
  };
  return {readHeader(BlockLists::kFullEnd), readHeader(BlockLists::kPartialEnd),
          readHeader(BlockLists::kRaggedEnd), find};
}
