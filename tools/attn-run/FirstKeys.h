//===- FirstKeys.h - Where keys begin that rows see -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_FIRSTKEYS_H
#define ATTN_TOOLS_ATTNRUN_FIRSTKEYS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn::run {

/// Sizes of an attention in a batch.
struct SequenceSizes {
  int64_t batch;
  int64_t rows; ///< of the query
  int64_t queryLength, keyLength;
};

/// The first key that a row may see, by what the compiler knows of the mask
/// (docs/Spec.md, Lengths): what is left of it has no influence. 0 where it
/// knows nothing.
int64_t findFirstKey(AttentionOp attention, const SequenceSizes &sizes);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_FIRSTKEYS_H
