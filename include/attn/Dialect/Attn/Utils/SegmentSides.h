//===- SegmentSides.h - Packed sequences, asked from one side ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a row i and a key j lie in one segment of offsets T can be asked from
// either side. s = segment(T, i) and t = segment(T, j) end where the next one
// begins, end(s) = T[s + 1], but the last has all that is behind it:
//
//   s == t    says the same as    T[s] <= j and j < end(s)
//             and as              T[t] <= i and i < end(t)
//
// Where a mask says so, what else it says of s holds of t. Loops in which rows
// stay and keys stream past look once for s, and their bounds come from it;
// those in which keys stay, for t.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_SEGMENTSIDES_H
#define ATTN_DIALECT_ATTN_UTILS_SEGMENTSIDES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"

namespace attn {

/// Asks whether a row and a key lie in one segment from the side of `position`,
/// kLoopM or kLoopN, in a mask_mod that compares their segments. For the key
/// also in one that says for the row: T[s] <= j, and j < T[s + 1] or j <= i.
/// The builder is where the region may take values from.
void askSegmentsFrom(mlir::OpBuilder &builder, mlir::Region &maskMod,
                     unsigned position);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_SEGMENTSIDES_H
