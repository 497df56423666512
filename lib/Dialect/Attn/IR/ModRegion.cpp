//===- ModRegion.cpp - What mask_mod and score_mod ask of positions -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ModRegion.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;

bool attn::isDefinedEverywhere(Region &region) {
  return !region
              .walk([](Operation *op) {
                bool readsTensor =
                    llvm::any_of(op->getOperandTypes(), [](Type type) {
                      return isa<TensorType>(type);
                    });
                bool isSafe = op->hasTrait<OpTrait::IsTerminator>() ||
                              (!readsTensor && isSpeculatable(op));
                return isSafe ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}
