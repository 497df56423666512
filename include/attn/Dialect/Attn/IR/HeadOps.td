//===- HeadOps.td - Which key head serves a query head ----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Head maps as data: groups of query heads that are not equal, or not known
// before the data is (key-driven grouped-query attention, Khan et al., 2024).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_HEADOPS_TD
#define ATTN_DIALECT_ATTN_IR_HEADOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

def SelectHeadsOp : Attn_Op<"select_heads", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "heads of a tensor by a map";
  let description = [{
    A view: head `h` of the result is head `map[h]` of the source [B, H, N, D],
    so that an attention over it has a key head for each query head. An entry
    that is no head counts as the last one; `--device-asserts` reports it. The
    source may be a view of pages or of packed sequences, but of no map.

    The view is folded into the slices of the attention's tiles: its kernels
    read one entry of the map for a tile. A constant map of equal groups, in
    order, is the grouped-query attention of the source.

    Example:
    ```mlir
    %view = attn.select_heads %key[%map]
        : tensor<?x4x?x128xbf16>[tensor<32xi32>] -> tensor<?x32x?x128xbf16>
    ```
  }];
  let arguments = (ins Attn_Tensor<Attn_Stored, 4>:$source,
                       Attn_Tensor<Attn_Int, 1>:$map);
  let results = (outs Attn_Tensor<Attn_Stored, 4>:$result);
  let assemblyFormat = [{
    $source `[` $map `]` attr-dict
    `:` type($source) `[` type($map) `]` `->` type($result)
  }];
  let hasVerifier = 1;
}

def SumHeadsOp : Attn_Op<"sum_heads", [
    Pure, DestinationStyleOpInterface,
    TypesMatchWith<"the result has the type of the destination", "init",
                   "result", "$_self">,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "sums of the heads that a map takes from one head";
  let description = [{
    The transpose of `attn.select_heads`: head `k` of the result [B, H, N, D] is
    the sum of all heads `h` of the source with `map[h] == k`, in f32 and in the
    order of `h`; 0 where there is none. Thus gradients of a view become those
    of what it is of. The destination gives sizes only. On a GPU a kernel behind
    those of a backward sums the gradients of what it reads by a map.

    Example:
    ```mlir
    %dkey = attn.sum_heads %dview[%map] into %empty
        : tensor<?x32x?x128xbf16>[tensor<32xi32>] into tensor<?x4x?x128xbf16>
    ```
  }];
  let arguments = (ins Attn_Tensor<Attn_Float, 4>:$source,
                       Attn_Tensor<Attn_Int, 1>:$map,
                       Attn_Tensor<Attn_Float, 4>:$init);
  let results = (outs Attn_Tensor<Attn_Float, 4>:$result);
  let assemblyFormat = [{
    $source `[` $map `]` `into` $init attr-dict
    `:` type($source) `[` type($map) `]` `into` type($init)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_HEADOPS_TD
