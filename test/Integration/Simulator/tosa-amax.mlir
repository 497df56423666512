// A TOSA graph of delayed scaling: its output in 8 bits and the largest magnitude
// of it before, as kernels and what is left around them compute them.
// RUN: attn-run %s --device=cpu --random=1 --verify | FileCheck %s
// RUN: attn-run %s --device=sim:sm_89 --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --device=sim:sm_90a --random=3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --device=sim:sm_100a --random=4 --verify | FileCheck %s %}
// CHECK: verify: PASS

func.func @amax(%q: tensor<4x64x64xf16>, %k: tensor<4x96x64xf16>, %v: tensor<4x96x64xf16>, %factor: tensor<1x1x1xf16>) -> (tensor<4x64x64xf8E4M3FN>, tensor<1x1x1xf16>) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<4x96x64xf16>) -> tensor<4x64x96xf16>
  %s = tosa.matmul %q, %kt, %zp, %zp : (tensor<4x64x64xf16>, tensor<4x64x96xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<4x64x96xf16>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<4x64x96xf16>) -> tensor<4x64x1xf16>
  %d = tosa.sub %s, %m : (tensor<4x64x96xf16>, tensor<4x64x1xf16>) -> tensor<4x64x96xf16>
  %e = tosa.exp %d : (tensor<4x64x96xf16>) -> tensor<4x64x96xf16>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<4x64x96xf16>) -> tensor<4x64x1xf16>
  %r = tosa.reciprocal %l : (tensor<4x64x1xf16>) -> tensor<4x64x1xf16>
  %p = tosa.mul %e, %r, %shift : (tensor<4x64x96xf16>, tensor<4x64x1xf16>, tensor<1xi8>) -> tensor<4x64x96xf16>
  %o = tosa.matmul %p, %v, %zp, %zp : (tensor<4x64x96xf16>, tensor<4x96x64xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<4x64x64xf16>
  %abs = tosa.abs %o : (tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  %a2 = tosa.reduce_max %abs {axis = 2 : i32} : (tensor<4x64x64xf16>) -> tensor<4x64x1xf16>
  %a1 = tosa.reduce_max %a2 {axis = 1 : i32} : (tensor<4x64x1xf16>) -> tensor<4x1x1xf16>
  %a0 = tosa.reduce_max %a1 {axis = 0 : i32} : (tensor<4x1x1xf16>) -> tensor<1x1x1xf16>
  %scaled = tosa.mul %o, %factor, %shift : (tensor<4x64x64xf16>, tensor<1x1x1xf16>, tensor<1xi8>) -> tensor<4x64x64xf16>
  %clamped = tosa.clamp %scaled {min_val = -448.0 : f16, max_val = 448.0 : f16} : (tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  %small = tosa.cast %clamped : (tensor<4x64x64xf16>) -> tensor<4x64x64xf8E4M3FN>
  return %small, %a0 : tensor<4x64x64xf8E4M3FN>, tensor<1x1x1xf16>
}
