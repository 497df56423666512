//===- Views.cpp - Where the keys and values of a tile are ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Views.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Schedule/Constraints.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

Value attn::skipHeadMap(Value tensor) {
  auto view = tensor.getDefiningOp<SelectHeadsOp>();
  return view ? view.getSource() : tensor;
}

/// The whole tensor that `tensor` is a slice of, or selects heads of.
static Value getWhole(Value tensor) {
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  return skipHeadMap(slice ? slice.getSource() : tensor);
}

PagedOp attn::getPages(Value tensor) {
  return getWhole(tensor).getDefiningOp<PagedOp>();
}

RaggedOp attn::getRagged(Value tensor) {
  return getWhole(tensor).getDefiningOp<RaggedOp>();
}

Value attn::getStorage(Value pool) {
  while (auto append = pool.getDefiningOp<AppendOp>())
    pool = append.getPools()[cast<OpResult>(pool).getResultNumber()];
  return pool;
}

std::string KeyStorage::findTmaObstacle(const Family &family,
                                        int64_t tileN) const {
  if (!family.hasRoles())
    return "";
  if (getRagged(key) || getRagged(value))
    return "TMA reads whole tiles, and sequences lie behind each other";
  bool isPaged = false;
  for (Value tensor : {key, value})
    if (PagedOp pages = getPages(tensor)) {
      isPaged = true;
      int64_t page = pages.getPool().getType().getDimSize(kSequence);
      if (!fitsPages(tileN ? tileN : page, page))
        return "TMA brings tiles of up to 8 pages of a multiple of 8 keys, or "
               "a part of one, and pages have " +
               std::to_string(page);
    }
  if (!isPaged && !lengths)
    return "";
  if (family.facts.tensorColumns)
    return "keys end at their lengths or are in pages, and nothing clears what "
           "products in tensor memory read behind them";
  if (getElementTypeOrSelf(value).getIntOrFloatBitWidth() < 16)
    return "keys end at their lengths or are in pages, and nothing clears "
           "values of 8 bits behind them";
  return "";
}
