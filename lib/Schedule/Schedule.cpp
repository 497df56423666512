//===- Schedule.cpp - How it is to be computed ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Schedule.h"

namespace attn {

std::string_view getName(ScheduleKind kind) {
  switch (kind) {
  case ScheduleKind::LargeCache:
    return "large_cache";
  case ScheduleKind::SplitKV:
    return "split_kv";
  case ScheduleKind::SmallCache:
    return "small_cache";
  case ScheduleKind::Chunks:
    return "chunks";
  }
  return "";
}

std::string_view getName(Turns turns) {
  switch (turns) {
  case Turns::None:
    return "none";
  case Turns::Products:
    return "products";
  case Turns::Softmax:
    return "softmax";
  }
  return "";
}

std::string_view getName(QueryPrologue prologue) {
  return prologue == QueryPrologue::Fused ? "fused" : "kernel";
}

std::string_view getName(SpillFormat format) {
  return format == SpillFormat::Scores ? "scores" : "probabilities";
}

std::string_view getName(Balance balance) {
  switch (balance) {
  case Balance::Grid:
    return "grid";
  case Balance::Plan:
    return "plan";
  case Balance::Share:
    return "share";
  }
  return "";
}

std::string_view getName(Invariance invariance) {
  switch (invariance) {
  case Invariance::None:
    return "none";
  case Invariance::Batch:
    return "batch";
  case Invariance::Prefix:
    return "prefix";
  }
  return "";
}

} // namespace attn
