//===- LinearAttention.h - Schedules of linear attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the kernels of attn.linear_attention cost: a CTA for each batch, head
// and slice of `tile_dv` columns of the state walks the chunks of `tile_m`
// rows. docs/CostModel.md has the formulas.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_LINEARATTENTION_H
#define ATTN_SCHEDULE_LINEARATTENTION_H

#include "attn/Schedule/AttentionProblem.h"
#include "attn/Schedule/Schedule.h"
#include "attn/TargetInfo/TargetInfo.h"

#include <array>

namespace attn {

/// The positions that each of the states of a linear attention, if they are a
/// result, is carried into.
inline constexpr int64_t kStateStride = 64;

/// One linear attention: query [B, Hq, M, D], key [B, Hkv, N, D], value [B,
/// Hkv, N, Dv], where M = N unless all rows see all keys.
struct LinearProblem {
  /// Of a position, of a head, or none.
  enum class Decay { None, Position, Head };

  int64_t batch = 1, queryHeads = 1, kvHeads = 1;
  int64_t length = 1;    ///< M
  int64_t keyLength = 1; ///< N
  bool full = false;     ///< all rows see all keys
  AttentionPass pass = AttentionPass::Forward;
  int64_t headDim = 64, valueDim = 64;
  ElementType elementType = ElementType::BF16;
  ElementType outputType = ElementType::BF16;
  Decay decay = Decay::None;
  bool hasState = false;      ///< is read
  bool hasFinalState = false; ///< is written
  bool hasStates = false;     ///< those carried into 64 positions are written

  /// "B=1 Hq=32 Hkv=8 N=8192 D=128 Dv=128 dtype=bf16 decay=head"; states, an
  /// output type of its own, "M=64 full=1" and "pass=backward" where there are.
  std::string print() const;
  /// Parses what print writes, in any order, and algorithm=linear. Needed: N
  /// and D. Defaults as those of AttentionProblem, and decay = none.
  static Result<LinearProblem> parse(std::string_view text);
  /// The linear attentions that are the gradients of query, key and value
  /// (--attn-grad); a decay of positions has a gradient, too, of a head none.
  std::array<LinearProblem, 3> getGradients() const;
  /// Softmax attention on the same tensors, with the same rows for each key.
  AttentionProblem getSoftmax() const;
};

/// Bytes between L2 and the SMs, exactly, as the kernels load and store them.
struct LinearBytes {
  int64_t query = 0, key = 0, value = 0, output = 0;
  int64_t state = 0, finalState = 0, states = 0;
  /// Log decays and their sums within chunks, which a kernel before writes.
  int64_t decayRead = 0, decayWritten = 0;
  /// The state as a factor, which one kernel writes and another one reads.
  int64_t factor = 0;

  int64_t getRead() const {
    return query + key + value + state + decayRead + factor;
  }
  int64_t getWritten() const {
    return output + finalState + states + decayWritten + factor;
  }
};

struct LinearCost {
  LinearBytes bytes;
  int64_t ctas = 0, ctasPerSm = 0;
  int64_t sharedMemoryBytes = 0;
  int64_t registersPerThread = 0; ///< estimated
  double flops = 0;               ///< padding and hidden scores included
  double seconds = 0;
};

/// D as the kernel holds it: 16 rows of the state for each warp, or a multiple.
int64_t getStateRows(const LinearProblem &problem, const Schedule &schedule);

/// Fails where kernels of the schedule do not exist, whatever the target.
Status checkLinearSchedule(const LinearProblem &problem,
                           const Schedule &schedule);

/// The cost of a schedule, or why the target cannot run it.
Result<LinearCost> getLinearCost(const LinearProblem &problem,
                                 const Schedule &schedule,
                                 const TargetInfo &target);

struct LinearSelection {
  Schedule schedule;
  LinearCost cost;
};

/// The fastest schedule with the fields of `overrides`. An error says why there
/// is none.
Result<LinearSelection>
selectLinearSchedule(const LinearProblem &problem, const TargetInfo &target,
                     const ScheduleOverrides &overrides);

} // namespace attn

#endif // ATTN_SCHEDULE_LINEARATTENTION_H
