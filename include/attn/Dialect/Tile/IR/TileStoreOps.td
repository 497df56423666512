//===- TileStoreOps.td - From registers to memory -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILESTOREOPS_TD
#define ATTN_DIALECT_TILE_IR_TILESTOREOPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

def StoreOp : AttnTile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a fragment to global memory";
  let description = [{
    Row r of the fragment goes to row `row + r` of the matrix (or to the element
    of the vector, for a row fragment) at the leading `indices`, rounded to the
    element type: to its first columns, or to those from `col` on if there is
    one more index. With `heads` = G > 1 the fragment has the same rows / G rows
    of each of G neighbouring matrices. Elements past the ends are not written.
    Columns go in pairs, so that of an odd number of columns one more is written;
    with `single` they go one by one, to rows of any length.

    Example:
    ```mlir
    attn_tile.store %acc, %o[%b, %h, %m]
        : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.global<?x8x?x64xf16>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, AttnTile_Global:$destination,
                       Variadic<Index>:$indices,
                       DefaultValuedAttr<I64Attr, "1">:$heads,
                       UnitAttr:$single);
  let assemblyFormat = [{
    $source `,` $destination `[` $indices `]` (`single` $single^)? attr-dict
    `:` type($source) `,` type($destination)
  }];
  let hasVerifier = 1;
}

def StoreSharedOp : AttnTile_Op<"store_shared", [MemoryEffects<[MemWrite]>]> {
  let summary = "write an accumulator to a shared tile";
  let description = [{
    Rounded to the tile's element type. Each warp writes its own rows (PTX ISA,
    stmatrix), when all warps of its warpgroup are here: what they have read from
    the tile before may be overwritten. A source of fewer columns is written from
    `column` on; behind the one from 0 on, nobody is waited for. With `transpose`
    the tile is [n, m] for a fragment of [m, n], the columns of a warp are its own,
    and it waits for nobody. With `pairs` each lane writes its pairs of columns (sm_80 has no
    stmatrix), and waits for nobody either.

    Example:
    ```mlir
    attn_tile.store_shared %acc to %tile : !attn_tile.fragment<128x64xf32, accumulator>
        to !attn_tile.shared<128x64xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, AttnTile_Shared:$tile,
                       UnitAttr:$transpose, UnitAttr:$pairs,
                       DefaultValuedAttr<I64Attr, "0">:$column);
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$tile,
                                 CArg<"bool", "false">:$transpose), [{
    build($_builder, $_state, source, tile, transpose, /*pairs=*/false,
          /*column=*/0);
  }]>];
  let assemblyFormat = [{
    $source `to` $tile (`transpose` $transpose^)? (`pairs` $pairs^)? attr-dict
    `:` type($source) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def StoreTmaOp : AttnTile_Op<"store_tma", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "write a shared tile to global memory by TMA";
  let description = [{
    Each warpgroup meets, then one of its threads copies its rows of the tile (64,
    or 128 where a product has as many: those of the map) to those from
    `row + rows * warpgroup` of the matrix at the leading `indices`; rows past the
    end are not written. With `heads` = G > 1 the tile has the same
    rows / G rows of each of G matrices. The first column is `column` of the
    matrix. When the op is done the tile has been
    read, though the writes may be under way; with `async`, it is read until the
    next `wait_stores`. With `one_thread` a role of one thread copies them: those
    who wrote the tile have told it behind a `fence_shared`.

    Example:
    ```mlir
    attn_tile.store_tma %tile[%warpgroup] to %o[%b, %h, %m]
        : !attn_tile.shared<64x64xf16, swizzle = 128>
          to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile, Index:$warpgroup,
                       AttnTile_TensorMap:$destination,
                       Variadic<Index>:$indices, UnitAttr:$async,
                       UnitAttr:$one_thread,
                       DefaultValuedAttr<I64Attr, "1">:$heads,
                       DefaultValuedAttr<I64Attr, "0">:$column);
  let assemblyFormat = [{
    $tile `[` $warpgroup `]` `to` $destination `[` $indices `]` (`async` $async^)?
    (`one_thread` $one_thread^)? attr-dict `:` type($tile) `to` type($destination)
  }];
  let hasVerifier = 1;
}

def WaitStoresOp : AttnTile_Op<"wait_stores", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until the tiles that this thread stores have been read";
  let assemblyFormat = "attr-dict";
}

def FenceSharedOp : AttnTile_Op<"fence_shared", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what this thread has written comes before copies of it";
  let description = [{
    Its writes to shared memory, for the copies that are started by a thread which
    is told behind this fence (PTX ISA, fence.proxy.async).

    Example:
    ```mlir
    attn_tile.store_shared %o to %tile : !attn_tile.fragment<128x64xf32, accumulator>
        to !attn_tile.shared<128x64xf16, swizzle = 128>
    attn_tile.fence_shared
    attn_tile.sync_warp
    attn_tile.mbarrier_arrive %filled[%c0] : !attn_tile.mbarrier<1, arrivals = 4>
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def ShareOp : AttnTile_Op<"share", [MemoryEffects<[MemWrite]>]> {
  let summary = "the transpose of an accumulator, in shared memory";
  let description = [{
    Each warp has rows of the accumulator in registers; in the tile all warps see
    all of it, rounded to the tile's element type.

    Example:
    ```mlir
    %dst = attn_tile.share %ds : !attn_tile.fragment<128x64xf32, accumulator>
        -> !attn_tile.shared<64x128xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source);
  let results = (outs AttnTile_Shared:$tile);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($tile)";
  let hasVerifier = 1;
}

def SyncConsumersOp : AttnTile_Op<"sync_consumers", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the consumer warps meet, and wgmma sees what they have written";
  let description = [{
    A fence from writes of shared memory to reads of the async proxy (PTX ISA,
    "Async proxy"), and a barrier of all warps but the producer's.
  }];
  let assemblyFormat = "attr-dict";
}

def AccumulateOp : AttnTile_Op<"accumulate", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "add a fragment to one in global memory";
  let description = [{
    The `rows * cols` elements of f32 from those of `destination` at the leading
    `indices` on hold a fragment as its warps do: of each warp its blocks of eight
    columns, of each block the four elements of lane 0, then those of lane 1 and
    so on (TileTypes.td draws them). CTAs that add to the same fragment do so in any order, each
    element at once; the fragments are multiples of 16 bytes.

    Example:
    ```mlir
    attn_tile.accumulate %dq to %sums[%b, %h, %m]
        : !attn_tile.fragment<128x64xf32, accumulator> to !attn_tile.global<?x8x?x128xf32>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, AttnTile_Global:$destination,
                       Variadic<Index>:$indices);
  let assemblyFormat = [{
    $source `to` $destination `[` $indices `]` attr-dict
    `:` type($source) `to` type($destination)
  }];
  let hasVerifier = 1;
}

def AtomicAddOp : AttnTile_Op<"atomic_add", [
    MemoryEffects<[MemRead, MemWrite]>,
    TypesMatchWith<"value is of the tensor's element type", "destination",
      "value",
      "::mlir::cast<::attn::tile::GlobalType>($_self).getElementType()">]> {
  let summary = "add an integer to an element of a global tensor, by each thread that is here";
  let description = [{
    Modulo 2^64, in any order, whatever other threads of the device add (PTX ISA,
    red.global.add.u64).

    Example:
    ```mlir
    attn_tile.atomic_add %n, %words[%element, %word] : !attn_tile.global<?x13xi64>
    ```
  }];
  let arguments = (ins I64:$value, AttnTile_Global:$destination,
                       Variadic<I64>:$indices);
  let assemblyFormat = [{
    $value `,` $destination `[` $indices `]` attr-dict `:` type($destination)
  }];
  let hasVerifier = 1;
}

def AccumulateBulkOp : AttnTile_Op<"accumulate_bulk", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "start adding a fragment to one in global memory";
  let description = [{
    As `attn_tile.accumulate`, by a bulk copy of each warpgroup's part through its
    part of `staging`, a vector of as many f32 (PTX ISA, cp.reduce.async.bulk). It
    waits until the copy before it has read `staging`; what is left in flight at the
    end of the kernel has to be waited for by `attn_tile.wait_stores`.

    Example:
    ```mlir
    attn_tile.accumulate_bulk %dq through %staging[%warpgroup] to %sums[%b, %h, %m]
        : !attn_tile.fragment<128x64xf32, accumulator>
          through !attn_tile.shared<1x8192xf32, swizzle = 128>
          to !attn_tile.global<?x8x?x128xf32>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, AttnTile_Shared:$staging,
                       Index:$warpgroup, AttnTile_Global:$destination,
                       Variadic<Index>:$indices);
  let assemblyFormat = [{
    $source `through` $staging `[` $warpgroup `]` `to` $destination `[` $indices `]` attr-dict
    `:` type($source) `through` type($staging) `to` type($destination)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILESTOREOPS_TD
