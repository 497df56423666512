// Outputs of 8 bits against float64 behind the repair of a finite mask.

// RUN: attn-run %s --shape M=40,N=70 --random 13 --device=sim:sm_89 --verify | FileCheck %s
// RUN: attn-run %s --shape M=140,N=140 --random 14 --device=sim:sm_90a --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --shape M=40,N=70 --random 15 --verify | FileCheck %s %}
// CHECK: verify: PASS
// CHECK-NOT: FAIL

!q = tensor<2x4x?x64xf16>
!k = tensor<2x2x?x64xf16>
!v = tensor<2x2x?x56xf16>
!o = tensor<2x4x?x56xf32>
!y = tensor<2x4x?x56xf8E5M2>

// Left padding as a finite mask, which hides the first rows whole.
func.func @padded(%q: !q, %k: !k, %v: !v) -> !y {
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %lowest = arith.constant -3.4028234663852886E+38 : f32
    %zero = arith.constant 0.0 : f32
    %c7 = arith.constant 7 : index
    %late = arith.cmpi uge, %j, %c7 : index
    %causal = arith.cmpi ule, %j, %i : index
    %seen = arith.andi %late, %causal : i1
    %m = arith.select %seen, %zero, %lowest : f32
    %r = arith.addf %s, %m : f32
    attn.yield %r : f32
  } : !q, !k, !v -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %two = arith.constant 2.0 : f32
    %r = arith.mulf %x, %two : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}
