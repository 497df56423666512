// Linear attention by chunks against the recurrence in float64, forwards, in reverse and of all keys: a decay of each position or head or none, states in and out,
// grouped heads, ragged, short and empty sequences, several types.

// RUN: sed s/TYPE/f32/g %s > %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s > %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function plain --shape B=2,M=130 --random 1 --verify
// RUN: attn-run %t.bf16.mlir --function plain --shape B=1,M=64 --random 2 --verify
// RUN: %if long %{ attn-run %t.f32.mlir --function decay --shape B=2,M=150,arg3=2x4x150 --random 3 --verify %}
// RUN: attn-run %t.f16.mlir --function decay --shape B=1,M=65,arg3=1x4x65 --random 4 --verify
// RUN: attn-run %t.f16.mlir --function decay --shape B=1,M=1,arg3=1x4x1 --random 5 --verify
// RUN: attn-run %t.f32.mlir --function decay --shape B=2,M=0,arg3=2x4x0 --random 6 --verify
// RUN: attn-run %t.f32.mlir --function slope --shape B=1,M=200 --random 7 --verify
// RUN: attn-run %t.bf16.mlir --function slope --shape B=1,M=100 --random 8 --verify
// RUN: attn-run %t.f32.mlir --function continued --shape B=1,M=70,B1=1,M1=33 --random 9 --verify
// RUN: attn-run %t.f32.mlir --function reverse --shape "B=2,M=150; B=1,M=1; B=1,M=0" --random 11 --verify
// RUN: attn-run %t.f16.mlir --function reverse --shape B=1,M=65 --random 12 --verify
// RUN: attn-run %t.f32.mlir --function full --shape "B=2,M=70,N=130; B=1,M=3,N=0; B=1,M=0,N=3" --random 13 --verify
// RUN: attn-run %t.bf16.mlir --function full --shape B=1,M=65,N=64 --random 14 --verify

// RUN: attn-run %t.f32.mlir --function static --random 10 --verify

// RUN: not attn-run %t.f32.mlir --function rising --shape B=1,M=4 --random 1 --verify 2>&1 | FileCheck %s --check-prefix=RISING
// RISING: error: 'attn.linear_attention' op expected log decays of at most 0, got 0.5

!q = tensor<?x4x?x32xTYPE>
!k = tensor<?x2x?x32xTYPE>
!v = tensor<?x2x?x24xTYPE>
!o = tensor<?x4x?x24xTYPE>
!g = tensor<?x4x?xf32>
!s = tensor<?x4x32x24xf32>

func.func @plain(%q: !q, %k: !k, %v: !v) -> (!o, !s) {
  %o, %s = attn.linear_attention %q, %k, %v : !q, !k, !v -> !o, !s
  return %o, %s : !o, !s
}

func.func @decay(%q: !q, %k: !k, %v: !v, %x: !g, %s0: !s) -> (!o, !s) {
  %m = math.absf %x : !g
  %g = arith.negf %m : !g
  %o, %s = attn.linear_attention %q, %k, %v decay(%g : !g) state(%s0 : !s) scale(0.5) : !q, !k, !v -> !o, !s
  return %o, %s : !o, !s
}

func.func @slope(%q: !q, %k: !k, %v: !v) -> (!o, !s) {
  // The last head forgets at each position.
  %a = arith.constant dense<[0.0, -0.004, -0.25, 0xFF800000]> : tensor<4xf32>
  %o, %s = attn.linear_attention %q, %k, %v slope(%a : tensor<4xf32>) : !q, !k, !v -> !o, !s
  return %o, %s : !o, !s
}

func.func @reverse(%q: !q, %k: !k, %v: !v, %s0: !s) -> (!o, !s) {
  %a = arith.constant dense<[0.0, -0.004, -0.25, 0xFF800000]> : tensor<4xf32>
  %o, %s = attn.linear_attention %q, %k, %v reverse slope(%a : tensor<4xf32>) state(%s0 : !s) : !q, !k, !v -> !o, !s
  return %o, %s : !o, !s
}

func.func @full(%q: !q, %k: !k, %v: !v, %s0: !s) -> (!o, !s) {
  %o, %s = attn.linear_attention %q, %k, %v full state(%s0 : !s) : !q, !k, !v -> !o, !s
  return %o, %s : !o, !s
}

func.func @continued(%q: !q, %k: !k, %v: !v, %q1: !q, %k1: !k, %v1: !v) -> (!o, !s) {
  %a = arith.constant dense<[0.0, -0.004, -0.25, -2.0]> : tensor<4xf32>
  %o, %s = attn.linear_attention %q, %k, %v slope(%a : tensor<4xf32>) : !q, !k, !v -> !o, !s
  %o1, %s1 = attn.linear_attention %q1, %k1, %v1 slope(%a : tensor<4xf32>) state(%s : !s) : !q, !k, !v -> !o, !s
  return %o1, %s1 : !o, !s
}

func.func @rising(%q: !q, %k: !k, %v: !v) -> !o {
  %a = arith.constant dense<[0.0, 0.5, 0.0, 0.0]> : tensor<4xf32>
  %o = attn.linear_attention %q, %k, %v slope(%a : tensor<4xf32>) : !q, !k, !v -> !o
  return %o : !o
}

func.func @static(%q: tensor<1x2x70x16xTYPE>, %k: tensor<1x1x70x16xTYPE>, %v: tensor<1x1x70x8xTYPE>) -> tensor<1x2x70x8xTYPE> {
  %o = attn.linear_attention %q, %k, %v
      : tensor<1x2x70x16xTYPE>, tensor<1x1x70x16xTYPE>, tensor<1x1x70x8xTYPE> -> tensor<1x2x70x8xTYPE>
  return %o : tensor<1x2x70x8xTYPE>
}
