//===- FragmentPosition.h - Where registers stand --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_TILETONVVM_FRAGMENTPOSITION_H
#define LIB_CONVERSION_TILETONVVM_FRAGMENTPOSITION_H

#include "attn/Dialect/Tile/IR/Tile.h"

namespace attn::tile {

/// Where a register of a fragment stands: rows by blocks of 16 and halves of
/// 8, columns by blocks of 8 and two neighbours.
struct Position {
  int64_t rowBlock, rowHalf, colBlock, colParity;
  /// Index among the registers of a row fragment.
  int64_t rowRegister() const { return rowBlock * 2 + rowHalf; }
  /// Index among the registers of a column fragment.
  int64_t columnRegister() const { return colBlock * 2 + colParity; }
};

/// The position of register `i` of an accumulator, row or column fragment.
inline Position positionOf(FragmentType type, int64_t i) {
  if (type.isRow())
    return {i / 2, i % 2, 0, 0};
  if (type.isColumn())
    return {0, 0, i / 2, i % 2};
  int64_t colBlocks = type.getShape()[1] / 8;
  int64_t block = i / 4;
  return {block / colBlocks, (i / 2) % 2, block % colBlocks, i % 2};
}

/// The column of a position, from the thread's first one on.
inline int64_t columnDistance(FragmentType type, const Position &position) {
  if (!type.isQuads())
    return position.colBlock * 8 + position.colParity;
  return position.colBlock / 2 * 16 + position.colParity * 2 +
         position.colBlock % 2;
}

} // namespace attn::tile

#endif // LIB_CONVERSION_TILETONVVM_FRAGMENTPOSITION_H
