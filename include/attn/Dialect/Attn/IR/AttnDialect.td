//===- AttnDialect.td - The attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNDIALECT_TD
#define ATTN_DIALECT_ATTN_IR_ATTNDIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "Attention on tensors, independent of any target";
  let description = [{
    The `attn` dialect says *what* an attention computes. Masks and score
    changes are regions over global coordinates `(b, h, i, j)` (batch, query
    head, query position, key position), not a list of special cases, so every
    analysis reads the region and never a name.

    The dimensions are named once and everywhere:

    | name  | meaning                                        |
    |-------|------------------------------------------------|
    | `B`   | batch                                          |
    | `Hq`  | query heads                                    |
    | `Hkv` | key/value heads; `Hq` is a multiple of it      |
    | `M`   | query positions                                |
    | `N`   | key/value positions                            |
    | `D`   | head dimension of query and key (static)       |
    | `Dv`  | head dimension of value and output (static)    |

    docs/Spec.md gives the meaning of each op as numbered constraints; verifier
    messages and tests cite the numbers.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect", "::mlir::affine::AffineDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNDIALECT_TD
