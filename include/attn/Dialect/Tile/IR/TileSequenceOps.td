//===- TileSequenceOps.td - A sequence of many ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILESEQUENCEOPS_TD
#define ATTN_DIALECT_TILE_IR_TILESEQUENCEOPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

def SequenceOp : AttnTile_Op<"sequence", [Pure]> {
  let summary = "one of the sequences that are behind each other in a tensor";
  let description = [{
    The rows [first, first + rows) of all heads, as a tensor of their own: of
    [all rows, H, D] one [1, H, rows, D], of [H, all rows] one [1, H, rows], of
    the entries [all rows] of a table one [1, rows]. Any
    index of a batch is that of the sequence. What ends a tile at the end of a
    tensor ends it at the end of the sequence.

    Example:
    ```mlir
    %q = attn_tile.sequence %packed[%first] rows(%rows)
        : <?x8x64xf16> -> <1x8x?x64xf16>
    ```
  }];
  let arguments = (ins AttnTile_Global:$packed, Index:$first, Index:$rows);
  let results = (outs AttnTile_Global:$view);
  let assemblyFormat = [{
    $packed `[` $first `]` `rows` `(` $rows `)` attr-dict
    `:` type($packed) `->` type($view)
  }];
  let extraClassDeclaration = [{
    /// The dimension of `packed` that has rows.
    static unsigned getRowDim(GlobalType packed) {
      return packed.getRank() == 2 ? 1 : 0;
    }
    /// The type of a sequence of `packed`.
    static GlobalType getViewType(GlobalType packed);
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILESEQUENCEOPS_TD
