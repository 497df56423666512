//===- KeyLoops.cpp - Loops over key tiles of the tiled form -----*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/KeyLoops.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

KeyLoops attn::getKeyLoops(NormalizeOp normalize) {
  RunningState state = normalize.getState();
  return getKeyLoops(state.getValues());
}

KeyLoops attn::getKeyLoops(ValueRange state) {
  KeyLoops result;
  llvm::append_range(result.init, state);
  while (auto loop = result.init.front().getDefiningOp<scf::ForOp>()) {
    // The state is what one loop gives, and all of it.
    if (loop.getResults() != ValueRange(result.init))
      break;
    result.loops.push_back(loop);
    result.init.assign(loop.getInitArgs().begin(), loop.getInitArgs().end());
  }
  std::reverse(result.loops.begin(), result.loops.end());
  return result;
}

OnlineAttentionOp attn::getStep(scf::ForOp keyLoop) {
  auto steps = keyLoop.getBody()->getOps<OnlineAttentionOp>();
  return llvm::hasSingleElement(steps) ? *steps.begin() : OnlineAttentionOp();
}

bool attn::hasStaticKeyTile(scf::ForOp keyLoop) {
  auto key = cast<ShapedType>(getStep(keyLoop).getKey().getType());
  return !key.isDynamicDim(kSequence);
}
