// Maps of probabilities on the CPU against float64, which applies them in one attention by definition, forward and backward: scales of heads, a
// mix with the identity, squares over a score_mod, a bias, a sink and dropout, rows without keys, ragged and empty sizes.

// RUN: sed s/TYPE/f32/g %s | attn-opt --attn-grad=recompute=true -o %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad=recompute=true -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function head_scale --shape B=2,M=65,N=130 --random 1 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function head_scale --shape B=1,M=3,N=0 --random 2 --verify %}
// RUN: %if long %{ attn-run %t.f16.mlir --function mix --shape B=1,M=70,N=70 --random 3 --verify %}
// RUN: %if long %{ attn-run %t.f32.mlir --function mix --shape B=2,M=33,N=20 --random 4 --verify %}
// RUN: attn-run %t.f32.mlir --function square --shape B=1,M=33,N=70 --random 5 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function square --shape B=2,M=17,N=64 --random 6 --verify %}
// RUN: attn-run %t.f32.mlir --function hidden --shape B=1,M=9,N=40 --random 7 --verify
// RUN: attn-run %t.f32.mlir --function hidden_grad --shape B=1,M=9,N=40 --random 7 --verify
// RUN: %if long %{ attn-run %t.f32.mlir --function head_scale_grad --shape B=1,M=40,N=33 --random 8 --verify %}
// RUN: %if long %{ attn-run %t.f16.mlir --function mix_grad --shape B=1,M=40,N=40 --random 9 --verify %}
// RUN: %if long %{ attn-run %t.f32.mlir --function square_grad --shape B=1,M=17,N=40 --random 10 --verify %}
// RUN: sed 's/ : !q, !k, !v -> !o/ {schedule = #attn.schedule<kind = "small_cache", tile_m = 20, tile_n = 24, tile_d = 16, tile_dv = 16>}&/' %s > %t.small.mlir
// RUN: sed s/TYPE/f32/g %t.small.mlir > %t.small.f32.mlir
// RUN: attn-run %t.small.f32.mlir --function mix --shape B=1,M=70,N=70 --random 11 --verify

!q = tensor<?x4x?x32xTYPE>
!k = tensor<?x2x?x32xTYPE>
!v = tensor<?x2x?x24xTYPE>
!o = tensor<?x4x?x24xTYPE>

// Rows with more queries than keys see none.
func.func @head_scale(%q: !q, %k: !k, %v: !v, %factors: tensor<4xf32>) -> !o {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %f = tensor.extract %factors[%h] : tensor<4xf32>
        %r = arith.mulf %f, %p : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

// (1 - s) P + s I, with s of each head.
func.func @mix(%q: !q, %k: !k, %v: !v, %shares: tensor<4xf32>) -> !o {
  %o = attn.attention %q, %k, %v mask_mod causal(top_left)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %one = arith.constant 1.0 : f32
        %zero = arith.constant 0.0 : f32
        %s = tensor.extract %shares[%h] : tensor<4xf32>
        %t = arith.subf %one, %s : f32
        %c = arith.cmpi eq, %i, %j : index
        %d = arith.select %c, %s, %zero : f32
        %tp = arith.mulf %t, %p : f32
        %r = arith.addf %tp, %d : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

// A floor, below which there is no weight, of squares.
func.func @square(%q: !q, %k: !k, %v: !v, %bias: tensor<1x4x1x?xTYPE>, %sink: tensor<4xf32>, %slopes: tensor<4xf32>) -> !o {
  %seed = arith.constant 11 : i64
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x4x1x?xTYPE>)
      sink(%sink : tensor<4xf32>) dropout(%seed, %seed) rate(0.25)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %r = arith.mulf %s, %slope : f32
        attn.yield %r : f32
      }
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %least = arith.constant 1.0e-3 : f32
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %x = arith.maximumf %p, %least : f32
        %y = arith.mulf %x, %x : f32
        %r = arith.addf %y, %slope : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

// Rows that a finite mask hides whole: all their scores are the lowest number, and 1/N their probabilities, which an LSE of f32 alone does not say.
func.func @hidden(%q: !q, %k: !k, %v: !v) -> !o {
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %lowest = arith.constant 0xFF7FFFFF : f32
        %c3 = arith.constant 3 : index
        %hidden = arith.cmpi slt, %i, %c3 : index
        %r = arith.select %hidden, %lowest, %s : f32
        attn.yield %r : f32
      }
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %p, %p : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}
