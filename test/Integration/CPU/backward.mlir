// Backward functions that --attn-grad builds, compiled for the CPU: each gradient
// against float64. Masks of every kind, grouped heads, sizes on and off the
// tile, score changes, rows that see no key; a bias and a captured tensor.

// RUN: sed s/TYPE/f32/g %s | attn-opt --attn-grad=recompute=true -o %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad=recompute=true -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s | attn-opt --attn-grad=recompute=true -o %t.bf16.mlir

// RUN: attn-run %t.f32.mlir --function plain_grad --shape "M=64,N=128; M=5,N=0" --random 1 --verify
// RUN: attn-run %t.f16.mlir --function plain_grad --shape "M=1,N=1; M=0,N=5" --random 2 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function plain_grad --shape M=65,N=63 --random 3 --verify %}

// RUN: attn-run %t.f32.mlir --function causal_grad --shape M=130,N=130 --random 6 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function causal_grad --shape M=17,N=200 --random 7 --verify %}
// RUN: %if long %{ attn-run %t.f32.mlir --function bottom_right_grad --shape "M=40,N=130; M=130,N=17" --random 8 --verify %}
// RUN: attn-run %t.bf16.mlir --function window_grad --shape M=200,N=190 --random 9 --verify

// More queries than keys: the first rows see none, and have gradients 0.
// RUN: %if long %{ attn-run %t.f16.mlir --function bottom_right_grad --shape M=65,N=3 --random 11 --verify %}

// RUN: attn-run %t.f16.mlir --function soft_cap_grad --shape M=70,N=65 --random 12 --verify
// RUN: attn-run %t.f32.mlir --function alibi_grad --shape Hq=4,Hkv=2,M=33,N=66 --random 13 --verify
// RUN: %if long %{ attn-run %t.f32.mlir --function bias_grad --shape M=12,N=20 --random 14 --verify %}
// RUN: %if long %{ attn-run %t.f16.mlir --function bias_grad --shape M=9,N=70 --random 15 --verify %}

func.func @plain(%q: tensor<2x2x?x32xTYPE>, %k: tensor<2x2x?x32xTYPE>, %v: tensor<2x2x?x16xTYPE>)
    -> tensor<2x2x?x16xTYPE> {
  %o = attn.attention %q, %k, %v
      : tensor<2x2x?x32xTYPE>, tensor<2x2x?x32xTYPE>, tensor<2x2x?x16xTYPE> -> tensor<2x2x?x16xTYPE>
  return %o : tensor<2x2x?x16xTYPE>
}

func.func @causal(%q: tensor<1x6x?x40xTYPE>, %k: tensor<1x2x?x40xTYPE>, %v: tensor<1x2x?x40xTYPE>)
    -> tensor<1x6x?x40xTYPE> {
  %o = attn.attention %q, %k, %v scale(0.25) mask_mod causal(top_left)
      : tensor<1x6x?x40xTYPE>, tensor<1x2x?x40xTYPE>, tensor<1x2x?x40xTYPE> -> tensor<1x6x?x40xTYPE>
  return %o : tensor<1x6x?x40xTYPE>
}

func.func @bottom_right(%q: tensor<1x2x?x32xTYPE>, %k: tensor<1x1x?x32xTYPE>, %v: tensor<1x1x?x32xTYPE>)
    -> (tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      : tensor<1x2x?x32xTYPE>, tensor<1x1x?x32xTYPE>, tensor<1x1x?x32xTYPE>
      -> tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
}

func.func @window(%q: tensor<1x2x?x32xTYPE>, %k: tensor<1x2x?x32xTYPE>, %v: tensor<1x2x?x32xTYPE>)
    -> tensor<1x2x?x32xTYPE> {
  %o = attn.attention %q, %k, %v mask_mod sliding_window(20, 7)
      : tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE> -> tensor<1x2x?x32xTYPE>
  return %o : tensor<1x2x?x32xTYPE>
}

func.func @soft_cap(%q: tensor<1x2x?x32xTYPE>, %k: tensor<1x2x?x32xTYPE>, %v: tensor<1x2x?x32xTYPE>)
    -> tensor<1x2x?x32xTYPE> {
  %o = attn.attention %q, %k, %v score_mod soft_cap(2.0) mask_mod causal(bottom_right)
      : tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE> -> tensor<1x2x?x32xTYPE>
  return %o : tensor<1x2x?x32xTYPE>
}

// The slopes are integers: nothing but query, key and value has a gradient.
func.func @alibi(%q: tensor<1x?x?x32xTYPE>, %k: tensor<1x?x?x32xTYPE>, %v: tensor<1x?x?x32xTYPE>,
                 %slopes: tensor<4xi32>) -> tensor<1x?x?x32xTYPE> {
  %unit = arith.constant 0.05 : f32
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %n = tensor.extract %slopes[%h] : tensor<4xi32>
        %slope = arith.sitofp %n : i32 to f32
        %d = arith.subi %j, %i : index
        %di = arith.index_cast %d : index to i32
        %df = arith.sitofp %di : i32 to f32
        %u = arith.mulf %df, %unit : f32
        %t = arith.mulf %slope, %u : f32
        %r = arith.addf %s, %t : f32
        attn.yield %r : f32
      }
      mask_mod causal(top_left)
      : tensor<1x?x?x32xTYPE>, tensor<1x?x?x32xTYPE>, tensor<1x?x?x32xTYPE> -> tensor<1x?x?x32xTYPE>
  return %o : tensor<1x?x?x32xTYPE>
}

func.func @bias(%q: tensor<2x4x?x16xTYPE>, %k: tensor<2x2x?x16xTYPE>, %v: tensor<2x2x?x16xTYPE>,
                %bias: tensor<1x4x1x?xTYPE>, %slopes: tensor<4xf32>) -> tensor<2x4x?x16xTYPE> {
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x4x1x?xTYPE>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %t = math.tanh %s : f32
        %r = arith.mulf %slope, %t : f32
        attn.yield %r : f32
      }
      mask_mod causal(top_left)
      : tensor<2x4x?x16xTYPE>, tensor<2x2x?x16xTYPE>, tensor<2x2x?x16xTYPE> -> tensor<2x4x?x16xTYPE>
  return %o : tensor<2x4x?x16xTYPE>
}
