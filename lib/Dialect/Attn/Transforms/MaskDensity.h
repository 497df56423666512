//===- MaskDensity.h - The part of a band that is visible -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_MASKDENSITY_H
#define LIB_DIALECT_ATTN_TRANSFORMS_MASKDENSITY_H

#include "attn/Analysis/MaskProgram.h"
#include "attn/Schedule/AttentionProblem.h"

#include <map>

namespace attn {

/// What a mask leaves of the tiles in its band, by the size of the tiles.
class MaskDensity {
public:
  /// `problem` has the band around the mask.
  MaskDensity(mlir::Region &maskMod, const AttentionProblem &problem);

  /// The part of the tiles of `rows` positions and `keys` keys in the band that
  /// are visible, from 0 to 1; 1 where data decide or it would take long to
  /// find out.
  double get(int64_t rows, int64_t keys);

  /// That of tiles as kernels have them, but not more than a few thousand.
  double getTypical();

private:
  double compute(int64_t rows, int64_t keys);

  MaskProgram program;
  const AttentionProblem &problem;
  std::map<std::pair<int64_t, int64_t>, double> known;
};

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_MASKDENSITY_H
