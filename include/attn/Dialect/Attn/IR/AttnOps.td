//===- AttnOps.td - Operations of the attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNOPS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

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

    `dropout(%seed, %offset) rate(p)` keeps each P[b,h,i,j] with probability
    1 - p, divided by 1 - p, in O; LSE does not see it. What is kept is a function
    of seed and offset (i64, known when the program runs) and (b, h, i, j) alone,
    by Philox 4x32-10 (Salmon et al. 2011; docs/Spec.md, "Dropout"), whatever the
    schedule and the target.

    `descale(%dq, %dk, %dv)` says what Q, K and V were divided by when they were
    rounded to 8 bits: Q, K and V stand for descale * Q, descale * K and
    descale * V. Each is [1], for the whole tensor, or [B, Hkv].

    A row whose every key is masked gives O = 0 and LSE = -inf (with a sink,
    LSE = sink), never NaN.

    `lengths(key %k, query %q)` says how many keys and query rows of each batch
    exist; either may be left out. What is stored behind a length has no
    influence, whatever it is. A row that does not exist is one without keys, and
    `attn.length` is the length of batch b, so that `causal(bottom_right)` and the
    windows are aligned by sequence. With a cache N is its capacity.

    `normalization` says how scores become weights; without it, by softmax. Others
    have neither LSE nor sink, and the weight of a masked key is 0:

    ```
    #attn.none       P = S
    #attn.sum<eps>   P = S / (sum_j S + eps)
    ```

    A `prob_mod` changes probabilities, after the softmax and before dropout:

    ```
    P'[b,h,i,j] = prob_mod(P[b,h,i,j], b, h, i, j)     O = sum_j P' V
    ```

    It is applied to what mask_mod leaves visible, in rows that see a key; LSE does
    not see it. One that is a factor of P, whatever that is a function of, is applied
    to the weights of each tile before their sum divides them; of others
    `--attn-decompose-prob-mod` makes attentions: LSEs, then weights
    prob_mod(exp(S - LSE)) without normalization.

    `scale` defaults to 1/sqrt(D). `B`, `Hq`, `Hkv`, `M`, `N` may be dynamic;
    `D` and `Dv` are static. The regions may capture values from above and
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
    %e = attn.attention %q8, %k8, %v8
        descale(%dq, %dk, %dv : tensor<1xf32>, tensor<1xf32>, tensor<?x8xf32>)
        : tensor<?x32x?x64xf8E4M3FN>, tensor<?x8x?x64xf8E4M3FN>, tensor<?x8x?x64xf8E4M3FN>
        -> tensor<?x32x?x64xbf16>
    %n = attn.attention %qi, %ki, %v
        descale(%dq, %dk : tensor<1xf32>, tensor<1xf32>)
        : tensor<?x32x?x64xi8>, tensor<?x8x?x64xi8>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>
    %c = attn.attention %q, %k, %v
        lengths(key %lengths : tensor<?xi32>) mask_mod causal(bottom_right)
        : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>
    %d = attn.attention %q, %k, %v dropout(%seed, %offset) rate(0.1)
        : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>
    %r = attn.attention %q, %k, %v normalization(#attn.none)
        score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
          %c0 = arith.constant 0.0 : f32
          %relu = arith.maximumf %s, %c0 : f32
          attn.yield %relu : f32
        }
        : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>
    %h = attn.attention %q, %k, %v
        prob_mod (%x: f32, %b: index, %h: index, %i: index, %j: index) {
          %factor = tensor.extract %factors[%h] : tensor<32xf32>
          %scaled = arith.mulf %factor, %x : f32
          attn.yield %scaled : f32
        }
        : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x32x?x64xbf16>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Stored, 4>:$query,
    Attn_Tensor<Attn_Stored, 4>:$key,
    Attn_Tensor<Attn_Stored, 4>:$value,
    Optional<Attn_Tensor<Attn_Float, 4>>:$bias,
    Optional<Attn_Tensor<Attn_Float, 1>>:$sink,
    Variadic<Attn_Descale>:$descales,
    Optional<Attn_Tensor<Attn_Int, 1>>:$keyLengths,
    Optional<Attn_Tensor<Attn_Int, 1>>:$queryLengths,
    Optional<I64>:$dropoutSeed,
    Optional<I64>:$dropoutOffset,
    OptionalAttr<F64Attr>:$dropoutRate,
    OptionalAttr<F64Attr>:$scale,
    Attn_Normalization:$normalization,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$output,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$lse);
  let regions = (region AnyRegion:$scoreMod, AnyRegion:$maskMod,
    AnyRegion:$probMod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`sink` `(` $sink^ `:` type($sink) `)`)?
    (`descale` `(` $descales^ `:` type($descales) `)`)?
    (custom<Lengths>($keyLengths, type($keyLengths), $queryLengths, type($queryLengths))^)?
    (`dropout` `(` $dropoutSeed^ `,` $dropoutOffset `)` custom<Rate>($dropoutRate))?
    (custom<Scale>($scale)^)? (`normalization` `(` $normalization^ `)`)?
    (custom<ScoreMod>($scoreMod)^)? (custom<MaskMod>($maskMod)^)?
    (custom<ProbMod>($probMod)^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value)
    `->` type($output) (`,` type($lse)^)?
  }];
  let extraClassDeclaration = [{
    /// The scale that holds: the attribute, or 1/sqrt(D).
    double getScaleValue();
    /// True if there is a score_mod (mask_mod) region.
    bool hasScoreMod() { return !getScoreMod().empty(); }
    bool hasMaskMod() { return !getMaskMod().empty(); }
    bool hasProbMod() { return !getProbMod().empty(); }
    /// True if not all of a batch's keys or query rows need exist.
    bool hasLengths() { return getKeyLengths() || getQueryLengths(); }
    /// f32, or f64 where the inputs are f64: the type of scores and statistics.
    ::mlir::FloatType getScoreType();
    /// The descale of query (0), key (1) or value (2); null if it has none.
    ::mlir::Value getDescaleOf(unsigned operand);
  }];
  let builders = [
    // `bias` and `sink` may be null; no descales, no lengths, no dropout; fills
    // no region.
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

def OnlineAttentionOp : Attn_Op<"online_attention", [
    Pure, AttrSizedOperandSegments,
    // Not DestinationStyleOpInterface: the folding of tensor.cast that comes
    // with it fails on ops whose regions may be empty.
    // Not AllTypesMatch: its type inference miscounts variadic operands.
    TypesMatchWith<"acc and its result have the same type",
                   "accResult", "acc", "$_self">,
    RangedTypesMatchWith<"row values and their results have the same types",
                         "rowResults", "rows", "$_self">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "one step of attention with a running state";
  let description = [{
    Takes the keys and values it is given into the running state of its query rows:
    the accumulator, and the row values of the `normalization`. Those of softmax
    are `max` and `sum`, by the online softmax (Milakov & Gimelshein 2018;
    FlashAttention, Dao et al. 2022):

    ```
    S    = scores as in attn.attention, at global positions
           (offset_b + b, offset_h + h, offset_i + i, offset_j + j)
    max' = max(max, rowmax S)
    P    = exp(S - max')                 a = exp(max - max')
    sum' = a * sum + rowsum P            acc' = a * acc + P V
    ```

    With `dropout`, acc' has P only where it is kept, undivided: `attn.normalize`
    divides by 1 - rate, as its `scale`. A `prob_mod` is linear in P, and acc' has
    prob_mod(P) where P is not 0.

    With `key_lengths` keys at positions from the length of their batch on do not
    exist. Keys before position `first_key`, which `--attn-insert-block-skipping`
    finds, are hidden by `mask_mod` from all rows, and are not read.

    Rows with max' = -inf leave `sum` and `acc` as they are. The state before
    the first step is acc = 0, max = -inf, sum = 0. `#attn.none` has acc' = acc + S V
    alone, `#attn.sum` sum' = sum + rowsum S, too, with S = 0 where masked. The query heads it sees are
    grouped over the key heads it sees as in `attn.attention`: after tiling, a
    tile holds query heads of one key head, or whole groups.

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
    Attn_Tensor<Attn_Stored, 4>:$query,
    Attn_Tensor<Attn_Stored, 4>:$key,
    Attn_Tensor<Attn_Stored, 4>:$value,
    Optional<Attn_Tensor<Attn_Float, 4>>:$bias,
    Optional<Attn_Tensor<Attn_Int, 1>>:$keyLengths,
    Optional<Index>:$firstKey,
    Variadic<Index>:$offsets,
    Optional<I64>:$dropoutSeed,
    Optional<I64>:$dropoutOffset,
    Attn_Tensor<Attn_Acc, 4>:$acc,
    Variadic<Attn_Tensor<Attn_Acc, 3>>:$rows,
    OptionalAttr<F64Attr>:$dropoutRate,
    OptionalAttr<F64Attr>:$scale,
    Attn_Normalization:$normalization,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs
    Attn_Tensor<Attn_Acc, 4>:$accResult,
    Variadic<Attn_Tensor<Attn_Acc, 3>>:$rowResults);
  let regions = (region AnyRegion:$scoreMod, AnyRegion:$maskMod,
    AnyRegion:$probMod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`key_lengths` `(` $keyLengths^ `:` type($keyLengths) `)`)?
    (`first_key` `(` $firstKey^ `)`)? (custom<Scale>($scale)^)? `offsets` `(` $offsets `)`
    (`dropout` `(` $dropoutSeed^ `,` $dropoutOffset `)` custom<Rate>($dropoutRate))?
    (`normalization` `(` $normalization^ `)`)?
    (custom<ScoreMod>($scoreMod)^)? (custom<MaskMod>($maskMod)^)?
    (custom<ProbMod>($probMod)^)? `outs` `(` $acc (`,` $rows^)? `)`
    attr-dict `:` type($query) `,` type($key) `,` type($value)
    `->` type($accResult) (`,` type($rowResults)^)?
  }];
  let extraClassDeclaration = [{
    double getScaleValue();
    bool hasScoreMod() { return !getScoreMod().empty(); }
    bool hasMaskMod() { return !getMaskMod().empty(); }
    bool hasProbMod() { return !getProbMod().empty(); }
    ::mlir::FloatType getScoreType();
    /// The state before and after the step.
    ::attn::RunningState getState();
    ::attn::RunningState getStateResult();
    ::mlir::MutableOperandRange getStateMutable();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def NormalizeOp : Attn_Op<"normalize", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "output and LSE from the final running state";
  let description = [{
    `output = scale * acc / sum` (0 where sum is 0; `scale` is 1 by default: dropout
    divides by 1 - rate) and, when asked for, `lse = max + log(sum)` (-inf where sum is 0). With
    `normalization(#attn.none)` nothing is divided, with `#attn.sum<eps>` by sum + eps.
    A `sink`, one for each head of the rows, first enters the state:

    ```
    max' = max(max, sink[h])     a = exp(max - max')
    sum' = a * sum + exp(sink[h] - max')        acc' = a * acc
    ```

    `descale`, [1] or one for each batch and key head of the rows, is a further
    factor of the output.

    Example:
    ```mlir
    %o, %lse = attn.normalize %acc, %max, %sum sink(%s : tensor<1xf32>)
        : tensor<1x1x128x64xf32>, tensor<1x1x128xf32>
        -> tensor<1x1x128x64xf16>, tensor<1x1x128xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Acc, 4>:$acc,
    Variadic<Attn_Tensor<Attn_Acc, 3>>:$rows,
    Optional<Attn_Tensor<Attn_Float, 1>>:$sink,
    Optional<Attn_Descale>:$descale,
    OptionalAttr<F64Attr>:$scale,
    Attn_Normalization:$normalization);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$output,
    Optional<Attn_Tensor<Attn_Acc, 3>>:$lse);
  let assemblyFormat = [{
    $acc (`,` $rows^)? (`sink` `(` $sink^ `:` type($sink) `)`)?
    (`descale` `(` $descale^ `:` type($descale) `)`)?
    (custom<Scale>($scale)^)? (`normalization` `(` $normalization^ `)`)? attr-dict
    `:` type($acc) `` custom<RowType>(ref($rows), type($rows))
    `->` type($output) (`,` type($lse)^)?
  }];
  let extraClassDeclaration = [{
    double getScaleValue();
    ::attn::RunningState getState();
  }];
  let hasVerifier = 1;
}

def CombineOp : Attn_Op<"combine", [
    Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "one running state of several over disjoint sets of keys";
  let description = [{
    From a stack of states of `attn.online_attention`, each over its own keys,
    the state over all of them. Of softmax:

    ```
    max = max over p of max_p       a_p = exp(max_p - max)
    sum = sum over p of a_p * sum_p
    acc = sum over p of a_p * acc_p
    ```

    Parts with max_p = -inf have seen no key, and count for nothing. A
    `normalization` without a maximum has a_p = 1. What `attn.merge` makes of
    outputs and LSEs is the same but for rounding: an LSE of large size has no
    room for the logarithm of the sum.

    Example:
    ```mlir
    %acc, %max, %sum = attn.combine %accs, %maxima, %sums
        : tensor<4x1x1x16x64xf32>, tensor<4x1x1x16xf32>
        -> tensor<1x1x16x64xf32>, tensor<1x1x16xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Acc, 5>:$acc,
    Variadic<Attn_Tensor<Attn_Acc, 4>>:$rows,
    Attn_Normalization:$normalization);
  let results = (outs
    Attn_Tensor<Attn_Acc, 4>:$accResult,
    Variadic<Attn_Tensor<Attn_Acc, 3>>:$rowResults);
  let assemblyFormat = [{
    $acc (`,` $rows^)? (`normalization` `(` $normalization^ `)`)? attr-dict
    `:` type($acc) `` custom<RowType>(ref($rows), type($rows))
    `->` type($accResult) `` custom<RowType>(ref($rows), type($rowResults))
  }];
  let extraClassDeclaration = [{
    /// The stacks, and the state over all keys.
    ::attn::RunningState getState();
    ::attn::RunningState getStateResult();
  }];
  let hasVerifier = 1;
}

def RangeKeysOp : Attn_Op<"range_keys", [Pure]> {
  let summary = "keys of the ranges that a plan has chosen";
  let description = [{
    How many keys a range of `kind = "split_kv"` has with `balance = "share"`: a
    multiple of `unit`, a tile of keys, which a kernel in front of the attention
    finds from the lengths. The results of the attention are the same, but for
    rounding, whichever it is.

    Example:
    ```mlir
    %keys = attn.range_keys 128
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntPositive]>:$unit);
  let results = (outs Index:$keys);
  let assemblyFormat = "$unit attr-dict";
}

def MergeOp : Attn_Op<"merge", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "combine partial attentions over disjoint sets of keys";
  let description = [{
    With partial results `(O_p, LSE_p)`, each over its own keys:
    `LSE = log(sum_p exp(LSE_p))`, `O = sum_p exp(LSE_p - LSE) * O_p`; rows
    with every LSE_p = -inf give O = 0 and LSE = -inf. A `sink` is one more
    score in each row of a head, as in `attn.attention`: whatever the parts
    are, it is taken once. Used by anything that distributes keys.

    The parts are tensors of their own, or one stack of them: `outputs`
    [P, B, Hq, M, Dv] and `lses` [P, B, Hq, M].

    Example:
    ```mlir
    %o, %lse = attn.merge
        outputs(%o0, %o1 : tensor<1x8x16x64xf32>, tensor<1x8x16x64xf32>)
        lses(%l0, %l1 : tensor<1x8x16xf32>, tensor<1x8x16xf32>)
        -> tensor<1x8x16x64xf32>, tensor<1x8x16xf32>
    %s, %slse = attn.merge outputs(%os : tensor<4x1x8x16x64xf32>)
        lses(%ls : tensor<4x1x8x16xf32>) sink(%sinks : tensor<8xf32>)
        -> tensor<1x8x16x64xf16>, tensor<1x8x16xf32>
    ```
  }];
  let arguments = (ins
    Variadic<AnyTypeOf<[Attn_Tensor<Attn_Float, 4>, Attn_Tensor<Attn_Float, 5>]>>:$outputs,
    Variadic<AnyTypeOf<[Attn_Tensor<Attn_Acc, 3>, Attn_Tensor<Attn_Acc, 4>]>>:$lses,
    Optional<Attn_Tensor<Attn_Float, 1>>:$sink);
  let results = (outs
    Attn_Tensor<Attn_Float, 4>:$output,
    Attn_Tensor<Attn_Acc, 3>:$lse);
  let assemblyFormat = [{
    `outputs` `(` $outputs `:` type($outputs) `)`
    `lses` `(` $lses `:` type($lses) `)`
    (`sink` `(` $sink^ `:` type($sink) `)`)?
    attr-dict `->` type($output) `,` type($lse)
  }];
  let extraClassDeclaration = [{
    /// True if the parts are one stack.
    bool isStacked();
  }];
  let hasVerifier = 1;
}

def RepairOp : Attn_Op<"repair", [
    Pure, AllTypesMatch<["output", "whole", "outputResult"]>,
    AllTypesMatch<["lse", "wholeLse", "lseResult"]>]> {
  let summary = "rows of another attention where one saw no key";
  let description = [{
    A mask of finite values gives hidden pairs scores that no other comes near,
    and weights of 0, except in a row that sees no key. `output` and `lse` are of
    the attention without hidden pairs, `whole` and `whole_lse` of the one with
    them:

    ```
    result[b, h, i] = lse[b, h, i] < below ? whole[b, h, i] : output[b, h, i]
    ```

    Rows of `whole` may be taken elsewhere, too, where they are the same but for
    rounding. A GPU computes them only for tiles that have a row which needs them.
    `--attn-split-finite-masks` makes this op.

    Example:
    ```mlir
    %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>
        -> tensor<1x2x96x64xf16>, tensor<1x2x96xf32>
    %w, %whole_lse = attn.attention %q, %k, %v
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>
        -> tensor<1x2x96x64xf16>, tensor<1x2x96xf32>
    %r, %r_lse = attn.repair %o, %lse by %w, %whole_lse below(-1.0e+38)
        : tensor<1x2x96x64xf16>, tensor<1x2x96xf32>
    ```
  }];
  let arguments = (ins
    Attn_Tensor<Attn_Input, 4>:$output,
    Attn_Tensor<Attn_Acc, 3>:$lse,
    Attn_Tensor<Attn_Input, 4>:$whole,
    Attn_Tensor<Attn_Acc, 3>:$wholeLse,
    F64Attr:$below);
  let results = (outs
    Attn_Tensor<Attn_Input, 4>:$outputResult,
    Attn_Tensor<Attn_Acc, 3>:$lseResult);
  let assemblyFormat = [{
    $output `,` $lse `by` $whole `,` $wholeLse `below` `(` $below `)`
    attr-dict `:` type($output) `,` type($lse)
  }];
  let hasVerifier = 1;
}

// attention_backward and its tiles.
include "attn/Dialect/Attn/IR/BackwardOps.td"

//===----------------------------------------------------------------------===//
// Inside the regions
//===----------------------------------------------------------------------===//

def LengthOp : Attn_Op<"length", [Pure]> {
  let summary = "M or N of the enclosing attention, inside its regions";
  let description = [{
    The number of query (`M`) or key (`N`) positions of the whole attention; with
    `lengths` those of batch `b` that exist.
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

// Views of a cache.
include "attn/Dialect/Attn/IR/CacheOps.td"

// Sequences behind each other.
include "attn/Dialect/Attn/IR/RaggedOps.td"

// Masks that read data.
include "attn/Dialect/Attn/IR/MaskOps.td"

#endif // ATTN_DIALECT_ATTN_IR_ATTNOPS_TD
