// RUN: attn-opt %s --attn-share-attentions | FileCheck %s
// RUN: attn-run %s --function layers --device=cpu --random 1 --verify
// RUN: attn-run %s --function chain --device=cpu --random 1 --verify
// The code of equal ones is there once.
// RUN: attn-opt %s --target=cpu --emit=mlir -o - | FileCheck %s --check-prefix=CPU
// CPU-COUNT-2: llvm.call @layers_attention
// CPU-NOT: llvm.call @layers_attention

!q = tensor<1x2x48x32xf32>

// Two equal layers, one of them in a loop with tensors that it yields, and one of its own.
// CHECK-LABEL: func @layers
// CHECK: %[[X:.*]] = scf.for
// CHECK: func.call @layers_attention(%{{.*}}, %arg1, %arg2) : (tensor<1x2x48x32xf32>, tensor<1x2x48x32xf32>, tensor<2xf32>) -> tensor<1x2x48x32xf32>
// CHECK: %[[Y:.*]] = call @layers_attention(%[[X]], %arg0, %arg2)
// CHECK: attn.attention %[[Y]], %arg0, %arg1 :
func.func @layers(%q: !q, %k: !q, %slopes: tensor<2xf32>) -> !q {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = scf.for %i = %c0 to %c2 step %c1 iter_args(%y = %q) -> (!q) {
    %o = attn.attention %y, %k, %k
        score_mod (%s: f32, %b: index, %h: index, %m: index, %n: index) {
          %slope = tensor.extract %slopes[%h] : tensor<2xf32>
          %r = arith.addf %s, %slope : f32
          attn.yield %r : f32
        } : !q, !q, !q -> !q
    scf.yield %o : !q
  }
  %y = attn.attention %x, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %m: index, %n: index) {
        %slope = tensor.extract %slopes[%h] : tensor<2xf32>
        %r = arith.addf %s, %slope : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  %z = attn.attention %y, %q, %k : !q, !q, !q -> !q
  return %z : !q
}


// One after the other, of two kinds by turns: arguments are results that are replaced themselves.
// CHECK-LABEL: func @chain
// CHECK: %[[A:.*]] = call @[[F:chain_attention[_0-9]*]](%arg0, %arg1)
// CHECK: %[[B:.*]] = call @[[G:chain_attention[_0-9]*]](%[[A]], %arg1)
// CHECK: %[[C:.*]] = call @[[F]](%[[B]], %arg1)
// CHECK: %[[D:.*]] = call @[[G]](%[[C]], %arg1)
// CHECK: return %[[D]]
func.func @chain(%q: !q, %k: !q) -> !q {
  %a = attn.attention %q, %k, %k mask_mod causal(top_left) : !q, !q, !q -> !q
  %b = attn.attention %a, %k, %k : !q, !q, !q -> !q
  %c = attn.attention %b, %k, %k mask_mod causal(top_left) : !q, !q, !q -> !q
  %d = attn.attention %c, %k, %k : !q, !q, !q -> !q
  return %d : !q
}
