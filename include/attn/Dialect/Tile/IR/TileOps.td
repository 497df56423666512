//===- TileOps.td - Operations of the attn_tile dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEOPS_TD
#define ATTN_DIALECT_TILE_IR_TILEOPS_TD

include "attn/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class AttnTile_Op<string mnemonic, list<Trait> traits = []> :
    Op<AttnTile_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

def KernelOp : AttnTile_Op<"kernel", [IsolatedFromAbove, Symbol,
    SingleBlock]> {
  let summary = "what one CTA does";
  let description = [{
    The entry point. `warps` is the number of warps of the CTA; `shared_bytes`
    is set by `--attn-tile-allocate-shared-memory`; `manifest` holds what a
    launcher needs (docs/Manifest.md), under the keys of the JSON form.

    Example:
    ```mlir
    attn_tile.kernel @attention(%q: !attn_tile.global<?x8x?x64xf16>) warps(4) {
      attn_tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$warps,
                       OptionalAttr<I64Attr>:$shared_bytes,
                       OptionalAttr<DictionaryAttr>:$manifest);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getThreads() { return getWarps() * 32; }
  }];
}

def ReturnOp : AttnTile_Op<"return", [Terminator, HasParent<"KernelOp">]> {
  let summary = "the end of a kernel";
  let assemblyFormat = "attr-dict";
}

def DimOp : AttnTile_Op<"dim", [Pure]> {
  let summary = "a size of a global tensor";
  let description = [{
    Example:
    ```mlir
    %m = attn_tile.dim %q, 2 : !attn_tile.global<?x8x?x64xf16>
    ```
  }];
  let arguments = (ins AttnTile_Global:$source, I64Attr:$dim);
  let results = (outs Index:$size);
  let assemblyFormat = "$source `,` $dim attr-dict `:` type($source)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def LoadOp : AttnTile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile of a global tensor, in shared memory";
  let description = [{
    The rows [row, row + rows) of the matrix at the leading `indices`, from its
    first column on, or from `col` if there is one more index. Elements past the
    ends of the matrix read as 0. `col` is a multiple of 8. How the tile gets
    there (stages, copies, barriers) is decided by `--attn-tile-pipeline`, which
    removes this op.

    Example:
    ```mlir
    %kt = attn_tile.load %k[%b, %h, %n] : !attn_tile.global<?x8x?x64xf16>
        -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %ks = attn_tile.load %wide[%b, %h, %n, %d] : !attn_tile.global<?x8x?x512xf16>
        -> !attn_tile.shared<64x32xf16, swizzle = 64>
    ```
  }];
  let arguments = (ins AttnTile_Global:$source, Variadic<Index>:$indices);
  let results = (outs AttnTile_Shared:$tile);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def AllocOp : AttnTile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "room in shared memory";
  let description = [{
    `offset` (bytes from the CTA's dynamic shared memory) is set by
    `--attn-tile-allocate-shared-memory`.

    Example:
    ```mlir
    %ring = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs AttnTile_Shared:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
}

def StageOp : AttnTile_Op<"stage", [Pure,
    TypesMatchWith<"tile is one tile of the ring", "ring", "tile",
      "::mlir::cast<::attn::tile::SharedType>($_self).getTile()">]> {
  let summary = "one tile of a ring";
  let description = [{
    Example:
    ```mlir
    %kt = attn_tile.stage %ring[%i]
        : !attn_tile.shared<2x64x64xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$ring, Index:$index);
  let results = (outs AttnTile_Shared:$tile);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` type($ring)";
}

def CopyAsyncOp : AttnTile_Op<"copy_async", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "start copying a tile from global to shared memory";
  let description = [{
    As `attn_tile.load`, into `tile`, asynchronously: the data is there after
    `wait_group` for the group that the next `commit_group` closes, and then a
    barrier (PTX ISA, cp.async). With `in_bounds` every element exists.

    Example:
    ```mlir
    attn_tile.copy_async %k[%b, %h, %n] to %kt
        : !attn_tile.global<?x8x?x64xf16> to !attn_tile.shared<64x64xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Global:$source, Variadic<Index>:$indices,
                       AttnTile_Shared:$tile, UnitAttr:$in_bounds);
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $tile (`in_bounds` $in_bounds^)? attr-dict
    `:` type($source) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def CommitGroupOp : AttnTile_Op<"commit_group", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "close the group of copies started since the last one";
  let assemblyFormat = "attr-dict";
}

def WaitGroupOp : AttnTile_Op<"wait_group", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until at most `pending` groups of this thread are open";
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def LoadOperandOp : AttnTile_Op<"load_operand", [
    MemoryEffects<[MemRead]>]> {
  let summary = "an A operand from shared memory";
  let description = [{
    Example:
    ```mlir
    %a = attn_tile.load_operand %qt : !attn_tile.shared<128x64xf16, swizzle = 128>
        -> !attn_tile.fragment<128x64xf16, operand_a>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile);
  let results = (outs AttnTile_Fragment:$operand);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($operand)";
  let hasVerifier = 1;
}

def FillOp : AttnTile_Op<"fill", [Pure]> {
  let summary = "a fragment with the same value everywhere";
  let description = [{
    Example:
    ```mlir
    %acc = attn_tile.fill 0.0 : !attn_tile.fragment<128x64xf32, accumulator>
    ```
  }];
  let arguments = (ins F32Attr:$value);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def MmaOp : AttnTile_Op<"mma", [
    MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "result = acc + a * b on tensor cores";
  let description = [{
    `a` is [m, k] in registers or in shared memory; `b` is [k, n] in shared
    memory, or with `transpose_b` [n, k]. 16-bit inputs, or f32 ones rounded to
    tf32; f32 accumulation. An f32 `a` in registers comes from `load_operand`
    with `transpose_b`, and from `to_operand` without.

    Example:
    ```mlir
    %s = attn_tile.mma %q, %kt transpose_b, %zero
        : !attn_tile.fragment<128x64xf16, operand_a>,
          !attn_tile.shared<64x64xf16, swizzle = 128>,
          !attn_tile.fragment<128x64xf32, accumulator>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AttnTile_Fragment, AttnTile_Shared]>:$a,
                       AttnTile_Shared:$b, UnitAttr:$transpose_b,
                       AttnTile_Fragment:$acc);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $a `,` $b (`transpose_b` $transpose_b^)? `,` $acc attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def MapOp : AttnTile_Op<"map", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "an elementwise function of fragments";
  let description = [{
    The region takes one element of each input, then the element's row and (for
    a result of rank 2) column in the tile, as i32; row fragments broadcast
    along columns.

    Example:
    ```mlir
    %p = attn_tile.map %s, %m : (!attn_tile.fragment<128x64xf32, accumulator>,
                                 !attn_tile.fragment<128xf32, row>)
        -> !attn_tile.fragment<128x64xf32, accumulator> {
    ^bb0(%x: f32, %max: f32, %i: i32, %j: i32):
      %d = arith.subf %x, %max : f32
      %e = math.exp2 %d : f32
      attn_tile.yield %e : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AttnTile_Fragment>:$inputs);
  let results = (outs AttnTile_Fragment:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    ($inputs^)? `:` functional-type($inputs, $result) $body attr-dict
  }];
  let hasVerifier = 1;
}

def YieldOp : AttnTile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "the element that a map computes";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def RowReduceOp : AttnTile_Op<"row_reduce", [
    Pure, AllTypesMatch<["init", "result"]>]> {
  let summary = "reduce the columns that each lane holds";
  let description = [{
    Combines, in each lane, its own columns of a row with its `init`. The four
    lanes of a quad then hold parts of the row; `row_all_reduce` combines them.
    A maximum ignores NaN.

    Example:
    ```mlir
    %m1 = attn_tile.row_reduce max %s, %m
        : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.fragment<128xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Reduction:$kind, AttnTile_Fragment:$source,
                       AttnTile_Fragment:$init);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $kind $source `,` $init attr-dict `:` type($source) `,` type($init)
  }];
  let hasVerifier = 1;
}

def RowAllReduceOp : AttnTile_Op<"row_all_reduce", [
    Pure, SameOperandsAndResultType]> {
  let summary = "combine the parts of each row over the lanes that hold it";
  let arguments = (ins AttnTile_Reduction:$kind, AttnTile_Fragment:$source);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = "$kind $source attr-dict `:` type($source)";
}

def ScaleRowsOp : AttnTile_Op<"scale_rows", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "an operand with its rows multiplied";
  let description = [{
    Each element times its row's factor, which is rounded to the operand's
    16-bit type first: exact for factors that are powers of two, unless the
    product is subnormal.

    Example:
    ```mlir
    %b = attn_tile.scale_rows %a, %w : !attn_tile.fragment<128x32xf16, operand_a>,
        !attn_tile.fragment<128xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, AttnTile_Fragment:$factor);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $source `,` $factor attr-dict `:` type($source) `,` type($factor)
  }];
  let hasVerifier = 1;
}

def ToOperandOp : AttnTile_Op<"to_operand", [Pure]> {
  let summary = "an accumulator as the A operand of the next mma";
  let description = [{
    Rounds to the operand's 16-bit type (to nearest even). No data moves between
    threads: the accumulator blocks (16 x 8) 2k and 2k+1 are the operand block
    (16 x 16) k.

    Example:
    ```mlir
    %a = attn_tile.to_operand %p : !attn_tile.fragment<128x64xf32, accumulator>
        -> !attn_tile.fragment<128x64xf16, operand_a>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source);
  let results = (outs AttnTile_Fragment:$operand);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($operand)";
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

def ExtractOp : AttnTile_Op<"extract", [MemoryEffects<[MemRead]>,
    TypesMatchWith<"element is of the tensor's element type", "source",
      "element",
      "::mlir::cast<::attn::tile::GlobalType>($_self).getElementType()">]> {
  let summary = "one element of a global tensor, read by each thread for itself";
  let description = [{
    Example:
    ```mlir
    %slope = attn_tile.extract %slopes[%h] : !attn_tile.global<32xf32>
    ```
  }];
  let arguments = (ins AttnTile_Global:$source,
                       Variadic<I64>:$indices);
  let results = (outs AnyType:$element);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source)
  }];
}

def LoadRowOp : AttnTile_Op<"load_row", [MemoryEffects<[MemRead]>]> {
  let summary = "one value for each row, from global memory";
  let description = [{
    Elements [row, row + rows) of the vector at the leading `indices`, `row`
    being the last of them. The first lane of each quad reads; the others, and
    rows past the end, hold -inf, so that `row_all_reduce max` completes it.

    Example:
    ```mlir
    %l = attn_tile.load_row %lse[%b, %h, %m] : !attn_tile.global<?x8x?xf32>
        -> !attn_tile.fragment<128xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Global:$source, Variadic<Index>:$indices);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def StoreOp : AttnTile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a fragment to global memory";
  let description = [{
    Row r of the fragment goes to row `row + r` of the matrix (or to the element
    of the vector, for a row fragment) at the leading `indices`, rounded to the
    element type: to its first columns, or to those from `col` on if there is
    one more index. Elements past the ends are not written; columns go in pairs,
    so that of an odd number of columns one more is written.

    Example:
    ```mlir
    attn_tile.store %acc, %o[%b, %h, %m]
        : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.global<?x8x?x64xf16>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source, AttnTile_Global:$destination,
                       Variadic<Index>:$indices);
  let assemblyFormat = [{
    $source `,` $destination `[` $indices `]` attr-dict
    `:` type($source) `,` type($destination)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILEOPS_TD
