//===- StepEmitter.cpp - The step of a row reduction ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/StepEmitter.h"

using namespace mlir;
using namespace attn;

RunningState StepEmitter::emitStep(RunningState state, bool isFirst) {
  Value decay;
  if (Value before = state.get(RowRole::Maximum)) {
    Value max = emitMaximum(before);
    Value shift = emitShift(max);
    if (!isFirst)
      decay = emitDecay(before, shift);
    emitExponentials(shift);
    state.set(RowRole::Maximum, max);
  }
  if (Value sum = state.get(RowRole::Sum))
    state.set(RowRole::Sum, emitSum(decay ? emitRescaled(sum, decay) : sum));
  state.setAcc(emitProduct(state.getAcc(), decay));
  return state;
}
