// Gradients of attentions on inputs of 8 bits, by kernels that make them wider
// in front of those of the backward; and rows of forwards that are so, alone,
// with fewer descales than heads, and turned behind it.

// RUN: attn-opt %s --attn-grad="recompute=true" -o %t.mlir
// RUN: attn-run %t.mlir --function all_grad --device=sim:sm_89 --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 1 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function all_grad --device=sim:sm_90a --shape B=1,Hq=4,Hkv=4,M=130,N=129 --random 2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function all_grad --device=sim:sm_100a --shape B=1,Hq=2,Hkv=1,M=33,N=64 --random 3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.mlir --function all_grad --device=cpu --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 4 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function cache_grad --device=sim:sm_80 --shape M=40,N=100 --random 5 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function cache_grad --device=sim:sm_90a --shape M=65,N=64 --random 6 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function one_tensor_grad --device=sim:sm_80 --random 7 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function output_grad --device=sim:sm_89 --random 8 --verify | FileCheck %s
// RUN: attn-run %s --function rows --device=sim:sm_80 --shape B=2,M=50,N=60 --random 9 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function rows --device=sim:sm_90a --shape B=1,M=64,N=130 --random 10 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function rows --device=cpu --shape B=2,M=50,N=60 --random 11 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function key_bias_grad --device=sim:sm_90a --shape M=200,N=40 --random 3 --verify --allow-tf32 | FileCheck %s --check-prefixes=CHECK,KEYS
// RUN: %if long %{ attn-run %t.mlir --function key_bias_grad --device=sim:sm_100a --shape M=200,N=40 --random 3 --verify --allow-tf32 | FileCheck %s --check-prefixes=CHECK,KEYS %}
// KEYS: 3 1x40xf32 {{[^ ]+ +[^ ]+ +[^ ]+ +2\.[0-9]+e-03}}
// CHECK: verify: PASS

!q = tensor<?x?x?x64xf8E4M3FN>
!o = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @all(%q: !q, %k: !q, %v: !q, %dq: tensor<?x?xf32>, %dk: tensor<1xf32>, %dv: tensor<?x?xf32>) -> (!o, !l) {
  %o, %lse = attn.attention %q, %k, %v descale(%dq, %dk, %dv : tensor<?x?xf32>, tensor<1xf32>, tensor<?x?xf32>)
      mask_mod causal(bottom_right) : !q, !q, !q -> !o, !l
  return %o, %lse : !o, !l
}

func.func @cache(%q: tensor<1x4x?x64xf16>, %k: tensor<1x2x?x64xf8E5M2>, %v: tensor<1x2x?x32xf8E5M2>, %d: tensor<1x2xf32>)
    -> (tensor<1x4x?x32xf16>, tensor<1x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v descale(%d, %d : tensor<1x2xf32>, tensor<1x2xf32>)
      score_mod soft_cap(20.0)
      : tensor<1x4x?x64xf16>, tensor<1x2x?x64xf8E5M2>, tensor<1x2x?x32xf8E5M2> -> tensor<1x4x?x32xf16>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?x32xf16>, tensor<1x4x?xf32>
}

// One tensor of keys and values, without descales.
func.func @one_tensor(%q: tensor<1x2x32x32xbf16>, %k: tensor<1x2x48x32xf8E4M3FN>) -> (tensor<1x2x32x32xbf16>, tensor<1x2x32xf32>) {
  %o, %lse = attn.attention %q, %k, %k
      : tensor<1x2x32x32xbf16>, tensor<1x2x48x32xf8E4M3FN>, tensor<1x2x48x32xf8E4M3FN> -> tensor<1x2x32x32xbf16>, tensor<1x2x32xf32>
  return %o, %lse : tensor<1x2x32x32xbf16>, tensor<1x2x32xf32>
}

!b = tensor<1x2x40x64xf8E4M3FN>
!y = tensor<1x2x40x64xf8E5M2>
!f = tensor<1x2x40x64xf32>
func.func @output(%q: !b, %k: !b, %v: !b) -> !y {
  %o = attn.attention %q, %k, %v : !b, !b, !b -> !f
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %s = arith.constant 0.7 : f32
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  } : !f -> !y
  return %y : !y
}

// The bias of a key sums over rows what weights of 8 bits would change of delta:
// 1.8e-2 of it, were the forward that of the bytes.
!c = tensor<1x1x?x16xf8E5M2>
!n = tensor<1x1x?x16xbf16>
func.func @key_bias(%q: !c, %k: !c, %v: !c, %bias: tensor<1x?xf32>, %d: tensor<1xf32>) -> !n {
  %o = attn.attention %q, %k, %v descale(%d, %d, %d : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %bias[%b, %j] : tensor<1x?xf32>
        %y = arith.addf %s, %x : f32
        attn.yield %y : f32
      } : !c, !c, !c -> !n
  return %o : !n
}

func.func @rows(%q: tensor<?x4x?x64xf8E5M2>, %k: tensor<?x2x?x64xi8>, %v: tensor<?x2x?x64xf16>, %dq: tensor<?x2xf32>, %dk: tensor<1xf32>,
                %cos: tensor<256x32xf32>, %sin: tensor<256x32xf32>) -> tensor<?x4x?x64xf16> {
  %wq = attn.dequantize %q descale(%dq : tensor<?x2xf32>) : tensor<?x4x?x64xf8E5M2> -> tensor<?x4x?x64xf16>
  %tq = attn.rotary %wq, %cos, %sin halves : tensor<?x4x?x64xf16>, tensor<256x32xf32>
  %wk = attn.dequantize %k descale(%dk : tensor<1xf32>) : tensor<?x2x?x64xi8> -> tensor<?x2x?x64xf16>
  %o = attn.attention %tq, %wk, %v scale(0.002) : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  return %o : tensor<?x4x?x64xf16>
}
