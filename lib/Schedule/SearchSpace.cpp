//===- SearchSpace.cpp - Schedules worth considering ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The space is a product of axes. Each axis multiplies the list of schedules;
// an axis that a user has set has that value alone. Nothing here decides what
// is legal: that is Constraints.cpp, which gives its reasons.
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Family.h"
#include "attn/Schedule/ResourceModel.h"
#include "attn/Schedule/ScheduleSelector.h"

#include <algorithm>
#include <functional>

namespace attn {

/// FlashAttention-4's: exponentials and their sums stay far from the limits of
/// f16.
static constexpr int64_t kRescaleThreshold = 8;
/// Columns of the output up to which warpgroups take turns.
static constexpr int64_t kLongestTurn = 128;
/// Columns of the output of which registers hold a tile's sums, too.
static constexpr int64_t kLongestPromoted = 128;
/// Columns of O that a warp of mma.sync has registers for.
static constexpr int64_t kWarpColumns = 256;

namespace {
/// The schedules of one kind and instruction family.
class Space {
public:
  Space(const AttentionProblem &problem, const TargetInfo &target,
        const ScheduleOverrides &overrides, const GeneratorFeatures &features,
        const Schedule &base)
      : problem(problem), target(target), overrides(overrides),
        features(features), schedules({base}) {}

  std::vector<Schedule> takeLargeCache();
  std::vector<Schedule> takeSmallCache();

private:
  using Values = std::function<std::vector<int64_t>(const Schedule &)>;

  /// Multiplies the space by the values of one field.
  template <typename Member>
  void expand(const char *name, Member Schedule::*member,
              const Values &values) {
    if (overrides.has(name))
      return; // the base has it
    std::vector<Schedule> expanded;
    for (const Schedule &schedule : schedules)
      for (int64_t value : values(schedule)) {
        expanded.push_back(schedule);
        expanded.back().*member = static_cast<Member>(value);
      }
    schedules = std::move(expanded);
  }

  /// Sets what follows from the other fields.
  template <typename Member>
  void derive(const char *name, Member Schedule::*member,
              const std::function<int64_t(const Schedule &)> &value) {
    expand(name, member, [&](const Schedule &schedule) {
      return std::vector<int64_t>{value(schedule)};
    });
  }

  void expandRows(int64_t fewestWarps);
  void expandUnits(const Family &family);
  std::vector<int64_t> getRowTiles(const Schedule &schedule,
                                   std::vector<int64_t> sizes) const;
  void expandKeys(const std::vector<int64_t> &sizes);
  void expandClusters();
  void expandRoles();
  std::vector<int64_t> getProducers() const;
  bool isUniform() const;
  bool getOutputTile(Schedule schedule) const;
  int64_t getEarlyKeys(const Schedule &schedule) const;
  bool holdsSums(Schedule schedule) const;
  int64_t getPersistentCtas(const Schedule &schedule) const;
  int64_t getRescaleThreshold(const Schedule &schedule) const;
  std::vector<int64_t> getValueSlices(const Schedule &schedule) const;
  std::vector<int64_t> getSplits(const Schedule &schedule) const;
  std::vector<int64_t> getChunks(const Schedule &schedule) const;

  const AttentionProblem &problem;
  const TargetInfo &target;
  const ScheduleOverrides &overrides;
  const GeneratorFeatures &features;
  std::vector<Schedule> schedules;
};
} // namespace

/// `sizes` up to the first that holds all rows: a longer tile is padding.
std::vector<int64_t> Space::getRowTiles(const Schedule &schedule,
                                        std::vector<int64_t> sizes) const {
  int64_t rows = HeadShape::get(problem, schedule.packGqa).rows;
  int64_t smallest = sizes.front();
  sizes.erase(std::remove_if(sizes.begin(), sizes.end(),
                             [&](int64_t size) {
                               return size > smallest && size / 2 >= rows;
                             }),
              sizes.end());
  return sizes;
}

/// Of a tile of a CPU, whose vector code copies no keys for them.
static constexpr int64_t kFewRows = 4;

/// tile_m and warps, which depend on each other. Where there are rows enough,
/// schedules of single warps have at least `fewestWarps`.
void Space::expandRows(int64_t fewestWarps) {
  const Family &family = getFamily(schedules.front().mma);
  if (family.hasRoles())
    return expandUnits(family);
  if (target.kind == TargetKind::Cpu) {
    derive("warps", &Schedule::warps, [](const Schedule &) { return 1; });
    expand("tile_m", &Schedule::tileM, [&](const Schedule &s) {
      int64_t rows = HeadShape::get(problem, s.packGqa).rows;
      // So few are no block of registers, and read keys where they are.
      if (rows <= kFewRows)
        return std::vector<int64_t>{rows > 2 ? kFewRows
                                             : std::max<int64_t>(rows, 1)};
      return getRowTiles(s, {8, 16, 32, 64, 128});
    });
    return;
  }
  int64_t rows = family.facts.unitRows;
  expand("warps", &Schedule::warps, [&](const Schedule &s) {
    std::vector<int64_t> warps = {1, 2, 4, 8};
    if (overrides.has("tile_m"))
      return warps;
    std::vector<int64_t> tiles =
        getRowTiles(s, {rows, 2 * rows, 4 * rows, 8 * rows});
    warps.resize(tiles.size());
    while (warps.size() > 1 && warps.front() < fewestWarps)
      warps.erase(warps.begin());
    return warps;
  });
  expand("tile_m", &Schedule::tileM, [&](const Schedule &s) {
    return getRowTiles(s, {rows * s.warps, 2 * rows * s.warps});
  });
}

/// The same where warps have roles: a CTA has one to three units of rows, and
/// up to two units may share them.
void Space::expandUnits(const Family &family) {
  int64_t rows = family.facts.unitRows, warps = family.facts.unitWarps;
  derive("producer_warps", &Schedule::producerWarps,
         [&](const Schedule &) { return family.facts.producerWarps; });
  expand("tile_m", &Schedule::tileM, [&](const Schedule &s) {
    return getRowTiles(s, {rows, 2 * rows, 3 * rows});
  });
  expand("warps", &Schedule::warps, [&](const Schedule &s) {
    int64_t owners = s.tileM / rows;
    if (owners > 2)
      return std::vector<int64_t>{owners * warps};
    return std::vector<int64_t>{owners * warps, 2 * owners * warps};
  });
}

void Space::expandKeys(const std::vector<int64_t> &sizes) {
  // A tile longer than the keys computes nothing but padding.
  int64_t longest = alignUp(problem.kvLength, 16);
  std::vector<int64_t> values;
  for (int64_t size : sizes)
    if (values.empty() || values.back() < longest)
      values.push_back(size);
  expand("tile_n", &Schedule::tileN, [&](const Schedule &) { return values; });
}

void Space::expandClusters() {
  if (features.headDimClusters)
    expand("cluster_d", &Schedule::clusterD, [](const Schedule &) {
      return std::vector<int64_t>{1, 2, 4, 8};
    });
  if (features.clusters && isUniform())
    expand("cluster_m", &Schedule::clusterM, [](const Schedule &) {
      return std::vector<int64_t>{1, 2};
    });
}

/// True if all row tiles see the same keys.
bool Space::isUniform() const {
  return features.uniformRows && !problem.mask.isBand() &&
         problem.mask.density == 1;
}

/// A CTA on each SM takes tile after tile where all tiles take the same time;
/// otherwise the hardware hands them out better, one to each CTA.
int64_t Space::getPersistentCtas(const Schedule &schedule) const {
  if (schedule.kind == ScheduleKind::SplitKV)
    return 0;
  HeadShape head = HeadShape::get(problem, schedule.packGqa);
  int64_t tiles = problem.getKvHeadCount() *
                  (schedule.packGqa ? 1 : problem.getGroupSize()) *
                  ceilDiv(head.rows, schedule.tileM);
  int64_t ctas = alignDown(target.smCount, schedule.clusterM);
  return isUniform() && tiles > ctas ? ctas : 0;
}

/// The output of a persistent CTA has a tile of its own where it fits.
bool Space::getOutputTile(Schedule schedule) const {
  schedule.outputTile = true;
  return schedule.persistentCtas > 0 &&
         getSharedMemoryUse(problem, schedule).total <=
             target.sharedMemoryPerCtaBytes;
}

/// The whole (padded) value dim of a CTA, and narrower slices.
std::vector<int64_t> Space::getValueSlices(const Schedule &schedule) const {
  int64_t columns =
      alignUp(ceilDiv(getPaddedValueDim(problem), schedule.clusterD), 16);
  std::vector<int64_t> slices = {columns};
  bool hasRoles = getFamily(schedule.mma).hasRoles();
  bool canSlice = !(problem.sharedKV && hasRoles) && schedule.clusterD == 1;
  for (int64_t slice : {256, 128, 64})
    if (canSlice && slice < columns)
      slices.push_back(slice);
  return slices;
}

/// 2, 4, ... until the CTAs fill the target a few times; what is divided by
/// length has no number.
std::vector<int64_t> Space::getSplits(const Schedule &schedule) const {
  if (schedule.splitKeys > 0)
    return {1};
  HeadShape head = HeadShape::get(problem, schedule.packGqa);
  int64_t heads = problem.getKvHeadCount() *
                  (schedule.packGqa ? 1 : problem.getGroupSize());
  int64_t ctas = heads * ceilDiv(head.rows, schedule.tileM);
  int64_t most = ceilDiv(problem.kvLength, schedule.tileN);
  std::vector<int64_t> splits;
  for (int64_t count = 2; count <= most && ctas * count <= 4 * target.smCount;
       count *= 2)
    splits.push_back(count);
  return splits;
}

/// The fewest keys of a range that a plan chooses: those of fewer would be
/// little more than the states that they leave.
static constexpr int64_t kSharedKeys = 128;

/// Of splits whose number follows from the keys: some hundred to some thousand
/// keys, in whole tiles.
static std::vector<int64_t> getSplitLengths(const Schedule &schedule) {
  std::vector<int64_t> lengths;
  for (int64_t keys : {256, 512, 1024, 2048, 4096})
    if (int64_t whole = alignDown(keys, schedule.tileN);
        whole > 0 && (lengths.empty() || lengths.back() < whole))
      lengths.push_back(whole);
  return lengths;
}

/// Rows that keep their scores in half of L2, and rows that fill the target
/// with CTAs of phase 2 once or four times: bounded whatever the query length.
std::vector<int64_t> Space::getChunks(const Schedule &schedule) const {
  int64_t all = problem.getKvHeadCount() *
                alignUp(problem.getPackedRows(), schedule.tileM);
  int64_t scoreBytes = schedule.spill == SpillFormat::Scores ? 4 : 2;
  int64_t resident = target.l2Bytes / 2 / (problem.kvLength * scoreBytes);
  int64_t slices = ceilDiv(getPaddedValueDim(problem), schedule.tileDv);
  int64_t ctas = target.smCount *
                 std::max<int64_t>(getCtasPerSm(problem, schedule, target), 1);
  int64_t wave = ceilDiv(ctas, slices) * schedule.tileM;
  std::vector<int64_t> chunks;
  for (int64_t rows : {resident, wave, 4 * wave}) {
    int64_t chunk = std::min(
        std::max(alignDown(rows, schedule.tileM), schedule.tileM), all);
    if (std::find(chunks.begin(), chunks.end(), chunk) == chunks.end())
      chunks.push_back(chunk);
  }
  return chunks;
}

/// 8-bit weights lose a binade by it (`getWeightOffset`), which only pays where
/// the output stays in tensor memory.
int64_t Space::getRescaleThreshold(const Schedule &schedule) const {
  int64_t most = getMostRescaleThreshold(problem.getWeightType());
  bool isFree = getWeightOffset(problem.getWeightType(), most) ==
                getWeightOffset(problem.getWeightType(), 0);
  if (!problem.hasSoftmax() ||
      !(isFree || getFamily(schedule.mma).facts.tensorColumns))
    return 0;
  return std::min<int64_t>(kRescaleThreshold, most);
}

/// Three quarters: the product of those takes about as long as the weights of
/// the others, so that no product of another warpgroup waits behind it. Weights
/// that are dropped, and those of producers at work, are handed over whole.
int64_t Space::getEarlyKeys(const Schedule &schedule) const {
  bool isWhole = !getFamily(schedule.mma).facts.tensorColumns ||
                 problem.hasDropout || problem.cacheType;
  return isWhole ? 0 : alignDown(schedule.tileN * 3 / 4, Family::kEarlyKeys);
}

/// What only warp-specialised kernels choose.
void Space::expandRoles() {
  derive("rescale_threshold", &Schedule::rescaleThreshold,
         [&](const Schedule &s) { return getRescaleThreshold(s); });
  derive("persistent_ctas", &Schedule::persistentCtas,
         [&](const Schedule &s) { return getPersistentCtas(s); });
  derive("output_tile", &Schedule::outputTile,
         [&](const Schedule &s) { return getOutputTile(s); });
  // With longer rows of the output, the products of a step keep the tensor
  // cores busy for as long as its softmax takes: a turn costs more than it
  // gives.
  derive("turns", &Schedule::turns, [](const Schedule &s) {
    bool takesTurns = s.warps > 4 && s.tileDv <= kLongestTurn &&
                      !getFamily(s.mma).facts.tensorColumns;
    return static_cast<int64_t>(takesTurns ? Turns::Products : Turns::None);
  });
  // The exponential units limit short head dims only.
  expand("exp2_on_fma", &Schedule::exp2OnFma, [&](const Schedule &s) {
    return s.tileD <= 64 && problem.hasSoftmax() ? std::vector<int64_t>{0, 2, 3}
                                                 : std::vector<int64_t>{0};
  });
  derive("early_keys", &Schedule::earlyKeys,
         [&](const Schedule &s) { return getEarlyKeys(s); });
}

/// Who loads, where the computing warps can do so themselves. Beside a better
/// family these kernels are what is left for few rows and wide slices.
std::vector<int64_t> Space::getProducers() const {
  const Family &best = *getFamilies(target).front();
  return target.hasTma && !best.hasRoles() ? std::vector<int64_t>{0, 1}
                                           : std::vector<int64_t>{0};
}

/// True if registers are to hold the sums of a tile, too: where V can be sliced
/// they will, and other tiles are searched for, unless the user has chosen one.
bool Space::holdsSums(Schedule schedule) const {
  if (!getFamily(schedule.mma).hasRoles())
    return true;
  schedule.promote = true;
  return schedule.tileDv <= kLongestPromoted &&
         (!overrides.has("tile_n") ||
          getRegisterUse(problem, schedule).getTotal() <=
              getRegisterLimit(schedule, target));
}

/// Warps with the same rows, of which each has columns of O that fit into its
/// registers.
static int64_t getColumnWarps(const Schedule &schedule) {
  return schedule.tileDv % kWarpColumns == 0 ? schedule.tileDv / kWarpColumns
                                             : 1;
}

std::vector<Schedule> Space::takeLargeCache() {
  bool isGpu = target.kind == TargetKind::Gpu;
  const Family &family = getFamily(schedules.front().mma);
  bool hasRoles = family.hasRoles();
  if (problem.getGroupSize() > 1)
    expand("pack_gqa", &Schedule::packGqa, [](const Schedule &) {
      return std::vector<int64_t>{0, 1};
    });
  expandRows(/*fewestWarps=*/1);
  std::vector<int64_t> keyTiles = family.getKeyTiles();
  // P V sums over keys.
  if (int64_t depth = Family::getDepth(problem.getWeightType()); isGpu)
    keyTiles.erase(
        std::remove_if(keyTiles.begin(), keyTiles.end(),
                       [&](int64_t keys) { return keys % depth != 0; }),
        keyTiles.end());
  expandKeys(keyTiles);
  if (hasRoles)
    expandClusters();
  derive("tile_d", &Schedule::tileD, [&](const Schedule &s) {
    return alignUp(ceilDiv(getPaddedHeadDim(problem), s.clusterD), 16);
  });
  expand("tile_dv", &Schedule::tileDv,
         [&](const Schedule &s) { return getValueSlices(s); });
  if (isGpu && !hasRoles)
    expand("warps", &Schedule::warps, [](const Schedule &s) {
      return std::vector<int64_t>{s.warps * getColumnWarps(s)};
    });
  expand("stages", &Schedule::stages,
         [&](const Schedule &) { return family.getStages(); });
  if (isGpu && !hasRoles) {
    expand("producer_warps", &Schedule::producerWarps,
           [&](const Schedule &) { return getProducers(); });
    expand("query_in_registers", &Schedule::queryInRegisters,
           [](const Schedule &) {
             return std::vector<int64_t>{0, 1};
           });
  }
  if (isGpu && problem.changesQuery())
    expand("query_prologue", &Schedule::queryPrologue, [](const Schedule &) {
      return std::vector<int64_t>{static_cast<int64_t>(QueryPrologue::Kernel),
                                  static_cast<int64_t>(QueryPrologue::Fused)};
    });
  if (isGpu)
    derive("promote", &Schedule::promote, [&](const Schedule &s) {
      return dropsBits(problem, s.mma, target) && holdsSums(s);
    });
  if (hasRoles)
    expandRoles();
  if (schedules.empty())
    return {};
  // As many as run at once.
  if (schedules.front().isPlanned())
    derive("persistent_ctas", &Schedule::persistentCtas,
           [&](const Schedule &s) {
             return target.smCount *
                    std::max<int64_t>(getCtasPerSm(problem, s, target), 1);
           });
  bool isSplit = schedules.front().kind == ScheduleKind::SplitKV;
  // A warp of a decode step works off short tiles, in most of which no maximum
  // rises by much.
  if (isGpu && !hasRoles && isSplit &&
      schedules.front().invariance != Invariance::Prefix)
    derive("rescale_threshold", &Schedule::rescaleThreshold,
           [&](const Schedule &s) {
             return s.warps == s.getSharing() ? getRescaleThreshold(s) : 0;
           });
  if (schedules.front().balance == Balance::Share)
    derive("split_keys", &Schedule::splitKeys,
           [](const Schedule &s) { return alignUp(kSharedKeys, s.tileN); });
  else if (isSplit && schedules.front().invariance != Invariance::None)
    expand("split_keys", &Schedule::splitKeys,
           [](const Schedule &s) { return getSplitLengths(s); });
  if (isSplit)
    expand("splits", &Schedule::splits,
           [&](const Schedule &s) { return getSplits(s); });
  return std::move(schedules);
}

/// `sizes` up to the first that covers `limit`, which replaces it.
static std::vector<int64_t> cutAt(std::vector<int64_t> sizes, int64_t limit) {
  std::vector<int64_t> cut;
  for (int64_t size : sizes)
    if (cut.empty() || cut.back() < limit)
      cut.push_back(std::min(size, limit));
  return cut;
}

std::vector<Schedule> Space::takeSmallCache() {
  // Below this, tiles of the usual sizes do not fit.
  bool isTiny = target.sharedMemoryPerCtaBytes < 32 * 1024;
  int64_t headDim = getPaddedHeadDim(problem);
  int64_t valueDim = getPaddedValueDim(problem);
  if (problem.getGroupSize() > 1)
    expand("pack_gqa", &Schedule::packGqa, [](const Schedule &) {
      return std::vector<int64_t>{0, 1};
    });
  expandRows(isTiny ? 1 : 4);
  if (isTiny)
    expandKeys({16, 32, 64, 128});
  else
    expandKeys({64, 128});
  expand("tile_d", &Schedule::tileD, [&](const Schedule &) {
    return isTiny ? cutAt({16, 32, 64}, headDim) : cutAt({32, 64}, headDim);
  });
  expand("tile_dv", &Schedule::tileDv, [&](const Schedule &) {
    return isTiny ? cutAt({16, 64, 128, 256}, valueDim)
                  : cutAt({64, 128, 256}, valueDim);
  });
  bool isCpu = target.kind == TargetKind::Cpu;
  expand("stages", &Schedule::stages, [&](const Schedule &) {
    if (isCpu)
      return std::vector<int64_t>{1};
    return isTiny ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{2, 3};
  });
  if (isCpu)
    derive("spill", &Schedule::spill, [](const Schedule &) {
      return static_cast<int64_t>(SpillFormat::Scores);
    });
  expand("chunk_rows", &Schedule::chunkRows, [&](const Schedule &s) {
    return isCpu ? std::vector<int64_t>{s.tileM} : getChunks(s);
  });
  return std::move(schedules);
}

/// The families that kernels for the problem can use: the best one that the
/// code generator has, and where it does not have all of its kernels the next.
static std::vector<MmaFamily> findFamilies(const AttentionProblem &problem,
                                           const TargetInfo &target,
                                           const GeneratorFeatures &features) {
  std::vector<MmaFamily> families;
  for (const Family *family : getFamilies(target)) {
    bool isLast = !family->hasRoles();
    bool hasKernels = isLast || (features.wgmma &&
                                 family->findObstacle(problem, target).empty());
    if (!hasKernels)
      continue;
    families.push_back(family->facts.id);
    if (features.wgmmaSlices && features.wgmmaWideOutputs)
      break;
  }
  return families;
}

std::vector<Schedule> enumerateSchedules(const AttentionProblem &problem,
                                         const TargetInfo &target,
                                         const ScheduleOverrides &overrides,
                                         const GeneratorFeatures &features) {
  std::vector<MmaFamily> families = findFamilies(problem, target, features);
  std::vector<ScheduleKind> kinds = {ScheduleKind::LargeCache};
  if (target.kind == TargetKind::Gpu) {
    kinds.push_back(ScheduleKind::SplitKV);
    kinds.push_back(ScheduleKind::SmallCache);
  } else if (getPaddedValueDim(problem) > kMaxUnrolledColumns) {
    kinds.push_back(ScheduleKind::SmallCache);
  }
  Schedule base;
  overrides.apply(base);
  // What has clusters, if anything: a rejection is then of the cluster itself.
  if (base.clusterM * base.clusterD > 1 &&
      getFamily(families.front()).hasRoles()) {
    families = {families.front()};
    kinds = {ScheduleKind::LargeCache, ScheduleKind::SplitKV};
  }
  if (overrides.has("kind"))
    kinds = {base.kind};
  if (overrides.has("mma"))
    families = {base.mma};

  std::vector<Schedule> all;
  for (ScheduleKind kind : kinds)
    for (MmaFamily family : families) {
      base.kind = kind;
      base.mma = family;
      Space space(problem, target, overrides, features, base);
      std::vector<Schedule> schedules = kind == ScheduleKind::SmallCache
                                            ? space.takeSmallCache()
                                            : space.takeLargeCache();
      all.insert(all.end(), schedules.begin(), schedules.end());
    }
  return all;
}

} // namespace attn
