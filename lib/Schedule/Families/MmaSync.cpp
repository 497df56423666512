//===- MmaSync.cpp - mma.sync, a warp from registers --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

using namespace attn;
using namespace attn::detail;

namespace {
class MmaSync final : public Family {
public:
  MmaSync()
      : Family({MmaFamily::MmaSync, /*unitWarps=*/1, /*unitRows=*/16,
                /*unitShare=*/0.25, /*maxUnits=*/0, /*maxColumns=*/0,
                /*producerWarps=*/0, /*tensorColumns=*/0, /*rank=*/1,
                getScheduleFieldSet({"producer_warps", "query_in_registers",
                                     "query_prologue", "rescale_threshold",
                                     "promote", "fused"})}) {}

  std::string findObstacle(const AttentionProblem &problem,
                           const TargetInfo &target) const override {
    return findMissingInstruction(facts.id, problem, target);
  }

  void checkMapping(const AttentionProblem &problem, const Schedule &schedule,
                    std::vector<Violation> &violations) const override;
  void checkSharing(const AttentionProblem &problem, const Schedule &schedule,
                    std::vector<Violation> &violations) const;
  void checkProducer(const AttentionProblem &problem, const Schedule &schedule,
                     std::vector<Violation> &violations) const;
  RegisterUse getRegisterUse(const AttentionProblem &problem,
                             const Schedule &schedule) const override;

  /// Registers are given to warps in units of 8 a thread, by each of the four
  /// partitions of an SM to its warps: a ninth one makes the share of all that
  /// of twelve.
  int64_t getRegisterLimit(const Schedule &schedule,
                           const TargetInfo &target) const override {
    int64_t share =
        target.registersPerSm / alignUp(schedule.getNumThreads(), 4 * 32);
    return std::min(target.maxRegistersPerThread, alignDown(share, 8));
  }

  double getRate(ElementType type, const TargetInfo &target) const override;
  int64_t getSumBits(ElementType type, const TargetInfo &target) const override;

  std::vector<int64_t> getKeyTiles() const override {
    return {16, 32, 64, 128};
  }

  std::vector<int64_t> getStages() const override { return {1, 2, 3}; }
};
} // namespace

void MmaSync::checkMapping(const AttentionProblem &problem,
                           const Schedule &schedule,
                           std::vector<Violation> &violations) const {
  // P V sums over keys.
  if (int64_t depth = getDepth(problem.getWeightType()); depth > 16)
    requireMultiple(violations, "tile_n", schedule.tileN, depth);
  int64_t rows = facts.unitRows * schedule.warps;
  int64_t sharing = schedule.getSharing();
  if (sharing == 1 && schedule.tileM % rows != 0)
    violations.push_back(
        {"warps",
         "expected tile_m a multiple of 16 * warps = " + std::to_string(rows) +
             ", got " + std::to_string(schedule.tileM)});
  if (sharing > 1)
    checkSharing(problem, schedule, violations);
  if (schedule.producerWarps > 0)
    checkProducer(problem, schedule, violations);
}

/// Warps that share rows have whole panels of the tile of V each.
void MmaSync::checkSharing(const AttentionProblem &problem,
                           const Schedule &schedule,
                           std::vector<Violation> &violations) const {
  constexpr int64_t kPanelBytes = 128;
  int64_t sharing = schedule.getSharing();
  auto reject = [&](const std::string &expected, int64_t got) {
    violations.push_back(
        {"sharing",
         "expected " + expected + " with " + std::to_string(sharing) +
             " warps for each 16 rows of tile_m, got " + std::to_string(got)});
  };
  if (schedule.warps * facts.unitRows % schedule.tileM != 0)
    reject("warps a multiple of tile_m / 16", schedule.warps);
  int64_t columns =
      sharing * kPanelBytes / getSizeBytes(problem.getValueType());
  if (schedule.tileDv % columns != 0)
    reject("tile_dv a multiple of " + std::to_string(columns), schedule.tileDv);
  if (schedule.kind == ScheduleKind::SmallCache)
    reject("kind=large_cache or split_kv", schedule.tileM);
}

/// One warp loads by TMA: what is multiplied as it comes.
void MmaSync::checkProducer(const AttentionProblem &problem,
                            const Schedule &schedule,
                            std::vector<Violation> &violations) const {
  requireRange(violations, "producer_warps", schedule.producerWarps, 0, 1);
  std::string obstacle;
  if (schedule.kind == ScheduleKind::SmallCache)
    obstacle = "kind=small_cache";
  else if (problem.cacheType)
    obstacle =
        "keys and values of " + std::string(getName(problem.getKeyType())) +
        " beside a query of " + std::string(getName(problem.elementType));
  else if (schedule.queryPrologue == QueryPrologue::Fused)
    obstacle = "query_prologue=fused";
  if (!obstacle.empty())
    violations.push_back(
        {"producer", "expected producer_warps=0 with " + obstacle + ", got " +
                         std::to_string(schedule.producerWarps)});
}

/// mma.sync: a warp holds rows x columns of an f32 accumulator in rows *
/// columns / 32 registers a thread, and as 16-bit operands in half of that.
/// ptxas begins the next S while P is still being used.
RegisterUse MmaSync::getRegisterUse(const AttentionProblem &problem,
                                    const Schedule &schedule) const {
  int64_t rows = schedule.getRowsPerWarp();
  int64_t rowFragments = ceilDiv(rows, 16);
  RegisterUse use;
  // An A fragment of 16 x 16 takes 4 registers; two B fragments of 16 x 16 are
  // in flight.
  use.operands = 4 * rowFragments + 8;
  // Row maximum and sum, of two rows for each fragment.
  use.other = kOtherRegisters + 4 * rowFragments;
  if (schedule.kind == ScheduleKind::SmallCache) {
    use.output = rows * std::max(schedule.tileN, schedule.tileDv) / 32;
    return use;
  }
  use.output = rows * schedule.tileDv / (32 * schedule.getSharing()) *
               (schedule.promote ? 2 : 1);
  use.scores =
      rows * schedule.tileN / 32 +
      rows * schedule.tileN * getSizeBytes(problem.getWeightType()) / 128;
  if (schedule.queryInRegisters)
    use.operands +=
        rows * schedule.tileD * getSizeBytes(problem.elementType) / (32 * 4) -
        4 * rowFragments;
  return use;
}

/// assumed: of the 8-bit products that a chip replaces by conversions and two
/// of f16, the latter take as long as f16, and the former as long again.
static constexpr double kEmulatedShare = 0.5;

/// ptxas 13.0 emulates products of 8-bit floats where a chip's own instructions
/// for them are those of a better family.
static bool isEmulated(ElementType type, const TargetInfo &target) {
  return getMmaOperand(type) == MmaOperand::F8 &&
         getFamilies(target).front()->hasRoles();
}

int64_t MmaSync::getSumBits(ElementType type, const TargetInfo &target) const {
  return isEmulated(type, target) ? 0 : Family::getSumBits(type, target);
}

double MmaSync::getRate(ElementType type, const TargetInfo &target) const {
  if (isEmulated(type, target))
    return getDenseRate(ElementType::F16, target) * target.mmaSyncShare *
           kEmulatedShare;
  return getDenseRate(type, target) * target.mmaSyncShare;
}

const Family &detail::getMmaSyncFamily() {
  static const MmaSync family;
  return family;
}
