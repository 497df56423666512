// Queries, keys and values of either 8-bit type, each of its own: against
// float64, on each family of tensor cores and a CPU, and gradients of them.

// RUN: attn-opt %s --attn-grad="recompute=true" -o %t.mlir
// RUN: attn-run %t.mlir --function value --device=sim:sm_89 --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 1 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function key --device=sim:sm_89 --shape M=64,N=700 --random 2 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function value --device=sim:sm_90a --shape B=1,Hq=2,Hkv=1,M=130,N=200 --random 3 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function key --device=sim:sm_90a --shape M=64,N=700 --random 4 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function query --device=sim:sm_90a --random 5 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function value --device=sim:sm_100a --shape B=1,Hq=2,Hkv=1,M=130,N=200 --random 6 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function key --device=sim:sm_100a --shape M=64,N=300 --random 7 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function query --device=sim:sm_100a --random 8 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function value --device=sim:sm_120 --shape B=1,Hq=2,Hkv=1,M=70,N=90 --random 9 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function key --device=sim:sm_120 --shape M=64,N=300 --random 10 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function value --device=cpu --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 11 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function key --device=cpu --shape M=33,N=700 --random 12 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function query_grad --device=sim:sm_80 --random 13 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function value_grad --device=sim:sm_90a --shape B=1,Hq=2,Hkv=1,M=70,N=90 --random 14 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function value_grad --device=cpu --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 15 --verify | FileCheck %s
// CHECK: verify: PASS

// RUN: attn-opt %S/Inputs/float8-mixed.mlir --target=sm_89 --emit=ptx,manifest -o %t && FileCheck %s --check-prefix=MMA < %t.ptx
// RUN: attn-opt %S/Inputs/float8-mixed.mlir --target=sm_90a --emit=ptx,manifest -o %t && FileCheck %s --check-prefix=WGMMA < %t.ptx
// MMA: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// MMA: mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32
// WGMMA: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2
// WGMMA: wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e5m2

!e4 = tensor<?x?x?x64xf8E4M3FN>
!e5 = tensor<?x?x?x64xf8E5M2>
!o = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// Weights are rounded to the type of the values, by whose range they are scaled.
func.func @value(%q: !e4, %k: !e4, %v: !e5, %dq: tensor<1xf32>, %dk: tensor<?x?xf32>, %dv: tensor<?x?xf32>) -> (!o, !l) {
  %o, %lse = attn.attention %q, %k, %v descale(%dq, %dk, %dv : tensor<1xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
      mask_mod causal(bottom_right) : !e4, !e4, !e5 -> !o, !l
  return %o, %lse : !o, !l
}

// So many keys that products of 8 bits are summed apart.
func.func @key(%q: tensor<1x2x?x64xf8E4M3FN>, %k: tensor<1x1x?x64xf8E5M2>, %v: tensor<1x1x?x128xf8E4M3FN>) -> tensor<1x2x?x128xf32> {
  %o = attn.attention %q, %k, %v : tensor<1x2x?x64xf8E4M3FN>, tensor<1x1x?x64xf8E5M2>, tensor<1x1x?x128xf8E4M3FN> -> tensor<1x2x?x128xf32>
  return %o : tensor<1x2x?x128xf32>
}

func.func @query(%q: tensor<1x2x64x96xf8E5M2>, %k: tensor<1x2x128x96xf8E4M3FN>, %v: tensor<1x2x128x32xf8E4M3FN>) -> tensor<1x2x64x32xf16> {
  %o = attn.attention %q, %k, %v score_mod soft_cap(5.0)
      : tensor<1x2x64x96xf8E5M2>, tensor<1x2x128x96xf8E4M3FN>, tensor<1x2x128x32xf8E4M3FN> -> tensor<1x2x64x32xf16>
  return %o : tensor<1x2x64x32xf16>
}
