//===- CacheOps.td - Views of a cache of keys and values --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_CACHEOPS_TD
#define ATTN_DIALECT_ATTN_IR_CACHEOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

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

    On a GPU the view is folded into the loads of the attention, which reads an
    entry only if it reads a row of its page.

    Example:
    ```mlir
    %k = attn.paged %pool[%table]
        : tensor<?x8x16x128xbf16>[tensor<?x?xi32>] -> tensor<?x8x?x128xbf16>
    ```
  }];
  let arguments = (ins Attn_Tensor<Attn_Float, 4>:$pool,
                       Attn_Tensor<Attn_Int, 2>:$table);
  let results = (outs Attn_Tensor<Attn_Float, 4>:$result);
  let assemblyFormat = [{
    $pool `[` $table `]` attr-dict
    `:` type($pool) `[` type($table) `]` `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Rows of a page.
    int64_t getPageSize() {
      return ::mlir::cast<::mlir::ShapedType>(getPool().getType()).getDimSize(2);
    }
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_CACHEOPS_TD
