//===- Constraints.h - Which schedules are legal ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_CONSTRAINTS_H
#define ATTN_SCHEDULE_CONSTRAINTS_H

#include "attn/Schedule/AttentionProblem.h"
#include "attn/Schedule/Schedule.h"

#include <string>
#include <vector>

namespace attn {

/// Columns of V over which a large-cache schedule is unrolled on a CPU: beyond,
/// its code takes minutes to compile.
inline constexpr int64_t kMaxUnrolledColumns = 256;

/// What a code generator can emit. A schedule that needs more is rejected with
/// that reason. The defaults are what the cost model knows.
struct GeneratorFeatures {
  bool packGqa = true;
  /// A packed tile has the same rows of all query heads of a group.
  bool packsWholeGroups = false;
  bool packedChunks = true; ///< small-cache kernels with packed query heads
  bool dvSplit = true;
  bool splitKv = true;
  bool fixedSplits = true; ///< of a length, where keys are visited in order
  bool plans = true;       ///< of the splits of sequences by their lengths
  bool smallCache = true;
  bool spillScores = true;        ///< small-cache kernels that spill f32 scores
  bool spillProbabilities = true; ///< and those that spill 16-bit ones
  bool smallCacheDensity = true;  ///< and that skip tiles inside of a band
  bool clusters = true;           ///< that share key and value tiles
  bool headDimClusters = false;   ///< that share the head dims of a query tile
  /// Without it, sm_90a runs mma_sync kernels.
  bool wgmma = true;
  /// mma_sync kernels whose tiles a producer brings by TMA.
  bool producers = true;
  /// Two warpgroups share 64 rows and split the columns.
  bool sharedRows = true;
  /// wgmma kernels whose tiles hold a slice of a head dim: dv-split and small
  /// cache. Without them, such problems run mma_sync kernels.
  bool wgmmaSlices = true;
  /// wgmma kernels whose outputs have more than 256 columns, which one
  /// instruction does not compute.
  bool wgmmaWideOutputs = true;
  bool tf32 = true;
  /// False if row tiles may see different keys whatever the pattern says.
  bool uniformRows = true;
};

/// log2 of what 8-bit weights are multiplied by before they are rounded: nearly
/// all of the numbers of f8E4M3FN are then below the largest weight
/// (FlashAttention-3). That type has no room for what a maximum may lag behind,
/// `rescaleThreshold`, which is taken off.
int64_t getWeightOffset(ElementType type, int64_t rescaleThreshold);

/// The most by which a maximum may lag behind, as a power of two, with weights
/// of this type.
int64_t getMostRescaleThreshold(ElementType type);

/// True if TMA brings tiles of `tileN` keys from pages of `page` keys in whole
/// boxes: a few pages of a tile, or a part of one page. A swizzle repeats every
/// eight rows.
bool fitsPages(int64_t tileN, int64_t page);

/// What the compiler's code generators have for a problem on a target.
GeneratorFeatures getGeneratorFeatures(const AttentionProblem &problem,
                                       const TargetInfo &target);

/// Why a schedule cannot run: names the limit, the need and what there is.
struct Violation {
  std::string constraint; ///< a stable name, e.g. "shared-memory"
  std::string message;    ///< e.g. "needs 180224 bytes of shared memory, ..."
};

/// Every reason why the schedule is not legal for problem and target; empty if
/// it is. docs/CostModel.md lists the constraints.
std::vector<Violation> check(const AttentionProblem &problem,
                             const Schedule &schedule, const TargetInfo &target,
                             const GeneratorFeatures &features = {});

} // namespace attn

#endif // ATTN_SCHEDULE_CONSTRAINTS_H
