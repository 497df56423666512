//===- BackwardSchedules.h - Schedules of a backward ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backward has a schedule for each of its kernels. Private to
// lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDSCHEDULES_H
#define LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDSCHEDULES_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// True if P and dS of a backward go through memory.
inline bool isSmallCache(AttentionBackwardOp op) {
  return op.getSchedule() &&
         op.getSchedule()->getValues().kind == ScheduleKind::SmallCache;
}

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDSCHEDULES_H
