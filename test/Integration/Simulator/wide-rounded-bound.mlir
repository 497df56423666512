// A bound of 2^31 + 1 that a row's existence selects, rounded to tiles, is computed in 64 bits to the end: cut to 32 on the way it was
// negative, and loads went past the keys.
// RUN: attn-run %s --device=sim:sm_80 --random=27 --verify | FileCheck %s
// RUN: attn-run %s --device=sim:sm_90a --random=27 --verify 2>/dev/null | FileCheck %s
// CHECK: verify: PASS

func.func @attention(%q: tensor<1x4x1x96xf16>, %k: tensor<1x1x64x96xf16>, %v: tensor<1x1x64x96xf16>, %lengths: tensor<1xi32>) -> tensor<1x4x1x96xf16> {
  %o = attn.attention %q, %k, %v lengths(query %lengths : tensor<1xi32>)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %limit = arith.constant 2147483648 : index
        %visible = arith.cmpi ule, %j, %limit : index
        attn.yield %visible : i1
      }
      : tensor<1x4x1x96xf16>, tensor<1x1x64x96xf16>, tensor<1x1x64x96xf16> -> tensor<1x4x1x96xf16>
  return %o : tensor<1x4x1x96xf16>
}
