//===- Dropout.cpp - Dropout on fragments -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/ModToMap.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

Value ModToMap::createDropout(Location loc, const Dropout &dropout, Value p,
                              ValueRange offsets, bool signs, bool transposed,
                              int64_t heads) {
  return tile::DropoutOp::create(
      builder, loc, p, values.lookup(dropout.seed),
      values.lookup(dropout.offset), offsets[kLoopB], offsets[kLoopH],
      offsets[kLoopM], offsets[kLoopN],
      static_cast<int64_t>(dropout.getThreshold()), signs, transposed, heads);
}

Value ModToMap::applyDropout(OnlineAttentionOp step, Value p) {
  SmallVector<Value> offsets =
      llvm::map_to_vector(step.getOffsets(), [&](Value offset) -> Value {
        return values.lookup(offset);
      });
  return applyDropout(step, p, offsets);
}

Value ModToMap::applyDropout(OnlineAttentionOp step, Value p,
                             ValueRange offsets) {
  std::optional<Dropout> dropout = Dropout::get(step);
  if (!dropout)
    return p;
  int64_t heads = cast<ShapedType>(step.getQuery().getType()).getDimSize(kHead);
  return createDropout(step.getLoc(), *dropout, p, offsets, /*signs=*/false,
                       /*transposed=*/false, heads);
}
