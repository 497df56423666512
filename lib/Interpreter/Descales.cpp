//===- Descales.cpp - What numbers of 8 bits stand for --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descales.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace attn;

LogicalResult attn::checkDivisors(Operation *op,
                                  const reference::Tensor &descale) {
  for (int64_t i = 0; i < descale.getNumElements(); ++i)
    if (!std::isfinite(descale[i]) || descale[i] <= 0)
      return op->emitOpError() << llvm::formatv(
                 "expected finite descales above 0, got {0} as element {1} of "
                 "{2}",
                 descale[i], i, reference::formatShape(descale.getShape()));
  return success();
}

LogicalResult attn::checkDescale(Operation *op,
                                 const reference::Tensor &descale,
                                 const reference::Tensor &query,
                                 const reference::Tensor &key) {
  std::vector<int64_t> heads = {query.getDim(kBatch), key.getDim(kHead)};
  if (descale.getRank() == 1 || descale.getShape() == heads)
    return success();
  return op->emitOpError() << "expected a descale of "
                           << reference::formatShape(heads) << ", got "
                           << reference::formatShape(descale.getShape());
}

double attn::getDescaleOfHead(const reference::Tensor &descale, int64_t heads,
                              int64_t head) {
  if (descale.getRank() == 1)
    return descale[0];
  int64_t keyHeads = descale.getDim(1);
  return descale[head / heads * keyHeads + head % heads / (heads / keyHeads)];
}
