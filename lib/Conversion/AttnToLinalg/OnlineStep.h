//===- OnlineStep.h - One attention step in linalg --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shared core of AttnToLinalg: attn.attention is one step from the empty
// state followed by normalize; attn.online_attention is one step from the state
// it is given.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_ONLINESTEP_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_ONLINESTEP_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Running state of attention: acc [B, Hq, M, Dv], max and sum [B, Hq, M].
struct OnlineState {
  mlir::Value acc, max, sum;
};

/// What a step reads; a view of either op.
struct OnlineStepInputs {
  mlir::Value query, key, value;
  /// Null if there is none.
  mlir::Value bias;
  /// Global coordinates (b, h, i, j) of the first element; empty: zeros.
  llvm::SmallVector<mlir::Value> offsets;
  mlir::Region *scoreMod;
  mlir::Region *maskMod;
  double scale;
  mlir::FloatType scoreType;
};

/// Emits one step. Without `state`, from the empty one.
OnlineState emitOnlineStep(mlir::OpBuilder &builder, mlir::Location loc,
                           const OnlineStepInputs &inputs,
                           std::optional<OnlineState> state);

/// `value` as `type`, by arith.extf or arith.truncf; `value` itself if it has
/// that type.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::FloatType type);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_ONLINESTEP_H
