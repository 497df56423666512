//===- BackwardSchedule.h - Kernels of the backward pass --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The deterministic backward on a GPU: a kernel for dQ, whose row tiles stay,
// and one for dK and dV, whose key tiles stay, or where both gradients do not
// fit into the registers one for each. The fused one has a kernel for all of
// them, whose key tiles stay, and which adds up dQ in f32 in memory, in the
// order in which its CTAs get there; a kernel before it computes delta and
// writes zeros, one behind it rounds dQ. Each is priced like a kernel of the
// forward pass: products, exponentials, shared memory and L2 in the time of the
// longest.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_BACKWARDSCHEDULE_H
#define ATTN_SCHEDULE_BACKWARDSCHEDULE_H

#include "attn/Schedule/CostModel.h"

#include <optional>

namespace attn {

enum class BackwardKernel {
  QueryGradient,
  KeyValueGradients,
  KeyGradient,
  ValueGradient,
  RowValues,    ///< delta, and zeros for dQ
  AllGradients, ///< fused
  QueryRounding ///< of dQ
};

/// "dq", "dkv", "dk", "dv", "delta", "dqkv", "round": the end of a kernel's
/// name.
std::string_view getName(BackwardKernel kernel);

/// CTAs that share a tile, each with a slice of the gradient's columns: tile_d
/// of dQ or dK, tile_dv of dV. dK and dV together are not sliced.
int64_t countGradientSlices(BackwardKernel kernel, const Schedule &schedule,
                            const AttentionProblem &problem);

struct BackwardCost {
  /// Between L2 and the SMs, by operand, in bytes. The kernel for dQ leaves
  /// log2(e) LSE and delta for whole tiles of its rows.
  Traffic bytes;
  int64_t sharedMemoryBytes = 0;
  int64_t registersPerThread = 0;
  bool maySpill = false; ///< ranked after all that do not
  double seconds = 0;
};

/// Bytes that `kernel` moves, exactly.
Traffic getBackwardTraffic(const AttentionProblem &problem,
                           BackwardKernel kernel, const Schedule &schedule);

/// The cost of `kernel`, or why the target cannot run it.
Result<BackwardCost> getBackwardCost(const AttentionProblem &problem,
                                     BackwardKernel kernel,
                                     const Schedule &schedule,
                                     const TargetInfo &target);

struct BackwardChoice {
  BackwardKernel kernel;
  Schedule schedule;
  BackwardCost cost;
};

/// The kernels in order: dQ, then dKV, or dK and dV; or those of a fused one.
struct BackwardSelection {
  bool isFused() const {
    return kernels.front().kernel == BackwardKernel::RowValues;
  }
  std::vector<BackwardChoice> kernels;
  /// Why none of them is made of wgmma; empty where they are, or the target has
  /// none.
  std::string fallback;

  double getSeconds() const;
  bool maySpill() const;
};

/// What is asked of the kernel for dQ, and of those for dK and dV; and whether
/// all of them have to give the same bits in every run, which a fused one does
/// not.
struct BackwardOverrides {
  ScheduleOverrides query, keys;
  bool deterministic = false;
};

/// The fastest schedules that the target can run, with the fields of `given`.
/// An error says why there is none.
Result<BackwardSelection>
selectBackwardSchedules(const AttentionProblem &problem,
                        const TargetInfo &target,
                        const BackwardOverrides &given);

} // namespace attn

#endif // ATTN_SCHEDULE_BACKWARDSCHEDULE_H
