//===- ProbFactor.h - Maps of probabilities that are factors ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A prob_mod w(b, h, i, j) p, whatever w is, commutes with the division by the
// sum of a row:
//
//   sum of prob_mod(e[j] / sum) V[j] = (sum of prob_mod(e[j]) V[j]) / sum
//
// so that a step applies it to weights, and needs no statistics of the row: the
// scales of values, of each token say, are such.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_PROBFACTOR_H
#define ATTN_DIALECT_ATTN_IR_PROBFACTOR_H

#include "mlir/IR/Region.h"

namespace attn {

/// True if what the prob_mod yields is p times a number that does not depend on
/// p; false where that is not seen.
bool isProbFactor(mlir::Region &probMod);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_PROBFACTOR_H
