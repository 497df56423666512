//===- ScheduleConversion.cpp - #attn.schedule as plain data ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ScheduleConversion.h"

using namespace mlir;
using namespace attn;

ScheduleOverrides attn::getChosenFields(ScheduleAttr schedule) {
  ScheduleOverrides fields;
  // The attribute's verifier has seen that each value is one of its field's.
  auto set = [&](StringRef name, const std::string &value) {
    (void)fields.set(name.str(), value);
  };
  std::pair<StringRef, StringRef> names[] = {
      {"kind", schedule.getKind()},
      {"mma", schedule.getMma()},
      {"query_prologue", schedule.getQueryPrologue()},
      {"turns", schedule.getTurns()},
      {"balance", schedule.getBalance()},
      {"spill", schedule.getSpill()},
      {"invariance", schedule.getInvariance()}};
  for (auto [name, value] : names)
    if (!value.empty())
      set(name, value.str());
  std::pair<StringRef, int64_t> numbers[] = {
      {"tile_m", schedule.getTileM()},
      {"tile_n", schedule.getTileN()},
      {"tile_d", schedule.getTileD()},
      {"tile_dv", schedule.getTileDv()},
      {"stages", schedule.getStages()},
      {"warps", schedule.getWarps()},
      {"producer_warps", schedule.getProducerWarps()},
      {"rescale_threshold", schedule.getRescaleThreshold()},
      {"persistent_ctas", schedule.getPersistentCtas()},
      {"exp2_on_fma", schedule.getExp2OnFma()},
      {"splits", schedule.getSplits()},
      {"split_keys", schedule.getSplitKeys()},
      {"cluster_m", schedule.getClusterM()},
      {"cluster_d", schedule.getClusterD()},
      {"chunk_rows", schedule.getChunkRows()}};
  for (auto [name, number] : numbers)
    if (number != ScheduleAttr::kNotChosen)
      set(name, std::to_string(number));
  std::pair<StringRef, BoolAttr> flags[] = {
      {"query_in_registers", schedule.getQueryInRegisters()},
      {"output_tile", schedule.getOutputTile()},
      {"promote", schedule.getPromote()},
      {"pack_gqa", schedule.getPackGqa()},
      {"fused", schedule.getFused()}};
  for (auto [name, flag] : flags)
    if (flag)
      set(name, flag.getValue() ? "1" : "0");
  return fields;
}

Schedule attn::getSchedule(ScheduleAttr schedule) {
  Schedule result;
  getChosenFields(schedule).apply(result);
  return result;
}

ScheduleAttr attn::getScheduleAttr(MLIRContext *context,
                                   const Schedule &schedule) {
  bool isSmall = schedule.kind == ScheduleKind::SmallCache;
  auto positive = [](int64_t value) {
    return value > 0 ? value : ScheduleAttr::kNotChosen;
  };
  auto flag = [&](bool value) { return BoolAttr::get(context, value); };
  return ScheduleAttr::get(
      context, std::string(getName(schedule.kind)),
      std::string(getName(schedule.mma)), schedule.tileM, schedule.tileN,
      schedule.tileD, schedule.tileDv, schedule.stages, schedule.warps,
      positive(schedule.producerWarps), flag(schedule.queryInRegisters),
      schedule.queryPrologue == QueryPrologue::Fused
          ? std::string(getName(schedule.queryPrologue))
          : std::string(),
      schedule.rescaleThreshold, schedule.persistentCtas,
      flag(schedule.outputTile), std::string(getName(schedule.turns)),
      schedule.exp2OnFma, schedule.promote ? flag(true) : BoolAttr(),
      flag(schedule.packGqa), schedule.splits, positive(schedule.splitKeys),
      schedule.isPlanned() ? std::string(getName(schedule.balance))
                           : std::string(),
      schedule.clusterM, schedule.clusterD, flag(schedule.fused),
      positive(schedule.chunkRows),
      isSmall ? std::string(getName(schedule.spill)) : std::string(),
      schedule.invariance == Invariance::None
          ? std::string()
          : std::string(getName(schedule.invariance)));
}
