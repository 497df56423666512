//===- AttnOps.td - Operations of the attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNOPS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNOPS_TD

include "attn/Dialect/Attn/IR/AttnAttrs.td"
include "attn/Dialect/Attn/IR/AttnDialect.td"
include "attn/Dialect/Attn/IR/AttnEnums.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> :
    Op<Attn_Dialect, mnemonic, traits>;

// Element types of query, key and value. f64 exists for reference runs.
def Attn_Float : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
// Running statistics, scores and LSE.
def Attn_Acc : AnyTypeOf<[F32, F64], "f32 or f64">;

class Attn_Tensor<Type element, int rank> :
    TensorRankOf<[element], [rank]>;

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

def AttentionOp : Attn_Op<"attention", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "softmax(score_mod(scale * Q K^T + bias) under mask_mod) V";
  let description = [{
    Scaled dot-product attention, per batch `b`, query head `h`, query position
    `i` and key position `j` (docs/Spec.md, `attention_*`):

    ```
    S[b,h,i,j] = scale * sum_d Q[b,h,i,d] * K[b,h / (Hq / Hkv),j,d]    (in f32)
    S = S + bias[b,h,i,j]                    if there is a bias
    S = score_mod(S, b, h, i, j)             if there is a score_mod
    S = -inf where mask_mod(b, h, i, j) is false
    P = softmax(S) over j
    O[b,h,i,:] = sum_j P[b,h,i,j] * V[b,h / (Hq / Hkv),j,:]            (in f32)
    LSE[b,h,i] = log(sum_j exp(S[b,h,i,j]))                    (natural logarithm)
    ```

    A `sink` is one more score in each row of a head, of a key without a value
    (Xiao et al., StreamingLLM, 2023): exp(sink[h]) is added to the sum over j, in
    P and in LSE.

    A row whose every key is masked gives O = 0 and LSE = -inf (with a sink,
    LSE = sink), never NaN.
    `scale` defaults to 1/sqrt(D). `B`, `Hq`, `Hkv`, `M`, `N` may be dynamic;
    `D` and `Dv` are static. Both regions may capture values from above and
    read tensors by `tensor.extract`; `attn.length` gives M and N inside them.

    Regions that have a name print and parse by it: `mask_mod causal(top_left)`,
    `mask_mod causal(bottom_right)`, `mask_mod sliding_window(left, right)`,
    `score_mod soft_cap(cap)`.

    Example:
    ```mlir
    %o, %lse = attn.attention %q, %k, %v scale(0.125)
        mask_mod causal(bottom_right)
        : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>, tensor<?x32x?xf32>
    %p = attn.attention %q, %k, %v
        score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
          %slope = tensor.extract %slopes[%h] : tensor<32xf32>
          %d = arith.subi %j, %i : index
          %di = arith.index_cast %d : index to i32
          %df = arith.sitofp %di : i32 to f32
          %t = arith.mulf %slope, %df : f32
          %r = arith.addf %s, %t : f32
          attn.yield %r : f32
        }
        : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Float, 4>:$query,
    Attn_Tensor<Attn_Float, 4>:$key,
    Attn_Tensor<Attn_Float, 4>:$value,
    Optional<Attn_Tensor<Attn_Float, 4>>:$bias,
    Optional<Attn_Tensor<Attn_Float, 1>>:$sink,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$output,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$lse);
  let regions = (region AnyRegion:$scoreMod, AnyRegion:$maskMod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`sink` `(` $sink^ `:` type($sink) `)`)?
    (custom<Scale>($scale)^)?
    (custom<ScoreMod>($scoreMod)^)? (custom<MaskMod>($maskMod)^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value)
    `->` type($output) (`,` type($lse)^)?
  }];
  let extraClassDeclaration = [{
    /// The scale that holds: the attribute, or 1/sqrt(D).
    double getScaleValue();
    /// True if there is a score_mod (mask_mod) region.
    bool hasScoreMod() { return !getScoreMod().empty(); }
    bool hasMaskMod() { return !getMaskMod().empty(); }
    /// f32, or f64 where the inputs are f64: the type of scores and statistics.
    ::mlir::FloatType getScoreType();
  }];
  let builders = [
    // `bias` and `sink` may be null; fills no region.
    OpBuilder<(ins "::mlir::Type":$outputType, "::mlir::Type":$lseType,
      "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value,
      "::mlir::Value":$bias, "::mlir::Value":$sink,
      "std::optional<double>":$scale)>
  ];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// online_attention, normalize, merge
//===----------------------------------------------------------------------===//

// The running state goes in and comes out with one type.
class StateTypeMatch<string name> :
    TypesMatchWith<name # " and its result have the same type",
                   name # "Result", name, "$_self">;

def OnlineAttentionOp : Attn_Op<"online_attention", [
    Pure, AttrSizedOperandSegments,
    // Not DestinationStyleOpInterface: the folding of tensor.cast that comes
    // with it fails on ops whose regions may be empty.
    // Not AllTypesMatch: its type inference miscounts variadic operands.
    StateTypeMatch<"acc">, StateTypeMatch<"max">, StateTypeMatch<"sum">,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "one step of attention with running accumulator, max and sum";
  let description = [{
    Takes the keys and values it is given into the running state `(acc, max,
    sum)` of its query rows, by the online softmax (Milakov & Gimelshein 2018;
    FlashAttention, Dao et al. 2022):

    ```
    S    = scores as in attn.attention, at global positions
           (offset_b + b, offset_h + h, offset_i + i, offset_j + j)
    max' = max(max, rowmax S)
    P    = exp(S - max')                 a = exp(max - max')
    sum' = a * sum + rowsum P            acc' = a * acc + P V
    ```

    Rows with max' = -inf leave `sum` and `acc` as they are. The state before
    the first step is acc = 0, max = -inf, sum = 0. The query heads it sees are
    grouped over the key heads it sees as in `attn.attention`: after tiling, a
    tile holds one query head and its key head, or whole groups.

    Example:
    ```mlir
    %acc, %max, %sum = attn.online_attention %q, %k, %v scale(0.125)
        offsets(%b, %h, %m, %n) mask_mod causal(top_left)
        outs(%acc0, %max0, %sum0)
        : tensor<1x1x128x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
        -> tensor<1x1x128x64xf32>, tensor<1x1x128xf32>, tensor<1x1x128xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Float, 4>:$query,
    Attn_Tensor<Attn_Float, 4>:$key,
    Attn_Tensor<Attn_Float, 4>:$value,
    Optional<Attn_Tensor<Attn_Float, 4>>:$bias,
    Variadic<Index>:$offsets,
    Attn_Tensor<Attn_Acc, 4>:$acc,
    Attn_Tensor<Attn_Acc, 3>:$max,
    Attn_Tensor<Attn_Acc, 3>:$sum,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs
    Attn_Tensor<Attn_Acc, 4>:$accResult,
    Attn_Tensor<Attn_Acc, 3>:$maxResult,
    Attn_Tensor<Attn_Acc, 3>:$sumResult);
  let regions = (region AnyRegion:$scoreMod, AnyRegion:$maskMod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)?
    (custom<Scale>($scale)^)? `offsets` `(` $offsets `)`
    (custom<ScoreMod>($scoreMod)^)? (custom<MaskMod>($maskMod)^)?
    `outs` `(` $acc `,` $max `,` $sum `)`
    attr-dict `:` type($query) `,` type($key) `,` type($value)
    `->` type($accResult) `,` type($maxResult) `,` type($sumResult)
  }];
  let extraClassDeclaration = [{
    double getScaleValue();
    bool hasScoreMod() { return !getScoreMod().empty(); }
    bool hasMaskMod() { return !getMaskMod().empty(); }
    ::mlir::FloatType getScoreType();
    /// acc, max and sum.
    ::mlir::MutableOperandRange getStateMutable();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def NormalizeOp : Attn_Op<"normalize", [
    Pure, AllTypesMatch<["max", "sum"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "output and LSE from the final running state";
  let description = [{
    `output = acc / sum` (0 where sum is 0) and, when asked for,
    `lse = max + log(sum)` (-inf where sum is 0). A `sink`, one for each head of
    the rows, first enters the state:

    ```
    max' = max(max, sink[h])     a = exp(max - max')
    sum' = a * sum + exp(sink[h] - max')        acc' = a * acc
    ```

    Example:
    ```mlir
    %o, %lse = attn.normalize %acc, %max, %sum sink(%s : tensor<1xf32>)
        : tensor<1x1x128x64xf32>, tensor<1x1x128xf32>
        -> tensor<1x1x128x64xf16>, tensor<1x1x128xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Acc, 4>:$acc,
    Attn_Tensor<Attn_Acc, 3>:$max,
    Attn_Tensor<Attn_Acc, 3>:$sum,
    Optional<Attn_Tensor<Attn_Float, 1>>:$sink);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$output,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$lse);
  let assemblyFormat = [{
    $acc `,` $max `,` $sum (`sink` `(` $sink^ `:` type($sink) `)`)? attr-dict
    `:` type($acc) `,` type($max) `->` type($output) (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
}

def MergeOp : Attn_Op<"merge", [
    Pure, SameVariadicOperandSize,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "combine partial attentions over disjoint sets of keys";
  let description = [{
    With partial results `(O_p, LSE_p)`, each over its own keys:
    `LSE = log(sum_p exp(LSE_p))`, `O = sum_p exp(LSE_p - LSE) * O_p`; rows
    with every LSE_p = -inf give O = 0 and LSE = -inf. Used by split-KV and by
    anything that distributes keys.

    Example:
    ```mlir
    %o, %lse = attn.merge
        outputs(%o0, %o1 : tensor<1x8x16x64xf32>, tensor<1x8x16x64xf32>)
        lses(%l0, %l1 : tensor<1x8x16xf32>, tensor<1x8x16xf32>)
        -> tensor<1x8x16x64xf32>, tensor<1x8x16xf32>
    ```
  }];
  let arguments = (ins
    Variadic<Attn_Tensor<Attn_Float, 4>>:$outputs,
    Variadic<Attn_Tensor<Attn_Acc, 3>>:$lses);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$output,
    Attn_Tensor<Attn_Acc, 3>:$lse);
  let assemblyFormat = [{
    `outputs` `(` $outputs `:` type($outputs) `)`
    `lses` `(` $lses `:` type($lses) `)`
    attr-dict `->` type($output) `,` type($lse)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attention_backward and its tiles
//===----------------------------------------------------------------------===//

def AttentionBackwardOp : Attn_Op<"attention_backward", [
    Pure, AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "the gradients of attn.attention";
  let description = [{
    The gradients of a scalar with respect to the operands of an attention,
    given its results and the gradients of these (docs/Spec.md,
    `attention_backward_*`). `score_mod`, `mask_mod`, `bias` and `scale` are
    those of the attention; the derivative of `score_mod` follows from its
    region. With S1 the scores before `score_mod` and S those after `mask_mod`:

    ```
    P  = exp(S - LSE)                               (0 where LSE = -inf)
    dV = P^T dO                      delta = rowsum(dO * O) - dLSE
    dS = P * (dO V^T - delta)        dS1   = dS * score_mod'(S1, b, h, i, j)
    dQ = scale * dS1 K               dK    = scale * dS1^T Q
    ```

    dK and dV are summed over the query heads that share a key head. On
    request, `d_bias` is the gradient of the bias, summed over what it is
    broadcast to, and `d_captures` has the gradient of each tensor in
    `captures`, which score_mod reads by `tensor.extract`. Masked keys and rows
    without keys take no part: their gradients are 0, never NaN.

    A sink of the attention changes none of this: it is in `lse` already. Its own
    gradient is the sum over b and i of -exp(sink[h] - LSE) * delta.

    Example:
    ```mlir
    %dq, %dk, %dv = attn.attention_backward %q, %k, %v
        output(%o : tensor<?x32x?x64xbf16>) lse(%lse : tensor<?x32x?xf32>)
        d_output(%do : tensor<?x32x?x64xbf16>)
        mask_mod causal(bottom_right)
        : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
    %r:4 = attn.attention_backward %q, %k, %v
        output(%o : tensor<?x32x?x64xbf16>) lse(%lse : tensor<?x32x?xf32>)
        d_output(%do : tensor<?x32x?x64xbf16>)
        captures(%slopes : tensor<32xf32>)
        score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
          %slope = tensor.extract %slopes[%h] : tensor<32xf32>
          %t = arith.mulf %slope, %s : f32
          attn.yield %t : f32
        }
        : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        d_captures(tensor<32xf32>)
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Float, 4>:$query,
    Attn_Tensor<Attn_Float, 4>:$key,
    Attn_Tensor<Attn_Float, 4>:$value,
    Optional<Attn_Tensor<Attn_Float, 4>>:$bias,
    Attn_Tensor<Attn_Float, 4>:$output,
    Attn_Tensor<Attn_Acc, 3>:$lse,
    Attn_Tensor<Attn_Float, 4>:$dOutput,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$dLse,
    Variadic<RankedTensorOf<[Attn_Float]>>:$captures,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$dQuery,
    Attn_Tensor<Attn_Float, 4>:$dKey,
    Attn_Tensor<Attn_Float, 4>:$dValue,
    Optional<Attn_Tensor<Attn_Float, 4>>:$dBias,
    Variadic<RankedTensorOf<[Attn_Float]>>:$dCaptures);
  let regions = (region AnyRegion:$scoreMod, AnyRegion:$maskMod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)?
    `output` `(` $output `:` type($output) `)` `lse` `(` $lse `:` type($lse) `)`
    `d_output` `(` $dOutput `:` type($dOutput) `)`
    (`d_lse` `(` $dLse^ `:` type($dLse) `)`)?
    (`captures` `(` $captures^ `:` type($captures) `)`)?
    (custom<Scale>($scale)^)?
    (custom<ScoreMod>($scoreMod)^)? (custom<MaskMod>($maskMod)^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value)
    `->` type($dQuery) `,` type($dKey) `,` type($dValue)
    (`d_bias` `(` type($dBias)^ `)`)?
    (`d_captures` `(` type($dCaptures)^ `)`)?
  }];
  let extraClassDeclaration = [{
    double getScaleValue();
    bool hasScoreMod() { return !getScoreMod().empty(); }
    bool hasMaskMod() { return !getMaskMod().empty(); }
    ::mlir::FloatType getScoreType();
    /// The reads of a captured tensor in score_mod.
    ::llvm::SmallVector<::mlir::tensor::ExtractOp>
    getReads(::mlir::Value capture);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def BackwardDeltaOp : Attn_Op<"backward_delta", [
    Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "rowsum(dO * O) - dLSE, which the gradients of scores need";
  let description = [{
    `delta = rowsum(d_output * output) - d_lse`, with products and sums in the
    type of delta. It is rowsum(P * dP) (Dao, FlashAttention-2, 2023).

    Example:
    ```mlir
    %delta = attn.backward_delta %o, %do
        : tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16> -> tensor<1x1x128xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Float, 4>:$output,
    Attn_Tensor<Attn_Float, 4>:$dOutput,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$dLse);
  let results = (outs Attn_Tensor<Attn_Acc, 3>:$delta);
  let assemblyFormat = [{
    $output `,` $dOutput (`d_lse` `(` $dLse^ `:` type($dLse) `)`)? attr-dict
    `:` type($output) `,` type($dOutput) `->` type($delta)
  }];
  let hasVerifier = 1;
}

def BackwardStepOp : Attn_Op<"backward_step", [
    Pure, AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "gradients from one tile of scores";
  let description = [{
    Adds what the scores of the given rows and keys contribute to the
    gradients, at global positions (offset_b + b, offset_h + h, offset_i + i,
    offset_j + j):

    ```
    P   = exp(S - lse)       dS  = P * (dO V^T - delta)     dS1 as in attention_backward
    dQ' = dQ + scale * dS1 K        dK' = dK + scale * dS1^T Q        dV' = dV + P^T dO
    ```

    Either `d_query`, or `d_key` and `d_value`, or all three are given: a
    schedule whose row tile stays needs the first, one whose key tile stays the
    others. All are in the score type.

    Example:
    ```mlir
    %dq1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta)
        offsets(%b, %h, %m, %n) mask_mod causal(top_left)
        d_query(%dq0 : tensor<1x1x128x64xf32>)
        : tensor<1x1x128x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>,
          tensor<1x1x128x64xf16>, tensor<1x1x128xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Float, 4>:$query,
    Attn_Tensor<Attn_Float, 4>:$key,
    Attn_Tensor<Attn_Float, 4>:$value,
    Optional<Attn_Tensor<Attn_Float, 4>>:$bias,
    Attn_Tensor<Attn_Float, 4>:$dOutput,
    Attn_Tensor<Attn_Acc, 3>:$lse,
    Attn_Tensor<Attn_Acc, 3>:$delta,
    Variadic<Index>:$offsets,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dQuery,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dKey,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dValue,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dQueryResult,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dKeyResult,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dValueResult);
  let regions = (region AnyRegion:$scoreMod, AnyRegion:$maskMod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)?
    `d_output` `(` $dOutput `)` `lse` `(` $lse `)` `delta` `(` $delta `)`
    (custom<Scale>($scale)^)? `offsets` `(` $offsets `)`
    (custom<ScoreMod>($scoreMod)^)? (custom<MaskMod>($maskMod)^)?
    (`d_query` `(` $dQuery^ `:` custom<SameType>(type($dQuery), type($dQueryResult)) `)`)?
    (`d_key` `(` $dKey^ `:` custom<SameType>(type($dKey), type($dKeyResult)) `)`)?
    (`d_value` `(` $dValue^ `:` custom<SameType>(type($dValue), type($dValueResult)) `)`)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `,`
    type($dOutput) `,` custom<SameType>(type($lse), type($delta))
  }];
  let extraClassDeclaration = [{
    double getScaleValue();
    bool hasScoreMod() { return !getScoreMod().empty(); }
    bool hasMaskMod() { return !getMaskMod().empty(); }
    ::mlir::FloatType getScoreType();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Inside the regions
//===----------------------------------------------------------------------===//

def LengthOp : Attn_Op<"length", [Pure]> {
  let summary = "M or N of the enclosing attention, inside its regions";
  let description = [{
    The number of query (`M`) or key (`N`) positions of the whole attention.
    Masks that are aligned to the end use it: bottom-right causal is
    `j <= i + length key - length query`.

    Example:
    ```mlir
    %o = attn.attention %q, %k, %v
        mask_mod (%b: index, %h: index, %i: index, %j: index) {
          %n = attn.length key
          %last = arith.addi %j, %window : index
          %visible = arith.cmpi sge, %last, %n : index
          attn.yield %visible : i1
        }
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>
        -> tensor<1x2x96x64xf16>
    ```
  }];
  let arguments = (ins Attn_Sequence:$sequence);
  let results = (outs Index:$length);
  let assemblyFormat = "$sequence attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Masks that read data
//===----------------------------------------------------------------------===//

def BlockListedOp : Attn_Op<"block_listed", [Pure]> {
  let summary = "true if the block of a pair is in a list of blocks";
  let description = [{
    With `(r, c) = (floor(i / block[0]), floor(j / block[1]))`: true if `c` is
    one of the first `num_blocks[b, h, r]` entries of `indices[b, h, r, :]`. A
    dimension of 1 is broadcast over batches (heads). The entries of a row
    ascend. Two such lists, of partial and of full blocks, are a block mask in
    the layout of FlexAttention (`kv_num_blocks`, `kv_indices`,
    `full_kv_num_blocks`, `full_kv_indices`). A mask that is false where no list
    has the block, and whose lists do not overlap, visits only listed blocks.

    Example: visible where the block is full, or partial and the pair is causal
    ```mlir
    %o = attn.attention %q, %k, %v
        mask_mod (%b: index, %h: index, %i: index, %j: index) {
          %full = attn.block_listed %full_num, %full_indices at(%b, %h, %i, %j) block [128, 128]
              : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
          %partial = attn.block_listed %num, %indices at(%b, %h, %i, %j) block [128, 128]
              : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
          %causal = arith.cmpi sle, %j, %i : index
          %some = arith.andi %partial, %causal : i1
          %visible = arith.ori %full, %some : i1
          attn.yield %visible : i1
        }
        : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
        -> tensor<1x2x256x64xf16>
    ```
  }];
  let arguments = (ins Attn_Tensor<I32, 3>:$numBlocks,
                       Attn_Tensor<I32, 4>:$indices, Index:$batch, Index:$head,
                       Index:$row, Index:$key, DenseI64ArrayAttr:$block);
  let results = (outs I1:$listed);
  let assemblyFormat = [{
    $numBlocks `,` $indices `at` `(` $batch `,` $head `,` $row `,` $key `)`
    `block` $block attr-dict `:` type($numBlocks) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def SegmentOp : Attn_Op<"segment", [Pure]> {
  let summary = "the packed sequence that a position lies in";
  let description = [{
    The number of entries among `offsets[1]` to `offsets[S - 1]` that are at
    most `position`, where `offsets` has S + 1 entries that do not decrease: the
    `cu_seqlens` of S sequences that lie behind each other. That is the sequence
    of the position; the last one for positions past the end. Of empty
    sequences, which no position lies in, it is none.

    Example:
    ```mlir
    %s = attn.segment %cu_seqlens at %i : tensor<?xi32>
    ```
  }];
  let arguments = (ins Attn_Tensor<I32, 1>:$offsets, Index:$position);
  let results = (outs Index:$segment);
  let assemblyFormat = [{
    $offsets `at` $position attr-dict `:` type($offsets)
  }];
  let hasVerifier = 1;
}

def CreateBlockMaskOp : Attn_Op<"create_block_mask", [Pure]> {
  let summary = "the block lists of a mask, by looking at all its pairs";
  let description = [{
    For each batch, head and row block: how many key blocks are partial, which,
    how many are full, which; indices ascend (see `attn.block_listed`). Blocks
    have `block[0]` rows and `block[1]` keys, fewer at the ends: what does not
    exist counts neither as visible nor as masked. `batches` and `heads` are 1
    where the mask does not depend on them. There is room for
    `max(1, ceil(keys / block[1]))` indices.

    Example:
    ```mlir
    %l:4 = attn.create_block_mask batches(%c1) heads(%c1) rows(%m) keys(%n)
        block [128, 64] mask_mod {
        ^bb0(%b: index, %h: index, %i: index, %j: index):
          %x = tensor.extract %document[%i] : tensor<?xi32>
          %y = tensor.extract %document[%j] : tensor<?xi32>
          %same = arith.cmpi eq, %x, %y : i32
          attn.yield %same : i1
        } : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
    ```
  }];
  let arguments = (ins Index:$batches, Index:$heads, Index:$rows, Index:$keys,
                       DenseI64ArrayAttr:$block);
  let results = (outs Attn_Tensor<I32, 3>:$numBlocks,
                      Attn_Tensor<I32, 4>:$indices,
                      Attn_Tensor<I32, 3>:$fullNumBlocks,
                      Attn_Tensor<I32, 4>:$fullIndices);
  let regions = (region AnyRegion:$maskMod);
  let assemblyFormat = [{
    `batches` `(` $batches `)` `heads` `(` $heads `)` `rows` `(` $rows `)`
    `keys` `(` $keys `)` `block` $block `mask_mod` $maskMod attr-dict
    `:` custom<SameType>(type($numBlocks), type($fullNumBlocks)) `,`
    custom<SameType>(type($indices), type($fullIndices))
  }];
  let hasVerifier = 1;
}

def KeyBoundsOp : Attn_Op<"key_bounds", [Pure]> {
  let summary = "bounds on the keys that the tiles of rows see, from data";
  let description = [{
    Two regions for each band, `lower` and `upper`, say that row `i` sees the
    keys in [lower, upper). For each batch, head and tile of `tile` rows the
    result has four numbers for each band: the least lower and the greatest
    upper bound among the rows that see a key (0 and 0 without any), which hold
    what some row sees, and the greatest lower and the least upper bound, which
    hold what every row sees. `batches` and `heads` are 1 where the bounds do
    not depend on them.

    Example: keys from the start of a row's document to the row itself
    ```mlir
    %bounds = attn.key_bounds batches(%c1) heads(%c1) rows(%m) tile 128 {
    ^bb0(%b: index, %h: index, %i: index):
      %s = attn.segment %cu_seqlens at %i : tensor<?xi32>
      %x = tensor.extract %cu_seqlens[%s] : tensor<?xi32>
      %start = arith.index_cast %x : i32 to index
      attn.yield %start : index
    }, {
    ^bb0(%b: index, %h: index, %i: index):
      %end = arith.addi %i, %c1 : index
      attn.yield %end : index
    } : tensor<1x1x?x4xi32>
    ```
  }];
  let arguments = (ins Index:$batches, Index:$heads, Index:$rows,
                       I64Attr:$tile);
  let results = (outs Attn_Tensor<I32, 4>:$result);
  let regions = (region VariadicRegion<AnyRegion>:$bounds);
  let assemblyFormat = [{
    `batches` `(` $batches `)` `heads` `(` $heads `)` `rows` `(` $rows `)`
    `tile` $tile $bounds attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "the result of a score_mod, mask_mod or bounds region";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNOPS_TD
