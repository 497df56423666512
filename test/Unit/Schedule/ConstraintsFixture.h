//===- ConstraintsFixture.h - A schedule to break ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_SCHEDULE_CONSTRAINTSFIXTURE_H
#define TEST_UNIT_SCHEDULE_CONSTRAINTSFIXTURE_H

#include "attn/Schedule/Constraints.h"
#include "attn/Schedule/ScheduleSelector.h"

#include "gtest/gtest.h"

namespace attn {

/// A legal schedule for sm_80; each test breaks one thing.
struct ConstraintsFixture : testing::Test {
  AttentionProblem problem =
      *AttentionProblem::parse("Hq=8 Hkv=2 M=1024 N=1024 D=128");
  Schedule schedule = *Schedule::parse("tile_m=64 tile_n=64 tile_d=128 "
                                       "tile_dv=128 stages=2 warps=4");
  TargetInfo target = *lookupTarget("sm_80");
  GeneratorFeatures features;

  /// The messages, one a line.
  std::string getMessages() {
    std::string messages;
    for (const Violation &violation :
         check(problem, schedule, target, features))
      messages += violation.constraint + ": " + violation.message + "\n";
    return messages;
  }

  void set(const std::string &fields) {
    ScheduleOverrides::parse(fields)->apply(schedule);
  }
};

} // namespace attn

#endif // TEST_UNIT_SCHEDULE_CONSTRAINTSFIXTURE_H
