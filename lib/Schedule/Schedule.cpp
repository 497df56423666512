//===- Schedule.cpp - How it is to be computed ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Schedule.h"

#include "attn/Support/Format.h"
#include "attn/Support/KeyValue.h"

#include <algorithm>

namespace attn {

std::string_view getName(ScheduleKind kind) {
  switch (kind) {
  case ScheduleKind::LargeCache:
    return "large_cache";
  case ScheduleKind::SplitKV:
    return "split_kv";
  case ScheduleKind::SmallCache:
    return "small_cache";
  case ScheduleKind::Chunks:
    return "chunks";
  }
  return "";
}

std::string_view getName(Turns turns) {
  switch (turns) {
  case Turns::None:
    return "none";
  case Turns::Products:
    return "products";
  case Turns::Softmax:
    return "softmax";
  }
  return "";
}

std::string_view getName(QueryPrologue prologue) {
  return prologue == QueryPrologue::Fused ? "fused" : "kernel";
}

std::string_view getName(SpillFormat format) {
  return format == SpillFormat::Scores ? "scores" : "probabilities";
}

std::string_view getName(Balance balance) {
  switch (balance) {
  case Balance::Grid:
    return "grid";
  case Balance::Plan:
    return "plan";
  case Balance::Share:
    return "share";
  }
  return "";
}

std::string_view getName(Invariance invariance) {
  switch (invariance) {
  case Invariance::None:
    return "none";
  case Invariance::Batch:
    return "batch";
  case Invariance::Prefix:
    return "prefix";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The table of fields
//===----------------------------------------------------------------------===//

namespace {
/// Exactly one of the members is set; a field with none is an enum, handled by
/// name.
struct Field {
  const char *name;
  const char *description;
  int64_t Schedule::*integer = nullptr;
  bool Schedule::*flag = nullptr;
  /// What an integer may be before any arithmetic is done with it. A target or
  /// a problem allows less (Constraints.h).
  int64_t least = 0, most = 0;
};
} // namespace

/// Larger tiles fit no memory; the limit keeps byte counts from overflowing.
static constexpr int64_t kMostElements = 1 << 20;
/// Threads of a CTA are 1024 at most.
static constexpr int64_t kMostWarps = 32;

static constexpr Field fields[] = {
    {"kind",
     "large_cache, split_kv or small_cache; of linear attention: chunks"},
    {"mma", "matrix instructions: mma_sync, wgmma or none"},
    {"tile_m", "query rows of a CTA's tile", &Schedule::tileM, nullptr, 1,
     kMostElements},
    {"tile_n", "keys of a tile", &Schedule::tileN, nullptr, 1, kMostElements},
    {"tile_d", "columns of Q and K in shared memory at once", &Schedule::tileD,
     nullptr, 1, kMostElements},
    {"tile_dv", "columns of V and O accumulated at once", &Schedule::tileDv,
     nullptr, 1, kMostElements},
    {"stages", "buffers of the K/V pipeline", &Schedule::stages, nullptr, 1, 8},
    {"warps", "warps that compute", &Schedule::warps, nullptr, 1, kMostWarps},
    {"producer_warps", "warps that only load", &Schedule::producerWarps,
     nullptr, 0, kMostWarps},
    {"query_in_registers", "keep the query tile in registers (0 or 1)", nullptr,
     &Schedule::queryInRegisters},
    {"query_prologue",
     "where rotations and norms of the query are computed: kernel (in front) "
     "or fused (in its tile)"},
    {"rescale_threshold",
     "rise of the maximum, as a power of two, from which the accumulator is "
     "rescaled; 0: always",
     &Schedule::rescaleThreshold, nullptr, 0, 12},
    {"persistent_ctas",
     "CTAs that take one tile after the other; 0: a CTA for each tile",
     &Schedule::persistentCtas, nullptr, 0, 65535},
    {"output_tile",
     "a shared tile for the output alone, beside the query's (0 or 1)", nullptr,
     &Schedule::outputTile},
    {"turns", "what warpgroups take turns at: none, products or softmax"},
    {"exp2_on_fma", "of 16 exponentials, how many the FMA units compute",
     &Schedule::exp2OnFma, nullptr, 0, 8},
    {"promote",
     "add products of 8-bit weights to the accumulator tile by tile, in f32 "
     "(0 or 1)",
     nullptr, &Schedule::promote},
    {"pack_gqa", "pack the query heads of a group into a tile (0 or 1)",
     nullptr, &Schedule::packGqa},
    {"splits", "key ranges computed apart (split_kv)", &Schedule::splits,
     nullptr, 1, 65535},
    {"split_keys",
     "keys of a range computed apart (split_kv), or with balance=share what "
     "they are a multiple of; 0: `splits` equal ones",
     &Schedule::splitKeys, nullptr, 0, kMostElements},
    {"balance",
     "who takes the ranges: a CTA each (grid), or persistent CTAs by a plan of "
     "the lengths (plan), which may make the ranges so long that each CTA has "
     "one (share)"},
    {"cluster_m", "CTAs that share K/V tiles by multicast", &Schedule::clusterM,
     nullptr, 1, 16},
    {"cluster_d", "CTAs that share the head dims of a query tile",
     &Schedule::clusterD, nullptr, 1, 16},
    {"fused",
     "backward: one kernel computes all gradients and adds up dQ in memory "
     "(0 or 1)",
     nullptr, &Schedule::fused},
    {"chunk_rows", "query rows of a chunk (small_cache)", &Schedule::chunkRows,
     nullptr, 0, kMostElements},
    {"spill", "scores or probabilities (small_cache)"},
    {"invariance",
     "what else the bits of a sequence depend on: anything (none), nothing "
     "that "
     "is in its batch (batch), or for a row nothing but its query and the keys "
     "that it sees (prefix)"},
};

static const Field *findField(std::string_view name) {
  const Field *field =
      std::find_if(std::begin(fields), std::end(fields),
                   [&](const Field &field) { return name == field.name; });
  return field == std::end(fields) ? nullptr : field;
}

std::vector<ScheduleField> getScheduleFields() {
  std::vector<ScheduleField> result;
  for (const Field &field : fields)
    result.push_back({field.name, field.description});
  return result;
}

std::string getScheduleField(const Schedule &schedule, std::string_view name) {
  const Field *field = findField(name);
  if (!field)
    return "";
  if (field->integer)
    return std::to_string(schedule.*field->integer);
  if (field->flag)
    return schedule.*field->flag ? "1" : "0";
  if (name == "kind")
    return std::string(getName(schedule.kind));
  if (name == "mma")
    return std::string(getName(schedule.mma));
  if (name == "query_prologue")
    return std::string(getName(schedule.queryPrologue));
  if (name == "turns")
    return std::string(getName(schedule.turns));
  if (name == "spill")
    return std::string(getName(schedule.spill));
  if (name == "balance")
    return std::string(getName(schedule.balance));
  return std::string(getName(schedule.invariance));
}

/// Sets `target` to the one of `values` that has this name.
template <typename Enum>
static Status setEnum(Enum &target, const KeyValue &field,
                      std::initializer_list<Enum> values) {
  std::vector<std::string> names;
  for (Enum value : values) {
    names.emplace_back(getName(value));
    if (field.value == getName(value)) {
      target = value;
      return {};
    }
  }
  return Error{"expected " + field.key + " one of " + join(names, ", ") +
               ", got '" + field.value + "'"};
}

static Status setIntegerInRange(int64_t &target, const Field &field,
                                const KeyValue &entry) {
  int64_t value = target;
  if (Status status = setInteger(value, entry); !status)
    return status;
  if (value < field.least || value > field.most)
    return Error{"expected " + entry.key + " from " +
                 std::to_string(field.least) + " to " +
                 std::to_string(field.most) + ", got " + entry.value};
  target = value;
  return {};
}

Status setScheduleField(Schedule &schedule, std::string_view name,
                        std::string_view value) {
  const Field *field = findField(name);
  if (!field) {
    std::vector<std::string> names;
    for (const Field &known : fields)
      names.emplace_back(known.name);
    return makeUnknownFieldError("schedule", name, names);
  }
  KeyValue entry = {std::string(name), std::string(value)};
  if (field->integer)
    return setIntegerInRange(schedule.*field->integer, *field, entry);
  if (field->flag)
    return setBool(schedule.*field->flag, entry);
  if (name == "kind")
    return setEnum(schedule.kind, entry,
                   {ScheduleKind::LargeCache, ScheduleKind::SplitKV,
                    ScheduleKind::SmallCache, ScheduleKind::Chunks});
  if (name == "mma")
    return setEnum(schedule.mma, entry,
                   {MmaFamily::None, MmaFamily::MmaSync, MmaFamily::Wgmma,
                    MmaFamily::Tcgen05});
  if (name == "query_prologue")
    return setEnum(schedule.queryPrologue, entry,
                   {QueryPrologue::Kernel, QueryPrologue::Fused});
  if (name == "turns")
    return setEnum(schedule.turns, entry,
                   {Turns::None, Turns::Products, Turns::Softmax});
  if (name == "spill")
    return setEnum(schedule.spill, entry,
                   {SpillFormat::Scores, SpillFormat::Probabilities});
  if (name == "balance")
    return setEnum(schedule.balance, entry,
                   {Balance::Grid, Balance::Plan, Balance::Share});
  return setEnum(schedule.invariance, entry,
                 {Invariance::None, Invariance::Batch, Invariance::Prefix});
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

bool Schedule::operator==(const Schedule &other) const {
  return std::all_of(std::begin(fields), std::end(fields),
                     [&](const Field &field) {
                       if (field.integer)
                         return this->*field.integer == other.*field.integer;
                       if (field.flag)
                         return this->*field.flag == other.*field.flag;
                       return getScheduleField(*this, field.name) ==
                              getScheduleField(other, field.name);
                     });
}

/// The tiles, stages and warps are always printed; what is optional only where
/// it is used.
static bool isPrinted(const Schedule &schedule, const Field &field) {
  static const Schedule defaults;
  std::string_view name = field.name;
  if (name == "spill" || name == "chunk_rows")
    return schedule.kind == ScheduleKind::SmallCache;
  bool isOptional =
      name == "producer_warps" || name == "splits" || name == "split_keys" ||
      name == "balance" || name == "invariance" || name == "cluster_m" ||
      name == "cluster_d" || name == "rescale_threshold" ||
      name == "persistent_ctas" || name == "turns" || name == "exp2_on_fma" ||
      name == "query_prologue" || field.flag;
  return !isOptional ||
         getScheduleField(schedule, name) != getScheduleField(defaults, name);
}

std::string Schedule::print() const {
  std::vector<std::string> parts;
  for (const Field &field : fields)
    if (isPrinted(*this, field))
      parts.push_back(std::string(field.name) + "=" +
                      getScheduleField(*this, field.name));
  return join(parts, " ");
}

Result<Schedule> Schedule::parse(std::string_view text) {
  Result<ScheduleOverrides> overrides = ScheduleOverrides::parse(text);
  if (!overrides)
    return Error{overrides.error()};
  Schedule schedule;
  overrides->apply(schedule);
  return schedule;
}

//===----------------------------------------------------------------------===//
// ScheduleOverrides
//===----------------------------------------------------------------------===//

Result<ScheduleOverrides> ScheduleOverrides::parse(std::string_view text) {
  Result<std::vector<KeyValue>> entries = parseKeyValues(text);
  if (!entries)
    return Error{entries.error()};
  ScheduleOverrides overrides;
  for (const KeyValue &entry : *entries)
    if (Status status = overrides.set(entry.key, entry.value); !status)
      return Error{status.error()};
  return overrides;
}

Status ScheduleOverrides::set(std::string_view name, std::string_view value) {
  Schedule schedule;
  if (Status status = setScheduleField(schedule, name, value); !status)
    return status;
  // Kept as the canonical text of the value, so that "true" matches "1".
  std::string text = getScheduleField(schedule, name);
  for (auto &field : fields)
    if (field.first == name) {
      field.second = text;
      return {};
    }
  fields.emplace_back(name, text);
  return {};
}

bool ScheduleOverrides::has(std::string_view name) const {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const auto &field) { return field.first == name; });
}

std::vector<std::string> ScheduleOverrides::getNames() const {
  std::vector<std::string> names;
  for (const auto &[name, value] : fields)
    names.push_back(name);
  return names;
}

void ScheduleOverrides::apply(Schedule &schedule) const {
  for (const auto &[name, value] : fields)
    (void)static_cast<bool>(setScheduleField(schedule, name, value));
}

bool ScheduleOverrides::matches(const Schedule &schedule) const {
  return std::all_of(fields.begin(), fields.end(), [&](const auto &field) {
    return getScheduleField(schedule, field.first) == field.second;
  });
}

std::string ScheduleOverrides::print() const {
  std::vector<std::string> parts;
  for (const auto &[name, value] : fields)
    parts.push_back(join({name, value}, "="));
  return join(parts, " ");
}

} // namespace attn
