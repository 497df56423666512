// The two kernels of the backward in the simulator, with all its checks, against
// float64. Masks with rows that see no key, grouped heads, sizes on and off the
// tile, score changes, d(LSE); the same bits from ten schedules.

// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.bf16.mlir

// RUN: attn-run %t.f16.mlir --function causal_grad --device=sim:sm_80 --shape M=130,N=130 --random 1 --verify --schedules %if long %{10%} %else %{3%}
// RUN: %if long %{ attn-run %t.bf16.mlir --function causal_grad --device=sim:sm_80 --shape M=65,N=63 --random 2 --verify %}
// RUN: attn-run %t.f16.mlir --function bottom_right_grad --device=sim:sm_80 --shape M=100,N=17 --random 3 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function bottom_right_grad --device=sim:sm_90a --shape M=64,N=128 --random 4 --verify %}
// RUN: attn-run %t.f16.mlir --function window_grad --device=sim:sm_80 --shape M=200,N=190 --random 5 --verify
// RUN: attn-run %t.f16.mlir --function changed_grad --device=sim:sm_80 --shape M=70,N=65 --random 6 --verify
// RUN: attn-run %t.f16.mlir --function one_tensor_grad --device=sim:sm_80 --shape B=1,Hq=2,Hkv=2,M=64,N=64 --random 7 --verify

func.func @causal(%q: tensor<1x4x?x64xTYPE>, %k: tensor<1x2x?x64xTYPE>, %v: tensor<1x2x?x64xTYPE>)
    -> (tensor<1x4x?x64xTYPE>, tensor<1x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
      : tensor<1x4x?x64xTYPE>, tensor<1x2x?x64xTYPE>, tensor<1x2x?x64xTYPE>
      -> tensor<1x4x?x64xTYPE>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?x64xTYPE>, tensor<1x4x?xf32>
}

func.func @bottom_right(%q: tensor<2x1x?x32xTYPE>, %k: tensor<2x1x?x32xTYPE>, %v: tensor<2x1x?x40xTYPE>)
    -> (tensor<2x1x?x40xTYPE>, tensor<2x1x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(0.5) mask_mod causal(bottom_right)
      : tensor<2x1x?x32xTYPE>, tensor<2x1x?x32xTYPE>, tensor<2x1x?x40xTYPE>
      -> tensor<2x1x?x40xTYPE>, tensor<2x1x?xf32>
  return %o, %lse : tensor<2x1x?x40xTYPE>, tensor<2x1x?xf32>
}

func.func @window(%q: tensor<1x1x?x128xTYPE>, %k: tensor<1x1x?x128xTYPE>, %v: tensor<1x1x?x128xTYPE>)
    -> (tensor<1x1x?x128xTYPE>, tensor<1x1x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod sliding_window(20, 7)
      : tensor<1x1x?x128xTYPE>, tensor<1x1x?x128xTYPE>, tensor<1x1x?x128xTYPE>
      -> tensor<1x1x?x128xTYPE>, tensor<1x1x?xf32>
  return %o, %lse : tensor<1x1x?x128xTYPE>, tensor<1x1x?xf32>
}

// A soft cap, a constant bias by a table of integers, and a mask by documents.
func.func @changed(%q: tensor<1x2x?x32xTYPE>, %k: tensor<1x2x?x32xTYPE>, %v: tensor<1x2x?x32xTYPE>,
                   %table: tensor<2x?xi32>) -> (tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>) {
  %unit = arith.constant 0.05 : f32
  %three = arith.constant 3.0 : f32
  %o, %lse = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %n = tensor.extract %table[%h, %j] : tensor<2x?xi32>
        %f = arith.sitofp %n : i32 to f32
        %t = arith.mulf %f, %unit : f32
        %u = arith.addf %s, %t : f32
        %c = arith.divf %u, %three : f32
        %x = math.tanh %c : f32
        %r = arith.mulf %x, %three : f32
        attn.yield %r : f32
      }
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %two = arith.constant 2 : index
        %x = arith.remui %i, %two : index
        %y = arith.remui %j, %two : index
        %p = arith.cmpi eq, %x, %y : index
        attn.yield %p : i1
      }
      : tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>
      -> tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x32xTYPE>, tensor<1x2x?xf32>
}

// Query, key and value are one tensor, whose gradient is the sum of three.
func.func @one_tensor(%q: tensor<?x?x?x64xTYPE>) -> (tensor<?x?x?x64xTYPE>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %q, %q
      : tensor<?x?x?x64xTYPE>, tensor<?x?x?x64xTYPE>, tensor<?x?x?x64xTYPE>
      -> tensor<?x?x?x64xTYPE>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xTYPE>, tensor<?x?x?xf32>
}
