// Dropout on the CPU, forward and backward, against float64: one element kept or dropped otherwise breaks the error rule.
// Both cache schedules, ragged and empty sizes, masks, grouped heads, sinks; seed and offset computed in the function.

// RUN: sed s/TYPE/f32/g %s | attn-opt --attn-grad=recompute=true -o %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad=recompute=true -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s | attn-opt "--attn-grad=recompute=true lse-gradient=true" -o %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function a --shape B=2,M=65,N=130 --random 1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.f16.mlir --function a --shape B=1,M=70,N=20 --random 2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function a --shape B=1,M=3,N=0 --random 3 --verify | FileCheck %s %}
// RUN: attn-run %t.f32.mlir --function tiles --shape B=1,M=65,N=130 --random 1 --verify | FileCheck %s
// RUN: attn-run %t.f32.mlir --function small --shape B=1,M=33,N=70 --random 4 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.f32.mlir --function a_grad --shape B=2,M=40,N=33 --random 5 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.f16.mlir --function a_grad --shape B=1,M=40,N=130 --random 6 --verify | FileCheck %s %}
// RUN: attn-run %t.bf16.mlir --function a_grad --shape B=1,M=17,N=40 --random 7 --verify | FileCheck %s
// RUN: attn-run %t.f32.mlir --function bias_grad --shape M=12,N=40 --random 8 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @a(%q: tensor<?x4x?x32xTYPE>, %k: tensor<?x2x?x32xTYPE>, %v: tensor<?x2x?x24xTYPE>, %sink: tensor<4xTYPE>,
             %seeds: tensor<3xi64>)
    -> (tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>) {
  %one = arith.constant 1 : index
  %base = arith.constant 4242424242 : i64
  %s = tensor.extract %seeds[%one] : tensor<3xi64>
  %seed = arith.addi %s, %base : i64
  %offset = arith.muli %seed, %base : i64
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<4xTYPE>) dropout(%seed, %offset) rate(0.3)
      mask_mod causal(bottom_right)
      : tensor<?x4x?x32xTYPE>, tensor<?x2x?x32xTYPE>, tensor<?x2x?x24xTYPE> -> tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>
}

func.func @tiles(%q: tensor<?x2x?x32xTYPE>, %k: tensor<?x2x?x32xTYPE>, %seeds: tensor<2xi64>)
    -> (tensor<?x2x?x32xTYPE>, tensor<?x2x?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seed = tensor.extract %seeds[%zero] : tensor<2xi64>
  %offset = tensor.extract %seeds[%one] : tensor<2xi64>
  %o, %lse = attn.attention %q, %k, %k dropout(%seed, %offset) rate(0.5)
      {schedule = #attn.schedule<tile_m = 24, tile_n = 40>}
      : tensor<?x2x?x32xTYPE>, tensor<?x2x?x32xTYPE>, tensor<?x2x?x32xTYPE> -> tensor<?x2x?x32xTYPE>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x32xTYPE>, tensor<?x2x?xf32>
}

func.func @small(%q: tensor<?x2x?x64xTYPE>, %k: tensor<?x2x?x64xTYPE>, %sink: tensor<2xf32>, %seed: tensor<i64>)
    -> (tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>) {
  %s = tensor.extract %seed[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %k sink(%sink : tensor<2xf32>) dropout(%s, %s) rate(0.1)
      {schedule = #attn.schedule<kind = "small_cache">}
      : tensor<?x2x?x64xTYPE>, tensor<?x2x?x64xTYPE>, tensor<?x2x?x64xTYPE> -> tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>
}

// The gradient of a bias.
func.func @bias(%q: tensor<1x2x?x32xTYPE>, %k: tensor<1x2x?x32xTYPE>, %bias: tensor<1x2x1x?xf32>, %seed: tensor<i64>)
    -> (tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>) {
  %s = tensor.extract %seed[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %k bias(%bias : tensor<1x2x1x?xf32>) dropout(%s, %s) rate(0.2)
      : tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE> -> tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
}
