//===- TileDropoutOps.td - What dropout keeps of a tile ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEDROPOUTOPS_TD
#define ATTN_DIALECT_TILE_IR_TILEDROPOUTOPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

def DropoutOp : AttnTile_Op<"dropout", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "the elements of a tile that dropout keeps";
  let description = [{
    Element (r, c) is kept where the word of `seed`, `offset` and (b, h, i + r,
    j + c), with `transposed` (b, h, i + c, j + r), is `threshold` or more as an
    unsigned number (docs/Spec.md, "Dropout"). Others become 0, or with `signs`
    their negatives: of a source that has none, the sign bits then say what is
    dropped, and take no registers. With `heads` = G > 1 the rows are those of G
    neighbouring heads from h on, rows / G of each, as `attn_tile.load` has them.

    i and j are multiples of 16, but for i with `heads`. A call of Philox gives the
    words of rows g and g + 8 and of columns 2t and 2t + 8, which one thread holds,
    of a tile and of its transpose; with less than 16 rows of a head, those of one
    row. All lanes of a warp must be here.

    Example:
    ```mlir
    %kept = attn_tile.dropout %p, %seed, %offset at(%b, %h, %i, %j) threshold(429496729)
        : !attn_tile.fragment<128x64xf32, accumulator>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, I64:$seed, I64:$offset,
                       Index:$b, Index:$h, Index:$i, Index:$j,
                       I64Attr:$threshold, UnitAttr:$signs,
                       UnitAttr:$transposed,
                       DefaultValuedAttr<I64Attr, "1">:$heads);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $source `,` $seed `,` $offset `at` `(` $b `,` $h `,` $i `,` $j `)`
    `threshold` `(` $threshold `)` (`signs` $signs^)?
    (`transposed` $transposed^)? attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILEDROPOUTOPS_TD
