//===- Machine.h - What all targets have in common --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers of the models that no target's description has. Those of speed are
// assumptions until a GPU says otherwise (docs/CostModel.md). Private to
// lib/Schedule.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULE_MACHINE_H
#define LIB_SCHEDULE_MACHINE_H

#include "attn/TargetInfo/TargetInfo.h"

#include <cstdint>

namespace attn::detail {

/// Rows that a warp of mma_sync owns.
inline constexpr int64_t kWarpRows = 16;
/// 16-bit inputs, P and dS; f32 statistics and sums.
inline constexpr int64_t kInputBytes = 2, kFloatBytes = 4;

/// Tiles that the producer transposes or widens, while others arrive.
inline constexpr int64_t kRewriteStages = 2;
/// Instructions for each element of the scores in a backward, for P and dS.
inline constexpr double kInstructionsPerElement = 10;
/// A kernel launch, with the dependence on the one before.
inline double getLaunchSeconds(const TargetInfo &target) {
  return target.launchMicroseconds / 1e6;
}
/// Clocks of a CTA of a backward before its first and after its last step.
inline constexpr double kCtaClocks = 3000;

} // namespace attn::detail

#endif // LIB_SCHEDULE_MACHINE_H
