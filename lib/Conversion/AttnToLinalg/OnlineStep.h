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

#include "ScoreEmitter.h"

namespace attn {

/// Emits one step. Without `state`, from the empty one.
RunningState emitOnlineStep(mlir::OpBuilder &builder, mlir::Location loc,
                            const ScoreInputs &inputs,
                            std::optional<RunningState> state);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_ONLINESTEP_H
