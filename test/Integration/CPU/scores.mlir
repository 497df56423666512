// Bias with every broadcast, soft cap, captured tensors, masks that depend on
// data, explicit scales: against float64.

// RUN: sed s/TYPE/f32/g %s > %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s > %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function bias_full --shape M=17,N=65 --random 1 --verify
// RUN: attn-run %t.f16.mlir --function bias_key --shape M=65,N=130 --random 2 --verify
// RUN: attn-run %t.bf16.mlir --function bias_head --shape M=3,N=64 --random 3 --verify
// RUN: attn-run %t.f16.mlir --function bias_one --shape M=64,N=17 --random 4 --verify
// RUN: attn-run %t.f32.mlir --function soft_cap --shape M=130,N=65 --random 5 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function soft_cap --shape M=1,N=64 --random 6 --verify %}
// RUN: attn-run %t.f16.mlir --function alibi --shape M=65,N=65 --random 7 --verify
// RUN: %if long %{ attn-run %t.f32.mlir --function alibi --shape M=17,N=130 --random 8 --verify %}
// RUN: %if long %{ attn-run %t.f16.mlir --function documents --shape M=65,N=65 --random 9 --verify %}
// RUN: attn-run %t.bf16.mlir --function documents --shape M=130,N=130 --fill arg3=ramp --random 10 --verify
// RUN: attn-run %t.f32.mlir --function padding --shape M=17,N=64 --random 11 --verify

// A score that is NaN makes the output NaN, also where the compiler knows it.
// RUN: attn-run %t.f32.mlir --function undefined --shape M=3,N=17 --random 13 --verify

// All keys are padding: every row gives 0 and -inf.
// RUN: attn-run %t.f16.mlir --function padding --shape M=3,N=17 --fill arg3=zeros --random 12 --verify

// A score change in 16 bits rounds where its types say so, here and in the
// yardstick.
// RUN: attn-run %t.bf16.mlir --function narrow --shape M=17,N=65 --random 13 --verify

!q = tensor<2x4x?x32xTYPE>
!kv = tensor<2x2x?x32xTYPE>
!lse = tensor<2x4x?xf32>

func.func @bias_full(%q: !q, %k: !kv, %v: !kv, %bias: tensor<2x4x?x?xTYPE>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v bias(%bias : tensor<2x4x?x?xTYPE>)
      : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @bias_key(%q: !q, %k: !kv, %v: !kv, %bias: tensor<2x1x1x?xTYPE>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v bias(%bias : tensor<2x1x1x?xTYPE>)
      mask_mod causal(top_left) : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @bias_head(%q: !q, %k: !kv, %v: !kv, %bias: tensor<1x4x?x1xf32>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v bias(%bias : tensor<1x4x?x1xf32>)
      scale(0.3) : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @bias_one(%q: !q, %k: !kv, %v: !kv, %bias: tensor<1x1x1x1xTYPE>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v bias(%bias : tensor<1x1x1x1xTYPE>)
      : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @soft_cap(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v score_mod soft_cap(2.0)
      mask_mod sliding_window(32, 8) : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @alibi(%q: !q, %k: !kv, %v: !kv, %slopes: tensor<4xf32>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %distance = arith.subi %j, %i : index
        %integer = arith.index_cast %distance : index to i32
        %real = arith.sitofp %integer : i32 to f32
        %change = arith.mulf %slope, %real : f32
        %r = arith.addf %s, %change : f32
        attn.yield %r : f32
      } mask_mod causal(bottom_right) : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @narrow(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %narrow = arith.truncf %s : f32 to f16
        %twice = arith.addf %narrow, %narrow : f16
        %r = arith.extf %twice : f16 to f32
        attn.yield %r : f32
      } : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @documents(%q: !q, %k: !kv, %v: !kv, %documents: tensor<2x?xi32>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %di = tensor.extract %documents[%b, %i] : tensor<2x?xi32>
        %dj = tensor.extract %documents[%b, %j] : tensor<2x?xi32>
        %same = arith.cmpi eq, %di, %dj : i32
        %causal = arith.cmpi sle, %j, %i : index
        %r = arith.andi %same, %causal : i1
        attn.yield %r : i1
      } : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @padding(%q: !q, %k: !kv, %v: !kv, %mask: tensor<2x?xi1>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %r = tensor.extract %mask[%b, %j] : tensor<2x?xi1>
        attn.yield %r : i1
      } : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @undefined(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %nan = arith.constant 0x7FC00000 : f32
        attn.yield %nan : f32
      } : !q, !kv, !kv -> !q, !lse
  return %o, %lse : !q, !lse
}
