// Key and value heads that a map selects, against float64: in every schedule,
// with gradients; some heads serve many query heads, some none.

// RUN: attn-run %s --function mapped --shape 'M=70,N=133; M=1,N=40; M=65,N=64' --random 1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function mapped --shape 'M=70,N=133; M=1,N=40' --random 2 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function mapped --shape 'M=70,N=233; M=1,N=40' --random 3 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<kind = "small_cache">}/' %s > %t.small.mlir
// RUN: attn-run %t.small.mlir --function mapped --shape M=40,N=133 --random 4 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<splits = 3>}/' %s > %t.splits.mlir
// RUN: attn-run %t.splits.mlir --function mapped --shape M=3,N=533 --random 5 --device=sim:sm_90a --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function dynamic --shape B=2,Hq=5,Hkv=3,M=17,N=65 --random 6 --verify | FileCheck %s %}
// RUN: attn-run %s --function dynamic --shape B=1,Hq=3,Hkv=4,M=17,N=65 --random 7 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function asymmetric --random 8 --verify | FileCheck %s
// RUN: attn-run %s --function asymmetric --random 9 --device=sim:sm_90a --verify | FileCheck %s

// RUN: attn-opt %s --attn-grad=recompute -o %t.grad.mlir
// RUN: FileCheck %s --check-prefix=GRAD < %t.grad.mlir
// RUN: %if long %{ attn-run %t.grad.mlir --function mapped_grad --shape M=40,N=70 --random 10 --verify | FileCheck %s %}
// RUN: attn-run %t.grad.mlir --function mapped_grad --shape M=40,N=70 --random 11 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.grad.mlir --function mapped_grad --shape M=70,N=130 --random 12 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.grad.mlir --function dynamic_grad --shape B=2,Hq=5,Hkv=3,M=17,N=65 --random 13 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: attn-run %t.grad.mlir --function dynamic_grad --shape B=1,Hq=3,Hkv=4,M=17,N=65 --random 14 --device=sim:sm_90a --deterministic --verify --schedules 2 | FileCheck %s
// RUN: attn-run %t.grad.mlir --function mapped_grad --shape M=9,N=41 --fill arg3=zeros --random 15 --device=sim:sm_90a --verify --schedules 2 | FileCheck %s
// RUN: attn-run %t.grad.mlir --function asymmetric_grad --random 16 --device=sim:sm_90a --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

// The sums are kernels of the backward's program, in a chain of launches on sm_90a; the host's module has none.
// RUN: attn-opt %t.grad.mlir --attn-outline=target=sm_90a | FileCheck %s --check-prefix=HOST
// HOST-LABEL: func.func @mapped_grad
// HOST: %[[GRADS:.*]]:3 = call @mapped_grad_attention_0(
// HOST-NOT: attn.sum_heads
// HOST: return %[[GRADS]]#0, %[[GRADS]]#1, %[[GRADS]]#2
// HOST-NOT: attn.sum_heads
// RUN: attn-opt %t.grad.mlir --target=sm_90a --emit=manifest -o %t.sums 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=mapped_grad
// REMARK: remark: result 1 of @asymmetric_grad is of 'linalg.add', which no kernel computes
// RUN: FileCheck %s --check-prefix=SUMS < %t.sums.json
// SUMS: "entry": "mapped_grad_attention{{.*}}_sum_d_key",
// SUMS-NEXT: "after": "programmatic"
// SUMS: "entry": "mapped_grad_attention{{.*}}_sum_d_value",
// SUMS-NEXT: "after": "programmatic"

// GRAD: %[[DK:.*]] = attn.sum_heads %{{.*}}[%arg3] into {{.*}} into tensor<2x3x?x64xf16>
// GRAD: attn.sum_heads %{{.*}}[%arg4] into {{.*}} into tensor<2x2x?x64xf16>

// A map of the data that is none, and no head that it could select.
// RUN: not attn-run %s --function dynamic --shape B=1,Hq=3,Hkv=1,M=17,N=65 --fill arg3=ramp --verify 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: 'attn.select_heads' op expected entries of the map that are one of 1 heads, got 1 of head 1
// RUN: not attn-run %s --function dynamic --shape B=1,Hq=3,Hkv=0,M=17,N=65 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: attn-run: error: expected at least one head, of which a map selects, got Hkv = 0

// Equal groups in order are grouped-query attention; a map is one read for a
// tile, outside of the loops over keys.
// RUN: attn-opt %s --attn-select-schedule=target=sm_80 | FileCheck %s --check-prefix=GROUPS
// GROUPS-LABEL: @asymmetric
// GROUPS: attn.select_heads
// GROUPS-LABEL: @equal
// GROUPS-NOT: attn.select_heads
// GROUPS: attn.attention %{{.*}}, %arg1, %arg1
// RUN: attn-opt %s --attn-select-schedule=target=sm_80 --attn-convert-to-online --attn-tile | FileCheck %s --check-prefix=TILED
// TILED-LABEL: @mapped
// TILED-NOT: attn.select_heads
// TILED: scf.forall (%{{.*}}, %[[HEAD:.*]], %{{.*}}) =
// TILED: tensor.extract %arg3[%[[HEAD]]]
// TILED: scf.for
// TILED-LABEL: @dynamic

// RUN: not attn-opt %t.grad.mlir --attn-select-schedule='target=sm_80 schedule=kind=small_cache' 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: error: 'attn.attention_backward' op expected a large-cache schedule beside heads that a map selects, got kind=small_cache

func.func @mapped(%q: tensor<2x6x?x64xf16>, %k: tensor<2x3x?x64xf16>,
                  %v: tensor<2x2x?x64xf16>, %km: tensor<6xi32>,
                  %vm: tensor<6xi64>)
    -> (tensor<2x6x?x64xf16>, tensor<2x6x?xf32>) {
  %key = attn.select_heads %k[%km]
      : tensor<2x3x?x64xf16>[tensor<6xi32>] -> tensor<2x6x?x64xf16>
  %value = attn.select_heads %v[%vm]
      : tensor<2x2x?x64xf16>[tensor<6xi64>] -> tensor<2x6x?x64xf16>
  %o, %l = attn.attention %q, %key, %value mask_mod causal(bottom_right) {chosen}
      : tensor<2x6x?x64xf16>, tensor<2x6x?x64xf16>, tensor<2x6x?x64xf16>
      -> tensor<2x6x?x64xf16>, tensor<2x6x?xf32>
  return %o, %l : tensor<2x6x?x64xf16>, tensor<2x6x?xf32>
}

// Numbers of heads that do not divide each other, or are more than are asked.
func.func @dynamic(%q: tensor<?x?x?x32xbf16>, %k: tensor<?x?x?x32xbf16>,
                   %v: tensor<?x?x?x32xbf16>, %m: tensor<?xi32>)
    -> (tensor<?x?x?x32xbf16>, tensor<?x?x?xf32>) {
  %key = attn.select_heads %k[%m]
      : tensor<?x?x?x32xbf16>[tensor<?xi32>] -> tensor<?x?x?x32xbf16>
  %value = attn.select_heads %v[%m]
      : tensor<?x?x?x32xbf16>[tensor<?xi32>] -> tensor<?x?x?x32xbf16>
  %o, %l = attn.attention %q, %key, %value
      : tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>
      -> tensor<?x?x?x32xbf16>, tensor<?x?x?xf32>
  return %o, %l : tensor<?x?x?x32xbf16>, tensor<?x?x?xf32>
}

func.func @asymmetric(%q: tensor<1x4x20x64xf16>, %k: tensor<1x2x33x64xf16>)
    -> tensor<1x4x20x64xf16> {
  %m = arith.constant dense<[0, 1, 1, 1]> : tensor<4xi64>
  %key = attn.select_heads %k[%m]
      : tensor<1x2x33x64xf16>[tensor<4xi64>] -> tensor<1x4x33x64xf16>
  %o = attn.attention %q, %key, %key
      : tensor<1x4x20x64xf16>, tensor<1x4x33x64xf16>, tensor<1x4x33x64xf16>
      -> tensor<1x4x20x64xf16>
  return %o : tensor<1x4x20x64xf16>
}

func.func @equal(%q: tensor<1x4x20x64xf16>, %k: tensor<1x2x33x64xf16>)
    -> tensor<1x4x20x64xf16> {
  %m = arith.constant dense<[0, 0, 1, 1]> : tensor<4xi32>
  %key = attn.select_heads %k[%m]
      : tensor<1x2x33x64xf16>[tensor<4xi32>] -> tensor<1x4x33x64xf16>
  %o = attn.attention %q, %key, %key
      : tensor<1x4x20x64xf16>, tensor<1x4x33x64xf16>, tensor<1x4x33x64xf16>
      -> tensor<1x4x20x64xf16>
  return %o : tensor<1x4x20x64xf16>
}
