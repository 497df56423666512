//===- TileRowOps.td - Rows of a tile that change ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries that are turned or normalised where their tile is, in shared memory,
// and values behind a length.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEROWOPS_TD
#define ATTN_DIALECT_TILE_IR_TILEROWOPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

def ChangeRowsOp : AttnTile_Op<"change_rows", [
    MemoryEffects<[MemRead, MemWrite]>, SingleBlock, NoTerminator]> {
  let summary = "rows of a tile, changed where they are";
  let description = [{
    Each of the warps that compute takes the rows that it has of a fragment
    (attn_tile.fragment), as many at once as the region has arguments: their
    numbers in the tile. All lanes are there for each, and a row is a warp's
    alone: of warps that share rows, the first one's. Behind this op a warp has
    its own rows; with a `warpgroup`, which
    `--attn-tile-specialize-warps` adds, products of that warpgroup have those of
    all of its warps (PTX ISA, "fence.proxy").

    Example:
    ```mlir
    attn_tile.change_rows %qt : !attn_tile.shared<64x64xf16, swizzle = 128> {
    ^bb0(%row: index):
      %x = attn_tile.load_element %qt[%row, %lane] : !attn_tile.shared<64x64xf16, swizzle = 128>
      %y = arith.negf %x : f16
      attn_tile.store_element %y, %qt[%row, %lane] : !attn_tile.shared<64x64xf16, swizzle = 128>
    }
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile, Optional<Index>:$warpgroup);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $tile (`[` $warpgroup^ `]`)? attr-dict `:` type($tile) $body
  }];
  let hasVerifier = 1;
}

def LoadElementOp : AttnTile_Op<"load_element", [MemoryEffects<[MemRead]>,
    TypesMatchWith<"element is of the tile's element type", "tile", "element",
      "::mlir::cast<::attn::tile::SharedType>($_self).getElementType()">]> {
  let summary = "one element of a tile, read by each thread for itself";
  let description = [{
    Example:
    ```mlir
    %x = attn_tile.load_element %qt[%row, %col] : !attn_tile.shared<64x64xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile, Index:$row, Index:$col);
  let results = (outs AnyType:$element);
  let assemblyFormat = "$tile `[` $row `,` $col `]` attr-dict `:` type($tile)";
}

def StoreElementOp : AttnTile_Op<"store_element", [MemoryEffects<[MemWrite]>,
    TypesMatchWith<"value is of the tile's element type", "tile", "value",
      "::mlir::cast<::attn::tile::SharedType>($_self).getElementType()">]> {
  let summary = "write one element of a tile, by each thread that is here";
  let description = [{
    Example:
    ```mlir
    attn_tile.store_element %x, %qt[%row, %col] : !attn_tile.shared<64x64xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AnyType:$value, AttnTile_Shared:$tile, Index:$row,
                       Index:$col);
  let assemblyFormat = [{
    $value `,` $tile `[` $row `,` $col `]` attr-dict `:` type($tile)
  }];
}

def NarrowRowsOp : AttnTile_Op<"narrow_rows", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "rows of bf16, as f16 where they are";
  let description = [{
    Each warp makes the rows that it has of a fragment f16, in the same places:
    `tile = narrow * factor`, where the factor of a row is the power of two from
    2^-126 to 2^113 with which the largest magnitude of the row in `narrow` is at
    least 2^14 and below 2^15, or the nearest to it. Numbers are exact that are
    no less than 2^-29 of the largest one, others are off by less than 2^-39 of
    it. Infinities and NaN stay. Behind this op a warp has its own rows, and
    nobody reads `tile`.

    Example:
    ```mlir
    %narrow, %factor = attn_tile.narrow_rows %qt : !attn_tile.shared<16x128xbf16, swizzle = 128>
        to !attn_tile.shared<16x128xf16, swizzle = 128>, !attn_tile.fragment<16xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile);
  let results = (outs AttnTile_Shared:$narrow, AttnTile_Fragment:$factor);
  let assemblyFormat = [{
    $tile attr-dict `:` type($tile) `to` type($narrow) `,` type($factor)
  }];
  let hasVerifier = 1;
}

def ClearRowsOp : AttnTile_Op<"clear_rows", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "zeros in the rows of a tile that do not exist";
  let description = [{
    The warps that compute write 0 to the rows of a tile of 16 or 8 bits from number
    `rows` on, and to those before number `first`, and meet: a product that one of them starts behind
    this op has the zeros (PTX ISA, "fence.proxy"). All of them have the same `rows` and `first`; where
    every row exists nothing is written, and nobody waits. What TMA brings of rows behind a length, or
    left of a window, may be NaN, and 0 * NaN is NaN.

    Example:
    ```mlir
    attn_tile.clear_rows %vt from %left : !attn_tile.shared<64x128xf16, swizzle = 128>
    attn_tile.clear_rows %vt from %left before %first
        : !attn_tile.shared<64x128xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile, Index:$rows,
                       Optional<Index>:$first);
  let assemblyFormat = [{
    $tile `from` $rows (`before` $first^)? attr-dict `:` type($tile)
  }];
  let hasVerifier = 1;
}

def StoreSharedRowsOp : AttnTile_Op<"store_shared_rows",
    [MemoryEffects<[MemWrite]>]> {
  let summary = "one value for each row, to a vector in shared memory";
  let description = [{
    Element r of `vector` becomes the value of row r of `source`: for warps that
    have those rows in another layout, or in another role.

    Example:
    ```mlir
    attn_tile.store_shared_rows %sums to %vector
        : !attn_tile.fragment<256xf32, lane_row> to !attn_tile.shared<1x256xf32, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, AttnTile_Shared:$vector);
  let assemblyFormat = [{
    $source `to` $vector attr-dict `:` type($source) `to` type($vector)
  }];
  let hasVerifier = 1;
}

def LoadSharedRowsOp : AttnTile_Op<"load_shared_rows",
    [MemoryEffects<[MemRead]>]> {
  let summary = "one value for each row, from a vector in shared memory";
  let description = [{
    The converse of `attn_tile.store_shared_rows`.

    Example:
    ```mlir
    %sums = attn_tile.load_shared_rows %vector
        : !attn_tile.shared<1x256xf32, swizzle = 128> -> !attn_tile.fragment<256xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$vector);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $vector attr-dict `:` type($vector) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILEROWOPS_TD
