//===- FragmentLayout.h - Layouts as fragments write them ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_IR_FRAGMENTLAYOUT_H
#define LIB_DIALECT_TILE_IR_FRAGMENTLAYOUT_H

#include "attn/Dialect/Tile/IR/Tile.h"

namespace attn::tile {

/// The name of a layout of fragments of `element`, or `layout<...>`.
mlir::ParseResult parseLayout(mlir::AsmParser &parser,
                              FragmentLayoutAttr &layout, mlir::Type element);
void printLayout(mlir::AsmPrinter &printer, FragmentLayoutAttr layout,
                 mlir::Type element);

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_IR_FRAGMENTLAYOUT_H
