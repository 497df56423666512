//===- TileDialect.cpp - Registration of the attn_tile dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace attn::tile;

#include "attn/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "attn/Dialect/Tile/IR/TileEnums.cpp.inc"

void AttnTileDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}
