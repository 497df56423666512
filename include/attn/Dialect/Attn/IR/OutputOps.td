//===- OutputOps.td - What follows an attention -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of each element of an output: gates (Qiu et al., Gated Attention
// for Large Language Models, 2025), scales and masks of heads, the mix of a head
// with the identity (SoftPAG, 2025).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_OUTPUTOPS_TD
#define ATTN_DIALECT_ATTN_IR_OUTPUTOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

def OutputModOp : Attn_Op<"output_mod", [
    Pure, SingleBlock,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "a function of each element of an attention's output";
  let description = [{
    The region gives each element of the result, from that of the source and its
    place, in f32, or f64 of a source of f64:

    ```
    result[b,h,i,c] = mod(source[b,h,i,c], b, h, i, c)
    ```

    It may read tensors by `tensor.extract`, as a `score_mod` may. Behind an
    attention, an `attn.repair` of two, or d_query, d_key or d_value of a backward,
    it is a part of their kernels: an output in f32 that it alone reads is not
    stored, and rounded once.

    Of 8 bits the result is rounded to the nearest number, no further than the
    largest finite one: a scale of the output is a factor in the region.

    A second result, `amax`, has the largest magnitude of each row, of what the
    region gives before it is rounded; a NaN in the row makes it NaN:

    ```
    amax[b,h,i] = max over c of |mod(source[b,h,i,c], b, h, i, c)|
    ```

    The scale of the next step's 8-bit output is a maximum over it (delayed
    scaling: Micikevicius et al., FP8 Formats for Deep Learning, 2022), of the
    tensor, a head or a block of rows. In front of the op that scales and rounds,
    it is that of the unscaled output.

    With `offsets` the source is a tile, whose first element is there: so it is
    in the tiled form.

    Example:
    ```mlir
    %gated = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
      %g = tensor.extract %gate[%b, %h, %i, %c] : tensor<?x32x?x128xf32>
      %r = arith.mulf %x, %g : f32
      attn.yield %r : f32
    } : tensor<?x32x?x128xf32> -> tensor<?x32x?x128xbf16>
    %scaled = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
      %c0 = arith.constant 0 : index
      %s = tensor.extract %scale[%c0] : tensor<1xf32>
      %r = arith.mulf %x, %s : f32
      attn.yield %r : f32
    } : tensor<?x32x?x128xf32> -> tensor<?x32x?x128xf8E4M3FN>
    %same, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
      attn.yield %x : f32
    } : tensor<?x32x?x128xf32> -> tensor<?x32x?x128xf32>, tensor<?x32x?xf32>
    ```
  }];
  let arguments = (ins Attn_Tensor<Attn_Float, 4>:$source,
                       Variadic<Index>:$offsets);
  let results = (outs Attn_Tensor<Attn_Input, 4>:$result,
                      Optional<Attn_Tensor<Attn_Acc, 3>>:$amax);
  let regions = (region AnyRegion:$mod);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source,
                                 "::mlir::ValueRange":$offsets), [{
    build($_builder, $_state, result, /*amax=*/::mlir::Type(), source, offsets);
  }]>];
  let assemblyFormat = [{
    $source (`offsets` `(` $offsets^ `)`)? custom<OutputMod>($mod)
    attr-dict `:` type($source) `->` type($result) (`,` type($amax)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_IR_OUTPUTOPS_TD
