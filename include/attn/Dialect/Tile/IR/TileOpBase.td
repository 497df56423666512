//===- TileOpBase.td - What ops of the attn_tile dialect have in common -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEOPBASE_TD
#define ATTN_DIALECT_TILE_IR_TILEOPBASE_TD

include "attn/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class AttnTile_Op<string mnemonic, list<Trait> traits = []> :
    Op<AttnTile_Dialect, mnemonic, traits>;

#endif // ATTN_DIALECT_TILE_IR_TILEOPBASE_TD
