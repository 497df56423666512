// Causal masks of both alignments, with and without a sliding window, sizes
// around and off the tile: every result against float64.

// RUN: sed s/TYPE/f32/g %s > %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s > %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function top_left --shape M=1,N=1 --random 1 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function top_left --shape "M=3,N=17; M=130,N=130" --random 2 --verify %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function top_left --shape M=65,N=64 --random 3 --verify %}
// RUN: %if long %{ attn-run %t.f32.mlir --function bottom_right --shape "M=1,N=130; M=65,N=3" --random 5 --verify %}
// RUN: attn-run %t.f16.mlir --function bottom_right --shape "M=64,N=65; M=130,N=17" --random 6 --verify
// RUN: attn-run %t.bf16.mlir --function bottom_right --shape "M=17,N=130; M=64,N=1" --random 7 --verify
// RUN: attn-run %t.f32.mlir --function window --shape M=65,N=130 --random 8 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function window --shape M=130,N=65 --random 9 --verify %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function window --shape M=64,N=64 --random 10 --verify %}

// Where there are more queries than keys, the first rows of a bottom-right mask
// see no key: output 0, LSE -inf.

func.func @top_left(%q: tensor<2x2x?x32xTYPE>, %k: tensor<2x2x?x32xTYPE>,
                    %v: tensor<2x2x?x32xTYPE>)
    -> (tensor<2x2x?x32xTYPE>, tensor<2x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
      : tensor<2x2x?x32xTYPE>, tensor<2x2x?x32xTYPE>, tensor<2x2x?x32xTYPE>
      -> tensor<2x2x?x32xTYPE>, tensor<2x2x?xf32>
  return %o, %lse : tensor<2x2x?x32xTYPE>, tensor<2x2x?xf32>
}

func.func @bottom_right(%q: tensor<1x2x?x32xTYPE>, %k: tensor<1x2x?x32xTYPE>,
                        %v: tensor<1x2x?x32xTYPE>)
    -> (tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      : tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>
      -> tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
}

func.func @window(%q: tensor<1x2x?x32xTYPE>, %k: tensor<1x2x?x32xTYPE>,
                  %v: tensor<1x2x?x32xTYPE>)
    -> (tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod sliding_window(16, 0)
      : tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>
      -> tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
}
