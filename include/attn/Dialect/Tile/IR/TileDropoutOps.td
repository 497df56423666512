//===- TileDropoutOps.td - What dropout keeps of a tile ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEDROPOUTOPS_TD
#define ATTN_DIALECT_TILE_IR_TILEDROPOUTOPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

def DropoutMaskOp : AttnTile_Op<"dropout_mask", [Pure]> {
  let summary = "which elements of a tile dropout keeps";
  let description = [{
    Element (r, c) is true where the word of `seed`, `offset` and (b, h, i + r,
    j + c), with `transposed` (b, h, i + c, j + r), is `threshold` or more as an
    unsigned number (docs/Spec.md, "Dropout"). With `heads` = G > 1 the rows are
    those of G neighbouring heads from h on, rows / G of each, as `attn_tile.load`
    has them.

    i and j are multiples of 16, but for i with `heads`. A call of Philox gives the
    words of rows g and g + 8 and of columns 2t and 2t + 8, which one thread holds,
    of a tile and of its transpose; with less than 16 rows of a head, those of one
    row.

    Example:
    ```mlir
    %keep = attn_tile.dropout_mask %seed, %offset at(%b, %h, %i, %j) threshold(429496729)
        : !attn_tile.fragment<128x64xi1, accumulator>
    ```
  }];
  let arguments = (ins I64:$seed, I64:$offset, Index:$b, Index:$h, Index:$i,
                       Index:$j, I64Attr:$threshold, UnitAttr:$transposed,
                       DefaultValuedAttr<I64Attr, "1">:$heads);
  let results = (outs AttnTile_Fragment:$keep);
  let assemblyFormat = [{
    $seed `,` $offset `at` `(` $b `,` $h `,` $i `,` $j `)`
    `threshold` `(` $threshold `)` (`transposed` $transposed^)? attr-dict
    `:` type($keep)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILEDROPOUTOPS_TD
