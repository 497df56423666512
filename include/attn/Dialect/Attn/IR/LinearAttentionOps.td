//===- LinearAttentionOps.td - Linear attention -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_TD
#define ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

def LinearAttentionOp : Attn_Op<"linear_attention", [
    Pure, AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "attention by a recurrence, with decay";
  let description = [{
    For each batch and query head a state [D, Dv] is carried over the positions
    (docs/Spec.md, `linear_attention_*`):

    ```
    S[i] = exp(g[i]) * S[i-1] + K[i]^T V[i]        (in f32)
    O[i] = scale * Q[i] S[i]
    ```

    `decay` gives the log decay `g` of each position, [B, Hq, M]; `slope` one of
    each head, [Hq]; without both it is 0. Log decays are at most 0; -inf
    forgets what was before. `state` is S before the first position, 0 if it is
    left out; the second result, if there is one, is S after the last. Thus a
    sequence may be continued.

    `reverse` walks from the last position to the first, with the same decay
    between two positions: a row sees itself and those behind it, `state` is
    what is behind the last, and the second result what leaves the first.
    `full` has one state of all keys, of which there may be another number than
    of queries, for all rows, and no decay:

    ```
    reverse: S[i] = exp(g[i+1]) * S[i+1] + K[i]^T V[i]   (of the last: state)
             final state = exp(g[0]) * S[0]
    full:    S    = state + sum over j of K[j]^T V[j]
    ```

    With these the gradients are linear attentions, too (`--attn-grad`).

    The third result, `states`, [B, Hq, ceil(M / 64), D, Dv], has what is carried
    into each 64 positions: entry c is S before position 64 c, in reverse
    exp(g[64 c + 64]) times S of that position; the first, in reverse the last,
    is `state`. From the states of both ways gradients of decays are made, which
    would otherwise be differences of sums over all positions.

    Grouped heads are as in `attn.attention`, with a state for each query head.
    Feature maps are ops on query and key in front. `scale` defaults to
    1/sqrt(D). `schedule` is chosen by `--attn-select-schedule` for a GPU:
    `tile_m` rows are a chunk, `tile_dv` columns of the state are those of a CTA.

    Example:
    ```mlir
    %o, %next = attn.linear_attention %q, %k, %v
        decay(%g : tensor<?x8x?xf32>) state(%s : tensor<?x8x64x64xf32>) scale(1.0)
        : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>
        -> tensor<?x8x?x64xbf16>, tensor<?x8x64x64xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Float, 4>:$query,
    Attn_Tensor<Attn_Float, 4>:$key,
    Attn_Tensor<Attn_Float, 4>:$value,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$decay,
    Optional<Attn_Tensor<Attn_Acc, 1>>:$slope,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$state,
    UnitAttr:$reverse,
    UnitAttr:$full,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$output,
    Optional<Attn_Tensor<Attn_Acc, 4>>:$finalState,
    Optional<Attn_Tensor<Attn_Acc, 5>>:$states);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`reverse` $reverse^)? (`full` $full^)?
    (`decay` `(` $decay^ `:` type($decay) `)`)?
    (`slope` `(` $slope^ `:` type($slope) `)`)?
    (`state` `(` $state^ `:` type($state) `)`)? (custom<Scale>($scale)^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value)
    `->` type($output) (`,` type($finalState)^)? (`states` type($states)^)?
  }];
  let extraClassDeclaration = [{
    /// The scale that holds: the attribute, or 1/sqrt(D).
    double getScaleValue();
    /// f32, or f64 where the inputs are f64: the type of decays and states.
    ::mlir::FloatType getScoreType();
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_TD
