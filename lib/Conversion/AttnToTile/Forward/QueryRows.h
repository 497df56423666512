//===- QueryRows.h - Queries that change in their tile ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_FORWARD_QUERYROWS_H
#define LIB_CONVERSION_ATTNTOTILE_FORWARD_QUERYROWS_H

#include "Kernel/RowChains.h"

#include "mlir/IR/IRMapping.h"

namespace attn {

/// Changes the rows of the tile that `load` brings, as `chain` says, before it
/// is read. With packed heads the rows are those of one head after another.
void changeQueryRows(mlir::OpBuilder &builder, tile::LoadOp load,
                     const RowChain &chain, const mlir::IRMapping &values);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_FORWARD_QUERYROWS_H
