//===- AttnAttrs.td - Attributes of the attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD

include "attn/Dialect/Attn/IR/AttnDialect.td"
include "attn/Dialect/Attn/IR/AttnEnums.td"
include "attn/Dialect/Attn/IR/AttnInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []> :
    AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Attn_NormalFormAttr : EnumAttr<Attn_Dialect, Attn_NormalForm, "normal_form"> {
  let assemblyFormat = "`<` $value `>`";
}

def Attn_ScheduleNumber
    : DefaultValuedParameter<"int64_t", "ScheduleAttr::kNotChosen">;

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "How an attention is to be tiled and mapped to the machine";
  let description = [{
    The choice of `attn-select-schedule`, or the user's: fields that are set on
    the op before that pass are kept and checked. What is left out is not chosen
    yet. The fields are those of `attn::Schedule`
    (include/attn/Schedule/Schedule.h, docs/CostModel.md), with the same ranges:

    - `kind`: `large_cache` (FlashAttention order: a query tile stays, key and
      value tiles stream), `small_cache` or `split_kv`.
    - `mma`: matrix instructions, `mma_sync`, `wgmma` or `none`.
    - `tile_m`, `tile_n`: query rows and key rows of one tile.
    - `tile_d`, `tile_dv`: columns of Q and K, and of V and O, in one tile.
    - `stages`: key/value tiles in flight (1 on the CPU).
    - `warps`: warps that compute (1 on the CPU); `producer_warps`: warps that
      only load.
    - `query_in_registers`: the query tile stays in registers as fragments.
    - `query_prologue`: where a query's `attn.rotary` and `attn.qk_norm` are
      computed: by a `kernel` in front, or `fused`, in each tile when it is there.
    - `rescale_threshold`: the rise of a row's maximum, as a power of two, from
      which the accumulator is rescaled; 0 for always.
    - `persistent_ctas`: CTAs that take one tile after the other; 0 for a CTA
      for each tile.
    - `output_tile`: the output has a shared tile of its own, so that the next
      query of a persistent CTA need not wait for the store.
    - `turns`: what the warpgroups of a CTA do one after the other: `none`,
      `products` or `softmax`.
    - `exp2_on_fma`: of 16 exponentials, how many are polynomials on the FMA
      units.
    - `promote`: products of 8-bit weights with a tile of V are summed from 0 and
      then added to the accumulator in f32, since tensor cores may keep fewer bits.
    - `pack_gqa`: the query heads of a group share a tile, or a part of them
      where they are more than its rows.
    - `splits`: ranges of keys computed apart (`split_kv`), or `split_keys`: the
      keys of such a range, which begins at a multiple of them.
    - `balance`: who takes the ranges of `split_keys`: a CTA each (`grid`), or
      `persistent_ctas` that share them out by a `plan` of the lengths. With
      `share` the plan makes ranges of a multiple of `split_keys`, so long that
      each CTA has about one.
    - `cluster_m`, `cluster_d`: CTAs that share K/V tiles, or the head dims of
      a query tile.
    - `fused`: one kernel of a backward computes all gradients, and adds up dQ in
      f32 in memory.
    - `chunk_rows`, `spill`: rows of a chunk and what is spilled, `scores` or
      `probabilities` (`small_cache`).
    - `invariance`: with `batch`, the bits of a sequence depend on its own tensors
      and lengths alone, with `prefix` those of a row on its own query and the
      keys that it sees, and what would change that is refused; `none`.

    Example:
    ```mlir
    #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 128,
                   tile_n = 64, stages = 2, warps = 4>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"kind of schedule", [{""}]>:$kind,
    StringRefParameter<"matrix instructions", [{""}]>:$mma,
    Attn_ScheduleNumber:$tile_m,
    Attn_ScheduleNumber:$tile_n,
    Attn_ScheduleNumber:$tile_d,
    Attn_ScheduleNumber:$tile_dv,
    Attn_ScheduleNumber:$stages,
    Attn_ScheduleNumber:$warps,
    Attn_ScheduleNumber:$producer_warps,
    OptionalParameter<"::mlir::BoolAttr">:$query_in_registers,
    StringRefParameter<"where queries are turned", [{""}]>:$query_prologue,
    Attn_ScheduleNumber:$rescale_threshold,
    Attn_ScheduleNumber:$persistent_ctas,
    OptionalParameter<"::mlir::BoolAttr">:$output_tile,
    StringRefParameter<"what warpgroups take turns at", [{""}]>:$turns,
    Attn_ScheduleNumber:$exp2_on_fma,
    OptionalParameter<"::mlir::BoolAttr">:$promote,
    OptionalParameter<"::mlir::BoolAttr">:$pack_gqa,
    Attn_ScheduleNumber:$splits,
    Attn_ScheduleNumber:$split_keys,
    StringRefParameter<"who takes ranges of keys", [{""}]>:$balance,
    Attn_ScheduleNumber:$cluster_m,
    Attn_ScheduleNumber:$cluster_d,
    OptionalParameter<"::mlir::BoolAttr">:$fused,
    Attn_ScheduleNumber:$chunk_rows,
    StringRefParameter<"what small_cache spills", [{""}]>:$spill,
    StringRefParameter<"what bits depend on", [{""}]>:$invariance);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// A number that is left out.
    static constexpr int64_t kNotChosen = std::numeric_limits<int64_t>::min();

    /// True if the fields without which nothing can be tiled are chosen.
    bool isComplete() const {
      return getTileM() > 0 && getTileN() > 0 && getWarps() > 0 &&
             getStages() > 0;
    }
  }];
}

//===----------------------------------------------------------------------===//
// Row reductions
//===----------------------------------------------------------------------===//

class Attn_RowReductionAttr<string name, string attrMnemonic> :
    Attn_Attr<name, attrMnemonic, [
      DeclareAttrInterfaceMethods<Attn_RowReduction>]>;

def Attn_SoftmaxAttr : Attn_RowReductionAttr<"Softmax", "softmax"> {
  let summary = "Weights are exponentials, divided by their sum";
  let description = [{
    The online softmax (Milakov & Gimelshein 2018): the row values `max`, of the
    scores, and `sum`, of the exponentials relative to it. Ends in the LSE
    `max + log(sum)`.
  }];
}

def Attn_NoneAttr : Attn_RowReductionAttr<"None", "none"> {
  let summary = "Weights are the scores";
  let description = [{
    The weight of a visible key is what `score_mod` yields, that of a hidden one 0:
    sigmoid and ReLU attention, feed-forward layers written as attention. There are
    no row values, nothing is rescaled or divided, and there is no LSE.
  }];
}

def Attn_SumAttr : Attn_RowReductionAttr<"Sum", "sum"> {
  let summary = "Weights are the scores, divided by their sum";
  let description = [{
    As `#attn.none`, with the row value `sum`, of the weights. The accumulator is
    divided by `sum + epsilon`; the output is 0 where that is 0. The weights should
    not be negative.

    Example:
    ```mlir
    #attn.sum<1.0e-6>
    ```
  }];
  let parameters = (ins "::mlir::FloatAttr":$epsilon);
  let assemblyFormat = "`<` $epsilon `>`";
  let genVerifyDecl = 1;
}

// What an op has, softmax where it says nothing.
def Attn_Normalization :
    DefaultValuedOptionalAttr<Attn_RowReduction, "::attn::SoftmaxAttr">;

#endif // ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD
