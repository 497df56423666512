//===- ProblemFields.h - Fields that problems share -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULE_PROBLEMFIELDS_H
#define LIB_SCHEDULE_PROBLEMFIELDS_H

#include "attn/Schedule/AttentionProblem.h"
#include "attn/Support/KeyValue.h"

namespace attn::detail {

/// pass=forward or pass=backward.
Status setPass(AttentionPass &pass, const KeyValue &field);

} // namespace attn::detail

#endif // LIB_SCHEDULE_PROBLEMFIELDS_H
