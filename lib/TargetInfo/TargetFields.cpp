//===- TargetFields.cpp - Changing a target by name -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Format.h"
#include "attn/TargetInfo/TargetInfo.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>

namespace attn {

namespace {
/// A settable number: exactly one of the two members is set.
struct Field {
  const char *name;
  const char *description;
  int64_t TargetInfo::*integer;
  double TargetInfo::*real;
};
} // namespace

static constexpr Field fields[] = {
    {"smem-bytes", "shared memory one CTA can get",
     &TargetInfo::sharedMemoryPerCtaBytes, nullptr},
    {"l2-bytes", "capacity of the L2 cache", &TargetInfo::l2Bytes, nullptr},
    {"sm-count", "streaming multiprocessors", &TargetInfo::smCount, nullptr},
    {"registers-per-sm", "32-bit registers of an SM",
     &TargetInfo::registersPerSm, nullptr},
    {"registers-per-thread", "most 32-bit registers of a thread",
     &TargetInfo::maxRegistersPerThread, nullptr},
    {"cluster-ctas", "most CTAs of a cluster", &TargetInfo::maxClusterCtas,
     nullptr},
    {"clock-ghz", "SM clock", nullptr, &TargetInfo::clockGHz},
    {"dram-gbps", "DRAM bandwidth in 1e9 bytes/s", nullptr,
     &TargetInfo::dramGBps},
    {"l2-gbps", "L2-to-SM bandwidth in 1e9 bytes/s", nullptr,
     &TargetInfo::l2GBps},
    {"dsmem-gbps", "bandwidth between the SMs of clusters in 1e9 bytes/s",
     nullptr, &TargetInfo::dsmemGBps},
    {"f16-tflops", "dense f16/bf16 matrix rate", nullptr,
     &TargetInfo::f16TFlops},
    {"f8-tflops", "dense f8 matrix rate", nullptr, &TargetInfo::f8TFlops},
    {"i8-tops", "dense i8 matrix rate", nullptr, &TargetInfo::i8TOps},
    {"f8-sum-bits",
     "fraction bits that sums of f8 products keep; 0: those of f32",
     &TargetInfo::f8SumBits, nullptr},
    {"ex2-per-clock", "exponentials per clock and SM", nullptr,
     &TargetInfo::ex2PerClockPerSm},
    {"lanes-per-clock", "lanes of other instructions per clock and SM", nullptr,
     &TargetInfo::lanesPerClock},
    {"smem-bytes-per-clock", "shared memory bandwidth per clock and SM",
     nullptr, &TargetInfo::sharedMemoryBytesPerClock},
    {"tmem-bytes-per-clock",
     "tensor memory to registers and back per clock and SM", nullptr,
     &TargetInfo::tensorMemoryBytesPerClock},
    {"fill-bytes-per-clock", "most that L2 brings into one SM in a clock",
     nullptr, &TargetInfo::fillBytesPerClock},
    {"wgmma-share", "what wgmma sustains of the matrix rates", nullptr,
     &TargetInfo::wgmmaShare},
    {"mma-sync-share", "what mma.sync sustains of the matrix rates", nullptr,
     &TargetInfo::mmaSyncShare},
    {"iteration-clocks",
     "clocks of a key tile beside products and exponentials", nullptr,
     &TargetInfo::iterationClocks},
    {"load-clocks", "clocks from a request to L2 to its data in shared memory",
     nullptr, &TargetInfo::loadClocks},
    {"launch-us", "microseconds of a launch", nullptr,
     &TargetInfo::launchMicroseconds},
    {"backward-tile-clocks",
     "clocks of a tile of a backward that nothing hides", nullptr,
     &TargetInfo::backwardTileClocks},
};

std::vector<TargetField> getTargetFields() {
  std::vector<TargetField> result;
  for (const Field &field : fields)
    result.push_back({field.name, field.description});
  return result;
}

static Error makeUnknownFieldError(std::string_view name) {
  std::vector<std::string> names;
  for (const Field &field : fields)
    names.emplace_back(field.name);
  std::string nearest = nearestSpelling(name, names);
  return Error{"unknown target field '" + std::string(name) +
               "', expected one of " + join(names, ", ") +
               (nearest.empty() ? "" : " (did you mean '" + nearest + "'?)")};
}

/// No hardware has more of anything that is counted; products with the sizes of
/// a tile fit into 64 bits.
static constexpr int64_t kMost = int64_t(1) << 40;

static Status setField(TargetInfo &target, const Field &field,
                       std::string_view value) {
  double real = 0;
  int64_t integer = 0;
  bool isValid = field.integer ? parseInteger(value, integer) && integer > 0
                               : parseDouble(value, real) && real > 0 &&
                                     real < std::numeric_limits<double>::max();
  if (!isValid)
    return Error{std::string("expected a positive ") +
                 (field.integer ? "integer" : "number") + " for target field " +
                 field.name + ", got '" + std::string(value) + "'"};
  if (integer > kMost)
    return Error{"expected at most " + std::to_string(kMost) +
                 " for target field " + field.name + ", got " +
                 std::string(value)};
  if (field.integer)
    target.*field.integer = integer;
  else
    target.*field.real = real;
  return {};
}

Status setTargetField(TargetInfo &target, std::string_view name,
                      std::string_view value) {
  for (const Field &field : fields) {
    if (name != field.name)
      continue;
    Status status = setField(target, field, value);
    if (status && field.integer == &TargetInfo::sharedMemoryPerCtaBytes)
      target.sharedMemoryPerSmBytes =
          target.sharedMemoryPerCtaBytes + target.sharedMemoryReservedBytes;
    return status;
  }
  return makeUnknownFieldError(name);
}

Status setTargetFields(TargetInfo &target, std::string_view settings) {
  std::set<std::string> given;
  for (const std::string &setting : split(settings, ' ')) {
    if (setting.empty())
      continue;
    size_t equals = setting.find('=');
    if (equals == std::string::npos)
      return Error{"expected 'field=value' for a target field, got '" +
                   setting + "'"};
    if (!given.insert(setting.substr(0, equals)).second)
      return Error{"expected '" + setting.substr(0, equals) +
                   "' once, got it again"};
    if (Status status = setTargetField(target, setting.substr(0, equals),
                                       setting.substr(equals + 1));
        !status)
      return status;
  }
  return {};
}

/// A number as setField reads it back without loss.
static std::string printField(const TargetInfo &target, const Field &field) {
  if (field.integer)
    return std::to_string(target.*field.integer);
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", target.*field.real);
  return text;
}

std::string printTargetField(const TargetInfo &target, std::string_view name) {
  for (const Field &field : fields)
    if (name == field.name)
      return printField(target, field);
  return "";
}

std::string getChangedFields(const TargetInfo &target) {
  Result<TargetInfo> base = lookupTarget(target.base);
  std::vector<std::string> changes;
  for (const Field &field : fields)
    if (base && printField(*base, field) != printField(target, field))
      changes.push_back(std::string(field.name) + "=" +
                        printField(target, field));
  return join(changes, " ");
}

/// Handles one `name = value`; `hasBase` is whether the base has been read.
static Status applyLine(TargetInfo &target, bool &hasBase,
                        std::string_view name, std::string_view value) {
  if (name == "base") {
    if (hasBase)
      return Error{"expected 'base' once, as the first field"};
    Result<TargetInfo> base = lookupTarget(value);
    if (!base)
      return Error{base.error()};
    target = *base;
    hasBase = true;
    return {};
  }
  if (!hasBase)
    return Error{"expected 'base = TARGET' as the first field, got '" +
                 std::string(name) + "'"};
  if (name == "name") {
    target.name = value;
    return {};
  }
  return setTargetField(target, name, value);
}

Result<TargetInfo> parseTarget(std::string_view text) {
  TargetInfo target;
  bool hasBase = false;
  int64_t lineNumber = 0;
  for (const std::string &line : split(text, '\n')) {
    ++lineNumber;
    std::string_view content = trim(std::string_view(line).substr(
        0, std::min(line.find('#'), line.size())));
    if (content.empty())
      continue;
    size_t equals = content.find('=');
    Status status =
        Error{"expected 'name = value', got '" + std::string(content) + "'"};
    if (equals != std::string_view::npos)
      status = applyLine(target, hasBase, trim(content.substr(0, equals)),
                         trim(content.substr(equals + 1)));
    if (!status)
      return Error{"line " + std::to_string(lineNumber) + ": " +
                   status.error()};
  }
  if (!hasBase)
    return Error{"expected 'base = TARGET' as the first field, got no field"};
  return target;
}

} // namespace attn
