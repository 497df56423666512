//===- Counters.cpp - What a launch executed and moved --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Simulator/Counters.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

using namespace attn::sim;
using json = nlohmann::ordered_json;

const char *attn::sim::name(InstructionClass instructionClass) {
  static constexpr const char *names[numInstructionClasses] = {
      "other",         "integer",  "float_add",     "float_mul", "float_fma",
      "float_compare", "half",     "double",        "convert",   "move",
      "ex2",           "mufu",     "branch",        "load",      "store",
      "atomic",        "cp_async", "tma",           "tma_store", "mma",
      "wgmma",         "tcgen05",  "tensor_memory", "ldmatrix",  "shuffle",
      "barrier",       "mbarrier", "fence",         "call"};
  return names[size_t(instructionClass)];
}

const char *attn::sim::name(GlobalPath path) {
  static constexpr const char *names[numGlobalPaths] = {"ld_st", "cp_async",
                                                        "tma", "atomic"};
  return names[size_t(path)];
}

const char *attn::sim::name(WaitReason reason) {
  static constexpr const char *names[numWaitReasons] = {
      "barrier", "mbarrier", "mbarrier_copy", "wgmma", "copy_group"};
  return names[size_t(reason)];
}

double ReadRequests::sectorUse() const {
  return double(bytes) / double(std::max<uint64_t>(sectors * sectorBytes, 1));
}

void ReadRequests::add(const ReadRequests &other) {
  sectors += other.sectors;
  bytes += other.bytes;
  instructionsBefore = std::max(instructionsBefore, other.instructionsBefore);
  waitsBefore = std::max(waitsBefore, other.waitsBefore);
}

uint64_t BufferTraffic::read() const {
  uint64_t sum = 0;
  for (const PathBytes &path : paths)
    sum += path.read;
  return sum;
}

uint64_t BufferTraffic::write() const {
  uint64_t sum = 0;
  for (const PathBytes &path : paths)
    sum += path.write;
  return sum;
}

uint64_t Counters::totalWarpInstructions() const {
  return std::accumulate(warpInstructions.begin(), warpInstructions.end(),
                         uint64_t(0));
}

uint64_t Counters::totalLaneInstructions() const {
  return std::accumulate(laneInstructions.begin(), laneInstructions.end(),
                         uint64_t(0));
}

uint64_t Counters::totalWaits(WaitReason reason) const {
  uint64_t sum = 0;
  for (const WaitCounts &counts : waitsPerWarp)
    sum += counts[size_t(reason)];
  return sum;
}

static void addClasses(ClassCounts &sum, const ClassCounts &other) {
  for (size_t k = 0; k < numInstructionClasses; ++k)
    sum[k] += other[k];
}

/// The plain sums, for adding and printing.
static constexpr std::pair<const char *, uint64_t Counters::*>
    scalarCounters[] = {
        {"ctas", &Counters::ctas},
        {"mma_flops", &Counters::mmaFlops},
        {"global_load_bytes", &Counters::globalLoadBytes},
        {"global_store_bytes", &Counters::globalStoreBytes},
        {"global_atomic_bytes", &Counters::globalAtomicBytes},
        {"cp_async_bytes", &Counters::cpAsyncBytes},
        {"tma_load_bytes", &Counters::tmaLoadBytes},
        {"tma_store_bytes", &Counters::tmaStoreBytes},
        {"tma_reduce_bytes", &Counters::tmaReduceBytes},
        {"shared_load_bytes", &Counters::sharedLoadBytes},
        {"shared_store_bytes", &Counters::sharedStoreBytes},
        {"bulk_shared_bytes", &Counters::bulkSharedBytes},
        {"wgmma_shared_bytes", &Counters::wgmmaSharedBytes},
        {"tcgen05_shared_bytes", &Counters::tcgen05SharedBytes},
        {"distributed_shared_bytes", &Counters::distributedSharedBytes},
        {"shared_wavefronts", &Counters::sharedWavefronts},
        {"bank_conflicts", &Counters::bankConflicts},
        {"barrier_ops", &Counters::barrierOps},
        {"mbarrier_ops", &Counters::mbarrierOps}};

static void addBuffer(std::vector<BufferTraffic> &buffers,
                      const BufferTraffic &other) {
  auto it = std::find_if(
      buffers.begin(), buffers.end(), [&](const BufferTraffic &buffer) {
        return buffer.address == other.address && buffer.name == other.name;
      });
  if (it == buffers.end()) {
    buffers.push_back(other);
    return;
  }
  for (size_t path = 0; path < numGlobalPaths; ++path) {
    it->paths[path].read += other.paths[path].read;
    it->paths[path].write += other.paths[path].write;
  }
  it->requests.add(other.requests);
}

void Counters::add(const Counters &other) {
  addClasses(warpInstructions, other.warpInstructions);
  addClasses(laneInstructions, other.laneInstructions);
  perWarp.resize(std::max(perWarp.size(), other.perWarp.size()));
  for (size_t warp = 0; warp < other.perWarp.size(); ++warp)
    addClasses(perWarp[warp], other.perWarp[warp]);
  waitsPerWarp.resize(std::max(waitsPerWarp.size(), other.waitsPerWarp.size()));
  for (size_t warp = 0; warp < other.waitsPerWarp.size(); ++warp)
    for (size_t reason = 0; reason < numWaitReasons; ++reason)
      waitsPerWarp[warp][reason] += other.waitsPerWarp[warp][reason];
  for (const auto &[name, member] : scalarCounters)
    this->*member += other.*member;
  for (const BufferTraffic &buffer : other.buffers)
    addBuffer(buffers, buffer);
  lines.insert(lines.end(), other.lines.begin(), other.lines.end());
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Classes that occurred, and their sum.
static json classesToJson(const ClassCounts &counts) {
  json out;
  uint64_t total = 0;
  for (size_t k = 0; k < numInstructionClasses; ++k) {
    total += counts[k];
    if (counts[k])
      out[name(InstructionClass(k))] = counts[k];
  }
  out["total"] = total;
  return out;
}

static json bufferToJson(const BufferTraffic &buffer) {
  json out = {{"name", buffer.name},
              {"read", buffer.read()},
              {"write", buffer.write()}};
  for (size_t path = 0; path < numGlobalPaths; ++path)
    if (buffer.paths[path].read || buffer.paths[path].write)
      out["paths"][name(GlobalPath(path))] = {
          {"read", buffer.paths[path].read},
          {"write", buffer.paths[path].write}};
  if (const ReadRequests &requests = buffer.requests; requests.sectors)
    out["requests"] = {{"sectors", requests.sectors},
                       {"sector_use", requests.sectorUse()},
                       {"instructions_before", requests.instructionsBefore},
                       {"waits_before", requests.waitsBefore}};
  return out;
}

const char *attn::sim::roleOf(const std::vector<ClassCounts> &warps,
                              size_t warp) {
  auto count = [&](InstructionClass kind) { return warps[warp][size_t(kind)]; };
  bool hasExponentials =
      std::any_of(warps.begin(), warps.end(), [](const ClassCounts &counts) {
        return counts[size_t(InstructionClass::Ex2)] > 0;
      });
  if (count(InstructionClass::TensorMemory) && hasExponentials &&
      !count(InstructionClass::Ex2) && !count(InstructionClass::Mufu))
    return "correction";
  if (count(InstructionClass::Mma) || count(InstructionClass::Wgmma) ||
      count(InstructionClass::TensorMemory))
    return "consumer";
  if (count(InstructionClass::Tcgen05))
    return "products";
  if (count(InstructionClass::TmaStore) && !count(InstructionClass::Tma))
    return "epilogue";
  if (count(InstructionClass::Tma) || count(InstructionClass::CpAsync))
    return "producer";
  return "other";
}

static json waitsToJson(const WaitCounts &counts) {
  json out = json::object();
  for (size_t reason = 0; reason < numWaitReasons; ++reason)
    if (counts[reason])
      out[name(WaitReason(reason))] = counts[reason];
  return out;
}

static WaitCounts waitsOf(const Counters &counters, size_t warp) {
  return warp < counters.waitsPerWarp.size() ? counters.waitsPerWarp[warp]
                                             : WaitCounts{};
}

/// The warps of each role together.
static json rolesToJson(const Counters &counters) {
  json out = json::array();
  for (const char *role : roleNames) {
    ClassCounts instructions{};
    WaitCounts waits{};
    json warps = json::array();
    for (size_t warp = 0; warp < counters.perWarp.size(); ++warp) {
      if (std::string(roleOf(counters.perWarp, warp)) != role)
        continue;
      warps.push_back(warp);
      addClasses(instructions, counters.perWarp[warp]);
      for (size_t reason = 0; reason < numWaitReasons; ++reason)
        waits[reason] += waitsOf(counters, warp)[reason];
    }
    if (!warps.empty())
      out.push_back({{"role", role},
                     {"warps", warps},
                     {"instructions", classesToJson(instructions)},
                     {"waits", waitsToJson(waits)}});
  }
  return out;
}

std::string Counters::json() const {
  ::json out;
  out["warp_instructions"] = classesToJson(warpInstructions);
  out["lane_instructions"] = classesToJson(laneInstructions);
  for (const auto &[name, member] : scalarCounters)
    out[name] = this->*member;
  out["buffers"] = ::json::array();
  for (const BufferTraffic &buffer : buffers)
    out["buffers"].push_back(bufferToJson(buffer));
  for (size_t reason = 0; reason < numWaitReasons; ++reason)
    out["waits"][name(WaitReason(reason))] = totalWaits(WaitReason(reason));
  out["roles"] = rolesToJson(*this);
  out["warps"] = ::json::array();
  for (size_t warp = 0; warp < perWarp.size(); ++warp)
    out["warps"].push_back({{"warp", warp},
                            {"role", roleOf(perWarp, warp)},
                            {"instructions", classesToJson(perWarp[warp])},
                            {"waits", waitsToJson(waitsOf(*this, warp))}});
  for (const LineCount &line : lines)
    out["lines"].push_back(
        {line.line, line.warpInstructions, line.laneInstructions});
  return out.dump(2);
}
