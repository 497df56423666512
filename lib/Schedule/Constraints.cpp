//===- Constraints.cpp - Which schedules are legal ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each group of constraints. A group whose numbers would be
// meaningless after an earlier violation (sizes before resources) is not run.
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Constraints.h"

#include "attn/Schedule/ResourceModel.h"

#include "Families/Families.h"

namespace attn {

namespace {
/// Collects the violations of one schedule.
class Checker {
public:
  Checker(const AttentionProblem &problem, const Schedule &schedule,
          const TargetInfo &target, const GeneratorFeatures &features)
      : problem(problem), schedule(schedule), target(target),
        features(features), family(getFamily(schedule.mma)) {}

  std::vector<Violation> run() {
    checkInvariance();
    checkInstructions();
    checkSizes();
    if (!violations.empty())
      return std::move(violations);
    checkHeadDims();
    checkKind();
    checkClusters();
    checkPages("key_page", problem.keyPage, schedule.tileD,
               problem.getKeyType());
    checkPages("value_page", problem.valuePage, schedule.tileDv,
               problem.getValueType());
    checkFeatures();
    if (violations.empty() && schedule.mma != MmaFamily::None) {
      family.checkMapping(problem, schedule, violations);
      if (violations.empty())
        checkResources();
    } else if (violations.empty()) {
      checkSharedMemory();
    }
    return std::move(violations);
  }

private:
  void reject(const char *constraint, std::string message) {
    violations.push_back({constraint, std::move(message)});
  }

  /// Rejects unless `value` is a positive multiple of `factor`.
  void requireMultiple(const char *name, int64_t value, int64_t factor) {
    detail::requireMultiple(violations, name, value, factor);
  }

  void requireRange(const char *name, int64_t value, int64_t low,
                    int64_t high) {
    detail::requireRange(violations, name, value, low, high);
  }

  void requireValue(const char *name, int64_t value, int64_t expected,
                    const char *why) {
    detail::requireValue(violations, name, value, expected, why);
  }

  void checkInvariance();
  void checkPrefix();
  void checkInstructions();
  void checkSizes();
  void checkHeadDims();
  void checkKind();
  void checkSplits();
  void checkPlan();
  void checkQueryPrologue();
  void checkWeights();
  void checkRange();
  void checkPromotion();
  void checkSharedStream();
  void checkClusters();
  void checkPages(const std::string &name, int64_t page, int64_t columns,
                  ElementType type);
  void checkWholeGroups();
  void checkFeatures();
  void checkResources();
  void checkSharedMemory();

  const AttentionProblem &problem;
  const Schedule &schedule;
  const TargetInfo &target;
  const GeneratorFeatures &features;
  const Family &family;
  std::vector<Violation> violations;
};
} // namespace

/// Equal shares of the keys are larger for longer tensors, and chunks of rows
/// go through several sequences.
void Checker::checkInvariance() {
  if (schedule.invariance == Invariance::None)
    return;
  std::string level(getName(schedule.invariance));
  if (target.kind == TargetKind::Cpu)
    reject("invariance", "expected invariance=none on a CPU, got " + level);
  if (schedule.splits > 1)
    reject("invariance",
           "expected split_keys in place of splits with invariance=" + level +
               ", got splits=" + std::to_string(schedule.splits));
  if (schedule.balance == Balance::Share)
    reject("invariance", "expected balance=grid or plan with invariance=" +
                             level + ", got share");
  if (schedule.kind == ScheduleKind::SmallCache)
    reject("invariance", "expected kind=large_cache or kind=split_kv with "
                         "invariance=" +
                             level + ", got small_cache");
  if (schedule.invariance == Invariance::Prefix)
    checkPrefix();
}

/// One instruction, exponentials by one rule and sums in one order, however
/// many rows there are. Sums of 8-bit weights are kept as registers allow.
void Checker::checkPrefix() {
  if (target.kind == TargetKind::Gpu && schedule.mma != MmaFamily::MmaSync)
    reject("invariance",
           "expected mma=mma_sync with invariance=prefix, got mma=" +
               std::string(getName(schedule.mma)));
  const std::pair<const char *, int64_t> fields[] = {
      {"rescale_threshold", schedule.rescaleThreshold},
      {"exp2_on_fma", schedule.exp2OnFma}};
  for (auto [name, value] : fields)
    if (value != 0)
      reject("invariance", std::string("expected ") + name +
                               "=0 with invariance=prefix, got " +
                               std::to_string(value));
  if (schedule.clusterD > 1)
    reject("invariance", "expected cluster_d=1 with invariance=prefix, got " +
                             std::to_string(schedule.clusterD));
  if (getSizeBytes(problem.elementType) < 2)
    reject("invariance",
           "expected inputs of at least 16 bits with invariance=prefix, got " +
               std::string(getName(problem.elementType)));
}

void Checker::checkInstructions() {
  std::string name(getName(schedule.mma));
  if (target.kind == TargetKind::Cpu) {
    if (schedule.mma != MmaFamily::None)
      reject("mma", "expected mma=none on a CPU, got mma=" + name);
    return;
  }
  if (std::string obstacle = family.findObstacle(problem, target);
      !obstacle.empty())
    reject("mma", obstacle);
  else if (family.loadsByTma(schedule) && !target.hasTma)
    reject("tma", "expected producer_warps=0 on " + target.name +
                      ", which has no TMA, got " +
                      std::to_string(schedule.producerWarps));
  // The first with conversions to 8-bit floats.
  if (getSizeBytes(problem.outputType) == 1 && target.computeCapability < 89)
    reject("mma", "expected a target of sm_89 or later for out=" +
                      std::string(getName(problem.outputType)) + ", got " +
                      target.name);
  if (problem.elementType == ElementType::F32 && !problem.allowTf32)
    reject("tf32", "f32 operands need tf32=1 (products rounded to tf32) on a "
                   "GPU");
}

void Checker::checkSizes() {
  bool isCpu = target.kind == TargetKind::Cpu;
  int64_t unit = isCpu ? 1 : 16;
  requireMultiple("tile_m", schedule.tileM, unit);
  requireMultiple("tile_n", schedule.tileN, unit);
  requireMultiple("tile_d", schedule.tileD, unit);
  // A row of a tile has 32 bytes or more.
  int64_t leastColumns =
      isCpu ? unit : 32 / getSizeBytes(problem.getValueType());
  requireMultiple("tile_dv", schedule.tileDv, std::max(unit, leastColumns));
  // Larger tiles fit no memory; the limit keeps byte counts from overflowing.
  constexpr int64_t largest = 1 << 20;
  for (auto [name, size] : {std::pair("tile_m", schedule.tileM),
                            std::pair("tile_n", schedule.tileN),
                            std::pair("tile_d", schedule.tileD),
                            std::pair("tile_dv", schedule.tileDv)})
    if (size > largest)
      requireRange(name, size, 1, largest);
  requireRange("stages", schedule.stages, 1, 8);
  requireRange("warps", schedule.warps, 1, isCpu ? 1 : 16);
  requireRange("producer_warps", schedule.producerWarps, 0, 4);
  requireRange(
      "splits", schedule.splits, 1,
      std::max<int64_t>(
          ceilDiv(problem.kvLength, std::max<int64_t>(schedule.tileN, 1)), 1));
  // Beyond, sums of exponentials leave the range of f16.
  requireRange("rescale_threshold", schedule.rescaleThreshold, 0, 12);
  requireRange("persistent_ctas", schedule.persistentCtas, 0, 65535);
  requireRange("exp2_on_fma", schedule.exp2OnFma, 0, 8);
  requireRange("cluster_m", schedule.clusterM, 1, 16);
  requireRange("cluster_d", schedule.clusterD, 1, 16);
}

void Checker::checkHeadDims() {
  int64_t headDim = getPaddedHeadDim(problem);
  int64_t valueDim = getPaddedValueDim(problem);
  if (schedule.kind == ScheduleKind::SmallCache) {
    requireRange("tile_d", schedule.tileD, 16, headDim);
    requireRange("tile_dv", schedule.tileDv, 16, valueDim);
    return;
  }
  if (target.kind == TargetKind::Cpu && valueDim > kMaxUnrolledColumns)
    reject("unrolled", "the code of a large-cache schedule on a CPU is "
                       "unrolled over Dv: expected at most " +
                           std::to_string(kMaxUnrolledColumns) + ", got " +
                           std::to_string(problem.valueDim));
  int64_t columns = alignUp(ceilDiv(headDim, schedule.clusterD), 16);
  requireValue("tile_d", schedule.tileD, columns,
               "(the padded head dim of a CTA)");
  requireRange("tile_dv", schedule.tileDv, 16, valueDim);
  if (!problem.sharedKV || target.kind == TargetKind::Cpu)
    return;
  // Values are panels of the tile of the keys, of 128 bytes, or 64 where those
  // of 128 are not the whole row.
  if (!getFamily(schedule.mma).hasRoles()) {
    int64_t bytes = getSizeBytes(problem.getKeyType());
    int64_t panel = columns * bytes % 128 == 0 ? 128 : 64;
    requireMultiple("tile_dv", schedule.tileDv, panel / bytes);
    if (schedule.tileDv > 0 && alignUp(valueDim, schedule.tileDv) > columns)
      reject("kind", "expected slices of tile_dv columns to end within the " +
                         std::to_string(columns) +
                         " of the keys, which values are columns of, got "
                         "tile_dv=" +
                         std::to_string(schedule.tileDv));
  } else if (schedule.clusterD == 1)
    requireValue("tile_dv", schedule.tileDv, valueDim,
                 "(K and V are one tensor)");
}

void Checker::checkKind() {
  for (MeaninglessField &field : findMeaninglessFields(schedule))
    reject(field.isOfKind ? "kind" : "mma", std::move(field.message));
  if (schedule.kind == ScheduleKind::SplitKV)
    checkSplits();
  if (schedule.kind == ScheduleKind::SmallCache) {
    requireMultiple("chunk_rows", schedule.chunkRows, schedule.tileM);
    if (target.kind == TargetKind::Cpu)
      requireValue("chunk_rows", schedule.chunkRows, schedule.tileM,
                   "(a CPU thread keeps the scores of one row tile)");
  }
  if (schedule.isPlanned())
    checkPlan();
  if (schedule.queryPrologue == QueryPrologue::Fused)
    checkQueryPrologue();
  if (!problem.hasSoftmax())
    checkWeights();
  checkRange();
  checkPromotion();
  requireValue("fused", schedule.fused, 0, "in a forward");
  if (schedule.packGqa && problem.getGroupSize() == 1)
    reject("pack-gqa", "pack_gqa=1 needs several query heads for each K/V "
                       "head, got Hq=Hkv=" +
                           std::to_string(problem.queryHeads));
  if (problem.pass == AttentionPass::Backward)
    reject("pass", "schedules of the backward pass are not supported");
}

/// Keys are divided by number or by length.
void Checker::checkSplits() {
  if (schedule.splitKeys > 0) {
    requireValue("splits", schedule.splits, 1, "with split_keys");
    requireMultiple("split_keys", schedule.splitKeys, schedule.tileN);
  } else if (schedule.splits < 2) {
    reject("kind", "expected splits of at least 2, or split_keys, with "
                   "kind=split_kv, got " +
                       std::to_string(schedule.splits));
  }
}

/// The ranges of a plan are those of `split_keys`, and whoever takes them loads
/// and computes.
void Checker::checkPlan() {
  std::string with = "with balance=" + std::string(getName(schedule.balance));
  if (schedule.splitKeys == 0)
    reject("plan", "expected split_keys " + with + ", got 0");
  requireValue("cluster_m", schedule.clusterM, 1, with.c_str());
  requireRange("persistent_ctas", schedule.persistentCtas, 1, 65535);
}

/// Weights below a maximum are multiplied by 2^offset before they are rounded
/// to 8 bits, and grow by as much as the maximum may lag behind: what is larger
/// than the type would be cut off in the products, but not in the sums.
void Checker::checkRange() {
  int64_t most = getMostRescaleThreshold(problem.getWeightType());
  if (schedule.rescaleThreshold > most)
    reject("fp8-range", "expected rescale_threshold of at most " +
                            std::to_string(most) + " with weights of " +
                            std::string(getName(problem.getWeightType())) +
                            ", got " +
                            std::to_string(schedule.rescaleThreshold));
}

/// Only sums of 8-bit products may be short of bits.
void Checker::checkPromotion() {
  if (schedule.promote && getSizeBytes(problem.getWeightType()) != 1)
    reject("promote", "expected promote=0 with products of " +
                          std::string(getName(problem.getWeightType())) +
                          ", whose sums drop no bits, got 1");
}

/// A query is changed in its tile, of whole rows, by those who multiply it.
void Checker::checkQueryPrologue() {
  std::string obstacle;
  if (!problem.changesQuery())
    obstacle = "a query that is not turned or normalised, or whose rows keys "
               "or values are, too";
  else if (getSizeBytes(problem.elementType) == 1)
    obstacle = "8-bit queries";
  if (!obstacle.empty())
    reject("query-prologue",
           "expected query_prologue=kernel with " + obstacle + ", got fused");
}

/// Without softmax there is no maximum, no rescaling and no exponential.
void Checker::checkWeights() {
  const char *why = "(only softmax has it)";
  requireValue("rescale_threshold", schedule.rescaleThreshold, 0, why);
  requireValue("exp2_on_fma", schedule.exp2OnFma, 0, why);
  if (schedule.turns == Turns::Softmax)
    reject("kind", "expected turns=none or turns=products without softmax, got "
                   "turns=softmax");
}

/// CTAs that share key tiles need the same ones, whose rows they divide among
/// them in multiples of what a swizzle repeats.
void Checker::checkSharedStream() {
  int64_t ctas = schedule.clusterM;
  std::string name = "cluster_m=" + std::to_string(ctas);
  if ((ctas & (ctas - 1)) != 0)
    reject("cluster", "expected cluster_m a power of two, got " + name);
  if (problem.mask.isBand() || problem.mask.density != 1)
    reject("cluster", name +
                          " needs rows that all see the same keys, got "
                          "mask=" +
                          problem.mask.print());
  if (schedule.tileN % (8 * ctas) != 0)
    reject("cluster", "expected tile_n a multiple of 8 * " + name + ", got " +
                          std::to_string(schedule.tileN));
  if (schedule.persistentCtas % ctas != 0)
    reject("cluster", "expected persistent_ctas a multiple of " + name +
                          ", got " + std::to_string(schedule.persistentCtas));
}

void Checker::checkClusters() {
  int64_t ctas = schedule.clusterM * schedule.clusterD;
  if (ctas == 1)
    return;
  if (schedule.clusterM > 1)
    checkSharedStream();
  if (schedule.clusterM > 1 && problem.keyPage + problem.valuePage > 0)
    reject("cluster",
           "expected cluster_m=1 with keys or values in pages, which "
           "each CTA looks up, got " +
               std::to_string(schedule.clusterM));
  if (ctas > target.maxClusterCtas)
    reject("cluster", "needs a cluster of " + std::to_string(ctas) +
                          " CTAs, target " + target.name + " has " +
                          std::to_string(target.maxClusterCtas));
}

/// A tile that is loaded as a box has as many rows of each head, and a
/// warpgroup's rows are whole heads or a part of one.
void Checker::checkWholeGroups() {
  int64_t group = problem.getGroupSize();
  int64_t heads = schedule.getTileHeads(group);
  int64_t positions = schedule.tileM / heads;
  int64_t unitRows = family.facts.unitRows;
  bool isBox = family.hasRoles();
  if (schedule.tileM % heads != 0 || group % heads != 0 ||
      (isBox && positions % unitRows != 0 && unitRows % positions != 0))
    reject("pack-gqa", "expected tile_m=" + std::to_string(schedule.tileM) +
                           " to hold as many rows of each of the " +
                           std::to_string(group) +
                           " query heads of a group, or one of a part of them" +
                           (isBox ? ", and 64 of them whole heads or a part "
                                    "of one"
                                  : ""));
  // They would have the same keys, but are no neighbours.
  if (heads < group)
    requireValue("cluster_m", schedule.clusterM, 1,
                 "with tiles that are a part of a group");
}

bool fitsPages(int64_t tileN, int64_t page) {
  constexpr int64_t mostPages = 8;
  return tileN > 0 && page % 8 == 0 &&
         (page % tileN == 0 ||
          (tileN % page == 0 && tileN / page <= mostPages));
}

/// A producer's thread has registers for the entries and the addresses of so
/// many boxes of a tile; with more it would spill (ptxas 13.0).
static constexpr int64_t kMostBoxes = 16;

void Checker::checkPages(const std::string &name, int64_t page, int64_t columns,
                         ElementType type) {
  if (!family.loadsByTma(schedule) || page == 0)
    return;
  std::string got = ", got tile_n=" + std::to_string(schedule.tileN) + " and " +
                    name + "=" + std::to_string(page);
  if (!fitsPages(schedule.tileN, page))
    return reject("pages", "expected tile_n of up to 8 pages or a part of one, "
                           "and " +
                               name + " to be a multiple of 8" + got);
  int64_t panels = ceilDiv(columns * getSizeBytes(type), 128);
  int64_t boxes = std::max<int64_t>(schedule.tileN / page, 1) * panels;
  if (boxes > kMostBoxes)
    reject("pages", "expected a tile of at most " + std::to_string(kMostBoxes) +
                        " boxes of 128 bytes of each key" + got +
                        ", which are " + std::to_string(boxes));
}

void Checker::checkFeatures() {
  auto require = [&](bool isSupported, bool isUsed, const std::string &what) {
    if (isUsed && !isSupported)
      reject("feature", "the code generator has no " + what);
  };
  std::string kernels = std::string(getName(schedule.mma)) + " kernels";
  bool isDvSplit = schedule.kind != ScheduleKind::SmallCache &&
                   schedule.clusterD == 1 &&
                   schedule.tileDv < getPaddedValueDim(problem);
  bool hasRoles = family.hasRoles();
  require(features.wgmma, hasRoles, kernels);
  require(features.producers, !hasRoles && schedule.producerWarps > 0,
          kernels + " with a producer for such tiles");
  require(features.sharedRows, hasRoles && schedule.warps * 16 > schedule.tileM,
          "warpgroups that share rows");
  require(features.wgmmaSlices,
          hasRoles && (isDvSplit || schedule.kind == ScheduleKind::SmallCache),
          kernels + " for slices of a head dim");
  require(features.wgmmaWideOutputs,
          hasRoles && schedule.kind != ScheduleKind::SmallCache &&
              schedule.tileDv / schedule.getSharing() > family.facts.maxColumns,
          kernels + " for more than 256 columns of V");
  require(features.tf32,
          problem.elementType == ElementType::F32 &&
              schedule.mma != MmaFamily::None,
          "tf32 kernels");
  require(features.splitKv, schedule.kind == ScheduleKind::SplitKV, "split-KV");
  require(features.fixedSplits, schedule.splitKeys > 0,
          "splits of a fixed length of keys that are listed by blocks");
  require(features.plans, schedule.isPlanned(),
          "plan without lengths of the keys");
  require(/*isSupported=*/false, schedule.kind == ScheduleKind::Chunks,
          "softmax attention by chunks");
  require(features.smallCache, schedule.kind == ScheduleKind::SmallCache,
          "small-cache kernels");
  bool isSmall =
      features.smallCache && schedule.kind == ScheduleKind::SmallCache;
  bool spillsScores = schedule.spill == SpillFormat::Scores;
  require(features.spillScores, isSmall && spillsScores,
          "small-cache kernels that spill f32 scores");
  require(features.spillProbabilities, isSmall && !spillsScores,
          "small-cache kernels that spill 16-bit probabilities");
  require(features.packGqa, schedule.packGqa, "packing of query heads");
  require(features.packedChunks || !features.packGqa,
          schedule.packGqa && schedule.kind == ScheduleKind::SmallCache,
          "packing of query heads in small-cache kernels");
  if (schedule.packGqa && features.packsWholeGroups)
    checkWholeGroups();
  require(features.dvSplit, isDvSplit, "split of the value dim");
  bool sharesRows = isDvSplit || schedule.tileDv < getPaddedValueDim(problem) ||
                    schedule.clusterD > 1 || schedule.getSharing() > 1;
  // A CTA that combines splits has whole rows.
  require(
      /*isSupported=*/target.kind == TargetKind::Cpu,
      problem.hasAmax && sharesRows && schedule.kind != ScheduleKind::SplitKV,
      "largest magnitudes of output rows whose columns CTAs or warps share");
  require(features.clusters, schedule.clusterM > 1,
          "clusters that share key and value tiles of a mask");
  require(features.headDimClusters, schedule.clusterD > 1,
          "clusters that share a head dim");
}

void Checker::checkSharedMemory() {
  int64_t bytes = getSharedMemoryUse(problem, schedule).total;
  if (bytes > target.sharedMemoryPerCtaBytes)
    reject("shared-memory",
           "needs " + std::to_string(bytes) + " bytes of " +
               (target.kind == TargetKind::Cpu ? "cache" : "shared memory") +
               ", target " + target.name + " has " +
               std::to_string(target.sharedMemoryPerCtaBytes));
}

void Checker::checkResources() {
  checkSharedMemory();
  int64_t threads = schedule.getNumThreads();
  if (threads > target.maxThreadsPerCta)
    reject("threads", "needs " + std::to_string(threads) + " threads, target " +
                          target.name + " has " +
                          std::to_string(target.maxThreadsPerCta));
  int64_t registers = getRegisterUse(problem, schedule).getTotal();
  int64_t limit = getRegisterLimit(schedule, target);
  if (registers > limit)
    reject("registers", "needs an estimated " + std::to_string(registers) +
                            " registers in each thread, " +
                            std::to_string(limit) + " are available to " +
                            std::to_string(threads) + " threads");
}

/// Where there is room for it. The largest numbers are 2^8.8 and 2^15.8.
static constexpr int64_t kWeightOffset = 8;

int64_t getWeightOffset(ElementType type, int64_t rescaleThreshold) {
  return type == ElementType::F8E4M3FN ? kWeightOffset - rescaleThreshold
                                       : kWeightOffset;
}

int64_t getMostRescaleThreshold(ElementType type) {
  constexpr int64_t kMost = 12;
  // More would make the small weights of long rows subnormal.
  if (type == ElementType::F8E4M3FN)
    return 1;
  return type == ElementType::F8E5M2 ? 15 - kWeightOffset : kMost;
}

std::vector<Violation> check(const AttentionProblem &problem,
                             const Schedule &schedule, const TargetInfo &target,
                             const GeneratorFeatures &features) {
  return Checker(problem, schedule, target, features).run();
}

} // namespace attn
