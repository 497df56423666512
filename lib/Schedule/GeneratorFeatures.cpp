//===- GeneratorFeatures.cpp - What the compiler can emit -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Constraints.h"
#include "attn/Schedule/Family.h"

namespace attn {

GeneratorFeatures getGeneratorFeatures(const AttentionProblem &problem,
                                       const TargetInfo &target) {
  bool isGpu = target.kind == TargetKind::Gpu;
  bool isF32 = problem.elementType == ElementType::F32;
  GeneratorFeatures features;
  features.packGqa = isGpu;
  features.packsWholeGroups = true;
  features.packedChunks = false;
  features.dvSplit = isGpu;
  features.splitKv = isGpu;
  bool isByte = getSizeBytes(problem.elementType) == 1;
  bool widens = isGpu && problem.cacheType;
  // Between the phases of a small-cache kernel P is of 16 bits.
  bool isPaged = problem.keyPage + problem.valuePage > 0;
  features.smallCache = !isGpu || (!isF32 && !isByte && !widens && !isPaged);
  features.smallCacheDensity = false;
  features.spillScores = !isGpu;
  features.spillProbabilities = isGpu;
  // Kernels whose warps have roles take inputs of 16 and 8 bits.
  const Family &best = *getFamilies(target).front();
  features.wgmma = best.hasRoles() && !isF32;
  features.producers = isGpu && !isF32;
  // Warpgroups share rows where the values are columns of the keys.
  features.sharedRows = problem.sharedKV && !widens;
  features.wgmmaSlices = false;
  features.wgmmaWideOutputs = false;
  // A mask may show the row tiles of a cluster different keys, and give the
  // CTAs of a persistent grid more and less to do.
  bool hasMask = problem.mask.isBand() || problem.mask.density < 1;
  features.uniformRows = !hasMask;
  // Nor do CTAs share tiles that each transposes or widens for itself.
  features.clusters =
      !hasMask && !widens && getSizeBytes(problem.getWeightType()) != 1;
  return features;
}

} // namespace attn
