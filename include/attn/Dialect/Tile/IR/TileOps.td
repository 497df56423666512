//===- TileOps.td - Operations of the attn_tile dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEOPS_TD
#define ATTN_DIALECT_TILE_IR_TILEOPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

def AttnTile_ScheduleAttr
    : Attr<CPred<"::llvm::isa<::attn::ScheduleAttr>($_self)">,
           "a #attn.schedule"> {
  let storageType = "::attn::ScheduleAttr";
  let returnType = "::attn::ScheduleAttr";
  let convertFromStorage = "$_self";
}

def KernelOp : AttnTile_Op<"kernel", [IsolatedFromAbove, Symbol,
    SingleBlock]> {
  let summary = "what one CTA does";
  let description = [{
    The entry point. `warps` is the number of warps that compute, among which
    fragments are dealt out; with `sharing` the warps whose numbers differ by
    multiples of `warps / sharing` have the same rows; `producer_warps` more only load, if
    `--attn-tile-specialize-warps` has run; `cluster_ctas` neighbours in x form a
    cluster. With `cta_pairs` it has two, and the first starts the products in tensor
    memory of both, each of whose right operands is half in the one's and half in the
    other's shared memory (PTX ISA, tcgen05, cta_group::2). `shared_bytes` is set by
    `--attn-tile-allocate-shared-memory`. `schedule` is what was chosen for the
    attention: the passes of this level read it, and it alone. The key loops of
    a `forward` take one step of an attention for each tile: scores, what makes
    weights of them, and the product with the values. How the kernel is
    launched says an `attn_launch.launch`, but for its tensor maps, which the
    passes of this level add behind the other parameters: `mapped` has for each
    the number of the parameter that it maps, `mapped_heads` of how many heads a
    box has rows.

    Example:
    ```mlir
    attn_tile.kernel @attention(%q: !attn_tile.global<?x8x?x64xf16>) warps(4) {
      attn_tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$warps,
                       OptionalAttr<I64Attr>:$sharing,
                       OptionalAttr<I64Attr>:$producer_warps,
                       OptionalAttr<I64Attr>:$cluster_ctas,
                       OptionalAttr<I64Attr>:$shared_bytes,
                       OptionalAttr<AttnTile_ScheduleAttr>:$schedule,
                       UnitAttr:$forward,
                       OptionalAttr<DenseI64ArrayAttr>:$mapped,
                       OptionalAttr<DenseI64ArrayAttr>:$mapped_heads,
                       UnitAttr:$cta_pairs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Warps among which the rows of a fragment are dealt out.
    int64_t getRowWarps() { return getWarps() / getSharing().value_or(1); }
    int64_t getThreads() {
      return 32 * (getWarps() + getProducerWarps().value_or(0));
    }
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
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def LoadOp : AttnTile_Op<"load", [
    MemoryEffects<[MemRead]>, AttrSizedOperandSegments]> {
  let summary = "a tile of a global tensor, in shared memory";
  let description = [{
    The rows [row, row + rows) of the matrix at the leading `indices`, from its
    first column on, or from `col` if there is one more index. Elements past the
    ends of the matrix read as 0. `col` is a multiple of 8. With `heads` = G > 1
    the tile has the same rows / G rows of each of G neighbouring matrices, one
    matrix after the other (packed query heads of a group). How the tile gets
    there (stages, copies, barriers) is decided by `--attn-tile-pipeline`, which
    removes this op.

    With `rows` no more than so many rows of the tile exist, and no other is read;
    with `from` those before number `first` do not, either.
    With `pages` the matrix is in pieces: its rows are those of the matrices at
    (table[b, 0], h), (table[b, 1], h), ... of a pool [pages, heads, page, cols],
    at indices (b, h, row). An entry is read only if a row of its page is.

    A tile of one row is part of a vector: the elements [i, i + cols) of the one at
    the leading `indices`, `i` being the last of them, all of which exist.

    Example:
    ```mlir
    %kt = attn_tile.load %k[%b, %h, %n] : !attn_tile.global<?x8x?x64xf16>
        -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %ks = attn_tile.load %wide[%b, %h, %n, %d] : !attn_tile.global<?x8x?x512xf16>
        -> !attn_tile.shared<64x32xf16, swizzle = 64>
    %pt = attn_tile.load %pool[%b, %h, %n] pages(%table : !attn_tile.global<?x?xi32>)
        rows(%left) : !attn_tile.global<?x8x16x64xf16>
        -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %wt = attn_tile.load %pool[%b, %h, %n] pages(%table : !attn_tile.global<?x?xi32>)
        rows(%left) from(%first) : !attn_tile.global<?x8x16x64xf16>
        -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %dt = attn_tile.load %delta[%b, %h, %m] : !attn_tile.global<?x8x?xf32>
        -> !attn_tile.shared<1x64xf32, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Global:$source, Variadic<Index>:$indices,
                       Optional<AttnTile_Global>:$table, Optional<Index>:$rows,
                       Optional<Index>:$first,
                       DefaultValuedAttr<I64Attr, "1">:$heads);
  let results = (outs AttnTile_Shared:$tile);
  let assemblyFormat = [{
    $source `[` $indices `]` (`pages` `(` $table^ `:` type($table) `)`)?
    (`rows` `(` $rows^ `)`)? (`from` `(` $first^ `)`)? attr-dict
    `:` type($source) `->` type($tile)
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

def ColumnsOp : AttnTile_Op<"columns", [Pure]> {
  let summary = "some columns of a shared tile, where they are";
  let description = [{
    The panels from `column`, a multiple of those of a panel, on: values that
    are columns of the keys are read in the tile of the keys.

    Example:
    ```mlir
    %vt = attn_tile.columns %kt[%c] : !attn_tile.shared<16x576xf16, swizzle = 128>
        to !attn_tile.shared<16x256xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$source, Index:$column);
  let results = (outs AttnTile_Shared:$tile);
  let assemblyFormat = [{
    $source `[` $column `]` attr-dict `:` type($source) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def CopyAsyncOp : AttnTile_Op<"copy_async", [
    MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
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
                       Optional<AttnTile_Global>:$table, Optional<Index>:$rows,
                       Optional<Index>:$first,
                       AttnTile_Shared:$tile, UnitAttr:$in_bounds,
                       DefaultValuedAttr<I64Attr, "1">:$heads);
  let assemblyFormat = [{
    $source `[` $indices `]` (`pages` `(` $table^ `:` type($table) `)`)?
    (`rows` `(` $rows^ `)`)? (`from` `(` $first^ `)`)? `to` $tile (`in_bounds` $in_bounds^)?
    attr-dict `:` type($source) `to` type($tile)
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

// Warp roles, mbarriers and TMA.
include "attn/Dialect/Tile/IR/TileAsyncOps.td"
// Random numbers.
include "attn/Dialect/Tile/IR/TileDropoutOps.td"
include "attn/Dialect/Tile/IR/TileTransposeOps.td"
include "attn/Dialect/Tile/IR/TileSequenceOps.td"
include "attn/Dialect/Tile/IR/TileRowOps.td"

include "attn/Dialect/Tile/IR/TileStoreOps.td"

include "attn/Dialect/Tile/IR/TileTensorOps.td"

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def LoadOperandOp : AttnTile_Op<"load_operand", [
    MemoryEffects<[MemRead]>]> {
  let summary = "an A operand from shared memory";
  let description = [{
    With `transpose` it is the transposed tile, whose elements have 16 bits. The
    layout says in which order lanes have the columns: `operand_bytes`, of 16-bit
    elements, is that of a product whose `b` [n, k] is of 8 bits.

    Example:
    ```mlir
    %a = attn_tile.load_operand %qt : !attn_tile.shared<128x64xf16, swizzle = 128>
        -> !attn_tile.fragment<128x64xf16, operand_a>
    %t = attn_tile.load_operand %pt transpose : !attn_tile.shared<64x128xf16, swizzle = 128>
        -> !attn_tile.fragment<128x64xf16, operand_a>
    ```
  }];
  let arguments = (ins AttnTile_Shared:$tile, UnitAttr:$transpose);
  let results = (outs AttnTile_Fragment:$operand);
  let assemblyFormat = [{
    $tile (`transpose` $transpose^)? attr-dict `:` type($tile) `->` type($operand)
  }];
  let hasVerifier = 1;
}

def FillOp : AttnTile_Op<"fill", [Pure]> {
  let summary = "a fragment with the same value everywhere";
  let description = [{
    Of i32 it is a whole number.

    Example:
    ```mlir
    %acc = attn_tile.fill 0.0 : !attn_tile.fragment<128x64xf32, accumulator>
    ```
  }];
  let arguments = (ins F32Attr:$value);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def MmaOp : AttnTile_Op<"mma", [
    MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "result = acc + a * b on tensor cores";
  let description = [{
    `a` is [m, k] in registers or in shared memory, where with `transpose_a` it is
    [k, m]; `b` is [k, n] in shared memory, or with `transpose_b` [n, k]. Products of floats, f32 ones rounded to tf32,
    are summed in f32; those of i8, [m, k] and [n, k], in i32. An f32 `a` in registers comes from `load_operand`
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
                       UnitAttr:$transpose_a,
                       AttnTile_Shared:$b, UnitAttr:$transpose_b,
                       AttnTile_Fragment:$acc);
  let results = (outs AttnTile_Fragment:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                                 "bool":$transposeB, "::mlir::Value":$acc), [{
    build($_builder, $_state, acc.getType(), a, /*transpose_a=*/false, b,
          transposeB, acc);
  }]>];
  let assemblyFormat = [{
    $a (`transpose_a` $transpose_a^)? `,` $b (`transpose_b` $transpose_b^)? `,` $acc attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def MmaAsyncOp : AttnTile_Op<"mma_async", [
    MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "start result = acc + a * b on tensor cores";
  let description = [{
    As `attn_tile.mma`, by warpgroups of four warps (PTX ISA, wgmma): `result`
    is not there before an `attn_tile.mma_wait` on it. Without `acc` it is a * b.
    A shared `a` is the tile of the whole CTA, of which `warpgroup` multiplies its
    64 rows.

    Example:
    ```mlir
    %s = attn_tile.mma_async %q[%warpgroup], %kt transpose_b
        : !attn_tile.shared<128x64xf16, swizzle = 128>,
          !attn_tile.shared<64x64xf16, swizzle = 128>
        -> !attn_tile.fragment<128x64xf32, accumulator>
    %o1 = attn_tile.mma_async %p, %vt acc(%o : !attn_tile.fragment<128x64xf32, accumulator>)
        : !attn_tile.fragment<128x64xf16, operand_a>,
          !attn_tile.shared<64x64xf16, swizzle = 128>
        -> !attn_tile.fragment<128x64xf32, accumulator>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AttnTile_Fragment, AttnTile_Shared]>:$a,
                       Optional<Index>:$warpgroup, UnitAttr:$transpose_a,
                       AttnTile_Shared:$b, UnitAttr:$transpose_b,
                       Optional<AttnTile_Fragment>:$acc);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $a (`[` $warpgroup^ `]`)? (`transpose_a` $transpose_a^)? `,` $b (`transpose_b` $transpose_b^)?
    (`acc` `(` $acc^ `:` type($acc) `)`)? attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def ExitOp : AttnTile_Op<"exit", [HasParent<"KernelOp">]> {
  let summary = "the end of CTAs that have nothing to do";
  let description = [{
    Ends the kernel where `done` holds, which all threads of a CTA agree on: before
    any barrier, load or role.

    Example:
    ```mlir
    attn_tile.kernel @checked(%done: i1) warps(4) {
      attn_tile.exit if %done
      attn_tile.return
    }
    ```
  }];
  let arguments = (ins I1:$done);
  let assemblyFormat = "`if` $done attr-dict";
}

def UniformOp : AttnTile_Op<"uniform", [Pure, SameOperandsAndResultType]> {
  let summary = "a number that all lanes of a warp agree on";
  let description = [{
    `result` is `value`, in a form from which ptxas knows that the lanes agree
    (PTX ISA, redux.sync): addresses that come from it stay in uniform registers,
    where wgmma needs its descriptors. All lanes of the warp must be here.

    Example:
    ```mlir
    %n = attn_tile.uniform %number : index
    ```
  }];
  let arguments = (ins Index:$value);
  let results = (outs Index:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def MmaWaitOp : AttnTile_Op<"mma_wait", [
    MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["source", "result"]>]> {
  let summary = "wait until at most `pending` products are in flight";
  let description = [{
    Products complete in the order in which they started. `result` is `source`,
    there.

    Example:
    ```mlir
    %s1 = attn_tile.mma_wait 1, %s : !attn_tile.fragment<128x64xf32, accumulator>
    ```
  }];
  let arguments = (ins I64Attr:$pending, AttnTile_Fragment:$source);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = "$pending `,` $source attr-dict `:` type($source)";
}

def MapOp : AttnTile_Op<"map", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "an elementwise function of fragments";
  let description = [{
    The region takes one element of each input, then the element's row and (for
    a result of rank 2) column in the tile, as i32; row fragments broadcast
    along columns, column fragments along rows. `exp2_on_fma` = k computes the
    `math.exp2` of k of 16 elements by a polynomial on the FMA units.

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
  let arguments = (ins Variadic<AttnTile_Fragment>:$inputs,
                       DefaultValuedAttr<I64Attr, "0">:$exp2_on_fma);
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
    A `max` ignores NaN; a `maximum`, as of arith.maximumf, is NaN if an element
    is.

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

def ConvertLayoutOp : AttnTile_Op<"convert_layout", [Pure]> {
  let summary = "a value for each row, in other lanes of the warp";
  let description = [{
    All lanes that have copies of a row have the same value of it before, and
    afterwards. Lanes exchange what the other layout has elsewhere (PTX ISA,
    shfl.sync): a warp has the same rows in both.

    Example:
    ```mlir
    %r = attn_tile.convert_layout %w : !attn_tile.fragment<128xf32, lane_row>
        -> !attn_tile.fragment<128xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def AnyOp : AttnTile_Op<"any", [Pure]> {
  let summary = "true if a row of the warp has an element that is not 0";
  let description = [{
    The same in all lanes of a warp, so that it can guard code with barriers.

    Example:
    ```mlir
    %rises = attn_tile.any %difference : !attn_tile.fragment<128xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def UpdateRowsOp : AttnTile_Op<"update_rows", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "an accumulator with a number for each row, where that is asked for";
  let description = [{
    Each element less its row's number, or times it, or kept where that is not 0
    and 0 elsewhere, where `condition` is true, and the source otherwise. The
    condition is the same in all lanes of a warp, which
    branches on it. An `scf.if` of maps says the same; this is one operation for
    the whole fragment, down to PTX, which changes its registers in place.

    Example:
    ```mlir
    %b = attn_tile.update_rows subtract %a, %max if %large :
        !attn_tile.fragment<128x64xf32, accumulator>,
        !attn_tile.fragment<128xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_RowUpdate:$kind, AttnTile_Fragment:$source,
                       AttnTile_Fragment:$rows, I1:$condition);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $kind $source `,` $rows `if` $condition attr-dict `:` type($source) `,`
    type($rows)
  }];
  let hasVerifier = 1;
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

def ScaleColumnsOp : AttnTile_Op<"scale_columns", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "an operand with its columns multiplied";
  let description = [{
    Each element times its column's factor, in f32, rounded once to the operand's
    16-bit type.

    Example:
    ```mlir
    %b = attn_tile.scale_columns %a, %w : !attn_tile.fragment<128x32xf16, operand_a>,
        !attn_tile.fragment<32xf32, column>
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
    Rounds to the operand's type (to nearest even). No data moves between
    threads: lanes keep their rows and columns, so that an accumulator becomes
    `operand_pairs`, and `lane_row` stays it.

    Example:
    ```mlir
    %a = attn_tile.to_operand %p : !attn_tile.fragment<128x64xf32, accumulator>
        -> !attn_tile.fragment<128x64xf16, operand_a>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source);
  let results = (outs AttnTile_Fragment:$operand);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($operand)";
  let hasVerifier = 1;
}

def FragmentColumnsOp : AttnTile_Op<"fragment_columns", [Pure]> {
  let summary = "some columns of an accumulator";
  let description = [{
    Those of `source` from `column` on, a multiple of 16. No data moves: they are
    some of each thread's registers.

    Example:
    ```mlir
    %late = attn_tile.fragment_columns %s {column = 96 : i64}
        : !attn_tile.fragment<256x128xf32, accumulator>
        -> !attn_tile.fragment<256x32xf32, accumulator>
    ```
  }];
  let arguments = (ins AttnTile_Fragment:$source,
                       DefaultValuedAttr<I64Attr, "0">:$column);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

def ExtractOp : AttnTile_Op<"extract", [NoMemoryEffect,
    TypesMatchWith<"element is of the tensor's element type", "source",
      "element",
      "::mlir::cast<::attn::tile::GlobalType>($_self).getElementType()">]> {
  let summary = "one element of a global tensor, read by each thread for itself";
  let description = [{
    Of a tensor that the kernel does not write: when it is read does not matter.
    But it is not speculatable.

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
  let hasVerifier = 1;
}

def CoordinateOp : AttnTile_Op<"coordinate", [Pure]> {
  let summary = "a number of a list as a coordinate";
  let description = [{
    Of a list that a kernel of the same program has written: neither negative
    nor, as sums of a few coordinates must not be, near 2^31, so that what is
    made of it is computed in 32 bits. Lists of others may hold any number and
    are read by casts (`--attn-tile-widen-index`).

    Example:
    ```mlir
    %number = attn_tile.extract %worklist[%i] : !attn_tile.global<?xi32>
    %batch = attn_tile.coordinate %number
    ```
  }];
  let arguments = (ins I32:$number);
  let results = (outs Index:$result);
  let assemblyFormat = "$number attr-dict";
  let hasFolder = 1;
}

def InsertOp : AttnTile_Op<"insert", [MemoryEffects<[MemWrite]>,
    TypesMatchWith<"value is of the tensor's element type", "destination",
      "value",
      "::mlir::cast<::attn::tile::GlobalType>($_self).getElementType()">]> {
  let summary = "write one element of a global tensor, by each thread that is here";
  let description = [{
    Example:
    ```mlir
    attn_tile.insert %n, %counts[%b, %h, %r] : !attn_tile.global<1x1x?xi32>
    ```
  }];
  let arguments = (ins AnyType:$value, AttnTile_Global:$destination,
                       Variadic<I64>:$indices);
  let assemblyFormat = [{
    $value `,` $destination `[` $indices `]` attr-dict `:` type($destination)
  }];
  let hasVerifier = 1;
}

def LookupOp : AttnTile_Op<"lookup", [Pure]> {
  let summary = "one entry of a constant table";
  let description = [{
    The table is part of the kernel's module. Entries outside of it are
    undefined.

    Example:
    ```mlir
    %n = attn_tile.lookup dense<[0, 256, 128]> : tensor<3xi32> [%t]
    ```
  }];
  let arguments = (ins I32ElementsAttr:$table, Index:$position);
  let results = (outs I32:$entry);
  let assemblyFormat = "$table `[` $position `]` attr-dict";
  let hasVerifier = 1;
}

def LoadRowOp : AttnTile_Op<"load_row", [MemoryEffects<[MemRead]>]> {
  let summary = "one value for each row, from global memory";
  let description = [{
    Elements [row, row + rows) of the vector at the leading `indices`, `row`
    being the last of them. Rows past the end hold -inf. With `first_lane` only
    the first lane of each quad has them, and the others hold -inf, too: partial
    values, as a sum or a maximum of a row has them before `row_all_reduce`.

    Example:
    ```mlir
    %l = attn_tile.load_row %lse[%b, %h, %m] : !attn_tile.global<?x8x?xf32>
        -> !attn_tile.fragment<128xf32, row>
    ```
  }];
  let arguments = (ins AttnTile_Global:$source, Variadic<Index>:$indices,
                       UnitAttr:$first_lane);
  let results = (outs AttnTile_Fragment:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`first_lane` $first_lane^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def LoadColumnOp : AttnTile_Op<"load_column", [MemoryEffects<[MemRead]>]> {
  let summary = "one value for each column";
  let description = [{
    Element c of `source` for column c: of a tile of one row in shared memory, or
    from the last of `indices` on of the vector in global memory at the others.
    All of them exist. An accumulator has the vector in each row, in registers of
    its own: what a product sums up from. A result of fewer columns has those from
    `column` on.

    Example:
    ```mlir
    %d = attn_tile.load_column %tile : !attn_tile.shared<1x64xf32, swizzle = 128>
        -> !attn_tile.fragment<64xf32, column>
    %e = attn_tile.load_column %delta[%b, %h, %m] : !attn_tile.global<?x8x?xf32>
        -> !attn_tile.fragment<64xf32, column>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AttnTile_Global, AttnTile_Shared]>:$source,
                       Variadic<Index>:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$column);
  let results = (outs AttnTile_Fragment:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source,
                                 "::mlir::ValueRange":$indices), [{
    build($_builder, $_state, result, source, indices, /*column=*/0);
  }]>];
  let assemblyFormat = [{
    $source (`[` $indices^ `]`)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILEOPS_TD
