//===- Wgmma.cpp - wgmma, a warpgroup from shared memory ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

#include <algorithm>

using namespace attn;
using namespace attn::detail;

/// More descriptors than of 128 columns, in wgmma kernels.
static constexpr int64_t kWideHeadRegisters = 4;

/// The counter, the words and the thresholds of dropout beside the scores of a
/// wgmma kernel, calibrated in the same way.
static constexpr int64_t kDropoutRegisters = 40;

/// What a mask and the descale of a head take beside 8-bit inputs, rounded up:
/// 192 x 128 at head dim 64 spills with 152 others (ptxas 13.0).
static constexpr int64_t kMaskedByteRegisters = 9;

/// Some of what softmax needs besides is free again when a tile's sums are
/// added: 128 x 128 at head dim 128 does not spill with two stages, and does
/// with four (ptxas 13.0).
static constexpr int64_t kFreeUntilPromoted = 8;

namespace {
class Wgmma final : public Family {
public:
  Wgmma()
      : Family({MmaFamily::Wgmma, /*unitWarps=*/4, /*unitRows=*/64,
                /*unitShare=*/1, /*maxUnits=*/3, /*maxColumns=*/256,
                /*producerWarps=*/4, /*tensorColumns=*/0, /*rank=*/2,
                getScheduleFieldSet({"producer_warps", "query_prologue",
                                     "rescale_threshold", "persistent_ctas",
                                     "output_tile", "turns", "exp2_on_fma",
                                     "promote", "cluster_m", "cluster_d",
                                     "fused", "cluster_n"})}) {}

  std::string findObstacle(const AttentionProblem &problem,
                           const TargetInfo &target) const override {
    return findMissingInstruction(facts.id, problem, target);
  }

  void checkMapping(const AttentionProblem &problem, const Schedule &schedule,
                    std::vector<Violation> &violations) const override;
  RegisterUse getRegisterUse(const AttentionProblem &problem,
                             const Schedule &schedule) const override;
  int64_t getRegisterLimit(const Schedule &schedule,
                           const TargetInfo &target) const override {
    return getConsumerLimit(*this, schedule, target);
  }
  RegisterSplit splitRegisters(int64_t units, int64_t registers,
                               bool producerComputes,
                               bool corrects) const override;

  double getRate(ElementType type, const TargetInfo &target) const override {
    return getDenseRate(type, target) * target.wgmmaShare;
  }

  bool transposesValue(ElementType type) const override {
    return getSizeBytes(type) == 1;
  }

  /// Below 64 columns a product is bound by reading its A operand.
  std::vector<int64_t> getKeyTiles() const override {
    return {64, 80, 96, 112, 128, 160, 176};
  }

  /// A place in a ring of 3 takes a multiplication, whose registers spill.
  std::vector<int64_t> getStages() const override { return {2, 4}; }
};
} // namespace

void Wgmma::checkMapping(const AttentionProblem &problem,
                         const Schedule &schedule,
                         std::vector<Violation> &violations) const {
  checkRoles(*this, problem, schedule, violations);
  int64_t units = schedule.warps / facts.unitWarps;
  int64_t rowGroups = schedule.tileM / facts.unitRows;
  if (units != rowGroups && units != 2 * rowGroups)
    violations.push_back(
        {"warps", "expected one or two warpgroups for each 64 rows of tile_m=" +
                      std::to_string(schedule.tileM) + ", got " +
                      std::to_string(units)});
  else
    requireFewUnits(*this, units, violations);
}

RegisterSplit Wgmma::splitRegisters(int64_t units, int64_t registers,
                                    bool producerComputes,
                                    bool /*corrects*/) const {
  int64_t producer = units == 1 ? 56 : units == 2 ? 24 : 32;
  if (producerComputes && units > 1)
    producer += kProducerShare * units;
  return shareRegisters(producer, /*correction=*/0, units, registers);
}

/// Elements of a bias that are on their way while others are added, of a wgmma
/// kernel whose thread has `columns` of the scores; calibrated in the same way.
static int64_t getBiasRegisters(const AttentionProblem &problem,
                                int64_t columns) {
  if (!problem.hasBias)
    return 0;
  int64_t ofMask = problem.mask.isBand() ? 24 : 0;
  return ofMask + (problem.isRowBias ? columns / 2 + 2 : 3 * columns / 4 + 10);
}

/// wgmma: a warpgroup of 128 threads holds 64 rows; warpgroups that share rows
/// split the columns of O, and in clusters that share a head dim those of S,
/// whose sums and weights go through shared memory.
RegisterUse Wgmma::getRegisterUse(const AttentionProblem &problem,
                                  const Schedule &schedule) const {
  int64_t sharing = schedule.getSharing();
  RegisterUse use;
  use.other =
      kOtherRegisters + (problem.hasDropout ? kDropoutRegisters : 0) +
      (schedule.tileD > 128 ? kWideHeadRegisters : 0) +
      (getSizeBytes(problem.getWeightType()) == 1 || problem.cacheType ||
               problem.keyPage + problem.valuePage > 0
           ? kProducerShare
           : 0);
  if (getSizeBytes(problem.getWeightType()) == 1 && problem.mask.isBand())
    use.other += kMaskedByteRegisters;
  if (schedule.kind == ScheduleKind::SmallCache) {
    use.output = std::max(schedule.tileN, schedule.tileDv) / (2 * sharing);
    return use;
  }
  use.output = schedule.tileDv / (2 * sharing);
  if (schedule.promote)
    use.output += use.output - (schedule.stages == 2 ? kFreeUntilPromoted : 0);
  int64_t columns = schedule.tileN / (schedule.clusterD > 1 ? sharing : 1);
  use.scores = columns / 2;
  use.other += getBiasRegisters(problem, columns) +
               getProbModRegisters(problem, columns);
  if (schedule.clusterD == 1)
    use.scores += schedule.tileN * getSizeBytes(problem.getWeightType()) / 8;
  return use;
}

const Family &detail::getWgmmaFamily() {
  static const Wgmma family;
  return family;
}
