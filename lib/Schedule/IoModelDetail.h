//===- IoModelDetail.h - Shared pieces of the I/O counts -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SCHEDULE_IOMODELDETAIL_H
#define ATTN_LIB_SCHEDULE_IOMODELDETAIL_H

#include "attn/Schedule/IoModel.h"

namespace attn {
namespace detail {

/// Reads `keyRows` rows of K and of V.
void readKeyValueRows(Traffic &traffic, const HeadShape &head, int64_t keyRows);

/// result[m x n] = a[m x k] * b[k x n].
struct Product {
  Operand a, b, result;
  int64_t m, k, n;
};

/// The product with bm x bn tiles of the result in fast memory: a is read once
/// for each column of tiles, b once for each row of tiles.
void addProduct(Traffic &traffic, const Product &product, int64_t bm,
                int64_t bn);

} // namespace detail
} // namespace attn

#endif // ATTN_LIB_SCHEDULE_IOMODELDETAIL_H
