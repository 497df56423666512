//===- Family.cpp - Families of matrix instructions ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Family.h"

#include "Families.h"

#include <algorithm>

using namespace attn;
using namespace attn::detail;

std::optional<MmaOperand> attn::getMmaOperand(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return MmaOperand::F16;
  case ElementType::BF16:
    return MmaOperand::BF16;
  case ElementType::F32:
    return MmaOperand::TF32;
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return MmaOperand::F8;
  case ElementType::I8:
    return MmaOperand::I8;
  case ElementType::F64:
  case ElementType::I1:
    return std::nullopt;
  }
  return std::nullopt;
}

const Family &attn::getFamily(MmaFamily family) {
  switch (family) {
  case MmaFamily::None:
    return getVectorFamily();
  case MmaFamily::MmaSync:
    return getMmaSyncFamily();
  case MmaFamily::Wgmma:
    return getWgmmaFamily();
  case MmaFamily::Tcgen05:
    return getTcgen05Family();
  }
  return getVectorFamily();
}

std::vector<const Family *> attn::getFamilies(const TargetInfo &target) {
  std::vector<const Family *> families;
  if (target.kind == TargetKind::Cpu)
    return {&getVectorFamily()};
  for (const Family *family :
       {&getTcgen05Family(), &getWgmmaFamily(), &getMmaSyncFamily()})
    if (target.hasMma(family->facts.id))
      families.push_back(family);
  std::stable_sort(families.begin(), families.end(),
                   [](const Family *a, const Family *b) {
                     return a->facts.rank > b->facts.rank;
                   });
  return families;
}

//===----------------------------------------------------------------------===//
// What families share
//===----------------------------------------------------------------------===//

void detail::requireMultiple(std::vector<Violation> &violations,
                             const char *name, int64_t value, int64_t factor) {
  if (value < 1 || value % factor != 0)
    violations.push_back({"multiple", std::string("expected ") + name +
                                          " a positive multiple of " +
                                          std::to_string(factor) + ", got " +
                                          std::to_string(value)});
}

void detail::requireValue(std::vector<Violation> &violations, const char *name,
                          int64_t value, int64_t expected, const char *why) {
  if (value != expected)
    violations.push_back({"kind", std::string("expected ") + name + "=" +
                                      std::to_string(expected) + " " + why +
                                      ", got " + std::to_string(value)});
}

void detail::requireRange(std::vector<Violation> &violations, const char *name,
                          int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high)
    violations.push_back({"range", std::string("expected ") + name + " from " +
                                       std::to_string(low) + " to " +
                                       std::to_string(high) + ", got " +
                                       std::to_string(value)});
}

void detail::checkRoles(const Family &family, const AttentionProblem &problem,
                        const Schedule &schedule,
                        std::vector<Violation> &violations) {
  const Family::Facts &facts = family.facts;
  // P V sums over keys.
  if (int64_t depth = Family::getDepth(problem.getWeightType()); depth > 16)
    requireMultiple(violations, "tile_n", schedule.tileN, depth);
  std::string mma = "mma=" + std::string(getName(facts.id));
  requireMultiple(violations, "tile_m", schedule.tileM, facts.unitRows);
  requireMultiple(violations, "warps", schedule.warps, facts.unitWarps);
  requireValue(violations, "producer_warps", schedule.producerWarps,
               facts.producerWarps,
               ("with " + mma + " (one producer warpgroup)").c_str());
  requireRange(violations, "tile_n", schedule.tileN, 16, facts.maxColumns);
  if (schedule.stages < 2)
    violations.push_back({"stages", "expected stages of at least 2 with " +
                                        mma + ", got " +
                                        std::to_string(schedule.stages)});
}

void detail::requireFewUnits(const Family &family, int64_t units,
                             std::vector<Violation> &violations) {
  if (units > family.facts.maxUnits)
    violations.push_back({"warps", "expected at most " +
                                       std::to_string(family.facts.maxUnits) +
                                       " computing warpgroups with mma=" +
                                       std::string(getName(family.facts.id)) +
                                       ", got " + std::to_string(units)});
}

/// The most that setmaxnreg takes.
static constexpr int64_t kMostSet = 256;
/// What the registers of a computing thread are counted up to: ptxas needs the
/// others where setmaxnreg could give more.
static constexpr int64_t kMostRegisters = 240;

RegisterSplit detail::shareRegisters(int64_t producer, int64_t correction,
                                     int64_t units, int64_t registers) {
  int64_t warpgroups = units + (correction > 0 ? 2 : 1);
  int64_t all = alignDown(registers / (128 * warpgroups), 8) * warpgroups;
  int64_t consumer = std::max<int64_t>(all - producer - correction, 0) / units;
  return {producer, std::min(alignDown(consumer, 8), kMostSet), correction};
}

int64_t detail::getConsumerLimit(const Family &family, const Schedule &schedule,
                                 const TargetInfo &target) {
  int64_t units = std::max<int64_t>(schedule.warps / family.facts.unitWarps, 1);
  RegisterSplit split = family.splitRegisters(units, target.registersPerSm,
                                              /*producerComputes=*/false,
                                              schedule.correctionWarps > 0);
  return std::min(
      {target.maxRegistersPerThread, split.consumer, kMostRegisters});
}

std::string detail::findMissingInstruction(MmaFamily family,
                                           const AttentionProblem &problem,
                                           const TargetInfo &target) {
  for (ElementType factor : {problem.elementType, problem.getWeightType()}) {
    std::optional<MmaOperand> operand = getMmaOperand(factor);
    std::string type(getName(factor));
    if (!operand)
      return type + " is supported on a CPU only";
    if (!target.hasMma(family, *operand))
      return "target " + target.name + " has no " +
             std::string(getName(family)) + " for " + type;
  }
  return "";
}

double detail::getDenseRate(ElementType type, const TargetInfo &target) {
  double tflops = target.f16TFlops;
  if (type == ElementType::I8)
    tflops = target.i8TOps;
  else if (getSizeBytes(type) == 1)
    tflops = target.f8TFlops;
  else if (type == ElementType::F32)
    tflops =
        target.kind == TargetKind::Cpu ? target.f32TFlops : target.tf32TFlops;
  return tflops * 1e12;
}
