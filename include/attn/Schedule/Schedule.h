//===- Schedule.h - How it is to be computed --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is plain data: which algorithm, which tiles, which warps. It can
// be printed, parsed, compared and checked (Constraints.h) without any IR.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_SCHEDULE_H
#define ATTN_SCHEDULE_SCHEDULE_H

#include "attn/Schedule/AttentionProblem.h"
#include "attn/Support/Result.h"
#include "attn/TargetInfo/TargetInfo.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The algorithm (docs/CostModel.md).
///  - LargeCache: one pass with online softmax; a CTA keeps its query tile and
///    the accumulator of its output (FlashAttention).
///  - SplitKV: LargeCache over `splits` ranges of keys, then a merge of the
///    partial outputs (flash decoding).
///  - SmallCache: two phases for each chunk of rows; the first spills the
///  scores,
///    the second multiplies them by V. Tiles need not hold a whole head
///    dimension.
///  - Chunks: of a linear attention: a CTA walks chunks of `tileM` rows with
///    `tileDv` columns of the state in registers.
enum class ScheduleKind { LargeCache, SplitKV, SmallCache, Chunks };

/// What a small-cache schedule spills: f32 scores, whose exponentials phase 2
/// takes; or 16-bit exponentials relative to a running row maximum, which is
/// spilled for each key tile.
enum class SpillFormat { Scores, Probabilities };

/// What the warpgroups of a CTA do one after the other: start their products,
/// while the others compute softmax (FlashAttention-3, section 3.1), or compute
/// softmax, so that one has the exponential units and the other the tensor
/// cores.
enum class Turns { None, Products, Softmax };

/// Where the rotations and norms of a query are computed: by a kernel in front,
/// or in shared memory, when a CTA has its tile.
enum class QueryPrologue { Kernel, Fused };

/// Who takes a split of the keys: a CTA of a grid that has one for each split
/// of the longest sequence, or persistent CTAs that share out those that there
/// are, as a kernel in front has planned it from the lengths. Share: that
/// kernel chooses how long the ranges are, too, so that each of those CTAs has
/// about one (FlashInfer, Ye et al. 2025, section 3.3.1).
enum class Balance { Grid, Plan, Share };

/// What the bits of a row may depend on. Batch: on the tensors and the lengths
/// of its own sequence, and on sizes that are known and the same for all of
/// them. Prefix: on its own query and the keys that it sees, not on the rows
/// beside it, how many they are, or keys that it does not see.
enum class Invariance { None, Batch, Prefix };

std::string_view getName(ScheduleKind kind);
std::string_view getName(Turns turns);
std::string_view getName(QueryPrologue prologue);
std::string_view getName(SpillFormat format);
std::string_view getName(Balance balance);
std::string_view getName(Invariance invariance);

/// All sizes are in elements unless their name says otherwise.
struct Schedule {
  ScheduleKind kind = ScheduleKind::LargeCache;
  MmaFamily mma = MmaFamily::MmaSync;

  /// Query rows of a CTA's tile. With packGqa a row is (position, head of the
  /// group), head fastest.
  int64_t tileM = 64;
  /// Keys of a tile.
  int64_t tileN = 64;
  /// Columns of Q and K that are in shared memory at once; a large-cache
  /// schedule holds all of them: the head dim padded for the instruction.
  int64_t tileD = 64;
  /// Columns of V and O that a CTA accumulates at once. If it is less than
  /// the (padded) Dv, a large-cache schedule has one CTA for each slice, and
  /// each recomputes the scores (dv-split); a small-cache schedule takes the
  /// slices in turn.
  int64_t tileDv = 64;

  /// Buffers of the K/V pipeline, each for one tile of K and one of V.
  int64_t stages = 2;
  /// Backward: buffers of the tile that scores are computed of, K for dQ and Q
  /// for dK and dV, where V or dO has `stages`; 0: as many. S reads it before
  /// all else of a step, and the gradient behind all else.
  int64_t scoreStages = 0;
  /// Backward: rows of a tile whose weights the thread that starts products is
  /// told of before the others are computed, for dV; 0: of all at once.
  int64_t earlyRows = 0;
  /// Warps that compute. mma_sync: each owns tileM / warps rows, a multiple of
  /// 16. wgmma: four form a warpgroup, which owns 64 rows.
  int64_t warps = 4;
  /// Warps that only load, by TMA; 0 where the computing warps load for
  /// themselves, by cp.async.
  int64_t producerWarps = 0;
  /// Warps that rescale O, where it is in tensor memory, and store it, as
  /// FlashAttention-4's correction warpgroup; 0: those that compute do.
  int64_t correctionWarps = 0;
  /// The query tile stays in registers as MMA fragments.
  bool queryInRegisters = false;
  QueryPrologue queryPrologue = QueryPrologue::Kernel;

  /// The accumulator is rescaled only when the maximum of a row of the warp has
  /// risen by more than this, as a power of two: exponentials then reach
  /// 2^threshold instead of 1, which costs no precision (FlashAttention-4,
  /// conditional rescaling). 0: at every tile.
  int64_t rescaleThreshold = 0;
  /// CTAs of a persistent grid, each of which takes one tile after the other;
  /// 0: a CTA for each tile.
  int64_t persistentCtas = 0;

  /// The output has a shared tile of its own. Otherwise it goes through that of
  /// the query, and a persistent CTA's next query waits for the store.
  bool outputTile = false;
  Turns turns = Turns::None;
  /// Of 16 exponentials of P, how many are polynomials on the FMA units: for
  /// head dims at which the exponential units limit (FlashAttention-4).
  int64_t exp2OnFma = 0;
  /// Keys of a tile whose weights the thread that starts products is told of
  /// before the others are computed (FlashAttention-4: three quarters); 0: of
  /// all at once.
  int64_t earlyKeys = 0;
  /// Products of 8-bit weights with a tile of V are summed from 0, and then
  /// added to the accumulator in f32 (two-level accumulation, DeepSeek-V3,
  /// section 3.3.2): for tensor cores whose own sums have fewer bits.
  bool promote = false;

  /// Rows of all query heads of a group form one tile, or, of a group of more
  /// heads than a tile has rows, one row of as many heads.
  bool packGqa = false;
  /// Ranges of keys that are computed apart and merged (SplitKV): a number of
  /// them, or, of `splitKeys` keys each, as many as there are keys for; with
  /// Balance::Share of a multiple of `splitKeys`.
  int64_t splits = 1;
  int64_t splitKeys = 0;
  Balance balance = Balance::Grid;
  /// CTAs of a cluster that receive the same K/V tiles by multicast.
  int64_t clusterM = 1;
  /// Backward: CTAs of a cluster, of neighbouring tiles, that receive what they
  /// stream by multicast: Q/dO for dK and dV, K/V for dQ.
  int64_t clusterN = 1;
  /// Backward: the two CTAs of such a cluster multiply as a pair, each with
  /// half of every tile that they share.
  bool ctaPair = false;
  /// CTAs of a cluster that share the head dims of one query tile.
  int64_t clusterD = 1;

  /// Backward: the kernel of dK and dV adds up dQ, too, in f32 in memory, in an
  /// order that differs from run to run.
  bool fused = false;

  /// SmallCache: query rows (of all heads together) in a chunk, and what is
  /// spilled.
  int64_t chunkRows = 0;
  SpillFormat spill = SpillFormat::Probabilities;

  /// What the schedule is to keep.
  Invariance invariance = Invariance::None;

  /// Query heads of a tile, of groups of `groupSize`.
  int64_t getTileHeads(int64_t groupSize) const {
    return packGqa ? std::min(groupSize, tileM) : 1;
  }

  /// Threads of a CTA.
  int64_t getNumThreads() const {
    return 32 * (warps + producerWarps + correctionWarps);
  }
  /// True if a kernel in front lists the ranges.
  bool isPlanned() const { return balance != Balance::Grid; }
  /// Warps of a GPU that have the same 16 rows, and each a part of the columns
  /// of O.
  int64_t getSharing() const {
    if (mma == MmaFamily::None || tileM < 1)
      return 1;
    return std::max<int64_t>(16 * warps / tileM, 1);
  }
  /// Rows of one mma_sync warp.
  int64_t getRowsPerWarp() const { return tileM * getSharing() / warps; }

  bool operator==(const Schedule &other) const;
  bool operator!=(const Schedule &other) const { return !(*this == other); }

  /// "kind=large_cache mma=mma_sync tile_m=64 ..."; fields that mean nothing
  /// for the kind and the family, or are at their default, are left out.
  std::string print() const;

  /// Parses what print writes, in any order. Fields that are not named keep
  /// their default.
  static Result<Schedule> parse(std::string_view text);
};

/// A set of fields, by their numbers in getScheduleFields.
using ScheduleFieldSet = uint64_t;

/// A field of Schedule as text. The fields are described in one place,
/// ScheduleFields.cpp: command line, reports, manifest and #attn.schedule read
/// it.
struct ScheduleField {
  enum class Type { Integer, Flag, Name };
  std::string_view name;        ///< "tile_m"
  std::string_view description; ///< for --help
  Type type;
  std::string values;       ///< "1-8", "none|products|softmax"
  std::string defaultValue; ///< "2"
  /// Kinds and families that have it: "large_cache, split_kv; wgmma"; empty if
  /// all have.
  std::string owners;
};

/// The fields print and parse know, in the order they are printed.
const std::vector<ScheduleField> &getScheduleFields();

/// The set of the fields of these names, which must be known.
ScheduleFieldSet
getScheduleFieldSet(std::initializer_list<std::string_view> names);

/// The value of a field as text; the name must be known.
std::string getScheduleField(const Schedule &schedule, std::string_view name);

/// Sets one field from text. Fails on an unknown name or a malformed value.
Status setScheduleField(Schedule &schedule, std::string_view name,
                        std::string_view value);

/// True if kernels of that pass look at the field.
bool isFieldOf(AttentionPass pass, std::string_view name);

/// What is said by fields that mean nothing for the schedule's kind, or for its
/// family: "expected turns=none with mma=mma_sync (it is of
/// wgmma), got products".
struct MeaninglessField {
  bool isOfKind; ///< as the kind has no such field, else the family
  std::string message;
};
std::vector<MeaninglessField> findMeaninglessFields(const Schedule &schedule);

/// Fields that are chosen: by a user, while the selector chooses the others, or
/// those of a whole schedule. What #attn.schedule holds.
class ScheduleOverrides {
public:
  /// Parses "tile_m=64 stages=3".
  static Result<ScheduleOverrides> parse(std::string_view text);

  /// The fields that mean something for the schedule's kind and family in a
  /// pass.
  static ScheduleOverrides of(const Schedule &schedule,
                              AttentionPass pass = AttentionPass::Forward);

  /// Adds or replaces one field. Fails as setScheduleField does.
  Status set(std::string_view name, std::string_view value);

  /// Adds those of `others` that are not chosen here.
  void addMissing(const ScheduleOverrides &others);

  bool empty() const { return chosen == 0; }
  bool has(std::string_view name) const;
  std::vector<std::string> getNames() const;

  /// The fields, and defaults for what is not chosen.
  const Schedule &getValues() const { return values; }

  /// Writes the fields into the schedule.
  void apply(Schedule &schedule) const;

  /// True if the schedule has every field as set here.
  bool matches(const Schedule &schedule) const;

  /// "tile_m=64 stages=3"
  std::string print() const;

  bool operator==(const ScheduleOverrides &other) const {
    return chosen == other.chosen && values == other.values;
  }

private:
  Schedule values;
  ScheduleFieldSet chosen = 0;
};

} // namespace attn

#endif // ATTN_SCHEDULE_SCHEDULE_H
