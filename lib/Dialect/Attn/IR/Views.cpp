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
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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

/// True if a slice takes all of dimension `dim` of its source: the size is that
/// of the type, or a tensor.dim of the source or of what was appended to.
static bool takesAll(tensor::ExtractSliceOp slice, int64_t dim) {
  OpFoldResult size = slice.getMixedSizes()[dim];
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return slice.getSourceType().getDimSize(dim) == known;
  auto read = cast<Value>(size).getDefiningOp<tensor::DimOp>();
  return read && read.getConstantIndex() == dim &&
         getStorage(read.getSource()) == getStorage(slice.getSource());
}

Value attn::skipColumns(Value tensor) {
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getType().getRank() != 4 ||
      slice.getSourceType().getRank() != 4 || !slice.hasUnitStride())
    return tensor;
  for (OpFoldResult offset : slice.getMixedOffsets())
    if (!isZeroInteger(offset))
      return tensor;
  for (int64_t dim : {kBatch, kHead, kSequence})
    if (!takesAll(slice, dim))
      return tensor;
  return haveLatentRows(slice.getSourceType(), slice.getType())
             ? slice.getSource()
             : tensor;
}

bool attn::isValueInKey(Value key, Value value) {
  PagedOp keyPages = key.getDefiningOp<PagedOp>(),
          valuePages = value.getDefiningOp<PagedOp>();
  if (!keyPages || !valuePages)
    return !keyPages && !valuePages &&
           (value == key || skipColumns(value) == key);
  return keyPages.getTable() == valuePages.getTable() &&
         keyPages.getOffsets() == valuePages.getOffsets() &&
         skipColumns(valuePages.getPool()) == keyPages.getPool();
}

bool attn::haveLatentRows(ShapedType key, ShapedType value) {
  constexpr int64_t widest = 256;
  int64_t headDim = key.getShape().back(), valueDim = value.getShape().back();
  int64_t bits = key.getElementTypeBitWidth();
  // Of 128 bytes, or 64 where those of 128 are not the whole row.
  int64_t panel = (headDim * bits % 1024 == 0 ? 1024 : 512) / bits;
  return headDim > widest && headDim % panel == 0 && valueDim % panel == 0 &&
         llvm::alignTo(valueDim, widest) <= static_cast<uint64_t>(headDim) &&
         bits <= 16;
}

Value attn::getStorage(Value pool) {
  while (auto append = pool.getDefiningOp<AppendOp>())
    pool = append.getDpsInits()[cast<OpResult>(pool).getResultNumber()];
  return pool;
}

std::string KeyStorage::findTmaObstacle(int64_t tileN) const {
  for (Value tensor : {key, value})
    if (PagedOp pages = getPages(tensor)) {
      int64_t page = pages.getPool().getType().getDimSize(kSequence);
      if (!fitsPages(tileN ? tileN : page, page))
        return "TMA brings tiles of up to 8 pages of a multiple of 8 keys, or "
               "a part of one, and pages have " +
               std::to_string(page);
    }
  return "";
}
