//===- TileTransposeOps.td - 8-bit operands K-major -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma takes 8-bit operands K-major only, and ldmatrix transposes pairs of
// bytes: a tile of V is rewritten before it is multiplied.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILETRANSPOSEOPS_TD
#define ATTN_DIALECT_TILE_IR_TILETRANSPOSEOPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

def TransposeBytesOp : AttnTile_Op<"transpose_bytes", [MemoryEffects<[MemRead]>]> {
  let summary = "an 8-bit tile [k, n] as an operand [n, k]";
  let description = [{
    The k of a row are in the order in which `attn_tile.to_operand` gives an 8-bit
    operand: of each 16, place 4t + e has k = 2t, 2t + 1, 8 + 2t, 9 + 2t for e = 0
    to 3. A product sums over k, whatever the order, if both operands have it. How
    the tile is rewritten is decided by `--attn-tile-specialize-warps`, which
    removes this op.

    Example:
    ```mlir
    %vt = attn_tile.transpose_bytes %v : !attn_tile.shared<64x128xf8E4M3FN, swizzle = 128>
        -> !attn_tile.shared<128x64xf8E4M3FN, swizzle = 64>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile);
  let results = (outs AttnTile_Shared:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$tile)>];
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def StoreTransposedOp : AttnTile_Op<"store_transposed", [
    MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "rewrite an 8-bit tile [k, n] as an operand [n, k]";
  let description = [{
    As `attn_tile.transpose_bytes` has it, by the four warps of the producer, each a
    part of n. What a warp writes wgmma may read once it has seen an arrival of
    that warp behind this op (PTX ISA, "fence.proxy"). Rows of the source from
    number `rows` on and before number `first`, if given, do not exist: 0 takes the
    place of what TMA has brought of them, in the source, too.

    Example:
    ```mlir
    attn_tile.store_transposed %v rows %left to %vt : !attn_tile.shared<64x128xf8E4M3FN, swizzle = 128>
        to !attn_tile.shared<128x64xf8E4M3FN, swizzle = 64>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$source, Optional<Index>:$rows,
                       Optional<Index>:$first, AttnTile_Shared:$tile);
  let assemblyFormat = [{
    $source (`rows` $rows^)? (`from` $first^)? `to` $tile attr-dict
    `:` type($source) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def WidenBytesOp : AttnTile_Op<"widen_bytes", [MemoryEffects<[MemRead]>]> {
  let summary = "an 8-bit tile as one of 16 bits";
  let description = [{
    Of f8E4M3FN, f8E5M2 and i8 all numbers are ones of f16 and bf16. How the tile is
    rewritten is decided by `--attn-tile-specialize-warps`, which removes this op.

    Example:
    ```mlir
    %wide = attn_tile.widen_bytes %k : !attn_tile.shared<64x128xf8E4M3FN, swizzle = 128>
        -> !attn_tile.shared<64x128xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile);
  let results = (outs AttnTile_Shared:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def StoreWidenedOp : AttnTile_Op<"store_widened", [
    MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "rewrite an 8-bit tile as one of 16 bits";
  let description = [{
    As `attn_tile.widen_bytes` has it, by the four warps of the producer, each a part
    of the rows. What a warp writes products may read once they have seen an arrival
    of that warp behind this op (PTX ISA, "fence.proxy"). Rows from number `rows` on
    and before number `first`, if given, do not exist: 0 takes the place of what TMA
    has brought of them.

    Example:
    ```mlir
    attn_tile.store_widened %v rows %left to %wide : !attn_tile.shared<64x128xf8E4M3FN, swizzle = 128>
        to !attn_tile.shared<64x128xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$source, Optional<Index>:$rows,
                       Optional<Index>:$first, AttnTile_Shared:$tile);
  let assemblyFormat = [{
    $source (`rows` $rows^)? (`from` $first^)? `to` $tile attr-dict
    `:` type($source) `to` type($tile)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILETRANSPOSEOPS_TD
