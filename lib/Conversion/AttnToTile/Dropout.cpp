//===- Dropout.cpp - Dropout on fragments -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fragments.h"
#include "ModToMap.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

Value ModToMap::createDropoutMask(Location loc, const Dropout &dropout,
                                  Value fragment, ValueRange offsets,
                                  bool transposed, int64_t heads) {
  auto type = cast<tile::FragmentType>(fragment.getType());
  auto keep = tile::FragmentType::get(builder.getContext(), type.getShape(),
                                      builder.getI1Type(),
                                      tile::FragmentLayout::Accumulator);
  return tile::DropoutMaskOp::create(
      builder, loc, keep, values.lookup(dropout.seed),
      values.lookup(dropout.offset), offsets[kLoopB], offsets[kLoopH],
      offsets[kLoopM], offsets[kLoopN],
      static_cast<int64_t>(dropout.getThreshold()), transposed, heads);
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
  Location loc = step.getLoc();
  Value keep = createDropoutMask(loc, *dropout, p, offsets,
                                 /*transposed=*/false, heads);
  Fragments fragments(builder, loc);
  return fragments.map(p.getType(), {p, keep}, [&](ValueRange args) -> Value {
    return arith::SelectOp::create(builder, loc, args[1], args[0],
                                   fragments.constant(0));
  });
}
