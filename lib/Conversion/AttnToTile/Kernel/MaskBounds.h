//===- MaskBounds.h - Fewer comparisons in a mask ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a mask says of an element of a tile, where it is computed in a map:
// comparisons of its column, each an instruction for each score, with bounds
// that mostly depend on the row alone and cost nothing. So what else has to
// hold goes into such a bound. Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_MASKBOUNDS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_MASKBOUNDS_H

#include "mlir/IR/Builders.h"

namespace attn {

/// `visible`, and false for positions `col` beyond `last`: where it compares
/// the position with a bound from above, by a lower one. Null if it does not.
mlir::Value boundColumn(mlir::OpBuilder &builder, mlir::Value visible,
                        mlir::Value col, mlir::Value last);

/// `visible`, without the conditions that do not depend on the column, whose
/// number in the tile is `inTile` and whose position `col`, from 0 to 2^31 - 2:
/// where one of them does not hold, a bound of the position is one that no
/// position keeps. As it was where it has no such bound.
mlir::Value boundByRow(mlir::OpBuilder &builder, mlir::Value visible,
                       mlir::Value col, mlir::Value inTile);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_MASKBOUNDS_H
