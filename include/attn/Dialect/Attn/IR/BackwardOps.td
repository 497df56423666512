//===- BackwardOps.td - attention_backward and its tiles --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_BACKWARDOPS_TD
#define ATTN_DIALECT_ATTN_IR_BACKWARDOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

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

    With `normalization(#attn.none)` weights have no LSE, and rows nothing in common:
    neither `output` nor `lse` is given, P = S (0 where masked), and dS = dO V^T.

    dK and dV are summed over the query heads that share a key head. On
    request, `d_bias` is the gradient of the bias, summed over what it is
    broadcast to, and `d_captures` has the gradient of each tensor in
    `captures`, which score_mod reads by `tensor.extract`. Masked keys and rows
    without keys take no part: their gradients are 0, never NaN.

    With the attention's `dropout`, D = keep / (1 - rate) with its keep, of the same
    seed and offset: dV = (D * P)^T dO and dS = P * (D * (dO V^T) - delta).

    `schedule` is that of the kernel of dQ, `key_schedule` that of dK and dV, or
    of dK beside a `value_schedule` for dV.

    A `sink` of the attention changes none of this: it is in `lse` already. It is
    an operand where its own gradient is asked for, which is `d_sink`, the sum over
    b and i of -exp(sink[h] - LSE) * delta.

    Inputs of 8 bits have a d_output of 8 bits, and `descale(%dq, %dk, %dv, %ddo)`
    says what the four stand for, as in attention: the gradients are those of
    dq Q, dk K and dv V. P is rounded to the type of V, and scale * dS1, times
    `scale_ds`, [1], to the type of d_output, both on the way to a product alone.

    `amax_ds` is, of each row, the largest magnitude of scale * dS1, without
    scale_ds: what the next step's scale_ds is computed from (delayed scaling).

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
    %g:4 = attn.attention_backward %q8, %k8, %v8
        output(%o : tensor<?x32x?x64xbf16>) lse(%lse : tensor<?x32x?xf32>)
        d_output(%do8 : tensor<?x32x?x64xf8E5M2>)
        descale(%sq, %sk, %sv, %so : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
        scale_ds(%sds : tensor<1xf32>)
        : tensor<?x32x?x64xf8E4M3FN>, tensor<?x8x?x64xf8E4M3FN>, tensor<?x8x?x64xf8E4M3FN>
        -> tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        amax_ds(tensor<?x32x?xf32>)
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Input, 4>:$query,
    Attn_Tensor<Attn_Input, 4>:$key,
    Attn_Tensor<Attn_Input, 4>:$value,
    Optional<Attn_Tensor<Attn_Float, 4>>:$bias,
    Optional<Attn_Tensor<Attn_Float, 4>>:$output,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$lse,
    Attn_Tensor<Attn_Input, 4>:$dOutput,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$dLse,
    Variadic<Attn_Descale>:$descales,
    Optional<Attn_Tensor<F32, 1>>:$scaleDs,
    Optional<Attn_Tensor<Attn_Float, 1>>:$sink,
    Variadic<RankedTensorOf<[Attn_Float]>>:$captures,
    Optional<I64>:$dropoutSeed,
    Optional<I64>:$dropoutOffset,
    OptionalAttr<F64Attr>:$dropoutRate,
    OptionalAttr<F64Attr>:$scale,
    Attn_Normalization:$normalization,
    OptionalAttr<Attn_ScheduleAttr>:$schedule,
    OptionalAttr<Attn_ScheduleAttr>:$key_schedule,
    OptionalAttr<Attn_ScheduleAttr>:$value_schedule);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$dQuery,
    Attn_Tensor<Attn_Float, 4>:$dKey,
    Attn_Tensor<Attn_Float, 4>:$dValue,
    Optional<Attn_Tensor<Attn_Float, 4>>:$dBias,
    Variadic<RankedTensorOf<[Attn_Float]>>:$dCaptures,
    Optional<Attn_Tensor<Attn_Float, 1>>:$dSink,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$amaxDs);
  let regions = (region AnyRegion:$scoreMod, AnyRegion:$maskMod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`output` `(` $output^ `:` type($output) `)`)?
    (`lse` `(` $lse^ `:` type($lse) `)`)?
    `d_output` `(` $dOutput `:` type($dOutput) `)`
    (`d_lse` `(` $dLse^ `:` type($dLse) `)`)?
    (`descale` `(` $descales^ `:` type($descales) `)`)?
    (`scale_ds` `(` $scaleDs^ `:` type($scaleDs) `)`)?
    (`sink` `(` $sink^ `:` type($sink) `)`)?
    (`captures` `(` $captures^ `:` type($captures) `)`)?
    (`dropout` `(` $dropoutSeed^ `,` $dropoutOffset `)` custom<Rate>($dropoutRate))?
    (custom<Scale>($scale)^)? (`normalization` `(` $normalization^ `)`)?
    (custom<ScoreMod>($scoreMod)^)? (custom<MaskMod>($maskMod)^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value)
    `->` type($dQuery) `,` type($dKey) `,` type($dValue)
    (`d_bias` `(` type($dBias)^ `)`)?
    (`d_captures` `(` type($dCaptures)^ `)`)?
    (`d_sink` `(` type($dSink)^ `)`)?
    (`amax_ds` `(` type($amaxDs)^ `)`)?
  }];
  let extraClassDeclaration = [{
    double getScaleValue();
    bool hasScoreMod() { return !getScoreMod().empty(); }
    bool hasMaskMod() { return !getMaskMod().empty(); }
    ::mlir::FloatType getScoreType();
    /// The descale of query (0), key (1), value (2) or d_output (3); null if it
    /// has none.
    ::mlir::Value getDescaleOf(unsigned operand) {
      return getDescales().empty() ? ::mlir::Value() : getDescales()[operand];
    }
    /// The reads of a captured tensor in score_mod.
    ::llvm::SmallVector<::mlir::tensor::ExtractOp>
    getReads(::mlir::Value capture);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def BackwardDeltaOp : Attn_Op<"backward_delta", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "rowsum(dO * O) - dLSE, which the gradients of scores need";
  let description = [{
    `delta = rowsum(d_output * output) - d_lse`, with products and sums in the
    type of delta. It is rowsum(P * dP) (Dao, FlashAttention-2, 2023). `descale`,
    [1] or [1, 1], is a factor of d_output.

    Example:
    ```mlir
    %delta = attn.backward_delta %o, %do
        : tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16> -> tensor<1x1x128xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Float, 4>:$output,
    Attn_Tensor<Attn_Input, 4>:$dOutput,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$dLse,
    Optional<Attn_Descale>:$descale);
  let results = (outs Attn_Tensor<Attn_Acc, 3>:$delta);
  let assemblyFormat = [{
    $output `,` $dOutput (`d_lse` `(` $dLse^ `:` type($dLse) `)`)?
    (`descale` `(` $descale^ `:` type($descale) `)`)? attr-dict
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

    `normalization` and `dropout` as in attention_backward; without an LSE there is
    no delta. Either `d_query`, or `d_key` and `d_value`, or all three are given: a
    schedule whose row tile stays needs the first, one whose key tile stays the
    others. All are in the score type.

    `descale`, of query, key, value and d_output, and `scale_ds` are the whole
    tensors of attention_backward. `amax` goes with `d_query`:

    ```
    amax' = max(amax, max over j of |scale * dS1|)
    ```

    `d_scores` is given alone. It has an element for each score of the tile:

    ```
    dScores' = dScores + dS1        with of(capture): + dS * score_mod'(capture)
    ```

    where score_mod'(capture) is the sum of the derivatives with respect to each
    read of `capture`, or to the one that `read` is the number of. The first is
    what a bias adds up, the second what a captured tensor does.

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
    Attn_Tensor<Attn_Input, 4>:$query,
    Attn_Tensor<Attn_Input, 4>:$key,
    Attn_Tensor<Attn_Input, 4>:$value,
    Optional<Attn_Tensor<Attn_Float, 4>>:$bias,
    Attn_Tensor<Attn_Input, 4>:$dOutput,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$lse,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$delta,
    Variadic<Attn_Descale>:$descales,
    Optional<Attn_Tensor<F32, 1>>:$scaleDs,
    Variadic<Index>:$offsets,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dQuery,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dKey,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dValue,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dScores,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$amax,
    Optional<RankedTensorOf<[Attn_Float]>>:$capture,
    Optional<I64>:$dropoutSeed,
    Optional<I64>:$dropoutOffset,
    OptionalAttr<F64Attr>:$dropoutRate,
    OptionalAttr<F64Attr>:$scale,
    Attn_Normalization:$normalization,
    OptionalAttr<I64Attr>:$read,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dQueryResult,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dKeyResult,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dValueResult,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$dScoresResult,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$amaxResult);
  let regions = (region AnyRegion:$scoreMod, AnyRegion:$maskMod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)?
    `d_output` `(` $dOutput `)` (`lse` `(` $lse^ `)`)? (`delta` `(` $delta^ `)`)?
    (`descale` `(` $descales^ `:` type($descales) `)`)?
    (`scale_ds` `(` $scaleDs^ `:` type($scaleDs) `)`)?
    (custom<Scale>($scale)^)? (`normalization` `(` $normalization^ `)`)?
    `offsets` `(` $offsets `)`
    (`dropout` `(` $dropoutSeed^ `,` $dropoutOffset `)` custom<Rate>($dropoutRate))?
    (custom<ScoreMod>($scoreMod)^)? (custom<MaskMod>($maskMod)^)?
    (`d_query` `(` $dQuery^ `:` custom<SameType>(type($dQuery), type($dQueryResult)) `)`)?
    (`d_key` `(` $dKey^ `:` custom<SameType>(type($dKey), type($dKeyResult)) `)`)?
    (`d_value` `(` $dValue^ `:` custom<SameType>(type($dValue), type($dValueResult)) `)`)?
    (`d_scores` `(` $dScores^ `:` custom<SameType>(type($dScores), type($dScoresResult)) `)`)?
    (`amax` `(` $amax^ `:` custom<SameType>(type($amax), type($amaxResult)) `)`)?
    (`of` `(` $capture^ `:` type($capture) `)`)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `,`
    type($dOutput) (`,` custom<SameType>(type($lse), type($delta))^)?
  }];
  let extraClassDeclaration = [{
    double getScaleValue();
    bool hasScoreMod() { return !getScoreMod().empty(); }
    bool hasMaskMod() { return !getMaskMod().empty(); }
    ::mlir::FloatType getScoreType();
    /// The descale of query (0), key (1), value (2) or d_output (3); null if it
    /// has none.
    ::mlir::Value getDescaleOf(unsigned operand) {
      return getDescales().empty() ? ::mlir::Value() : getDescales()[operand];
    }
    /// The reads of the captured tensor that d_scores is of, in score_mod; one
    /// of them with `read`.
    ::llvm::SmallVector<::mlir::tensor::ExtractOp> getReads();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def BackwardSumOp : Attn_Op<"backward_sum", [
    Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "numbers of rows, added up in the element that they belong to";
  let description = [{
    A tensor with the sizes of `like` whose element at `t` is the sum of
    `source[b, h, p]` over all (b, h, p) that `map` takes to `t`, in the type of
    source; 0 where there is none. With `lse`, [b, h, p] too, `like` is a sink, and
    each number has the weight of its gradient, -exp(like[map(b, h, p)] - lse),
    which is 0 where lse is -inf.

    Example:
    ```mlir
    %d_slopes = attn.backward_sum %rows like(%slopes : tensor<32xf32>)
        map affine_map<(b, h, p) -> (h)> : tensor<2x32x?xf32> -> tensor<32xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Acc, 3>:$source,
    RankedTensorOf<[Attn_Float]>:$like,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$lse,
    AffineMapAttr:$map);
  let results = (outs RankedTensorOf<[Attn_Float]>:$result);
  let assemblyFormat = [{
    $source `like` `(` $like `:` type($like) `)`
    (`lse` `(` $lse^ `:` type($lse) `)`)? `map` $map attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def BackwardScatterOp : Attn_Op<"backward_scatter", [
    Pure, AllTypesMatch<["into", "result"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "numbers of scores, added to the elements that they belong to";
  let description = [{
    Adds each number of a tile [1, 1, m, n] that is not 0 to an element of `into`.
    Of the number at (i, j) the regions give the indices of its element, one each,
    as `score_mod` gives a score, from the position (offset_b, offset_h,
    offset_i + i, offset_j + j). Numbers may belong to the same element.

    On a GPU the sum is exact before it is rounded, so that its order is free.

    Example: the gradient of a table of relative positions.
    ```mlir
    %t1 = attn.backward_scatter %scores offsets(%b, %h, %m, %n) into %t0 {
    ^bb0(%b1: index, %h1: index, %i: index, %j: index):
      attn.yield %h1 : index
    }, {
    ^bb0(%b1: index, %h1: index, %i: index, %j: index):
      %d = arith.subi %i, %j : index
      %at = arith.addi %d, %c511 : index
      attn.yield %at : index
    } : tensor<1x1x64x64xf32> into tensor<8x1023xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Acc, 4>:$scores,
    RankedTensorOf<[Attn_Acc]>:$into,
    Variadic<Index>:$offsets);
  let results = (outs RankedTensorOf<[Attn_Acc]>:$result);
  let regions = (region VariadicRegion<SizedRegion<1>>:$indices);
  let assemblyFormat = [{
    $scores `offsets` `(` $offsets `)` `into` $into $indices attr-dict
    `:` type($scores) `into` type($into)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_BACKWARDOPS_TD
