//===- LinearDecaySums.h - What crosses log decays --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sums that the gradients of log decays are (LinearGrad.cpp has the
// formula). Private to lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_LINEARDECAYSUMS_H
#define LIB_DIALECT_ATTN_TRANSFORMS_LINEARDECAYSUMS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

struct DecayTerms {
  mlir::Value terms; ///< [B, Hq, M]: Q[i].dQ[i] - K[i].dK[i]
  mlir::Value end;   ///< [B, Hq]: what crosses the end; null for 0
  /// [B, Hq, ceil(M / 64), D, Dv]: the states carried forward and back; null
  /// where the sums are over all positions.
  mlir::Value before, after;
  double scale;
};

/// [B, Hq, M]: of each position the sum of the terms from it on up to the next
/// multiple of 64, and what crosses that.
mlir::Value emitDecaySums(mlir::ImplicitLocOpBuilder &b,
                          const DecayTerms &given);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_LINEARDECAYSUMS_H
