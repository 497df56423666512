//===- Masks.h - Masks and score changes by name ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The predicates and functions that tests and tools ask for by name. Positions
// are aligned by `offset`: query i stands at key position i + offset, so N - M
// aligns the last query with the last key (bottom-right) and 0 the first
// (top-left).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_MASKS_H
#define ATTN_REFERENCE_MASKS_H

#include "attn/Reference/Attention.h"

namespace attn {
namespace reference {

/// Keys up to the query's own position.
MaskMod makeCausalMask(int64_t offset = 0);

/// Keys at most `left` before and `right` after the query's position.
MaskMod makeLocalMask(int64_t left, int64_t right, int64_t offset = 0);

/// The last `size` keys up to the query's position.
MaskMod makeSlidingWindowMask(int64_t size, int64_t offset = 0);

/// The first `length` keys, and those up to the query's position.
MaskMod makePrefixMask(int64_t length, int64_t offset = 0);

/// Keys of the query's document; one number for each query and each key, the
/// same in every batch and head.
MaskMod makeDocumentMask(std::vector<int64_t> queryDocuments,
                         std::vector<int64_t> keyDocuments);

/// Visible under both (either).
MaskMod makeAnd(MaskMod a, MaskMod b);
MaskMod makeOr(MaskMod a, MaskMod b);

/// ALiBi: adds slopes[h] * (j - (i + offset)).
ScoreMod makeAlibi(std::vector<double> slopes, int64_t offset = 0);

/// ALiBi's slopes 2^(-8 (h + 1) / heads).
std::vector<double> getAlibiSlopes(int64_t heads);

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_MASKS_H
