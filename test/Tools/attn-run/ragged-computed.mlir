// Packed rows that the function computes: the offsets that are drawn fit them.
// RUN: attn-run %s --random=1 --verify | FileCheck %s
// RUN: attn-run %s --random=2 --verify --device=sim:sm_80 | FileCheck %s
// CHECK: verify: PASS

func.func @f(%x: tensor<90x32xf16>, %k: tensor<3x2x40x16xf16>, %begin: tensor<4xi32>, %m: tensor<3xi32>) -> tensor<90x2x16xf16> {
  %qp = tensor.expand_shape %x [[0], [1, 2]] output_shape [90, 2, 16] : tensor<90x32xf16> into tensor<90x2x16xf16>
  %q = attn.ragged %qp[%begin] : tensor<90x2x16xf16>[tensor<4xi32>] -> tensor<3x2x90x16xf16>
  %n = attn.sequence_lengths %begin : tensor<4xi32> -> tensor<3xi32>
  %o = attn.attention %q, %k, %k lengths(key %m : tensor<3xi32>, query %n : tensor<3xi32>)
      : tensor<3x2x90x16xf16>, tensor<3x2x40x16xf16>, tensor<3x2x40x16xf16> -> tensor<3x2x90x16xf16>
  %e = tensor.empty() : tensor<90x2x16xf16>
  %p = attn.pack %o[%begin] into %e : tensor<3x2x90x16xf16>[tensor<4xi32>] into tensor<90x2x16xf16>
  return %p : tensor<90x2x16xf16>
}
