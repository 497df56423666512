//===- TosaMaxima.cpp - Largest magnitudes in TOSA --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/TosaToAttn/TosaMaxima.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;

Operation *attn::raise::findRowMaxima(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return nullptr;
  for (Operation *user : tensor.getUsers()) {
    auto magnitude = dyn_cast<tosa::AbsOp>(user);
    if (!magnitude || !magnitude->hasOneUse())
      continue;
    auto max = dyn_cast<tosa::ReduceMaxOp>(*magnitude->user_begin());
    if (max && max.getAxis() == type.getRank() - 1 &&
        max.getNanMode() == tosa::NanPropagationMode::PROPAGATE)
      return max;
  }
  return nullptr;
}
