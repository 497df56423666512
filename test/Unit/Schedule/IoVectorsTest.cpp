//===- IoVectorsTest.cpp - Worked examples of the I/O counts --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/LowerBounds.h"
#include "attn/Schedule/TwoLevelModel.h"
#include "attn/Support/Format.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ostream>

using namespace attn;

namespace {
struct IoVector {
  int number;
  const char *name;
  const char *algorithm;
  int64_t batch, queryHeads, kvHeads, queryLength, kvLength, headDim, valueDim;
  int64_t cacheElements;
  const char *mask;
  bool sharedKV;
  const char *tiles;
  int64_t reads, writes, lowerBound, bestLarge, bestSmall;
  const char *wins;

  int64_t getHeads() const { return batch * kvHeads; }

  HeadShape getHead() const {
    HeadShape head;
    head.groupSize = queryHeads / kvHeads;
    head.rows = head.groupSize * queryLength;
    head.kvLength = kvLength;
    head.headDim = headDim;
    head.valueDim = valueDim;
    head.mask = *MaskPattern::parse(mask);
    head.sharedKV = sharedKV;
    return head;
  }

  bool isBackward() const {
    return std::string(algorithm).find("bwd") != std::string::npos;
  }

  /// The tile of that name; 0 if it is not given.
  int64_t get(const std::string &tile) const {
    for (const std::string &field : split(tiles, ',')) {
      size_t equals = field.find('=');
      int64_t value = 0;
      if (equals != std::string::npos && field.substr(0, equals) == tile &&
          parseInteger(field.substr(equals + 1), value))
        return value;
    }
    return 0;
  }
};

/// gtest prints parameters with this.
void PrintTo(const IoVector &vector, std::ostream *stream) {
  *stream << vector.number << " " << vector.name;
}

class IoVectors : public testing::TestWithParam<IoVector> {};
} // namespace

static const IoVector vectors[] = {
#include "IoVectors.inc"
};

INSTANTIATE_TEST_SUITE_P(All, IoVectors, testing::ValuesIn(vectors),
                         [](const auto &info) {
                           return std::to_string(info.param.number);
                         });

TEST(IoVectorsTable, isComplete) {
  ASSERT_EQ(std::size(vectors), 73u);
  for (size_t i = 0; i < 73; ++i)
    EXPECT_EQ(vectors[i].number, static_cast<int>(i + 1));
}

/// The first key tile and the first row tile are global; the others see their
/// own diagonal tile and the one before.
static BlockMask getBandWithGlobalTiles(const IoVector &v) {
  BlockMask mask = {v.get("Br"), v.get("Bc"), {}};
  int64_t count = v.kvLength / mask.tileN;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < count; ++j)
      mask.visible.push_back(i == 0 || j == 0 || j == i || j == i - 1);
  EXPECT_EQ(std::count(mask.visible.begin(), mask.visible.end(), true),
            v.get("nnz"));
  return mask;
}

static Traffic countQueryOuter(const IoVector &v, const HeadShape &head) {
  if (v.get("nnz"))
    return countQueryOuterForward(
        head, sumVisibleTiles(head, getBandWithGlobalTiles(v)));
  return countQueryOuterForward(head, v.get("Br"), v.get("Bc"));
}

static Traffic countKvOuter(const IoVector &v, const HeadShape &head) {
  bool isElided = std::string(v.tiles).find("init=0") != std::string::npos;
  return countKvOuterForward(head, v.get("Bc"), !isElided);
}

/// The tiles br, bc, br2, bw; or one square tile B.
static Traffic countSmallForward(const IoVector &v, const HeadShape &head) {
  int64_t side = v.get("B");
  SmallCacheTiles tiles = {side, side, side, side};
  if (!side)
    tiles = {v.get("br"), v.get("bc"),
             v.get("br2") ? v.get("br2") : v.get("br"), v.get("bw")};
  return countSmallCacheForward(head, tiles,
                                std::string(v.algorithm) == "small_fwd ptile");
}

static Traffic countAlgorithm(const IoVector &v) {
  using Count = std::function<Traffic(const IoVector &, const HeadShape &)>;
  static const std::map<std::string, Count> counts = {
      {"std_fwd_ideal",
       [](const IoVector &, const HeadShape &h) {
         return countUnfusedForward(h);
       }},
      {"std_fwd_tiled",
       [](const IoVector &v, const HeadShape &h) {
         return countUnfusedTiledForward(h, v.get("bm"), v.get("bn"),
                                         v.get("bn2"),
                                         h.kvLength <= v.cacheElements);
       }},
      {"std_bwd_ideal",
       [](const IoVector &, const HeadShape &h) {
         return countUnfusedBackward(h);
       }},
      {"fa1_fwd", countKvOuter},
      {"fa2_fwd", countQueryOuter},
      {"fa2_fwd(best)", countQueryOuter},
      {"fa2_fwd(mask)", countQueryOuter},
      {"fa2_dvsplit_fwd",
       [](const IoVector &v, const HeadShape &h) {
         return countDvSplitForward(h, v.get("Br"), v.get("c"));
       }},
      {"split_kv",
       [](const IoVector &v, const HeadShape &h) {
         return countSplitKvForward(h, v.get("Br"), v.get("Bc"),
                                    v.get("splits"));
       }},
      {"saha_ye_fwd", countSmallForward},
      {"small_fwd lse", countSmallForward},
      {"small_fwd ptile", countSmallForward},
      {"small_fwd(best)", countSmallForward},
      {"block_sparse_fa1_fwd",
       [](const IoVector &v, const HeadShape &h) {
         return countBlockSparseKvOuter(h, getBandWithGlobalTiles(v));
       }},
      {"fa1_bwd",
       [](const IoVector &v, const HeadShape &h) {
         return countKvOuterBackward(h, v.get("Bc"));
       }},
      {"fa2_bwd rmw",
       [](const IoVector &v, const HeadShape &h) {
         return countFusedBackward(h, v.get("Br"), v.get("Bc"),
                                   QueryGradientSum::ReadModifyWrite);
       }},
      {"fa2_bwd atomic",
       [](const IoVector &v, const HeadShape &h) {
         return countFusedBackward(h, v.get("Br"), v.get("Bc"),
                                   QueryGradientSum::Atomic);
       }},
      {"two_kernel_bwd",
       [](const IoVector &v, const HeadShape &h) {
         return countTwoKernelBackward(h, v.get("BcA"), v.get("BrB"));
       }},
      {"bwd(best large)",
       [](const IoVector &v, const HeadShape &h) {
         return countTwoKernelBackward(h, v.get("BcA"), v.get("BrB"));
       }},
      {"small_bwd four_phase",
       [](const IoVector &v, const HeadShape &h) {
         return countSmallCacheBackward(h, v.get("b"), /*fused=*/false);
       }},
      {"small_bwd fused",
       [](const IoVector &v, const HeadShape &h) {
         return countSmallCacheBackward(h, v.get("b"), /*fused=*/true);
       }},
      {"li_small_bwd_X",
       [](const IoVector &v, const HeadShape &h) {
         return countLiBackward(h, v.get("b"));
       }},
  };
  auto count = counts.find(v.algorithm);
  if (count == counts.end()) {
    ADD_FAILURE() << "unknown algorithm " << v.algorithm;
    return {};
  }
  return count->second(v, v.getHead());
}

TEST_P(IoVectors, counts) {
  const IoVector &v = GetParam();
  Traffic traffic = countAlgorithm(v) * v.getHeads();
  EXPECT_EQ(traffic.getReads(), v.reads);
  EXPECT_EQ(traffic.getWrites(), v.writes);
}

TEST_P(IoVectors, lowerBound) {
  const IoVector &v = GetParam();
  AttentionPass pass =
      v.isBackward() ? AttentionPass::Backward : AttentionPass::Forward;
  int64_t bound =
      getLowerBounds(v.getHead(), v.cacheElements, pass).get() * v.getHeads();
  EXPECT_EQ(bound, v.lowerBound);
  EXPECT_LE(bound, v.reads + v.writes);
}

TEST_P(IoVectors, bestTilesAndWinner) {
  const IoVector &v = GetParam();
  HeadShape head = v.getHead();
  int64_t large = 0, small = 0;
  if (v.isBackward()) {
    // Of the dense problem.
    head.mask = MaskPattern::full();
    large = getBestLargeBackward(head, v.cacheElements)->traffic.getTotal();
    small = *getBestSmallBackward(head, v.cacheElements);
  } else {
    large = getBestLargeForward(head, v.cacheElements)->traffic.getTotal();
    small = getBestSmallForward(head, v.cacheElements)->traffic.getTotal();
  }
  EXPECT_EQ(large * v.getHeads(), v.bestLarge);
  EXPECT_EQ(small * v.getHeads(), v.bestSmall);
  EXPECT_STREQ(large <= small ? "large" : "small", v.wins);
}

TEST_P(IoVectors, bestTilesAreThoseOfTheRow) {
  const IoVector &v = GetParam();
  std::string algorithm = v.algorithm;
  if (algorithm == "fa2_fwd(best)") {
    EXPECT_EQ(getBestLargeForward(v.getHead(), v.cacheElements)->tileM,
              v.get("Br"));
  } else if (algorithm == "small_fwd(best)") {
    SmallCacheTiles tiles =
        getBestSmallForward(v.getHead(), v.cacheElements)->tiles;
    EXPECT_EQ(tiles.tileM, v.get("br"));
    EXPECT_EQ(tiles.tileN, v.get("bc"));
    EXPECT_EQ(tiles.tileM2, v.get("br2"));
    EXPECT_EQ(tiles.tileDv, v.get("bw"));
  } else if (algorithm == "bwd(best large)") {
    BestLargeBackward best =
        *getBestLargeBackward(v.getHead(), v.cacheElements);
    EXPECT_TRUE(best.twoKernels);
    EXPECT_EQ(best.tileN, v.get("BcA"));
  }
}
