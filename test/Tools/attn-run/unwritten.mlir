// Rows of packed results that are of no sequence, as where a launch that is captured has room for more: nothing writes them, so they are not compared.
// RUN: attn-run %s --random=1 --verify | FileCheck %s
// RUN: attn-run %s --random=1 --verify --device=sim:sm_90a | FileCheck %s
// CHECK: 20x2x64xf16 {{.*}} pass
// CHECK: 2x20xf32 {{.*}} pass
// CHECK: result 0: 896 of 2560 elements are of what nothing writes, and not compared
// CHECK: result 1: 14 of 40 elements are of what nothing writes, and not compared
// CHECK: verify: PASS

func.func @f(%q: tensor<20x2x64xf16>, %k: tensor<2x1x40x64xf16>, %n: tensor<2xi32>) -> (tensor<20x2x64xf16>, tensor<2x20xf32>) {
  %offsets = arith.constant dense<[2, 5, 15]> : tensor<3xi32>
  %w = attn.ragged %q[%offsets] : tensor<20x2x64xf16>[tensor<3xi32>] -> tensor<2x2x20x64xf16>
  %m = attn.sequence_lengths %offsets : tensor<3xi32> -> tensor<2xi32>
  %o, %l = attn.attention %w, %k, %k lengths(query %m : tensor<2xi32>, key %n : tensor<2xi32>)
      : tensor<2x2x20x64xf16>, tensor<2x1x40x64xf16>, tensor<2x1x40x64xf16> -> tensor<2x2x20x64xf16>, tensor<2x2x20xf32>
  %e = tensor.empty() : tensor<20x2x64xf16>
  %el = tensor.empty() : tensor<2x20xf32>
  %p = attn.pack %o[%offsets] into %e : tensor<2x2x20x64xf16>[tensor<3xi32>] into tensor<20x2x64xf16>
  %pl = attn.pack %l[%offsets] into %el : tensor<2x2x20xf32>[tensor<3xi32>] into tensor<2x20xf32>
  return %p, %pl : tensor<20x2x64xf16>, tensor<2x20xf32>
}
