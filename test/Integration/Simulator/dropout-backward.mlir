// Dropout backward in the simulator, with all its checks, against float64: head dimensions with one kernel for dK and dV and
// with two, grouped heads, masks, rows that see no key, sizes on and off the tile, d(LSE); the same bits from ten schedules.

// RUN: sed "s/TYPE/f16/g; s/DIM/64/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.64.mlir
// RUN: sed "s/TYPE/bf16/g; s/DIM/128/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.128.mlir
// RUN: sed "s/TYPE/bf16/g; s/DIM/256/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.256.mlir
// RUN: sed "s/TYPE/f16/g; s/DIM/96/g" %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.96.mlir

// RUN: %if long %{ attn-run %t.64.mlir --function causal_grad --device=cpu --shape M=130,N=130 --random 1 --verify | FileCheck %s %}
// RUN: attn-run %t.64.mlir --function causal_grad --device=sim:sm_80 --shape M=130,N=130 --random 1 --verify --schedules %if long %{10%} %else %{2%} | FileCheck %s
// RUN: attn-run %t.64.mlir --function causal_grad --device=sim:sm_90a --shape M=130,N=130 --random 1 --verify --schedules %if long %{10%} %else %{2%} | FileCheck %s
// RUN: %if long %{ attn-run %t.128.mlir --function causal_grad --device=sim:sm_80 --shape M=65,N=63 --random 2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.128.mlir --function causal_grad --device=sim:sm_90a --shape M=65,N=163 --random 2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.256.mlir --function plain_grad --device=sim:sm_80 --shape M=40,N=70 --random 3 --verify | FileCheck %s %}
// RUN: attn-run %t.256.mlir --function plain_grad --device=sim:sm_90a --shape M=40,N=70 --random 3 --verify | FileCheck %s
// RUN: attn-run %t.96.mlir --function plain_grad --device=sim:sm_80 --shape M=100,N=17 --random 4 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.96.mlir --function plain_grad --device=sim:sm_90a --shape M=100,N=130 --random 4 --verify | FileCheck %s %}
// CHECK: verify: PASS

!q = tensor<1x4x?xDIMxTYPE>
!k = tensor<1x2x?xDIMxTYPE>
!lse = tensor<1x4x?xf32>
func.func @causal(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>, %offset: tensor<i64>) -> (!q, !lse) {
  %base = arith.constant -8198552921648689607 : i64
  %own = tensor.extract %seed[] : tensor<i64>
  %s = arith.subi %own, %base : i64
  %t = tensor.extract %offset[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %v dropout(%s, %t) rate(0.3) mask_mod causal(bottom_right) : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @plain(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> (!q, !lse) {
  %s = tensor.extract %seed[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %v dropout(%s, %s) rate(0.6) scale(0.1) score_mod soft_cap(3.0) : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}
