//===- RowOps.td - What happens to rows before an attention -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rotary position embedding (Su et al., RoFormer, 2021), the norm of queries
// and keys, and numbers of 8 bits made wider: each row of the result depends on
// one row of the source, and on where that is.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ROWOPS_TD
#define ATTN_DIALECT_ATTN_IR_ROWOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

// Tables of all batches, [T, w], or of each, [1 or B, T, w].
def Attn_RotaryTable : AnyTypeOf<[Attn_Tensor<Attn_Float, 2>,
                                  Attn_Tensor<Attn_Float, 3>],
    "tensor of f16, bf16, f32 or f64 of rank 2 or 3">;

// [B, H, N, D], or packed rows of sequences behind each other, [rows, H, D].
def Attn_Rows : AnyTypeOf<[Attn_Tensor<Attn_Float, 4>, Attn_Tensor<Attn_Float, 3>],
    "tensor of f16, bf16, f32 or f64 of rank 3 or 4">;

// [1 or B, N], or [rows] of packed rows.
def Attn_RowPositions : AnyTypeOf<[Attn_Tensor<Attn_Int, 1>, Attn_Tensor<Attn_Int, 2>],
    "tensor of i32 or i64 of rank 1 or 2">;

class Attn_RowOp<string mnemonic, list<Trait> traits = []> :
    Attn_Op<mnemonic, !listconcat(traits, [
        Pure,
        TypesMatchWith<"the result has the type of the source", "source",
                       "result", "$_self">,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>])>;

def RotaryOp : Attn_RowOp<"rotary", [
    TypesMatchWith<"cos and sin have one type", "cos", "sin", "$_self">]> {
  let summary = "rows turned by their position";
  let description = [{
    Pairs (x, y) of columns of the source [B, H, N, D] become
    `(x cos - y sin, y cos + x sin)`. Of r columns that turn, `halves` pairs
    column m with m + r/2 (GPT-NeoX, Hugging Face's Llama), `interleaved` 2m with
    2m + 1 (GPT-J, Meta's Llama); `columns [lo, hi]` are the columns from lo up to
    but not hi, all without it. Others stay as they are.

    The source may be packed rows [rows, H, D] as well, before an `attn.ragged`
    or `attn.append` takes them.

    Row `i` reads row `i` of the tables, or row `positions[b, i]`, where positions
    are [1 or B, N], and of packed rows, which need them, [rows]; one that the tables do not have counts as the last, and
    `--device-asserts` reports it. A table has r/2 columns, one for each pair, or
    r, one for each column. Frequencies, their scaling and factors of attention
    are what tables are made of.

    `transposed` gives the gradient: pairs turned back.

    Computed in f32 (f64), and rounded once. On a GPU a kernel before that of the
    attention writes turned queries and keys, that of `attn.append` new rows that
    it appends.

    Example:
    ```mlir
    %turned = attn.rotary %query, %cos, %sin halves
                  positions(%ids : tensor<?x?xi32>) columns [0, 64]
        : tensor<?x32x?x128xbf16>, tensor<4096x32xf32>
    ```
  }];
  let arguments = (ins Attn_Rows:$source,
                       Attn_RotaryTable:$cos, Attn_RotaryTable:$sin,
                       Optional<Attn_RowPositions>:$positions,
                       UnitAttr:$interleaved,
                       OptionalAttr<DenseI64ArrayAttr>:$columns,
                       UnitAttr:$transposed);
  let results = (outs Attn_Rows:$result);
  let assemblyFormat = [{
    $source `,` $cos `,` $sin (`interleaved` $interleaved^):(`halves`)?
    (`positions` `(` $positions^ `:` type($positions) `)`)?
    (`columns` $columns^)? (`transposed` $transposed^)? attr-dict
    `:` type($source) `,` type($cos)
  }];
  let hasVerifier = 1;
}

def QkNormOp : Attn_RowOp<"qk_norm"> {
  let summary = "rows divided by their root mean square";
  let description = [{
    `x / sqrt(mean of x^2 + epsilon) * weight` for each row of the source
    [B, H, N, D], or of packed rows [rows, H, D], with a weight [D], which is 1 if it is missing. A weight that a
    model adds 1 to, as Gemma's, is added before; the order of this op and
    `attn.rotary` is that of the model.

    Computed in f32 (f64), and rounded once. Where an `attn.rotary` follows or
    goes before, a GPU has one kernel for both.

    Example:
    ```mlir
    %normed = attn.qk_norm %query weight(%w : tensor<128xbf16>) epsilon(1.0e-6)
        : tensor<?x32x?x128xbf16>
    ```
  }];
  let arguments = (ins Attn_Rows:$source,
                       Optional<Attn_Tensor<Attn_Float, 1>>:$weight,
                       F64Attr:$epsilon);
  let results = (outs Attn_Rows:$result);
  let assemblyFormat = [{
    $source (`weight` `(` $weight^ `:` type($weight) `)`)?
    `epsilon` `(` $epsilon `)` attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def DequantizeOp : Attn_Op<"dequantize", [
    Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "numbers of 8 bits made wider, times a descale";
  let description = [{
    `descale * x` for each element x of the source [B, H, N, D], in the type of the
    result. The descale is [1], or [B, G] with one for each batch and group of H / G
    heads; without it numbers are made wider as they are. It is what `attn.attention`
    means by numbers with a `descale` clause, as a tensor.

    Computed in f32 (f64), and rounded once. Keys and values of a cache, or of few
    rows of a query, that are both made wider for 16 bits become the bytes of the
    attention, by canonicalization; others are rows that a kernel before that of the
    attention writes.

    Example:
    ```mlir
    %query = attn.dequantize %q8 descale(%dq : tensor<?x32xf32>)
        : tensor<?x32x?x128xf8E4M3FN> -> tensor<?x32x?x128xbf16>
    ```
  }];
  let arguments = (ins Attn_Tensor<Attn_Stored, 4>:$source,
                       Optional<Attn_Descale>:$descale);
  let results = (outs Attn_Tensor<Attn_Float, 4>:$result);
  let assemblyFormat = [{
    $source (`descale` `(` $descale^ `:` type($descale) `)`)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_ROWOPS_TD
