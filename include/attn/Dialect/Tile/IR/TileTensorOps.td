//===- TileTensorOps.td - Tensor memory and products there --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILETENSOROPS_TD
#define ATTN_DIALECT_TILE_IR_TILETENSOROPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

def AttnTile_Tensor : AttnTile_Type<"TensorTile", "tensor"> {
  let summary = "a tile in tensor memory";
  let description = [{
    `rows x cols`. Tensor memory (PTX ISA, tcgen05) has 128 lanes of 512 cells of
    32 bits. Warpgroup g of the kernel has rows [128 g, 128 (g + 1)) in its own
    columns of all lanes: row r in lane r mod 128, an f32 or i32 in a cell, or two 16-bit
    or four 8-bit elements of neighbouring columns. A warp reaches the 32 lanes of its number in
    the warpgroup, the rows of its fragments.

    Example: `!attn_tile.tensor<256x64xf32>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<TileShape>($shape, $elementType) `>`";
  let extraClassDeclaration = [{
    static constexpr int64_t kLanes = 128, kMostColumns = 512;
    int64_t getRows() const { return getShape().front(); }
    int64_t getCols() const { return getShape().back(); }
    int64_t getWarpgroups() const { return getRows() / kLanes; }
    /// Columns of tensor memory that a warpgroup has.
    int64_t getGroupColumns() const {
      return getCols() * getElementType().getIntOrFloatBitWidth() / 32;
    }
    /// Columns of all warpgroups.
    int64_t getColumns() const { return getWarpgroups() * getGroupColumns(); }
    /// What is allocated for tiles of `types`, a power of two; may be more than
    /// there is.
    static int64_t getAllocation(::mlir::TypeRange types);
  }];
}

class AttnTile_TensorOp<string mnemonic, list<Trait> traits = []> :
    AttnTile_Op<mnemonic,
                traits # [MemoryEffects<[MemRead, MemWrite]>]>;

def AllocTensorsOp : AttnTile_TensorOp<"alloc_tensors"> {
  let summary = "room for tiles in tensor memory";
  let description = [{
    All threads of the CTA meet, at `init_mbarriers` behind the op if the tiles take
    all columns. The tiles lie one after the other. Another CTA of
    the SM that wants more than there is waits until this one has freed them.
    `offset` is the place in shared memory where the address is handed over, as in
    `attn_tile.alloc`.

    Example:
    ```mlir
    %s, %o = attn_tile.alloc_tensors
        : !attn_tile.tensor<256x64xf32>, !attn_tile.tensor<256x128xf32>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Variadic<AttnTile_Tensor>:$tiles);
  let assemblyFormat = "attr-dict `:` type($tiles)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of the place in shared memory.
    static constexpr int64_t kBytes = 8;
  }];
}

def FreeTensorsOp : AttnTile_TensorOp<"free_tensors"> {
  let summary = "give tiles of tensor memory back";
  let description = [{
    All tiles of an `alloc_tensors`, when the consumers have met and all products
    have been waited for.

    Example:
    ```mlir
    %s, %o = attn_tile.alloc_tensors
        : !attn_tile.tensor<256x64xf32>, !attn_tile.tensor<256x128xf32>
    attn_tile.free_tensors %s, %o
        : !attn_tile.tensor<256x64xf32>, !attn_tile.tensor<256x128xf32>
    ```
  }];
  let arguments = (ins Variadic<AttnTile_Tensor>:$tiles);
  let assemblyFormat = "$tiles attr-dict `:` type($tiles)";
  let hasVerifier = 1;
}

def NarrowTensorOp : AttnTile_Op<"narrow_tensor", [Pure]> {
  let summary = "the place of a product as one for an operand of its size";
  let description = [{
    The first half of a warpgroup's columns of `tile`, for as many elements of 16
    bits, or the first quarter for 8 bits. What is stored there takes the place of what the warps have read.

    Example:
    ```mlir
    %p = attn_tile.narrow_tensor %s[%warpgroup]
        : !attn_tile.tensor<256x64xf32> -> !attn_tile.tensor<256x64xf16>
    ```
  }];
  let arguments = (ins AttnTile_Tensor:$tile, Index:$warpgroup);
  let results = (outs AttnTile_Tensor:$result);
  let assemblyFormat = [{
    $tile `[` $warpgroup `]` attr-dict `:` type($tile) `->` type($result)
  }];
  let hasVerifier = 1;
}

def StoreTensorOp : AttnTile_TensorOp<"store_tensor"> {
  let summary = "write a fragment to tensor memory";
  let description = [{
    Each warp writes its rows; they are there when the op is done. A product of the
    warpgroup may read an operand there, or add to an accumulator. An operand of 8
    bits is what `to_operand` gives, and is stored by columns. The source has rows
    in lanes (`lane_row`), or a quad's parts of them (`accumulator`, or what
    `to_operand` makes of it). A source of fewer
    columns takes the place of those of the tile from `column` on. With `pending` they
    are there when a later `store_tensor` of the warp is done.

    Example:
    ```mlir
    attn_tile.store_tensor %p to %t[%warpgroup]
        : !attn_tile.fragment<256x64xf16, operand_a> to !attn_tile.tensor<256x64xf16>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, AttnTile_Tensor:$tile,
                       Index:$warpgroup,
                       DefaultValuedAttr<I64Attr, "0">:$column,
                       UnitAttr:$pending);
  let assemblyFormat = [{
    $source `to` $tile `[` $warpgroup `]` attr-dict
    `:` type($source) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def MmaTensorOp : AttnTile_TensorOp<"mma_tensor"> {
  let summary = "start tile = a * b, or tile += a * b, on tensor cores";
  let description = [{
    One thread of the warpgroup starts the product of its 128 rows of `a`, which
    is in shared or tensor memory, and `b`, which is [k, n] in shared memory or
    with `transpose_b` [n, k]; with `accumulate` it is added to what the tile
    holds. When it is complete, it arrives at the barrier of the warpgroup (PTX
    ISA, tcgen05.mma, tcgen05.commit); so are then all products that the thread
    has started before, which may have no barrier. With `meet` the warps of the
    warpgroup meet before, so that what they have read and written in tensor
    memory comes first: without, they have met since. With `one_thread` a role of
    one thread runs the op, which the warps have told what is there (`fence_tensors`).
    With `depth` = [from, to] it is the part of the product that columns [from, to) of
    `a` and the rows of `b` with these numbers have. In a kernel of `cta_pairs` the
    first CTA's thread starts the product of both, whose `a` and `tile` are at the same
    place; `b` is half of the right operand, the first CTA's the first columns of `tile`,
    and the barrier is that of both.

    Example:
    ```mlir
    attn_tile.mma_tensor %q, %kt transpose_b into %s[%warpgroup], %done meet
        : !attn_tile.shared<256x64xf16, swizzle = 128>,
          !attn_tile.shared<64x64xf16, swizzle = 128>
          into !attn_tile.tensor<256x64xf32>, !attn_tile.mbarrier<2, arrivals = 1>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AttnTile_Shared, AttnTile_Tensor]>:$a,
                       AttnTile_Shared:$b, UnitAttr:$transpose_b,
                       AttnTile_Tensor:$tile, Index:$warpgroup,
                       Optional<AttnTile_Mbarrier>:$barrier, UnitAttr:$accumulate,
                       UnitAttr:$meet, UnitAttr:$one_thread,
                       OptionalAttr<DenseI64ArrayAttr>:$depth);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                                 "bool":$transposeB, "::mlir::Value":$tile,
                                 "::mlir::Value":$warpgroup, "::mlir::Value":$barrier,
                                 "bool":$accumulate, "bool":$meet), [{
    build($_builder, $_state, a, b, transposeB, tile, warpgroup, barrier,
          accumulate, meet, /*one_thread=*/false, /*depth=*/nullptr);
  }]>];
  let assemblyFormat = [{
    $a `,` $b (`transpose_b` $transpose_b^)? `into` $tile `[` $warpgroup `]`
    (`,` $barrier^)? (`accumulate` $accumulate^)? (`meet` $meet^)?
    (`one_thread` $one_thread^)? (`depth` `=` $depth^)? attr-dict
    `:` type($a) `,` type($b) `into` type($tile) (`,` type($barrier)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Type getElementOfA();
    /// Columns of `a` and rows of `b` that all of the product has.
    int64_t getWholeDepth();
  }];
}

def CommitTensorsOp : AttnTile_TensorOp<"commit_tensors"> {
  let summary = "let all products that were started arrive at an mbarrier";
  let description = [{
    The products that this thread has started before are one arrival, when all of
    them are complete (PTX ISA, tcgen05.commit); without any it is there at once.
    So a stage is given back by the products that read it. In a role of one thread.
    With `ctas` = C > 1 they arrive at the barrier in each CTA of the cluster of C.

    Example:
    ```mlir
    attn_tile.roles producer(56) {
      attn_tile.mbarrier_wait %empty[%stage], %parity : !attn_tile.mbarrier<2, arrivals = 1>
    } products {
      attn_tile.mma_tensor %p, %vt into %o[%group] accumulate one_thread : ...
      attn_tile.commit_tensors %empty[%stage] : !attn_tile.mbarrier<2, arrivals = 1>
    } consumer(240) {
    ^bb0(%warpgroup: index):
    }
    ```
  }];
  let arguments = (ins AttnTile_Mbarrier:$barrier, Index:$stage,
                       DefaultValuedAttr<I64Attr, "1">:$ctas);
  let assemblyFormat = "$barrier `[` $stage `]` attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def FenceTensorsOp : AttnTile_TensorOp<"fence_tensors"> {
  let summary = "order tensor memory with what threads tell each other";
  let description = [{
    Before a thread arrives at an mbarrier, for what it has read and written in
    tensor memory; with `after` behind its wait, for what it reads, writes or
    multiplies then (PTX ISA, tcgen05.fence).

    Example:
    ```mlir
    attn_tile.fence_tensors
    attn_tile.fence_tensors after
    ```
  }];
  let arguments = (ins UnitAttr:$after);
  let assemblyFormat = "(`after` $after^)? attr-dict";
}

def LoadTensorOp : AttnTile_TensorOp<"load_tensor"> {
  let summary = "read a product from tensor memory";
  let description = [{
    `result` is the tile, or `acc` plus the tile: each warp reads its rows. The
    barrier of the product has been waited for. A `result` of fewer columns has
    those of the tile from `column` on. With `fenced` the op is behind another that
    reads the product, and that has fenced it.

    Example:
    ```mlir
    %o1 = attn_tile.load_tensor %t[%warpgroup] acc(%o : !attn_tile.fragment<256x64xf32, accumulator>)
        : !attn_tile.tensor<256x64xf32> -> !attn_tile.fragment<256x64xf32, accumulator>
    ```
  }];
  let arguments = (ins AttnTile_Tensor:$tile, Index:$warpgroup,
                       Optional<AttnTile_Fragment>:$acc,
                       DefaultValuedAttr<I64Attr, "0">:$column,
                       UnitAttr:$fenced);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $tile `[` $warpgroup `]` (`acc` `(` $acc^ `:` type($acc) `)`)? attr-dict
    `:` type($tile) `->` type($result)
  }];
  let hasVerifier = 1;
}

def ScaleTensorOp : AttnTile_TensorOp<"scale_tensor"> {
  let summary = "multiply the rows of a product in tensor memory";
  let description = [{
    tile[r, c] *= factor[r]. Each warp reads and writes its rows, which are there
    when the op is done. All products into the tile have been waited for.

    Example:
    ```mlir
    attn_tile.scale_tensor %t[%warpgroup] by %decay
        : !attn_tile.tensor<256x64xf32>, !attn_tile.fragment<256xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Tensor:$tile, Index:$warpgroup,
                       AttnTile_Fragment:$factor);
  let assemblyFormat = [{
    $tile `[` $warpgroup `]` `by` $factor attr-dict `:` type($tile) `,` type($factor)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILETENSOROPS_TD
