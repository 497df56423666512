//===- FiniteMasks.cpp - Options of masks made of numbers -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/FiniteMasks.h"

using namespace mlir;

LogicalResult attn::checkMaskThreshold(Operation *op, double value) {
  if (value <= 0)
    return success();
  return op->emitError()
         << "option mask-threshold: expected a number of at most 0, got "
         << value;
}
