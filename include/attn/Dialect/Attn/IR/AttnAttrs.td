//===- AttnAttrs.td - Attributes of the attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD

include "attn/Dialect/Attn/IR/AttnDialect.td"
include "attn/Dialect/Attn/IR/AttnEnums.td"
include "mlir/IR/AttrTypeBase.td"

class Attn_Attr<string name, string attrMnemonic> : AttrDef<Attn_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Attn_NormalFormAttr : EnumAttr<Attn_Dialect, Attn_NormalForm, "normal_form"> {
  let assemblyFormat = "`<` $value `>`";
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "How an attention is to be tiled and mapped to the machine";
  let description = [{
    The choice of `attn-select-schedule`, or the user's: fields that are set on
    the op before that pass are kept and checked. A number that is left out, or
    0, is not chosen yet.

    - `kind`: `large_cache` (FlashAttention order: a query tile stays, key and
      value tiles stream), `small_cache` or `split_kv`.
    - `tile_m`, `tile_n`: query rows and key rows of one tile.
    - `warps`: warps of a CTA (1 on the CPU).
    - `stages`: key/value tiles in flight (1 on the CPU).

    Example:
    ```mlir
    #attn.schedule<kind = "large_cache", tile_m = 128, tile_n = 64, warps = 4,
                   stages = 2>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"kind of schedule", [{"large_cache"}]>:$kind,
    DefaultValuedParameter<"int64_t", "0">:$tile_m,
    DefaultValuedParameter<"int64_t", "0">:$tile_n,
    DefaultValuedParameter<"int64_t", "0">:$warps,
    DefaultValuedParameter<"int64_t", "0">:$stages);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True if every field is chosen.
    bool isComplete() const {
      return getTileM() && getTileN() && getWarps() && getStages();
    }
  }];
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD
