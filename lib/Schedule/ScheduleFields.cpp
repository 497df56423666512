//===- ScheduleFields.cpp - The fields of a schedule as text --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one description of a schedule's fields: what they are called, which
// values they take, and for which algorithms they mean something. A new one is
// a member of Schedule and an entry here; for which families of matrix
// instructions it means something, those say (Families/).
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Family.h"
#include "attn/Schedule/Schedule.h"
#include "attn/Support/Format.h"
#include "attn/Support/KeyValue.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace attn {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
using Type = ScheduleField::Type;

/// Where a field is said that means something.
enum class Shown {
  Always,
  /// As text where it is not at its default; in #attn.schedule always.
  InAttribute,
  /// Where it is not at its default, which few problems have another one for.
  IfSet,
};

/// The pass whose kernels look at a field.
enum class Of { Both, Forward, Backward };

/// Algorithms, as bits.
enum : unsigned {
  kLarge = 1u << unsigned(ScheduleKind::LargeCache),
  kSplit = 1u << unsigned(ScheduleKind::SplitKV),
  kSmall = 1u << unsigned(ScheduleKind::SmallCache),
  kOnline = kLarge | kSplit,
  kSoftmax = kOnline | kSmall,
  kAll = ~0u,
};

/// A member of Schedule as a number, whatever its type is.
struct Field {
  std::string_view name, description;
  Type type;
  unsigned kinds;
  Shown shown;
  bool isOfFamilies;
  Of pass;
  int64_t (*get)(const Schedule &);
  void (*set)(Schedule &, int64_t);
  /// What a number may be before any arithmetic is done with it. A target or a
  /// problem allows less (Constraints.h).
  int64_t least, most;
  std::string_view (*getName)(int64_t); ///< of an enum's value

  constexpr Field of(unsigned algorithms, Of itsPass = Of::Both) const {
    Field field = *this;
    field.kinds = algorithms;
    field.pass = itsPass;
    return field;
  }
  /// Of a forward by one pass over the keys, in the families that say so.
  constexpr Field ofOnline(Shown where = Shown::InAttribute) const {
    return of(kOnline, Of::Forward).ofFamilies().as(where);
  }
  /// Of a backward, in the families that say so.
  constexpr Field ofBackward(Shown where) const {
    return of(kLarge, Of::Backward).ofFamilies().as(where);
  }
  constexpr Field ofSplits(Shown where) const {
    return of(kSplit, Of::Forward).as(where);
  }
  /// For the families that say so.
  constexpr Field ofFamilies() const {
    Field field = *this;
    field.isOfFamilies = true;
    return field;
  }
  constexpr Field as(Shown other) const {
    Field field = *this;
    field.shown = other;
    return field;
  }
  bool isDefault(const Schedule &schedule) const {
    static const Schedule defaults;
    return get(schedule) == get(defaults);
  }
};

template <auto member>
int64_t getMember(const Schedule &schedule) {
  return static_cast<int64_t>(schedule.*member);
}

template <auto member>
void setMember(Schedule &schedule, int64_t value) {
  using Member = std::remove_reference_t<decltype(schedule.*member)>;
  schedule.*member = static_cast<Member>(value);
}

template <auto member>
constexpr Field number(std::string_view name, std::string_view description,
                       int64_t least, int64_t most) {
  return {name,
          description,
          Type::Integer,
          kAll,
          Shown::Always,
          /*isOfFamilies=*/false,
          Of::Both,
          getMember<member>,
          setMember<member>,
          least,
          most,
          nullptr};
}

template <auto member>
constexpr Field flag(std::string_view name, std::string_view description) {
  Field field = number<member>(name, description, 0, 1);
  field.type = Type::Flag;
  return field;
}

/// One of the values of an enum, the last of which is `last`.
template <auto member, typename Enum>
constexpr Field choice(std::string_view name, std::string_view description,
                       Enum last) {
  Field field =
      number<member>(name, description, 0, static_cast<int64_t>(last));
  field.type = Type::Name;
  field.getName = [](int64_t value) {
    return attn::getName(static_cast<Enum>(value));
  };
  return field;
}
} // namespace

/// Larger tiles fit no memory; the limit keeps byte counts from overflowing.
static constexpr int64_t kMostElements = 1 << 20;
/// Threads of a CTA are 1024 at most.
static constexpr int64_t kMostWarps = 32;

static constexpr Field fields[] = {
    choice<&Schedule::kind>(
        "kind",
        "large_cache, split_kv or small_cache; of linear attention: chunks",
        ScheduleKind::Chunks),
    choice<&Schedule::mma>(
        "mma", "matrix instructions: mma_sync, wgmma, tcgen05 or none",
        MmaFamily::Tcgen05),
    number<&Schedule::tileM>("tile_m", "query rows of a CTA's tile", 1,
                             kMostElements),
    number<&Schedule::tileN>("tile_n", "keys of a tile", 1, kMostElements),
    number<&Schedule::tileD>("tile_d",
                             "columns of Q and K in shared memory at once", 1,
                             kMostElements),
    number<&Schedule::tileDv>(
        "tile_dv", "columns of V and O accumulated at once", 1, kMostElements),
    number<&Schedule::stages>("stages", "buffers of the K/V pipeline", 1, 8),
    number<&Schedule::warps>("warps", "warps that compute", 1, kMostWarps),
    number<&Schedule::producerWarps>(
        "producer_warps",
        "warps that only load, by TMA; 0: those that compute do, by cp.async",
        0, kMostWarps)
        .of(kSoftmax)
        .ofFamilies()
        .as(Shown::IfSet),
    number<&Schedule::correctionWarps>(
        "correction_warps",
        "warps that rescale the output in tensor memory and store it (4); 0: "
        "those that compute do",
        0, kMostWarps)
        .ofOnline(Shown::IfSet),
    flag<&Schedule::queryInRegisters>(
        "query_in_registers", "keep the query tile in registers (0 or 1)")
        .ofOnline(),
    choice<&Schedule::queryPrologue>(
        "query_prologue",
        "where rotations and norms of the query are computed: kernel (in "
        "front) or fused (in its tile)",
        QueryPrologue::Fused)
        .ofOnline(Shown::IfSet),
    number<&Schedule::rescaleThreshold>(
        "rescale_threshold",
        "rise of the maximum, as a power of two, from which the accumulator is "
        "rescaled; 0: always",
        0, 12)
        .ofOnline(),
    number<&Schedule::persistentCtas>(
        "persistent_ctas",
        "CTAs that take one tile after the other, of split_kv those of a plan; "
        "0: a CTA for each tile",
        0, 65535)
        .ofOnline(),
    flag<&Schedule::outputTile>(
        "output_tile",
        "a shared tile for the output alone, beside the query's (0 or 1)")
        .ofOnline(),
    choice<&Schedule::turns>(
        "turns", "what warpgroups take turns at: none, products or softmax",
        Turns::Softmax)
        .ofOnline(),
    number<&Schedule::exp2OnFma>(
        "exp2_on_fma", "of 16 exponentials, how many the FMA units compute", 0,
        8)
        .ofOnline(),
    number<&Schedule::earlyKeys>(
        "early_keys",
        "keys of a tile whose product with V is started before the weights of "
        "the others are computed, a multiple of 32; 0: none",
        0, 256)
        .ofOnline(),
    flag<&Schedule::promote>(
        "promote",
        "add products of 8-bit weights to the accumulator tile by tile, in f32 "
        "(0 or 1)")
        .ofOnline(Shown::IfSet),
    flag<&Schedule::packGqa>("pack_gqa",
                             "pack the query heads of a group into a tile "
                             "(0 or 1)")
        .of(kSoftmax, Of::Forward)
        .as(Shown::InAttribute),
    number<&Schedule::splits>("splits", "key ranges computed apart (split_kv)",
                              1, 65535)
        .ofSplits(Shown::InAttribute),
    number<&Schedule::splitKeys>(
        "split_keys",
        "keys of a range computed apart (split_kv), or with balance=share the "
        "fewest; 0: `splits` equal ones",
        0, kMostElements)
        .ofSplits(Shown::InAttribute),
    choice<&Schedule::balance>(
        "balance",
        "who takes the ranges: a CTA each (grid), or persistent CTAs by a plan "
        "of the lengths (plan), which may make the ranges so long that each "
        "CTA has one (share)",
        Balance::Share)
        .ofSplits(Shown::IfSet),
    number<&Schedule::clusterM>("cluster_m",
                                "CTAs that share K/V tiles by multicast", 1, 16)
        .ofOnline(),
    number<&Schedule::clusterD>(
        "cluster_d", "CTAs that share the head dims of a query tile", 1, 16)
        .ofOnline(),
    number<&Schedule::scoreStages>(
        "score_stages",
        "backward: buffers of the tile that scores are computed of, K for dQ "
        "and Q for dK and dV; 0: `stages`",
        0, 8)
        .ofBackward(Shown::IfSet),
    number<&Schedule::earlyRows>(
        "early_rows",
        "backward: rows of a tile whose product for dV is started before the "
        "weights of the others are computed, a multiple of 32; 0: none",
        0, 256)
        .ofBackward(Shown::IfSet),
    number<&Schedule::clusterN>("cluster_n",
                                "backward: CTAs that share the tiles they "
                                "stream by multicast, Q/dO for dK "
                                "and dV, K/V for dQ",
                                1, 16)
        .ofBackward(Shown::IfSet),
    flag<&Schedule::ctaPair>(
        "cta_pair",
        "backward: two CTAs of a cluster multiply together, each with half of "
        "every tile they share in its shared memory (0 or 1)")
        .ofBackward(Shown::IfSet),
    flag<&Schedule::fused>("fused",
                           "backward: one kernel computes all gradients and "
                           "adds up dQ in memory (0 or 1)")
        .ofBackward(Shown::InAttribute),
    number<&Schedule::chunkRows>(
        "chunk_rows", "query rows of a chunk (small_cache)", 0, kMostElements)
        .of(kSmall),
    choice<&Schedule::spill>("spill", "scores or probabilities (small_cache)",
                             SpillFormat::Probabilities)
        .of(kSmall, Of::Forward),
    choice<&Schedule::invariance>(
        "invariance",
        "what else the bits of a sequence depend on: anything (none), nothing "
        "that is in its batch (batch), or for a row nothing but its query and "
        "the keys that it sees (prefix)",
        Invariance::Prefix)
        .as(Shown::IfSet),
};

static_assert(std::size(fields) <= 8 * sizeof(ScheduleFieldSet));

static ScheduleFieldSet getBit(const Field &field) {
  return ScheduleFieldSet(1) << (&field - std::begin(fields));
}

static const Field *findField(std::string_view name) {
  const Field *field =
      std::find_if(std::begin(fields), std::end(fields),
                   [&](const Field &field) { return name == field.name; });
  return field == std::end(fields) ? nullptr : field;
}

//===----------------------------------------------------------------------===//
// Which of them mean something
//===----------------------------------------------------------------------===//

static bool isOfKind(const Schedule &schedule, const Field &field) {
  if (field.get == getMember<&Schedule::persistentCtas> &&
      schedule.kind == ScheduleKind::SplitKV)
    return schedule.isPlanned();
  return (field.kinds >> unsigned(schedule.kind) & 1) != 0;
}

/// The CTAs of a plan are persistent in every family.
static bool isOfFamily(const Schedule &schedule, const Field &field) {
  if (field.get == getMember<&Schedule::persistentCtas> && schedule.isPlanned())
    return true;
  return !field.isOfFamilies ||
         (getFamily(schedule.mma).facts.fields & getBit(field)) != 0;
}

static bool isOfPass(AttentionPass pass, const Field &field) {
  return field.pass == Of::Both ||
         (field.pass == Of::Backward) == (pass == AttentionPass::Backward);
}

static bool meansSomething(const Schedule &schedule, const Field &field) {
  return isOfKind(schedule, field) && isOfFamily(schedule, field);
}

bool isFieldOf(AttentionPass pass, std::string_view name) {
  const Field *field = findField(name);
  return field && isOfPass(pass, *field);
}

static std::string print(const Schedule &schedule, const Field &field) {
  int64_t value = field.get(schedule);
  return field.getName ? std::string(field.getName(value))
                       : std::to_string(value);
}

/// The names of the values of `choice` with which `field` means something:
/// "split_kv"; empty if it always does.
static std::string printOwners(const Field &field, const Field &choice,
                               bool (*means)(const Schedule &, const Field &)) {
  std::vector<std::string> names;
  Schedule schedule;
  for (int64_t value = choice.least; value <= choice.most; ++value) {
    choice.set(schedule, value);
    if (means(schedule, field))
      names.emplace_back(choice.getName(value));
  }
  bool isOfAll = names.size() == static_cast<size_t>(choice.most) + 1;
  return isOfAll ? "" : join(names, ", ");
}

static std::string printOwners(const Field &field) {
  std::string kinds = printOwners(field, *findField("kind"), isOfKind);
  std::string families = printOwners(field, *findField("mma"), isOfFamily);
  return join(kinds.empty() || families.empty() ? std::vector{kinds + families}
                                                : std::vector{kinds, families},
              "; ");
}

/// "large_cache|split_kv", "1-8"
static std::string printValues(const Field &field) {
  if (field.type != Type::Name)
    return std::to_string(field.least) + "-" + std::to_string(field.most);
  std::vector<std::string> names;
  for (int64_t value = field.least; value <= field.most; ++value)
    names.emplace_back(field.getName(value));
  return join(names, "|");
}

std::vector<MeaninglessField> findMeaninglessFields(const Schedule &schedule) {
  std::vector<MeaninglessField> found;
  for (const Field &field : fields) {
    if (field.isDefault(schedule) || meansSomething(schedule, field))
      continue;
    bool hasKind = isOfKind(schedule, field);
    const Field &choice = *findField(hasKind ? "mma" : "kind");
    std::string owners =
        printOwners(field, choice, hasKind ? isOfFamily : isOfKind);
    found.push_back({!hasKind, "expected " + std::string(field.name) + "=" +
                                   print(Schedule(), field) + " with " +
                                   std::string(choice.name) + "=" +
                                   print(schedule, choice) + " (it is of " +
                                   owners + "), got " +
                                   print(schedule, field)});
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

const std::vector<ScheduleField> &getScheduleFields() {
  static const std::vector<ScheduleField> texts = [] {
    std::vector<ScheduleField> result;
    for (const Field &field : fields)
      result.push_back({field.name, field.description, field.type,
                        printValues(field), print(Schedule(), field),
                        printOwners(field)});
    return result;
  }();
  return texts;
}

ScheduleFieldSet
getScheduleFieldSet(std::initializer_list<std::string_view> names) {
  ScheduleFieldSet set = 0;
  for (std::string_view name : names) {
    const Field *field = findField(name);
    assert(field && field->isOfFamilies && "a field that families answer for");
    set |= getBit(*field);
  }
  return set;
}

std::string getScheduleField(const Schedule &schedule, std::string_view name) {
  const Field *field = findField(name);
  return field ? print(schedule, *field) : "";
}

static Status setNumber(Schedule &schedule, const Field &field,
                        const KeyValue &entry) {
  int64_t value = 0;
  if (Status status = setInteger(value, entry); !status)
    return status;
  if (value < field.least || value > field.most)
    return Error{"expected " + entry.key + " from " +
                 std::to_string(field.least) + " to " +
                 std::to_string(field.most) + ", got " + entry.value};
  field.set(schedule, value);
  return {};
}

static Status setFlag(Schedule &schedule, const Field &field,
                      const KeyValue &entry) {
  bool value = false;
  if (Status status = setBool(value, entry); !status)
    return status;
  field.set(schedule, value);
  return {};
}

static Status setName(Schedule &schedule, const Field &field,
                      const KeyValue &entry) {
  std::vector<std::string> names;
  for (int64_t value = field.least; value <= field.most; ++value) {
    names.emplace_back(field.getName(value));
    if (entry.value == names.back()) {
      field.set(schedule, value);
      return {};
    }
  }
  return Error{"expected " + entry.key + " one of " + join(names, ", ") +
               ", got '" + entry.value + "'"};
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
  switch (field->type) {
  case Type::Integer:
    return setNumber(schedule, *field, entry);
  case Type::Flag:
    return setFlag(schedule, *field, entry);
  case Type::Name:
    return setName(schedule, *field, entry);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

bool Schedule::operator==(const Schedule &other) const {
  return std::all_of(
      std::begin(fields), std::end(fields),
      [&](const Field &field) { return field.get(*this) == field.get(other); });
}

/// `chosen` fields of the schedule: "tile_m=64 stages=3".
static std::string print(const Schedule &schedule, ScheduleFieldSet chosen) {
  std::vector<std::string> parts;
  for (const Field &field : fields)
    if (chosen & getBit(field))
      parts.push_back(std::string(field.name) + "=" + print(schedule, field));
  return join(parts, " ");
}

std::string Schedule::print() const {
  ScheduleFieldSet shown = 0;
  for (const Field &field : fields)
    if (!field.isDefault(*this) ||
        (field.shown == Shown::Always && meansSomething(*this, field)))
      shown |= getBit(field);
  return attn::print(*this, shown);
}

Result<Schedule> Schedule::parse(std::string_view text) {
  Result<ScheduleOverrides> overrides = ScheduleOverrides::parse(text);
  if (!overrides)
    return Error{overrides.error()};
  return overrides->getValues();
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

ScheduleOverrides ScheduleOverrides::of(const Schedule &schedule,
                                        AttentionPass pass) {
  ScheduleOverrides overrides;
  overrides.values = schedule;
  for (const Field &field : fields)
    if (!field.isDefault(schedule) ||
        (field.shown != Shown::IfSet && isOfPass(pass, field) &&
         meansSomething(schedule, field)))
      overrides.chosen |= getBit(field);
  return overrides;
}

Status ScheduleOverrides::set(std::string_view name, std::string_view value) {
  if (Status status = setScheduleField(values, name, value); !status)
    return status;
  chosen |= getBit(*findField(name));
  return {};
}

void ScheduleOverrides::addMissing(const ScheduleOverrides &others) {
  for (const Field &field : fields)
    if (others.chosen & ~chosen & getBit(field))
      field.set(values, field.get(others.values));
  chosen |= others.chosen;
}

bool ScheduleOverrides::has(std::string_view name) const {
  const Field *field = findField(name);
  return field && (chosen & getBit(*field)) != 0;
}

std::vector<std::string> ScheduleOverrides::getNames() const {
  std::vector<std::string> names;
  for (const Field &field : fields)
    if (chosen & getBit(field))
      names.emplace_back(field.name);
  return names;
}

void ScheduleOverrides::apply(Schedule &schedule) const {
  for (const Field &field : fields)
    if (chosen & getBit(field))
      field.set(schedule, field.get(values));
}

bool ScheduleOverrides::matches(const Schedule &schedule) const {
  return std::all_of(std::begin(fields), std::end(fields),
                     [&](const Field &field) {
                       return (chosen & getBit(field)) == 0 ||
                              field.get(values) == field.get(schedule);
                     });
}

std::string ScheduleOverrides::print() const {
  return attn::print(values, chosen);
}

} // namespace attn
