//===- FragmentSlices.h - Maps of some columns ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of passes that compute a fragment some columns at a time. Private to
// lib/Dialect/Tile/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_FRAGMENTSLICES_H
#define LIB_DIALECT_TILE_TRANSFORMS_FRAGMENTSLICES_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/IRMapping.h"

namespace attn::tile {

/// `type`, of columns, with as many of them.
FragmentType getSliceType(FragmentType type, int64_t columns);

/// `map` for `columns` columns from `column` on, of inputs that `mapping` has
/// and of rows; `mapping` has its result then. Its region sees the columns of
/// the whole fragment.
void cloneMapOfColumns(mlir::OpBuilder &builder, MapOp map, int64_t column,
                       int64_t columns, mlir::IRMapping &mapping);

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_FRAGMENTSLICES_H
