//===- FirstKeys.cpp - Where keys begin that rows see ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FirstKeys.h"

#include "attn/Analysis/KeyRanges.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModRegion.h"

using namespace mlir;
using namespace attn;

int64_t attn::run::findFirstKey(AttentionOp attention,
                                const SequenceSizes &sizes) {
  // Tiles of several heads have no bounds where these differ, and a mask that
  // looks at entries of a table is run for all keys by the reference.
  if (!attention.hasMaskMod() || sizes.rows == 0)
    return 0;
  Block &mask = attention.getMaskMod().front();
  if (!mask.getArgument(kLoopH).use_empty() ||
      readsByTable(attention.getMaskMod()))
    return 0;
  // Of numbers that are known bounds are, and nothing is built.
  Block scratch;
  OpBuilder builder(attention.getContext());
  builder.setInsertionPointToEnd(&scratch);
  bool isKnown = true;
  auto materialize = [&](Value term) -> OpFoldResult {
    if (auto length = term.getDefiningOp<LengthOp>())
      return builder.getIndexAttr(length.getSequence() == Sequence::query
                                      ? sizes.queryLength
                                      : sizes.keyLength);
    isKnown &= term == mask.getArgument(kLoopB);
    return builder.getIndexAttr(sizes.batch);
  };
  Location loc = attention.getLoc();
  constexpr unsigned kMostRanges = 4;
  KeyVisibility visibility = computeVisibility(
      builder, loc, analyzeMask(attention.getMaskMod()),
      {builder.getIndexAttr(0), builder.getIndexAttr(sizes.rows - 1)},
      builder.getIndexAttr(sizes.keyLength), materialize, kMostRanges);
  IndexMath math(builder, loc);
  OpFoldResult first = visibility.getFirstKey(math);
  return isKnown && first ? getConstantIntValue(first).value_or(0) : 0;
}
