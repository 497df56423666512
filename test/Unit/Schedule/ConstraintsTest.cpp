//===- ConstraintsTest.cpp - Tests of the legality rules ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstraintsFixture.h"

using namespace attn;

namespace {
struct Constraints : ConstraintsFixture {};
} // namespace

TEST_F(Constraints, legalScheduleHasNoViolation) {
  EXPECT_EQ(getMessages(), "");
  set("pack_gqa=1 query_in_registers=1 stages=3");
  EXPECT_EQ(getMessages(), "");
  set("kind=split_kv splits=4");
  EXPECT_EQ(getMessages(), "");
}

TEST_F(Constraints, instructionsMustExist) {
  set("mma=wgmma");
  EXPECT_EQ(getMessages(), "mma: target sm_80 has no wgmma for bf16\n");
  set("mma=none");
  EXPECT_EQ(getMessages(),
            "mma: expected matrix instructions on a GPU, got mma=none\n");
  set("mma=tcgen05");
  EXPECT_EQ(getMessages(), "mma: target sm_80 has no tcgen05 for bf16\n");
  set("warps=1");
  target = *lookupTarget("cpu");
  EXPECT_EQ(getMessages(),
            "mma: expected mma=none on a CPU, got mma=tcgen05\n");
}

/// 2^8 P, or of e4m3 2^(8 - rescale_threshold) P, may grow no further than the
/// type's largest number.
TEST_F(Constraints, weightsOf8BitsHaveTheirRange) {
  EXPECT_EQ(getMostRescaleThreshold(ElementType::F8E4M3FN), 1);
  EXPECT_EQ(getWeightOffset(ElementType::F8E4M3FN, 1), 7);
  EXPECT_EQ(getWeightOffset(ElementType::F8E5M2, 7), 8);
  EXPECT_EQ(getMostRescaleThreshold(ElementType::F8E5M2), 7);
  EXPECT_EQ(getMostRescaleThreshold(ElementType::BF16), 12);
  target = *lookupTarget("sm_89");
  problem.elementType = ElementType::F8E4M3FN;
  EXPECT_EQ(getMessages(), "");
  set("rescale_threshold=2");
  EXPECT_EQ(getMessages(), "fp8-range: expected rescale_threshold of at most 1 "
                           "with weights of f8E4M3FN, got 2\n");
  problem.elementType = ElementType::F8E5M2;
  set("rescale_threshold=7");
  EXPECT_EQ(getMessages(), "");
}

/// Only sums of 8-bit products drop bits, and only where registers hold them.
TEST_F(Constraints, sumsOf8BitsArePromoted) {
  set("promote=1");
  EXPECT_EQ(getMessages(), "promote: expected promote=0 with products of bf16, "
                           "whose sums drop no bits, got 1\n");
  problem.elementType = ElementType::F8E4M3FN;
  target = *lookupTarget("sm_89");
  EXPECT_EQ(getMessages(), "");
  target = *lookupTarget("cpu");
  set("promote=1 mma=none warps=1 stages=1");
  EXPECT_EQ(getMessages(),
            "mma: expected promote=0 with mma=none (it is of mma_sync, wgmma, "
            "tcgen05), got 1\n");
}

/// P V sums over keys, 32 at a time; small problems too.
TEST_F(Constraints, keyTilesOf8BitsAreWholeInstructions) {
  problem.elementType = ElementType::F8E4M3FN;
  problem.kvLength = 1;
  for (const char *name : {"sm_89", "sm_90a", "sm_120"}) {
    target = *lookupTarget(name);
    features = getGeneratorFeatures(problem, target);
    for (const Schedule &candidate :
         enumerateSchedules(problem, target, {}, features)) {
      if (candidate.kind != ScheduleKind::SmallCache) {
        EXPECT_EQ(candidate.tileN % 32, 0);
      }
    }
    EXPECT_FALSE(features.smallCache);
    EXPECT_FALSE(features.clusters);
  }
}

/// Products of 128 rows into 512 columns of tensor memory.
TEST_F(Constraints, tensorMemory) {
  target = *lookupTarget("sm_100a");
  problem.headDim = problem.valueDim = 128;
  set("mma=tcgen05 tile_m=256 tile_n=64 tile_d=128 tile_dv=128 warps=8 "
      "producer_warps=4 stages=2 query_in_registers=0");
  EXPECT_EQ(getMessages(), "");
  set("tile_n=160");
  EXPECT_EQ(getMessages(),
            "tensor-memory: needs 576 columns of tensor memory for 2 "
            "warpgroups, there are 512\n");
  set("tile_n=64 tile_m=128");
  EXPECT_EQ(getMessages(), "warps: expected a warpgroup for each 128 rows of "
                           "tile_m=128, got 2\n");
  set("tile_m=384 warps=12 tile_n=48");
  EXPECT_EQ(getMessages(),
            "warps: expected at most 2 computing warpgroups with mma=tcgen05, "
            "got 3\ntensor-memory: needs 528 columns of tensor memory for 3 "
            "warpgroups, there are 512\n");
  set("tile_m=256 warps=8 stages=1");
  EXPECT_EQ(getMessages(), "stages: expected stages of at least 2 with "
                           "mma=tcgen05, got 1\n");
  set("stages=2 turns=products");
  EXPECT_EQ(getMessages(),
            "mma: expected turns=none with mma=tcgen05 (it is of wgmma), got "
            "products\n");
  set("turns=none producer_warps=1");
  EXPECT_EQ(getMessages(), "kind: expected producer_warps=4 with mma=tcgen05 "
                           "(one producer warpgroup), got 1\n");
  set("producer_warps=4 cluster_m=2");
  EXPECT_EQ(getMessages(), "");
  set("cluster_m=1 tile_n=64 early_keys=32");
  EXPECT_EQ(getMessages(), "");
  for (const char *keys : {"48", "64"}) {
    set((std::string("early_keys=") + keys).c_str());
    EXPECT_EQ(getMessages(), "multiple: expected early_keys a multiple of 32 "
                             "below tile_n=64, got " +
                                 std::string(keys) + "\n");
  }
  set("early_keys=32");
  problem.hasDropout = true;
  EXPECT_EQ(getMessages(),
            "early-keys: expected early_keys=0 with dropout, or with keys of "
            "8 bits beside a wider query, whose weights are handed over whole, "
            "got 32\n");
  problem.hasDropout = false;
  set("early_keys=0");
  problem.elementType = ElementType::F8E4M3FN;
  set("rescale_threshold=1 tile_m=256 warps=8 tile_n=64");
  EXPECT_EQ(getMessages(), "");
  set("tile_n=48");
  EXPECT_EQ(getMessages(),
            "multiple: expected tile_n a positive multiple of 32, got 48\n");
  set("tile_n=64");
  problem.elementType = ElementType::F32;
  problem.allowTf32 = true;
  EXPECT_EQ(getMessages(), "mma: mma=tcgen05 is supported for inputs of 16 and "
                           "8 bits only, got f32\n");
}

TEST_F(Constraints, f32NeedsTf32) {
  problem.elementType = ElementType::F32;
  EXPECT_EQ(getMessages(), "tf32: f32 operands need tf32=1 (products rounded "
                           "to tf32) on a GPU\n");
  problem.allowTf32 = true;
  set("stages=1");
  EXPECT_EQ(getMessages(), "");
}

TEST_F(Constraints, f64RunsOnACpu) {
  problem.elementType = ElementType::F64;
  EXPECT_EQ(getMessages(), "mma: f64 is supported on a CPU only\n");
  target = *lookupTarget("cpu");
  set("mma=none warps=1 stages=1");
  EXPECT_EQ(getMessages(), "");
}

TEST_F(Constraints, f8NeedsAChipWithF8) {
  problem.elementType = ElementType::F8E4M3FN;
  EXPECT_EQ(getMessages(), "mma: target sm_80 has no mma_sync for f8E4M3FN\n");
  target = *lookupTarget("sm_89");
  EXPECT_EQ(getMessages(), "");
  set("tile_n=48");
  EXPECT_EQ(getMessages(),
            "multiple: expected tile_n a positive multiple of 32, got 48\n");
}

TEST_F(Constraints, tilesAreMultiplesOf16) {
  schedule.tileM = 72;
  schedule.tileN = 0;
  schedule.tileD = -16;
  EXPECT_EQ(getMessages(),
            "multiple: expected tile_m a positive multiple of 16, got 72\n"
            "multiple: expected tile_n a positive multiple of 16, got 0\n"
            "multiple: expected tile_d a positive multiple of 16, got -16\n");
}

TEST_F(Constraints, rangesAreChecked) {
  schedule.stages = 9;
  schedule.warps = 17;
  schedule.producerWarps = 5;
  schedule.exp2OnFma = 9;
  schedule.clusterM = 0;
  schedule.clusterD = 17;
  target = *lookupTarget("sm_120");
  EXPECT_EQ(getMessages(), "range: expected stages from 1 to 8, got 9\n"
                           "range: expected warps from 1 to 16, got 17\n"
                           "range: expected producer_warps from 0 to 4, got 5\n"
                           "range: expected exp2_on_fma from 0 to 8, got 9\n"
                           "range: expected cluster_m from 1 to 16, got 0\n"
                           "range: expected cluster_d from 1 to 16, got 17\n");
}

TEST_F(Constraints, hugeTilesDoNotOverflow) {
  schedule.tileM = 4611686018427387904;
  EXPECT_EQ(getMessages(), "range: expected tile_m from 1 to 1048576, got "
                           "4611686018427387904\n");
}

TEST_F(Constraints, largeCacheHoldsTheWholeHeadDim) {
  set("tile_d=64");
  EXPECT_EQ(getMessages(), "kind: expected tile_d=128 (the padded head dim of "
                           "a CTA), got 64\n");
  set("tile_d=128 tile_dv=256");
  EXPECT_EQ(getMessages(), "range: expected tile_dv from 16 to 128, got 256\n");
}

TEST_F(Constraints, sharedKvIsNotSplitByProducers) {
  target = *lookupTarget("sm_90a");
  problem.sharedKV = true;
  schedule = *Schedule::parse("mma=wgmma producer_warps=4 tile_n=80 tile_d=128 "
                              "tile_dv=64 stages=2 tile_m=128 warps=8");
  EXPECT_EQ(getMessages(), "kind: expected tile_dv=128 (K and V are one "
                           "tensor), got 64\n");
}

TEST_F(Constraints, sharedKvIsSplitByPanelsWithoutRoles) {
  problem.sharedKV = true;
  set("mma=mma_sync tile_m=64 warps=4 producer_warps=0 cluster_m=1 tile_dv=64");
  EXPECT_EQ(getMessages(), "");
  set("tile_dv=32");
  EXPECT_EQ(getMessages(),
            "multiple: expected tile_dv a positive multiple of 64, got 32\n");
  problem.headDim = problem.valueDim = 320;
  set("tile_d=320 tile_dv=256");
  EXPECT_EQ(getMessages(), "kind: expected slices of tile_dv columns to end "
                           "within the 320 of the keys, which values are "
                           "columns of, got tile_dv=256\n");
}

TEST_F(Constraints, smallCacheFields) {
  set("kind=small_cache tile_d=256");
  EXPECT_EQ(getMessages(),
            "range: expected tile_d from 16 to 128, got 256\n"
            "multiple: expected chunk_rows a positive multiple of 64, got 0\n");
  set("tile_d=32 chunk_rows=128 query_in_registers=1");
  EXPECT_EQ(getMessages(), "kind: expected query_in_registers=0 with "
                           "kind=small_cache (it is of large_cache, split_kv), "
                           "got 1\n");
  set("query_in_registers=0");
  EXPECT_EQ(getMessages(), "");
  set("kind=large_cache tile_d=128");
  EXPECT_EQ(getMessages(),
            "kind: expected chunk_rows=0 with kind=large_cache (it is of "
            "small_cache), got 128\n");
}

TEST_F(Constraints, weightsWithoutSoftmax) {
  problem.normalization = Normalization::None;
  EXPECT_EQ(getMessages(), "");
  target = *lookupTarget("sm_90a");
  set("mma=wgmma producer_warps=4 rescale_threshold=8 exp2_on_fma=2 "
      "turns=softmax");
  std::string messages = getMessages();
  for (const char *part :
       {"expected rescale_threshold=0 (only softmax has it), got 8",
        "expected exp2_on_fma=0 (only softmax has it), got 2",
        "expected turns=none or turns=products without softmax, got "
        "turns=softmax"})
    EXPECT_NE(messages.find(part), std::string::npos) << messages;
}

TEST_F(Constraints, queryPrologue) {
  set("query_prologue=fused");
  EXPECT_EQ(getMessages(),
            "query-prologue: expected query_prologue=kernel with a query that "
            "is not turned or normalised, or whose rows keys or values are, "
            "too, got fused\n");
  problem.queryRotations = 1;
  EXPECT_EQ(getMessages(), "");
  set("kind=small_cache chunk_rows=64 tile_d=32");
  EXPECT_EQ(getMessages(),
            "kind: expected query_prologue=kernel with kind=small_cache (it is "
            "of large_cache, split_kv), got fused\n");
}

TEST_F(Constraints, smallCacheWithoutSoftmax) {
  for (Normalization normalization :
       {Normalization::None, Normalization::Sum}) {
    problem.normalization = normalization;
    set("kind=small_cache chunk_rows=64");
    EXPECT_EQ(getMessages(), "");
  }
}

TEST_F(Constraints, packingNeedsAGroup) {
  problem.kvHeads = 8;
  set("pack_gqa=1");
  EXPECT_EQ(getMessages(), "pack-gqa: pack_gqa=1 needs several query heads for "
                           "each K/V head, got Hq=Hkv=8\n");
}

TEST_F(Constraints, tilesArePartsOfAGroup) {
  features.packsWholeGroups = true;
  problem.queryHeads = 24;
  problem.kvHeads = 1;
  set("pack_gqa=1 tile_m=48 warps=3");
  EXPECT_EQ(getMessages(), "");
  set("pack_gqa=1 tile_m=16 warps=1");
  EXPECT_EQ(getMessages(),
            "pack-gqa: expected tile_m=16 to hold as many rows of each of the "
            "24 query heads of a group, or one of a part of them\n");
  problem.queryHeads = 32;
  EXPECT_EQ(getMessages(), "");
}

TEST_F(Constraints, clustersHaveWholeGroups) {
  features.packsWholeGroups = true;
  problem.queryHeads = 128;
  problem.kvHeads = 1;
  target = *lookupTarget("sm_90a");
  set("mma=wgmma producer_warps=4 pack_gqa=1 cluster_m=2");
  EXPECT_EQ(getMessages(), "kind: expected cluster_m=1 with tiles that are a "
                           "part of a group, got 2\n");
}

TEST_F(Constraints, backwardIsNotScheduled) {
  problem.pass = AttentionPass::Backward;
  EXPECT_EQ(getMessages(),
            "pass: schedules of the backward pass are not supported\n");
}

TEST_F(Constraints, warpsOwnWholeFragments) {
  set("warps=6");
  EXPECT_EQ(getMessages(),
            "warps: expected tile_m a multiple of 16 * warps = 96, got 64\n");
}

/// One of a kernel of mma.sync, where there is TMA.
TEST_F(Constraints, producers) {
  set("producer_warps=1");
  EXPECT_EQ(getMessages(), "tma: expected producer_warps=0 on sm_80, which has "
                           "no TMA, got 1\n");
  target = *lookupTarget("sm_120");
  EXPECT_EQ(getMessages(), "");
  set("producer_warps=4");
  EXPECT_EQ(getMessages(),
            "range: expected producer_warps from 0 to 1, got 4\n");
  set("producer_warps=1 query_prologue=fused");
  problem.queryRotations = 1;
  EXPECT_EQ(getMessages(), "producer: expected producer_warps=0 with "
                           "query_prologue=fused, got 1\n");
  set("query_prologue=kernel");
  problem.keyPage = problem.valuePage = 48;
  EXPECT_EQ(getMessages(),
            "pages: expected tile_n of up to 8 pages or a part of one, and "
            "key_page to be a multiple of 8, got tile_n=64 and key_page=48\n"
            "pages: expected tile_n of up to 8 pages or a part of one, and "
            "value_page to be a multiple of 8, got tile_n=64 and "
            "value_page=48\n");
  problem.keyPage = problem.valuePage = 16;
  EXPECT_EQ(getMessages(), "");
  problem.cacheType = ElementType::F8E4M3FN;
  EXPECT_EQ(getMessages(),
            "producer: expected producer_warps=0 with keys and values of "
            "f8E4M3FN beside a query of bf16, got 1\n");
  features.producers = false;
  EXPECT_NE(getMessages().find("feature: the code generator has no mma_sync "
                               "kernels with a producer for such tiles\n"),
            std::string::npos);
}

TEST_F(Constraints, rowsOfATileHave32Bytes) {
  problem.cacheType = ElementType::F8E4M3FN;
  set("tile_dv=16");
  EXPECT_EQ(getMessages(),
            "multiple: expected tile_dv a positive multiple of 32, got 16\n");
  problem.cacheType.reset();
  EXPECT_EQ(getMessages(), "");
}

TEST_F(Constraints, warpsShareRows) {
  EXPECT_EQ(Schedule::parse("mma=none tile_m=1 warps=1")->getSharing(), 1);
  EXPECT_EQ(Schedule::parse("mma=wgmma tile_m=64 warps=8")->getSharing(), 2);
  set("warps=8");
  EXPECT_EQ(getMessages(), "");
  set("warps=8 tile_m=16");
  EXPECT_EQ(getMessages(),
            "sharing: expected tile_dv a multiple of 512 with 8 warps for each "
            "16 rows of tile_m, got 128\n");
  problem.valueDim = 1536;
  set("warps=5 tile_m=32 tile_dv=1536");
  EXPECT_EQ(getMessages().substr(0, 89),
            "sharing: expected warps a multiple of tile_m / 16 with 2 warps "
            "for each 16 rows of tile_m");
  problem.valueDim = 256;
  set("warps=2 tile_m=16 tile_dv=256");
  EXPECT_EQ(getMessages(), "");
  problem.hasAmax = true;
  EXPECT_EQ(getMessages(), "feature: the code generator has no largest "
                           "magnitudes of output rows whose columns CTAs or "
                           "warps share\n");
}

TEST_F(Constraints, warpgroupsOf64Rows) {
  target = *lookupTarget("sm_90a");
  set("mma=wgmma producer_warps=4 tile_m=128 warps=8");
  EXPECT_EQ(getMessages(), "");
  set("warps=4");
  EXPECT_EQ(getMessages(), "warps: expected one or two warpgroups for each 64 "
                           "rows of tile_m=128, got 1\n");
  set("warps=8 tile_n=272 stages=1");
  EXPECT_EQ(getMessages(), "range: expected tile_n from 16 to 256, got 272\n"
                           "stages: expected stages of at least 2 with "
                           "mma=wgmma, got 1\n");
}

TEST_F(Constraints, clustersNeedHopper) {
  set("cluster_m=2");
  EXPECT_EQ(getMessages(),
            "mma: expected cluster_m=1 with mma=mma_sync (it is of wgmma, "
            "tcgen05), got "
            "2\n"
            "cluster: needs a cluster of 2 CTAs, target sm_80 has 1\n");
}

TEST_F(Constraints, clustersShareKeys) {
  target = *lookupTarget("sm_90a");
  schedule = *Schedule::parse("mma=wgmma producer_warps=4 tile_n=80 tile_d=128 "
                              "tile_dv=128 cluster_m=2 persistent_ctas=132");
  EXPECT_EQ(getMessages(), "");
  set("cluster_m=4 persistent_ctas=130");
  problem.mask = MaskPattern::causal();
  EXPECT_EQ(getMessages(),
            "cluster: cluster_m=4 needs rows that all see the same keys, got "
            "mask=causal\n"
            "cluster: expected tile_n a multiple of 8 * cluster_m=4, got 80\n"
            "cluster: expected persistent_ctas a multiple of cluster_m=4, got "
            "130\n");
  problem.mask = MaskPattern::full();
  set("cluster_m=3 tile_n=96 persistent_ctas=0");
  EXPECT_EQ(getMessages(),
            "cluster: expected cluster_m a power of two, got cluster_m=3\n");
}

/// The register file has room for three.
TEST_F(Constraints, wgmmaHasUpToThreeWarpgroups) {
  target = *lookupTarget("sm_90a");
  set("mma=wgmma producer_warps=4 tile_m=256 warps=16");
  EXPECT_EQ(getMessages(), "warps: expected at most 3 computing warpgroups "
                           "with mma=wgmma, got 4\n");
}

TEST_F(Constraints, wgmmaAloneHasRoles) {
  set("output_tile=1 turns=softmax exp2_on_fma=2");
  EXPECT_EQ(getMessages(),
            "mma: expected output_tile=0 with mma=mma_sync (it is of wgmma, "
            "tcgen05), got 1\n"
            "mma: expected turns=none with mma=mma_sync (it is of wgmma), got "
            "softmax\n"
            "mma: expected exp2_on_fma=0 with mma=mma_sync (it is of wgmma, "
            "tcgen05), got 2\n");
}

TEST_F(Constraints, missingFeaturesAreNamed) {
  features.packGqa = features.dvSplit = false;
  features.splitKv = features.smallCache = features.wgmma = false;
  features.spillScores = features.spillProbabilities = false;
  features.clusters = false;
  set("pack_gqa=1 tile_dv=64");
  EXPECT_EQ(getMessages(),
            "feature: the code generator has no packing of query heads\n"
            "feature: the code generator has no split of the value dim\n");
  schedule = *Schedule::parse("kind=split_kv splits=2 tile_d=128 tile_dv=128");
  EXPECT_EQ(getMessages(), "feature: the code generator has no split-KV\n");
  schedule = *Schedule::parse("kind=small_cache chunk_rows=64");
  EXPECT_EQ(getMessages(),
            "feature: the code generator has no small-cache kernels\n");
  features.smallCache = true;
  EXPECT_EQ(getMessages(), "feature: the code generator has no small-cache "
                           "kernels that spill 16-bit probabilities\n");
  schedule.spill = SpillFormat::Scores;
  EXPECT_EQ(getMessages(), "feature: the code generator has no small-cache "
                           "kernels that spill f32 scores\n");
  target = *lookupTarget("sm_90a");
  schedule = *Schedule::parse("mma=wgmma producer_warps=4 tile_d=64 "
                              "tile_dv=64 cluster_m=2 cluster_d=2");
  EXPECT_EQ(getMessages(), "feature: the code generator has no wgmma kernels\n"
                           "feature: the code generator has no clusters that "
                           "share key and value tiles of a mask\n"
                           "feature: the code generator has no clusters that "
                           "share a head dim\n");
  features = {};
  features.sharedRows = features.wgmmaSlices = false;
  schedule = *Schedule::parse("mma=wgmma producer_warps=4 tile_m=64 warps=8 "
                              "tile_d=128 tile_dv=128");
  EXPECT_EQ(getMessages(), "feature: the code generator has no warpgroups that "
                           "share rows\n");
  schedule = *Schedule::parse("mma=wgmma producer_warps=4 tile_m=64 warps=4 "
                              "tile_d=128 tile_dv=64");
  EXPECT_EQ(getMessages(), "feature: the code generator has no wgmma kernels "
                           "for slices of a head dim\n");
  features.wgmmaWideOutputs = false;
  problem = *AttentionProblem::parse("M=64 N=64 D=64 Dv=264");
  schedule = *Schedule::parse("mma=wgmma producer_warps=4 tile_m=64 tile_n=16 "
                              "warps=4 stages=2 tile_d=64 tile_dv=272");
  EXPECT_EQ(getMessages(), "feature: the code generator has no wgmma kernels "
                           "for more than 256 columns of V\n");
}

TEST_F(Constraints, sharedMemoryNamesNeedAndLimit) {
  target = *lookupTarget("sm_86");
  set("tile_m=128 warps=8 tile_n=128");
  EXPECT_EQ(getMessages(),
            "shared-memory: needs 163840 bytes of shared memory, target sm_86 "
            "has 101376\n");
  // Exactly the limit is legal.
  target.sharedMemoryPerCtaBytes = 163840;
  EXPECT_EQ(getMessages(), "");
}

TEST_F(Constraints, largeCacheIsUnrolledOnACpu) {
  target = *lookupTarget("cpu");
  problem = *AttentionProblem::parse("M=64 N=64 D=64 Dv=264 dtype=f32");
  schedule = *Schedule::parse("mma=none warps=1 stages=1 tile_m=16 tile_n=16 "
                              "tile_d=64 tile_dv=272");
  EXPECT_EQ(getMessages(),
            "unrolled: the code of a large-cache schedule on a CPU is unrolled "
            "over Dv: expected at most 256, got 264\n");
  schedule = *Schedule::parse("kind=small_cache mma=none warps=1 stages=1 "
                              "tile_m=16 tile_n=16 tile_d=64 tile_dv=64 "
                              "chunk_rows=32 spill=scores");
  EXPECT_EQ(getMessages(), "kind: expected chunk_rows=16 (a CPU thread keeps "
                           "the scores of one row tile), got 32\n");
}

TEST_F(Constraints, cacheOfACpu) {
  target = *lookupTarget("cpu");
  target.sharedMemoryPerCtaBytes = 1000;
  set("mma=none warps=1 stages=1 tile_m=3 tile_n=5");
  // 3 * 128 * 2 + 5 * 256 * 2 + 4 * 3 * (5 + 128 + 2)
  EXPECT_EQ(getMessages(),
            "shared-memory: needs 4948 bytes of cache, target cpu has 1000\n");
}

TEST_F(Constraints, registersAndThreads) {
  set("tile_m=128 warps=4 tile_n=64");
  EXPECT_EQ(getMessages(),
            "registers: needs an estimated 280 registers in each thread, 255 "
            "are available to 128 threads\n");
  set("tile_m=256 warps=16 tile_n=16");
  target.maxThreadsPerCta = 256;
  EXPECT_EQ(getMessages(),
            "threads: needs 512 threads, target sm_80 has 256\n");
}

TEST_F(Constraints, tilesAreMadeOfPages) {
  for (auto [tile, page] : {std::pair(64, 8), std::pair(128, 16),
                            std::pair(96, 96), std::pair(64, 256)})
    EXPECT_TRUE(fitsPages(tile, page)) << tile << " of " << page;
  for (auto [tile, page] : {std::pair(128, 8), std::pair(64, 48),
                            std::pair(64, 12), std::pair(0, 8)})
    EXPECT_FALSE(fitsPages(tile, page)) << tile << " of " << page;

  problem.keyPage = 48;
  problem.valuePage = 16;
  EXPECT_EQ(getMessages(), ""); // rows by cp.async
  target = *lookupTarget("sm_90a");
  set("mma=wgmma producer_warps=4");
  EXPECT_EQ(getMessages(),
            "pages: expected tile_n of up to 8 pages or a part of one, and "
            "key_page to be a multiple of 8, got tile_n=64 and key_page=48\n");
  problem.keyPage = 16;
  EXPECT_EQ(getMessages(), "");
  set("tile_m=128 warps=8 cluster_m=2");
  EXPECT_EQ(getMessages(),
            "cluster: expected cluster_m=1 with keys or values in pages, which "
            "each CTA looks up, got 2\n");
}

TEST_F(Constraints, aProducerStartsFewBoxes) {
  target = *lookupTarget("sm_90a");
  problem = *AttentionProblem::parse("M=1024 N=1024 D=256 value_page=8");
  set("mma=wgmma producer_warps=4 tile_d=256 tile_dv=256");
  EXPECT_EQ(getMessages(),
            "pages: expected a tile of at most 16 boxes of 128 bytes of each "
            "key, got tile_n=64 and value_page=8, which are 32\n");
}
