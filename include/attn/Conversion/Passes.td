//===- Passes.td - Conversions to and from the attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// LinalgToAttn
//===----------------------------------------------------------------------===//

def AttnRaise : Pass<"attn-raise"> {
  let summary = "Capture attention graphs of linalg and TOSA ops";
  let description = [{
    Replaces each graph that computes attention by one `attn.attention`. The
    graph may be made of linalg named ops and generics, tensor reshapes and
    slices, and TOSA ops, in any mixture. The search starts at each contraction:
    if one of its operands is a softmax over another contraction, scale, bias,
    masks, score changes and the roles of the dimensions are read off the
    expression of a single score element. docs/Rationale/Raise.md says what is
    recognised and what the capture promises.

    A contraction that has an exponential in an operand and is not captured gets
    a remark that says which op broke the match and why. A module without any
    attention is an error that names the nearest miss.

    Requires: nothing. Ensures: the `tensor` form for what was captured; ops
    that became dead are erased.

    Example:
    ```mlir
    %s = linalg.batch_matmul ins(%q, %kt : ...) outs(%zero : ...)
    %p = linalg.softmax dimension(2) ins(%s : ...) outs(%e : ...)
    %o = linalg.batch_matmul ins(%p, %v : ...) outs(%zero2 : ...)
    ```
    becomes, with reshapes to four dimensions around it,
    ```mlir
    %o = attn.attention %q, %k, %v scale(1.000000e+00)
        : tensor<8x1x64x32xf32>, tensor<8x1x64x32xf32>, tensor<8x1x64x32xf32>
        -> tensor<8x1x64x32xf32>
    ```
  }];
  let dependentDialects = [
    "::attn::AttnDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"allowNone", "allow-none", "bool", /*default=*/"false",
           "A module without attention is no error">,
    Option<"maskThreshold", "mask-threshold", "double", /*default=*/"0",
           "Finite mask values at or below this count as -inf where every row "
           "sees a key (0: half of the lowest number of the score's type)">,
    Option<"assumeVisibleRows", "assume-visible-rows", "bool",
           /*default=*/"false",
           "Take it that every query sees at least one key, without proof">
  ];
  let statistics = [
    Statistic<"numFound", "attention-found",
              "contractions that looked like the end of an attention">,
    Statistic<"numRaised", "attention-raised", "of these, captured">,
    Statistic<"numMissed", "attention-missed", "of these, not captured">
  ];
}

#endif // ATTN_CONVERSION_PASSES_TD
