//===- MaskReport.h - The block picture of a mask ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_PIPELINES_MASKREPORT_H
#define ATTN_LIB_PIPELINES_MASKREPORT_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Schedule/ScheduleSelector.h"

#include "llvm/Support/JSON.h"

namespace attn {

/// The key tiles of a masked attention at the problem's sizes and the
/// schedule's tiles: how many are empty, partial and full, how many are visited
/// and what share of all that is, and a picture with a character for each tile,
/// or for each square of them where there are many: '.' empty, '+' partial, '#'
/// full; and the part of the time without a mask that the cost model predicts
/// to be saved; and why tiles are visited that may have no visible pair. Null
/// without a mask, in scores too, or if it takes too long to find out.
llvm::json::Value describeMask(AttentionOp op, const AttentionProblem &problem,
                               const TargetInfo &target,
                               const Candidate &chosen);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_MASKREPORT_H
