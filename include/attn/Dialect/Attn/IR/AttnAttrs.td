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

def Attn_ScheduleFields
    : AttrParameter<"::attn::ScheduleOverrides", "the fields that are chosen"> {
  let cppAccessorType = "const ::attn::ScheduleOverrides &";
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "How an attention is to be tiled and mapped to the machine";
  let description = [{
    The choice of `attn-select-schedule`, or the user's: fields that are set on
    the op before that pass are kept and checked. What is left out is not chosen
    yet, or means nothing for the kind of schedule and its family of matrix
    instructions. The fields, their values and what has them are those of
    `attn::Schedule` (include/attn/Schedule/Schedule.h), which
    `attn-schedule --list-fields` prints: integers, `true` or `false`, and names in
    quotes.

    Example:
    ```mlir
    #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 128,
                   tile_n = 64, stages = 2, warps = 4>
    ```
  }];
  let parameters = (ins Attn_ScheduleFields:$fields);
  let builders = [
    // What means something for a schedule, in a pass of the attention.
    AttrBuilder<(ins "const ::attn::Schedule &":$schedule,
                     CArg<"::attn::AttentionPass",
                          "::attn::AttentionPass::Forward">:$pass), [{
      return $_get($_ctxt, ::attn::ScheduleOverrides::of(schedule, pass));
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// All fields, with defaults for what is not chosen.
    const ::attn::Schedule &getValues() const {
      return getFields().getValues();
    }

    /// True if the fields without which nothing can be tiled are chosen.
    bool isComplete() const;
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
