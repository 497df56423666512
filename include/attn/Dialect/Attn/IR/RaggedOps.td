//===- RaggedOps.td - Sequences behind each other ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Batches whose sequences are packed without padding, as of FlashAttention's
// flash_attn_varlen_func and FlashInfer's qo_indptr: sequence b has the rows
// [offsets[b], offsets[b + 1]) of a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_RAGGEDOPS_TD
#define ATTN_DIALECT_ATTN_IR_RAGGEDOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

def RaggedOp : Attn_Op<"ragged", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "the rows of each batch, of sequences behind each other";
  let description = [{
    A view: row `i` of batch `b` and head `h` is row `offsets[b] + i` of head `h`
    of the packed tensor [rows, H, D]. Rows from `offsets[b + 1] - offsets[b]` on
    are undefined. The result has room for the longest sequence: as many rows as
    its type says, or as the packed tensor has.

    An attention over the view has the lengths of the same offsets. On a GPU the
    view is folded into its loads, and its results are packed by the offsets of
    the query.

    Example:
    ```mlir
    %q = attn.ragged %packed[%offsets]
        : tensor<?x32x128xbf16>[tensor<?xi32>] -> tensor<?x32x?x128xbf16>
    ```
  }];
  let arguments = (ins Attn_Tensor<Attn_Stored, 3>:$packed,
                       Attn_Tensor<Attn_Int, 1>:$offsets);
  let results = (outs Attn_Tensor<Attn_Stored, 4>:$result);
  let assemblyFormat = [{
    $packed `[` $offsets `]` attr-dict
    `:` type($packed) `[` type($offsets) `]` `->` type($result)
  }];
  let hasVerifier = 1;
}

def PackOp : Attn_Op<"pack", [
    Pure, DestinationStyleOpInterface,
    TypesMatchWith<"the result has the type of the destination", "init",
                   "result", "$_self">,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "sequences behind each other, of the rows of each batch";
  let description = [{
    The inverse of `attn.ragged`: row `i` of batch `b` goes to row
    `offsets[b] + i` of the destination, [rows, H, D] of [B, H, M, D], for each
    `i` below `offsets[b + 1] - offsets[b]`. Of row values [B, H, M], as an LSE
    is, the destination is [H, rows]. Rows of no sequence stay those of the
    destination.

    On a GPU the attention writes its rows there itself.

    Example:
    ```mlir
    %p = attn.pack %o[%offsets] into %empty
        : tensor<?x32x?x128xbf16>[tensor<?xi32>] into tensor<?x32x128xbf16>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Attn_Tensor<Attn_Float, 4>,
                                  Attn_Tensor<Attn_Float, 3>]>:$source,
                       Attn_Tensor<Attn_Int, 1>:$offsets,
                       AnyTypeOf<[Attn_Tensor<Attn_Float, 3>,
                                  Attn_Tensor<Attn_Float, 2>]>:$init);
  let results = (outs AnyTypeOf<[Attn_Tensor<Attn_Float, 3>,
                                 Attn_Tensor<Attn_Float, 2>]>:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` `into` $init attr-dict
    `:` type($source) `[` type($offsets) `]` `into` type($init)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
    /// The dimension of the destination that has rows.
    unsigned getRowDim() {
      return ::mlir::cast<::mlir::ShapedType>(getInit().getType()).getRank() == 3
                 ? 0 : 1;
    }
  }];
  let hasVerifier = 1;
}

def SequenceLengthsOp : Attn_Op<"sequence_lengths", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "the length of each of the sequences behind each other";
  let description = [{
    `lengths[b] = offsets[b + 1] - offsets[b]`.

    Example:
    ```mlir
    %lengths = attn.sequence_lengths %offsets : tensor<?xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Attn_Tensor<Attn_Int, 1>:$offsets);
  let results = (outs Attn_Tensor<Attn_Int, 1>:$lengths);
  let assemblyFormat = "$offsets attr-dict `:` type($offsets) `->` type($lengths)";
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_RAGGEDOPS_TD
