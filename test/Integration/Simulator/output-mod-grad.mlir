// Gradients through what follows an attention, against float64: of a gate, of shares of an identity, where V is read twice, of a chain; kernels
// compute the attention again and its gradients, the host what is elementwise.

// RUN: attn-opt %s --attn-grad=recompute -o %t.mlir
// RUN: %if long %{ attn-run %t.mlir --function gate_grad --shape M=40,N=70 --random 1 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.mlir --function mix_grad --shape M=40 --random 2 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function twice_grad --shape M=1,N=70 --random 3 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function weights_grad --shape M=33,N=70 --random 4 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function gate_grad --shape M=40,N=70 --random 5 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function mix_grad --shape M=70 --random 6 --device=sim:sm_90a --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function weights_grad --shape M=33,N=70 --random 7 --device=sim:sm_80 --verify | FileCheck %s %}
// CHECK: verify: PASS
// CHECK-NOT: FAIL

!q = tensor<2x4x?x64xf16>
!k = tensor<2x2x?x64xf16>
!v = tensor<2x2x?x56xf16>
!o = tensor<2x4x?x56xf32>
!y = tensor<2x4x?x56xf16>
!l = tensor<2x4x?xf32>

func.func @gate(%q: !q, %k: !k, %v: !v, %g: !y) -> (!y, !l) {
  %o, %l = attn.attention %q, %k, %v mask_mod causal(bottom_right) : !q, !k, !v -> !o, !l
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f32
    %raw = tensor.extract %g[%b, %h, %i, %c] : !y
    %w = arith.extf %raw : f16 to f32
    %n = arith.negf %w : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %r = arith.divf %x, %d : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y, %l : !y, !l
}

// Shares of 16 bits: a sum over an output of tensor cores is no better.
func.func @mix(%q: !q, %k: !k, %v: !v, %shares: tensor<4xf16>) -> !y {
  %o = attn.attention %q, %k, %v : !q, !k, !v -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f32
    %c2 = arith.constant 2 : index
    %share = tensor.extract %shares[%h] : tensor<4xf16>
    %s = arith.extf %share : f16 to f32
    %t = arith.subf %one, %s : f32
    %head = arith.divui %h, %c2 : index
    %own = tensor.extract %v[%b, %head, %i, %c] : !v
    %w = arith.extf %own : f16 to f32
    %a = arith.mulf %t, %x : f32
    %z = arith.mulf %s, %w : f32
    %r = arith.addf %a, %z : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}

func.func @twice(%q: !q, %k: !k, %v: !v, %factors: tensor<4xf16>) -> !y {
  %o = attn.attention %q, %k, %v : !q, !k, !v -> !o
  %p = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %factor = tensor.extract %factors[%h] : tensor<4xf16>
    %f = arith.extf %factor : f16 to f32
    %r = arith.mulf %x, %f : f32
    attn.yield %r : f32
  } : !o -> !o
  %y = attn.output_mod %p (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %j = arith.index_cast %c : index to i32
    %f = arith.sitofp %j : i32 to f32
    %r = arith.addf %x, %f : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}

// Without softmax and with maps of probabilities the output is computed again for this alone.
func.func @weights(%q: !q, %k: !k, %v: !v, %g: !y) -> !y {
  %o = attn.attention %q, %k, %v scale(0.01) normalization(#attn.none) : !q, !k, !v -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %raw = tensor.extract %g[%b, %h, %i, %c] : !y
    %w = arith.extf %raw : f16 to f32
    %t = arith.mulf %x, %w : f32
    %r = math.tanh %t : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}
