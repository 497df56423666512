//===- LinearProbMod.h - Maps of probabilities that are linear --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A prob_mod a p + (i == j ? c : 0), with a and c of (b, h, i), as a scale of a
// head or a mix with the identity is, changes the output, not each weight:
//
//   sum over j of prob_mod(p[j]) V[j] = a O + c V[i], without c where (i, i) is
//   hidden
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_LINEARPROBMOD_H
#define ATTN_DIALECT_ATTN_UTILS_LINEARPROBMOD_H

#include "mlir/IR/Operation.h"

namespace attn {

/// Gives each attention in `root` with such a prob_mod an attn.output_mod in
/// its place; returns how many there were. Left as they are: with c one with a
/// bias or score_mod, which may hide what no mask does, with dropout, lengths,
/// values that are a view, or numbers of heads or keys that are not known;
/// masks that look into lists.
unsigned foldLinearProbMods(mlir::Operation *root);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_LINEARPROBMOD_H
