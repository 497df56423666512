//===- SharedMemoryModel.cpp - Shared memory of a CTA ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/ResourceModel.h"

#include "Machine.h"

#include "attn/Schedule/Family.h"

#include <algorithm>
#include <numeric>

namespace attn {
using detail::kRewriteStages;

static constexpr int64_t kMbarrierBytes = 8;

/// Whole instructions, and rows of a tile of 32 bytes at least.
static int64_t getPadding(const AttentionProblem &problem) {
  return std::max<int64_t>(Family::getDepth(problem.getKeyType()), 16);
}

int64_t getPaddedHeadDim(const AttentionProblem &problem) {
  return alignUp(problem.headDim, getPadding(problem));
}

int64_t getPaddedValueDim(const AttentionProblem &problem) {
  return alignUp(problem.valueDim, getPadding(problem));
}

/// Of a row of an output tile through which panels of columns go one after the
/// other: the swizzle that all columns of the output have.
static int64_t getPanelBytes(const AttentionProblem &problem,
                             const Schedule &schedule) {
  int64_t bytes = schedule.tileDv * getSizeBytes(problem.outputType);
  return bytes % 128 == 0 ? 128 : bytes % 64 == 0 ? 64 : 32;
}

static SharedMemoryUse getLargeCacheUse(const AttentionProblem &problem,
                                        const Schedule &schedule) {
  int64_t elementBytes = getSizeBytes(problem.getKeyType());
  SharedMemoryUse use;
  use.query =
      schedule.tileM * schedule.tileD * getSizeBytes(problem.elementType);
  int64_t keyColumns = schedule.tileD;
  if (problem.sharedKV)
    keyColumns = std::max(schedule.tileD, schedule.tileDv);
  int64_t tileRows = schedule.stages * schedule.tileN;
  use.key = tileRows * keyColumns * elementBytes;
  if (!problem.sharedKV)
    use.value =
        tileRows * schedule.tileDv * getSizeBytes(problem.getValueType());

  if (const Family &family = getFamily(schedule.mma); family.hasRoles()) {
    use.barriers = 1024;
    // 8-bit values on their way into the order in which they are multiplied.
    if (family.transposesValue(problem.getWeightType()))
      use.value += kRewriteStages * schedule.tileN * schedule.tileDv;
    // Of a cache of 8 bits products read tiles of the query's type.
    if (problem.cacheType) {
      int64_t bytes = getSizeBytes(problem.elementType) * schedule.stages +
                      elementBytes * kRewriteStages;
      use.key = bytes * schedule.tileN * keyColumns;
      if (!problem.sharedKV)
        use.value = bytes * schedule.tileN * schedule.tileDv;
    }
    int64_t tileScores = schedule.tileM * schedule.tileN;
    if (schedule.clusterD > 1)
      use.scores += tileScores * 2;
    use.scores += 4 * tileScores * (schedule.clusterD - 1) / schedule.clusterD;
  } else if (family.loadsByTma(schedule)) {
    // Full and empty, of the query and of each stage of K and V. Tiles are
    // whole numbers of what their swizzle repeats: aligning them takes nothing.
    use.barriers = kMbarrierBytes * (2 + 4 * schedule.stages);
  }
  // The first tiles of K and V are on their way while a query tile moves to
  // registers: they cannot share its place. The output takes the place of
  // everything, if it has none of its own.
  int64_t output =
      schedule.tileM * schedule.tileDv * getSizeBytes(problem.outputType);
  if (schedule.outputTile)
    use.output = getFamily(schedule.mma).facts.tensorColumns
                     ? schedule.tileM * getPanelBytes(problem, schedule)
                     : output;
  use.total =
      use.query + use.key + use.value + use.scores + use.output + use.barriers;
  use.total = std::max(use.total, output);
  return use;
}

/// Each phase is a matrix product whose operands stream through in slices: the
/// first of tileD columns, the second of the most keys up to tileD that divide
/// tileN. They are kernels of their own.
static SharedMemoryUse getSmallCacheUse(const AttentionProblem &problem,
                                        const Schedule &schedule) {
  int64_t elementBytes = getSizeBytes(problem.elementType);
  int64_t depth = schedule.stages * schedule.tileD;
  int64_t spillBytes = schedule.spill == SpillFormat::Scores ? 4 : 2;
  SharedMemoryUse use;
  use.query = depth * schedule.tileM * elementBytes;
  use.key = depth * schedule.tileN * elementBytes;
  int64_t keys = schedule.stages * std::gcd(schedule.tileN, schedule.tileD);
  use.scores = keys * schedule.tileM * spillBytes;
  use.value = keys * schedule.tileDv * elementBytes;
  use.barriers = getFamily(schedule.mma).hasRoles() ? 1024 : 0;
  use.total =
      std::max(use.query + use.key, use.scores + use.value) + use.barriers;
  return use;
}

/// A CPU has no shared memory: this is the working set that should stay in a
/// core's cache, accumulators included.
static SharedMemoryUse getCpuUse(const AttentionProblem &problem,
                                 const Schedule &schedule) {
  int64_t elementBytes = getSizeBytes(problem.elementType);
  SharedMemoryUse use;
  use.query = schedule.tileM * schedule.tileD * elementBytes;
  use.key = schedule.tileN * schedule.tileD * elementBytes;
  use.value =
      schedule.tileN * schedule.tileDv * getSizeBytes(problem.getValueType());
  use.scores = 4 * schedule.tileM * (schedule.tileN + schedule.tileDv + 2);
  use.total = use.query + use.key + use.value + use.scores;
  return use;
}

SharedMemoryUse getSharedMemoryUse(const AttentionProblem &problem,
                                   const Schedule &schedule) {
  if (schedule.mma == MmaFamily::None)
    return getCpuUse(problem, schedule);
  if (schedule.kind == ScheduleKind::SmallCache)
    return getSmallCacheUse(problem, schedule);
  return getLargeCacheUse(problem, schedule);
}

} // namespace attn
