//===- SpecialRegisters.cpp - Values that a warp starts with --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 10, Special Registers. Those that change over time (%clock, ...) are
/// read by the move family.
///
//===----------------------------------------------------------------------===//

#include "SpecialRegisters.h"

#include <functional>
#include <unordered_map>

using namespace attn::sim;

namespace {

/// Where a lane is.
struct Place {
  const LaunchContext &launch;
  const Warp &warp;
  u32 lane;

  const Cta &cta() const { return *warp.cta; }
  const LaunchConfig &config() const { return *launch.config; }
  u32 thread() const { return warp.id * warpSize + lane; }
};

using Value = std::function<u64(const Place &)>;

u32 component(const Dim3 &dims, u32 axis) {
  return axis == 0 ? dims.x : axis == 1 ? dims.y : dims.z;
}

u64 threadIndex(const Place &p, u32 axis) {
  const Dim3 &block = p.config().block;
  u32 thread = p.thread();
  if (axis == 0)
    return thread % block.x;
  return axis == 1 ? thread / block.x % block.y : thread / block.x / block.y;
}

/// Names with a component: NAME.x, .y, .z.
const std::unordered_map<std::string, u64 (*)(const Place &, u32)> &
vectorRegisters() {
  static const std::unordered_map<std::string, u64 (*)(const Place &, u32)>
      table = {
          {"%tid", threadIndex},
          {"%ntid",
           [](const Place &p, u32 axis) -> u64 {
             return component(p.config().block, axis);
           }},
          {"%ctaid",
           [](const Place &p, u32 axis) -> u64 { return p.cta().index[axis]; }},
          {"%nctaid",
           [](const Place &p, u32 axis) -> u64 {
             return component(p.config().grid, axis);
           }},
          {"%clusterid",
           [](const Place &p, u32 axis) -> u64 {
             return p.cta().index[axis] / p.launch.clusterDims[axis];
           }},
          {"%nclusterid",
           [](const Place &p, u32 axis) -> u64 {
             return p.launch.clusterCounts[axis];
           }},
          {"%cluster_ctaid",
           [](const Place &p, u32 axis) -> u64 {
             return p.cta().index[axis] % p.launch.clusterDims[axis];
           }},
          {"%cluster_nctaid", [](const Place &p, u32 axis) -> u64 {
             return p.launch.clusterDims[axis];
           }}};
  return table;
}

const std::unordered_map<std::string, u64 (*)(const Place &)> &
scalarRegisters() {
  static const std::unordered_map<std::string, u64 (*)(const Place &)> table = {
      {"%__parambase",
       [](const Place &p) { return p.launch.parameterAddress; }},
      {"%__sharedbase",
       [](const Place &p) -> u64 {
         return (p.cta().rank << sharedRankShift) + sharedBase;
       }},
      {"%__dynamicbase",
       [](const Place &p) -> u64 {
         return (p.cta().rank << sharedRankShift) + sharedBase +
                p.launch.program->dynamicSharedOffset;
       }},
      {"%laneid", [](const Place &p) -> u64 { return p.lane; }},
      {"%warpid", [](const Place &p) -> u64 { return p.warp.id; }},
      {"%nwarpid",
       [](const Place &p) -> u64 { return p.launch.warpsPerCta(); }},
      {"%smid",
       [](const Place &p) -> u64 { return p.cta().linear % p.launch.smCount; }},
      {"%nsmid", [](const Place &p) -> u64 { return p.launch.smCount; }},
      {"%gridid", [](const Place &) -> u64 { return 1; }},
      {"%cluster_ctarank", [](const Place &p) -> u64 { return p.cta().rank; }},
      {"%cluster_nctarank",
       [](const Place &p) -> u64 { return p.launch.ctasPerCluster(); }},
      {"%is_explicit_cluster",
       [](const Place &p) -> u64 { return p.launch.ctasPerCluster() > 1; }},
      {"%lanemask_eq", [](const Place &p) -> u64 { return 1u << p.lane; }},
      {"%lanemask_lt",
       [](const Place &p) -> u64 { return (1u << p.lane) - 1; }},
      {"%lanemask_le",
       [](const Place &p) -> u64 { return u32((2ull << p.lane) - 1); }},
      {"%lanemask_ge",
       [](const Place &p) -> u64 { return ~((1u << p.lane) - 1); }},
      {"%lanemask_gt",
       [](const Place &p) -> u64 { return ~u32((2ull << p.lane) - 1); }},
      // Cooperative groups find the grid barrier's workspace here.
      {"%envreg1",
       [](const Place &p) -> u64 { return p.launch.gridWorkspace >> 32; }},
      {"%envreg2",
       [](const Place &p) -> u64 { return u32(p.launch.gridWorkspace); }},
      {"%dynamic_smem_size",
       [](const Place &p) -> u64 { return p.config().dynamicSharedBytes; }},
      {"%total_smem_size",
       [](const Place &p) -> u64 { return p.launch.sharedBytes; }},
      {"%aggr_smem_size",
       [](const Place &p) -> u64 { return p.launch.sharedBytes; }}};
  return table;
}

/// The function that gives a register's value; null: reads as 0.
Value findValue(const std::string &name) {
  auto scalar = scalarRegisters().find(name);
  if (scalar != scalarRegisters().end())
    return scalar->second;
  size_t dot = name.find('.');
  auto vector = vectorRegisters().find(name.substr(0, dot));
  if (dot == std::string::npos || vector == vectorRegisters().end() ||
      dot + 2 != name.size())
    return nullptr;
  u32 axis = name[dot + 1] - 'x';
  if (axis > 2)
    return nullptr;
  return [function = vector->second, axis](const Place &p) {
    return function(p, axis);
  };
}

} // namespace

void attn::sim::setSpecialRegisters(const LaunchContext &launch, Warp &warp) {
  for (const SpecialRegister &special : launch.program->specials) {
    Value value = findValue(special.name);
    Operand operand;
    operand.kind = Operand::Kind::Register;
    operand.index = special.slot;
    operand.width = special.width;
    for (u32 lane = 0; lane < warpSize; ++lane)
      setLane(warp, operand, lane,
              value ? value(Place{launch, warp, lane}) : 0);
    if (warp.definedSlots.empty())
      continue;
    for (s32 slot = special.slot; slot < special.slot + special.width / 4;
         ++slot)
      warp.definedSlots[slot] = fullMask;
  }
}
