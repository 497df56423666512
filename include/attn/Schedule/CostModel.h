//===- CostModel.h - What a schedule costs ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicted traffic and time of a schedule, as named terms. The byte counts are
// exact (IoModel.h); the times are a roofline of the target's rates, good for
// ranking schedules of one problem.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_COSTMODEL_H
#define ATTN_SCHEDULE_COSTMODEL_H

#include "attn/Schedule/IoModel.h"
#include "attn/Schedule/ResourceModel.h"

#include <string>
#include <vector>

namespace attn {

/// Bytes of one operand.
struct OperandBytes {
  Operand operand;
  int64_t read = 0;
  int64_t written = 0;
};

/// Seconds that the whole problem would take if nothing else limited it.
struct CostTerm {
  std::string name;
  double seconds = 0;
};

struct Cost {
  /// Between L2 and the SMs, by operand; only operands that move. This is what
  /// the kernels load and store: exact.
  std::vector<OperandBytes> operands;
  int64_t l2ReadBytes = 0;
  int64_t l2WriteBytes = 0;
  /// Between DRAM and L2, estimated from the L2 capacity.
  int64_t dramBytes = 0;
  /// Scratch memory the kernels need in DRAM.
  int64_t workspaceBytes = 0;

  int64_t ctas = 0;
  int64_t ctasPerSm = 0;
  double waves = 0; ///< ctas / (SMs * ctasPerSm)
  int64_t sharedMemoryBytes = 0;
  int64_t registersPerThread = 0;
  bool maySpill = false; ///< ranked after all that do not

  int64_t visibleScores = 0;  ///< Z of the mask
  int64_t computedScores = 0; ///< with what tiles add, and recomputation
  double flops = 0;           ///< of the matrix products, padding included

  /// mma, exp, issue, shared_memory, l2, dram, dsmem, latency, exposed, launch.
  std::vector<CostTerm> terms;
  std::string limiter; ///< name of the largest term
  double seconds = 0;

  int64_t getL2Bytes() const { return l2ReadBytes + l2WriteBytes; }
  /// Seconds of the named term; 0 if it has none.
  double getTerm(const std::string &name) const;
};

/// The cost of a schedule that is legal for problem and target.
Cost getCost(const AttentionProblem &problem, const Schedule &schedule,
             const TargetInfo &target);

/// The traffic between L2 and SMs in elements, of the whole problem.
Traffic getTraffic(const AttentionProblem &problem, const Schedule &schedule);

/// Bytes of an element of `operand`.
int64_t getElementBytes(const AttentionProblem &problem,
                        const Schedule &schedule, Operand operand);

} // namespace attn

#endif // ATTN_SCHEDULE_COSTMODEL_H
