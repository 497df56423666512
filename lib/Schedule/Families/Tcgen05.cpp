//===- Tcgen05.cpp - tcgen05.mma, one thread into TMEM ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

using namespace attn;
using namespace attn::detail;

/// Descriptors of rows of Q and K beyond 128 columns, calibrated like
/// kOtherRegisters.
static constexpr int64_t kWideHeadRegisters = 20;

/// A thread that corrects has 32 columns of the output at once, and the places
/// of two warpgroups. That leaves 192 for each of theirs, as in
/// FlashAttention-4.
static constexpr int64_t kCorrectionRegisters = 96;

namespace {
class Tcgen05 final : public Family {
public:
  Tcgen05()
      : Family({MmaFamily::Tcgen05, /*unitWarps=*/4, /*unitRows=*/128,
                /*unitShare=*/1, /*maxUnits=*/2, /*maxColumns=*/256,
                /*producerWarps=*/4, /*tensorColumns=*/512, /*rank=*/3,
                getScheduleFieldSet(
                    {"producer_warps", "correction_warps", "query_prologue",
                     "rescale_threshold", "persistent_ctas", "output_tile",
                     "exp2_on_fma", "early_keys", "cluster_m", "promote",
                     "score_stages", "early_rows", "cluster_n", "cta_pair"})}) {
  }

  std::string findObstacle(const AttentionProblem &problem,
                           const TargetInfo &target) const override;
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
    return getDenseRate(type, target);
  }

  std::vector<int64_t> getKeyTiles() const override { return {32, 64, 128}; }

  std::vector<int64_t> getStages() const override { return {2, 4}; }
};
} // namespace

std::string Tcgen05::findObstacle(const AttentionProblem &problem,
                                  const TargetInfo &target) const {
  if (std::string missing = findMissingInstruction(facts.id, problem, target);
      !missing.empty())
    return missing;
  if (getSizeBytes(problem.elementType) > 2)
    return "mma=tcgen05 is supported for inputs of 16 and 8 bits only, got " +
           std::string(getName(problem.elementType));
  return "";
}

/// Columns of tensor memory: for each unit S, whose place P takes, and the
/// product with V.
static int64_t getTensorColumns(const Schedule &schedule, int64_t units) {
  return units * (schedule.tileN + schedule.tileDv);
}

void Tcgen05::checkMapping(const AttentionProblem &problem,
                           const Schedule &schedule,
                           std::vector<Violation> &violations) const {
  checkRoles(*this, problem, schedule, violations);
  requireRange(violations, "tile_dv", schedule.tileDv, 16, facts.maxColumns);
  int64_t units = schedule.warps / facts.unitWarps;
  if (schedule.tileM != units * facts.unitRows)
    violations.push_back(
        {"warps", "expected a warpgroup for each 128 rows of tile_m=" +
                      std::to_string(schedule.tileM) + ", got " +
                      std::to_string(units)});
  else
    requireFewUnits(*this, units, violations);
  if (schedule.earlyKeys % kEarlyKeys != 0 ||
      schedule.earlyKeys >= schedule.tileN)
    violations.push_back(
        {"multiple", "expected early_keys a multiple of " +
                         std::to_string(kEarlyKeys) +
                         " below tile_n=" + std::to_string(schedule.tileN) +
                         ", got " + std::to_string(schedule.earlyKeys)});
  // Of neither the search chooses any.
  if (schedule.earlyKeys > 0 && (problem.hasDropout || problem.cacheType))
    violations.push_back(
        {"early-keys", "expected early_keys=0 with dropout, or with keys of 8 "
                       "bits beside a wider query, whose weights are handed "
                       "over whole, got " +
                           std::to_string(schedule.earlyKeys)});
  if (schedule.correctionWarps != 0 &&
      (schedule.correctionWarps != 4 || !keepsOutput(problem, schedule)))
    violations.push_back(
        {"correction", "expected correction_warps=0, or 4 where the output is "
                       "a sum in tensor memory that steps rescale, with "
                       "rescale_threshold and without promote, got " +
                           std::to_string(schedule.correctionWarps)});
  int64_t columns = getTensorColumns(schedule, units);
  if (columns > facts.tensorColumns)
    violations.push_back(
        {"tensor-memory",
         "needs " + std::to_string(columns) + " columns of tensor memory for " +
             std::to_string(units) + " warpgroups, there are " +
             std::to_string(facts.tensorColumns)});
}

RegisterSplit Tcgen05::splitRegisters(int64_t units, int64_t registers,
                                      bool producerComputes,
                                      bool corrects) const {
  int64_t producer = corrects ? 32 : units == 1 ? 168 : 40;
  if (producerComputes && units > 1)
    producer += kProducerShare * units;
  return shareRegisters(producer, corrects ? kCorrectionRegisters : 0, units,
                        registers);
}

/// 128 threads hold 128 rows of S, and of O if it does not stay in tensor
/// memory.
RegisterUse Tcgen05::getRegisterUse(const AttentionProblem &problem,
                                    const Schedule &schedule) const {
  RegisterUse use;
  use.other = kOtherRegisters + (schedule.tileD > 128 ? kWideHeadRegisters : 0);
  if (problem.cacheType || problem.keyPage + problem.valuePage > 0)
    use.other += kProducerShare;
  if (problem.hasBias)
    use.other += schedule.tileN;
  use.other += getProbModRegisters(problem, schedule.tileN);
  if (!keepsOutput(problem, schedule))
    use.output = schedule.tileDv * (schedule.promote ? 2 : 1);
  use.scores = schedule.tileN;
  return use;
}

const Family &detail::getTcgen05Family() {
  static const Tcgen05 family;
  return family;
}
