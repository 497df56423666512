//===- ScheduleConversion.h - #attn.schedule as plain data ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attribute and attn::Schedule have the same fields; of the attribute's,
// some may not be chosen yet.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_SCHEDULECONVERSION_H
#define ATTN_DIALECT_ATTN_IR_SCHEDULECONVERSION_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Schedule/Schedule.h"

namespace attn {

/// The fields that are chosen.
ScheduleOverrides getChosenFields(ScheduleAttr schedule);

/// The schedule with defaults for what is not chosen.
Schedule getSchedule(ScheduleAttr schedule);

/// All fields of `schedule`, chosen.
ScheduleAttr getScheduleAttr(mlir::MLIRContext *context,
                             const Schedule &schedule);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_SCHEDULECONVERSION_H
