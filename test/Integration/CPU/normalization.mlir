// Weights without softmax, forward and backward, against float64: sigmoid with bias -log n, ReLU, squared ReLU, exact GELU
// and SiLU as score_mod; masks, grouped heads, a bias, dropout, rows without keys, ragged and empty sizes.

// RUN: sed s/TYPE/f32/g %s | attn-opt --attn-grad -o %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s | attn-opt --attn-grad -o %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function sigmoid --shape B=2,M=65,N=130 --random 1 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function sigmoid --shape B=1,M=70,N=20 --random 2 --verify %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function sigmoid --shape B=1,M=3,N=0 --random 3 --verify %}
// RUN: attn-run %t.f32.mlir --function sigmoid_grad --shape B=2,M=40,N=33 --random 4 --verify
// RUN: attn-run %t.bf16.mlir --function gelu --shape B=1,M=33,N=70 --random 5 --verify
// RUN: %if long %{ attn-run %t.f32.mlir --function gelu_grad --shape B=1,M=33,N=70 --random 6 --verify %}
// RUN: attn-run %t.f16.mlir --function relu_squared --shape B=1,M=40,N=64 --random 7 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function relu_squared_grad --shape B=1,M=40,N=64 --random 8 --verify %}
// RUN: attn-run %t.f32.mlir --function silu --shape B=1,M=40,N=64 --random 9 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function silu_grad --shape B=1,M=17,N=64 --random 10 --verify %}
// RUN: %if long %{ attn-run %t.f32.mlir --function sum_grad --shape B=1,M=40,N=33,arg2=1x2x33x24,arg3=1x4x40x24 --random 11 --verify %}
// RUN: attn-run %t.f16.mlir --function sum_grad --shape B=2,M=17,N=64,arg2=2x2x64x24,arg3=2x4x17x24 --random 12 --verify
// RUN: sed 's/ : !q, !k, !v -> !o/ {schedule = #attn.schedule<kind = "small_cache", tile_m = 20, tile_n = 24, tile_d = 16, tile_dv = 16>}&/' %s > %t.small.mlir
// RUN: sed s/TYPE/f32/g %t.small.mlir > %t.small.f32.mlir
// RUN: sed s/TYPE/f16/g %t.small.mlir > %t.small.f16.mlir
// RUN: attn-run %t.small.f32.mlir --function sigmoid --shape B=2,M=65,N=130 --random 13 --verify
// RUN: %if long %{ attn-run %t.small.f16.mlir --function gelu --shape B=1,M=33,N=70 --random 14 --verify %}
// RUN: %if long %{ attn-run %t.small.f32.mlir --function relu_squared --shape B=1,M=40,N=64 --random 15 --verify %}
// RUN: %if long %{ attn-run %t.small.f32.mlir --function sum --shape B=1,M=40,N=33 --random 16 --verify %}
// RUN: %if long %{ attn-run %t.small.f16.mlir --function sum --shape B=2,M=17,N=64 --random 17 --verify %}

!q = tensor<?x4x?x32xTYPE>
!k = tensor<?x2x?x32xTYPE>
!v = tensor<?x2x?x24xTYPE>
!o = tensor<?x4x?x24xTYPE>

func.func @sigmoid(%q: !q, %k: !k, %v: !v) -> !o {
  %o = attn.attention %q, %k, %v normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %one = arith.constant 1.0 : f32
        %n = attn.length key
        %ni = arith.index_cast %n : index to i32
        %nf = arith.sitofp %ni : i32 to f32
        %t = arith.negf %s : f32
        %e = math.exp %t : f32
        %en = arith.mulf %e, %nf : f32
        %d = arith.addf %en, %one : f32
        %r = arith.divf %one, %d : f32
        attn.yield %r : f32
      } mask_mod causal(bottom_right) : !q, !k, !v -> !o
  return %o : !o
}

func.func @gelu(%q: !q, %k: !k, %v: !v, %bias: tensor<1x4x1x?xTYPE>) -> !o {
  %seed = arith.constant 11 : i64
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x4x1x?xTYPE>)
      dropout(%seed, %seed) rate(0.25) normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %half = arith.constant 0.5 : f32
        %one = arith.constant 1.0 : f32
        %root = arith.constant 0.70710678 : f32
        %x = arith.mulf %s, %root : f32
        %e = math.erf %x : f32
        %p = arith.addf %e, %one : f32
        %hs = arith.mulf %s, %half : f32
        %r = arith.mulf %hs, %p : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

func.func @relu_squared(%q: !q, %k: !k, %v: !v) -> !o {
  %o = attn.attention %q, %k, %v normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %c0 = arith.constant 0.0 : f32
        %x = arith.maximumf %s, %c0 : f32
        %r = arith.mulf %x, %x : f32
        attn.yield %r : f32
      } mask_mod sliding_window(20, 3) : !q, !k, !v -> !o
  return %o : !o
}

func.func @silu(%q: !q, %k: !k, %v: !v, %slopes: tensor<4xf32>) -> !o {
  %o = attn.attention %q, %k, %v normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %one = arith.constant 1.0 : f32
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %x = arith.mulf %s, %slope : f32
        %t = arith.negf %x : f32
        %e = math.exp %t : f32
        %d = arith.addf %e, %one : f32
        %r = arith.divf %x, %d : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

// Divided by their sum; rows with more queries than keys see none.
func.func @sum(%q: !q, %k: !k, %v: !v) -> !o {
  %o = attn.attention %q, %k, %v scale(0.5) normalization(#attn.sum<0.25>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %s, %s : f32
        attn.yield %r : f32
      } mask_mod causal(bottom_right) : !q, !k, !v -> !o
  return %o : !o
}
