//===- CacheOps.td - Views of a cache of keys and values --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_CACHEOPS_TD
#define ATTN_DIALECT_ATTN_IR_CACHEOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def PagedOp : Attn_Op<"paged", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "the keys or values of each batch, in pages of a pool";
  let description = [{
    A view: row `j` of batch `b` and head `h` is row `j mod page` of head `h` of
    page `table[b, floor(j / page)]` of the pool [pages, Hkv, page, D]. The result
    has room for as many pages as the table has columns. Rows whose entry is no
    page of the pool are undefined; they must not be used, as those behind
    `lengths(key ..)` of an attention are not.

    With `offsets`, of one more entry than there are batches, the table is that of
    all batches behind each other (FlashInfer's `paged_kv_indices` and
    `paged_kv_indptr`): the page is `table[offsets[b] + floor(j / page)]`, and the
    batch has the entries from `offsets[b]` to `offsets[b + 1] - 1`. The result
    has room for the pages of all entries, of which none behind those of its
    batch is read: keys are no more than these hold, whatever their length says.

    On a GPU the view is folded into the loads of the attention, which reads an
    entry only if it reads a row of its page.

    Example:
    ```mlir
    %k = attn.paged %pool[%table]
        : tensor<?x8x16x128xbf16>[tensor<?x?xi32>] -> tensor<?x8x?x128xbf16>
    %v = attn.paged %pool[%indices, %indptr]
        : tensor<?x8x16x128xbf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x8x?x128xbf16>
    ```
  }];
  let arguments = (ins Attn_Tensor<Attn_Stored, 4>:$pool,
                       AnyTypeOf<[Attn_Tensor<Attn_Int, 2>,
                                  Attn_Tensor<Attn_Int, 1>]>:$table,
                       Optional<Attn_Tensor<Attn_Int, 1>>:$offsets);
  let results = (outs Attn_Tensor<Attn_Stored, 4>:$result);
  let assemblyFormat = [{
    $pool `[` $table (`,` $offsets^)? `]` attr-dict
    `:` type($pool) `[` type($table) (`,` type($offsets)^)? `]` `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$pool,
                   "::mlir::Value":$table), [{
      build($_builder, $_state, result, pool, table, /*offsets=*/::mlir::Value());
    }]>
  ];
  let extraClassDeclaration = [{
    /// The dimension of the table that has entries of a batch.
    unsigned getEntryDim() { return getOffsets() ? 0 : 1; }
    /// Rows of a page.
    int64_t getPageSize() {
      return ::mlir::cast<::mlir::ShapedType>(getPool().getType()).getDimSize(2);
    }
  }];
  let hasVerifier = 1;
}

def AppendOp : Attn_Op<"append", [
    Pure, AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "new keys and values, in a cache";
  let description = [{
    Row `t` of `rows`, of each head, goes to row `slots[t] mod page` of page
    `floor(slots[t] / page)` of the pool [pages, Hkv, page, D], rounded to the
    pool's type, of 8 bits to a pool of the same; a slot of -1 is skipped. With
    slots [T] rows are [T, Hkv, D], with slots [B, M] they are [B, Hkv, M, D].

    Wider rows become those of pools of 8 bits with `descale`, one for each
    pool: what is stored is row / descale, no further than the largest finite
    number (-128 and 127 of i8), so that descale * pool stands for the row, as in
    an attention with that descale. Each is [1], or [B, Hkv] with slots [B, M].

    With `scales` each row of a head has its own, which it is divided by and which
    is stored beside it, in one tensor [pages, Hkv, page] for each pool: the largest
    magnitude of the row over that of the type (448, 57344, 127), in f32, at least
    2^-126; NaN of a row with one. An attention reads them by `tensor.extract`, as
    factors of scores and of weights.

    Keys and values have slots, pages and heads in common. Results are the pools with the new rows; a cache
    [B, Hkv, N, D] is a pool with a page for each batch. Those of scales follow.

    The destination style says that a pool is written in place, not copied. On a
    GPU a kernel of its own does it, before the attention that reads the pool, and
    turns and normalises new rows where `attn.rotary` and `attn.qk_norm` made them.

    Example:
    ```mlir
    %k1, %v1 = attn.append %knew, %vnew into %kpool, %vpool slots(%slots : tensor<?xi32>)
        : tensor<?x8x128xbf16>, tensor<?x8x128xbf16>
          into tensor<?x8x16x128xbf16>, tensor<?x8x16x128xbf16>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Attn_Tensor<Attn_Stored, 3>,
                                           Attn_Tensor<Attn_Stored, 4>]>>:$rows,
                       Variadic<Attn_Tensor<Attn_Stored, 4>>:$pools,
                       Variadic<Attn_Tensor<F32, 3>>:$scales,
                       AnyTypeOf<[Attn_Tensor<Attn_Int, 1>,
                                  Attn_Tensor<Attn_Int, 2>]>:$slots,
                       Variadic<Attn_Descale>:$descales);
  let results = (outs Variadic<AnyTypeOf<[Attn_Tensor<F32, 3>,
                                          Attn_Tensor<Attn_Stored, 4>]>>:$results);
  let assemblyFormat = [{
    $rows `into` $pools `slots` `(` $slots `:` type($slots) `)`
    (`descale` `(` $descales^ `:` type($descales) `)`)?
    (`scales` `(` $scales^ `:` type($scales) `)`)? attr-dict
    `:` type($rows) `into` custom<PoolTypes>(type($pools), ref(type($scales)), type($results))
  }];
  let extraClassDeclaration = [{
    /// The pools, then their scales: result i is what init i is afterwards.
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return {*this, static_cast<unsigned>(getRows().size()),
              static_cast<unsigned>(getPools().size() + getScales().size())};
    }
    /// The position of a head among the dimensions of `rows`.
    static constexpr unsigned kRowHead = 1;
    /// The dimension of `rows` that dimension `dim` of the slots is.
    static unsigned getRowDim(unsigned dim) { return dim == 0 ? 0 : 2; }
    /// What the rows of a pool are divided by; null: they are not.
    ::mlir::Value getDescale(unsigned pool) {
      return getDescales().empty() ? ::mlir::Value() : getDescales()[pool];
    }
    /// Where the scales of a pool's rows are; null: they have none.
    ::mlir::Value getScale(unsigned pool) {
      return getScales().empty() ? ::mlir::Value() : getScales()[pool];
    }
    /// That of the new rows of a pool.
    ::mlir::OpResult getScaleResult(unsigned pool) {
      return getResults()[getPools().size() + pool];
    }
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_CACHEOPS_TD
