//===- AttnEnums.td - Enums of the attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNENUMS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNENUMS_TD

include "mlir/IR/EnumAttr.td"

def Attn_Sequence : I32EnumAttr<"Sequence", "query or key positions", [
    I32EnumAttrCase<"query", 0>, I32EnumAttrCase<"key", 1>]> {
  let cppNamespace = "::attn";
}

def Attn_CausalAlignment : I32EnumAttr<"CausalAlignment",
    "which corner the causal diagonal goes through", [
    I32EnumAttrCase<"TopLeft", 0, "top_left">,
    I32EnumAttrCase<"BottomRight", 1, "bottom_right">]> {
  let cppNamespace = "::attn";
}

def Attn_NormalForm : I32EnumAttr<"NormalForm",
    "what holds on the module between two stages", [
    I32EnumAttrCase<"Tensor", 0, "tensor">,
    I32EnumAttrCase<"Scheduled", 1, "scheduled">,
    I32EnumAttrCase<"Tiled", 2, "tiled">,
    I32EnumAttrCase<"Tile", 3, "tile">,
    I32EnumAttrCase<"Nvvm", 4, "nvvm">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNENUMS_TD
