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
// longest. With a small cache P and dS go through memory: kernels for delta and
// for both of these, then a matrix product for each gradient.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_BACKWARDSCHEDULE_H
#define ATTN_SCHEDULE_BACKWARDSCHEDULE_H

#include "attn/Schedule/CostModel.h"

#include <optional>

namespace attn {

enum class BackwardKernel {
  // Of a small cache.
  RowValues,
  Scores,
  // Of any schedule.
  QueryGradient,
  KeyValueGradients,
  KeyGradient,
  ValueGradient,
  // Fused.
  ClearedSums, ///< delta, and zeros for dQ
  AllGradients,
  QueryRounding ///< of dQ
};

/// "delta", "scores", "dq", "dkv", "dk", "dv", "dqkv", "round": the end of a
/// kernel's name.
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
  /// Of those of Cost, and of a fused kernel `sums`: dQ on its way to memory.
  std::vector<CostTerm> terms;
  std::string limiter; ///< name of the largest term
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

/// The kernels in order: dQ, then dKV, or dK and dV; of a small cache delta and
/// scores before them, all with one schedule; or those of a fused one.
struct BackwardSelection {
  bool isFused() const {
    return kernels.front().kernel == BackwardKernel::ClearedSums;
  }
  std::vector<BackwardChoice> kernels;
  /// Scratch memory that all of them need.
  int64_t workspaceBytes = 0;
  /// Why none of them is made of the target's best family; empty where they
  /// are, or it has no better one.
  std::string fallback;
  /// Of inputs of 8 bits, that they are made wider before, to f16 or bf16; and
  /// why there are no kernels of 8-bit products, or empty if they are only
  /// predicted to be slower.
  bool isDequantised = false;
  std::string obstacle;

  double getSeconds() const;
  bool maySpill() const;
  bool isSmallCache() const {
    return kernels.front().schedule.kind == ScheduleKind::SmallCache;
  }
};

/// What is asked of the kernel for dQ, and of those for dK and dV, where
/// `promote` asks for products of 8 bits; and whether all of them have to give
/// the same bits in every run, which a fused one does not.
struct BackwardOverrides {
  ScheduleOverrides query, keys;
  bool deterministic = false;
  /// False if the mask leaves tiles that the problem does not know: CTAs of a
  /// cluster visit those of all of them, how many that are cannot be told, and
  /// there are none but where they are asked for.
  bool isMaskKnown = true;
  /// Why there can be no products of 8 bits; empty if there can.
  std::string obstacle = {};
};

/// "pack_gqa, splits": the fields of `given` that mean nothing to the kernels
/// of the backward. Empty if there are none.
std::string printUnusedFields(const ScheduleOverrides &given,
                              const AttentionProblem &problem);

/// The fastest schedules that the target can run, with the fields of `given`; a
/// small cache only where it is clearly faster, unless its kind is given. An
/// error says why there is none.
Result<BackwardSelection>
selectBackwardSchedules(const AttentionProblem &problem,
                        const TargetInfo &target,
                        const BackwardOverrides &given);

} // namespace attn

#endif // ATTN_SCHEDULE_BACKWARDSCHEDULE_H
