// The kernels of the backward made of TMA, mbarriers and wgmma, in the simulator
// with all its checks, against float64: head dimensions, masks with rows that see
// no key, grouped heads, sizes on and off the tile, score changes, d(LSE).

// RUN: sed "s/TYPE/f16/g; s/DIMS/64/g; s/DIMV/64/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.64.mlir
// RUN: sed "s/TYPE/bf16/g; s/DIMS/128/g; s/DIMV/128/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.128.mlir
// RUN: sed "s/TYPE/f16/g; s/DIMS/96/g; s/DIMV/96/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.96.mlir

// RUN: sed "s/TYPE/bf16/g; s/DIMS/256/g; s/DIMV/256/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.256.mlir
// RUN: sed "s/TYPE/f16/g; s/DIMS/192/g; s/DIMV/128/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.192.mlir

// RUN: attn-run %t.64.mlir --function causal_grad --device=sim:sm_90a --shape M=130,N=130 --random 1 --verify --schedules %if long %{10%} %else %{2%}
// RUN: attn-run %t.128.mlir --function causal_grad --device=sim:sm_90a --shape M=256,N=256 --random 2 --verify --schedules %if long %{10%} %else %{2%}
// RUN: attn-run %t.96.mlir --function causal_grad --device=sim:sm_90a --shape M=65,N=63 --random 3 --verify
// RUN: attn-run %t.64.mlir --function bottom_right_grad --device=sim:sm_90a --shape M=200,N=17 --random 4 --verify
// RUN: %if long %{ attn-run %t.128.mlir --function bottom_right_grad --device=sim:sm_90a --shape M=64,N=300 --random 5 --verify %}
// RUN: %if long %{ attn-run %t.128.mlir --function window_grad --device=sim:sm_90a --shape M=330,N=300 --random 6 --verify %}
// RUN: attn-run %t.64.mlir --function changed_grad --device=sim:sm_90a --shape M=140,N=135 --random 7 --verify
// RUN: %if long %{ attn-run %t.64.mlir --function one_tensor_grad --device=sim:sm_90a --shape B=1,Hq=2,Hkv=2,M=128,N=128 --random 8 --verify %}

// Sizes that are known to be less than a tile.
// RUN: sed "s/TYPE/f16/g; s/DIMS/192/g; s/DIMV/192/g; s/x4x?x/x4x5x/g; s/x2x?x/x2x9x/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.few.mlir
// RUN: attn-run %t.few.mlir --function causal_grad --device=sim:sm_90a --random 13 --verify
// RUN: %if long %{ attn-run %t.few.mlir --function causal_grad --device=sim:sm_80 --random 13 --verify %}

// dV in a kernel of its own, on both targets.
// RUN: attn-run %t.256.mlir --function causal_grad --device=sim:sm_90a --shape M=130,N=130 --random 9 --verify
// RUN: %if long %{ attn-run %t.256.mlir --function window_grad --device=sim:sm_80 --shape M=70,N=80 --random 10 --verify %}
// RUN: %if long %{ attn-run %t.192.mlir --function causal_grad --device=sim:sm_90a --shape M=130,N=130 --random 11 --verify %}

func.func @causal(%q: tensor<1x4x?xDIMSxTYPE>, %k: tensor<1x2x?xDIMSxTYPE>, %v: tensor<1x2x?xDIMVxTYPE>)
    -> (tensor<1x4x?xDIMVxTYPE>, tensor<1x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
      : tensor<1x4x?xDIMSxTYPE>, tensor<1x2x?xDIMSxTYPE>, tensor<1x2x?xDIMVxTYPE>
      -> tensor<1x4x?xDIMVxTYPE>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?xDIMVxTYPE>, tensor<1x4x?xf32>
}

func.func @bottom_right(%q: tensor<2x1x?xDIMSxTYPE>, %k: tensor<2x1x?xDIMSxTYPE>, %v: tensor<2x1x?x40xTYPE>)
    -> (tensor<2x1x?x40xTYPE>, tensor<2x1x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(0.5) mask_mod causal(bottom_right)
      : tensor<2x1x?xDIMSxTYPE>, tensor<2x1x?xDIMSxTYPE>, tensor<2x1x?x40xTYPE>
      -> tensor<2x1x?x40xTYPE>, tensor<2x1x?xf32>
  return %o, %lse : tensor<2x1x?x40xTYPE>, tensor<2x1x?xf32>
}

func.func @window(%q: tensor<1x1x?xDIMSxTYPE>, %k: tensor<1x1x?xDIMSxTYPE>, %v: tensor<1x1x?xDIMVxTYPE>)
    -> (tensor<1x1x?xDIMVxTYPE>, tensor<1x1x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod sliding_window(20, 7)
      : tensor<1x1x?xDIMSxTYPE>, tensor<1x1x?xDIMSxTYPE>, tensor<1x1x?xDIMVxTYPE>
      -> tensor<1x1x?xDIMVxTYPE>, tensor<1x1x?xf32>
  return %o, %lse : tensor<1x1x?xDIMVxTYPE>, tensor<1x1x?xf32>
}

// A soft cap, a constant bias by a table of integers, and a mask by parity.
func.func @changed(%q: tensor<1x2x?xDIMSxTYPE>, %k: tensor<1x2x?xDIMSxTYPE>, %v: tensor<1x2x?xDIMVxTYPE>,
                   %table: tensor<2x?xi32>) -> (tensor<1x2x?xDIMVxTYPE>, tensor<1x2x?xf32>) {
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
      : tensor<1x2x?xDIMSxTYPE>, tensor<1x2x?xDIMSxTYPE>, tensor<1x2x?xDIMVxTYPE>
      -> tensor<1x2x?xDIMVxTYPE>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?xDIMVxTYPE>, tensor<1x2x?xf32>
}

// Query, key and value are one tensor, whose gradient is the sum of three.
func.func @one_tensor(%q: tensor<?x?x?xDIMSxTYPE>) -> (tensor<?x?x?xDIMSxTYPE>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %q, %q
      : tensor<?x?x?xDIMSxTYPE>, tensor<?x?x?xDIMSxTYPE>, tensor<?x?x?xDIMSxTYPE>
      -> tensor<?x?x?xDIMSxTYPE>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?xDIMSxTYPE>, tensor<?x?x?xf32>
}
