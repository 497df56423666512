// One kernel of sm_90a for all gradients, dQ added up by bulk copies, in the
// simulator with all its checks, against float64: dQ^T = K^T dS^T at D = 128 and
// dQ = dS K at 64, masks with rows that see no key, grouped heads, sizes on and
// off the tile, score changes, a value of another width, one stage.

// RUN: split-file %s %t
// RUN: attn-run %t/full.mlir --device=sim:sm_90a --random 1 --verify --schedules %if long %{10%} %else %{3%} | FileCheck %s
// RUN: attn-run %t/causal.mlir --device=sim:sm_90a --shape M=200,N=230 --random 2 --verify --schedules %if long %{10%} %else %{3%} | FileCheck %s
// RUN: attn-run %t/window.mlir --device=sim:sm_90a --random 3 --verify --schedules %if long %{10%} %else %{3%} | FileCheck %s
// RUN: attn-run %t/group.mlir --device=sim:sm_90a --shape B=2,Hq=4,Hkv=2,M=140,N=129 --random 4 --verify | FileCheck %s
// RUN: attn-run %t/soft-cap.mlir --device=sim:sm_90a --random 5 --verify | FileCheck %s
// RUN: attn-run %t/one-stage.mlir --device=sim:sm_90a --random 6 --verify --schedules %if long %{10%} %else %{3%} | FileCheck %s
// RUN: attn-run %t/dropout.mlir --device=sim:sm_90a --random 7 --verify | FileCheck %s
// RUN: attn-run %t/full.mlir --random 1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t/group.mlir --shape B=2,Hq=4,Hkv=2,M=140,N=129 --random 4 --verify | FileCheck %s %}
// RUN: not attn-run %t/full.mlir --device=sim:sm_90a --random 1 --deterministic 2>&1 | FileCheck %s --check-prefix=ASKED
// CHECK: verify: PASS
// ASKED: error: {{.*}}a fused backward adds up dQ in no fixed order, and a deterministic one was asked for

//--- full.mlir
!q = tensor<1x2x128x128xbf16>
!k = tensor<1x2x256x128xbf16>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: tensor<1x2x128xf32>, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x2x128xf32>) d_output(%do : !q)
      {schedule = #attn.schedule<fused = true>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}

//--- causal.mlir
!q = tensor<1x1x?x64xf16>
!k = tensor<1x1x?x64xf16>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: tensor<1x1x?xf32>, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x1x?xf32>) d_output(%do : !q)
      mask_mod causal(bottom_right) {schedule = #attn.schedule<fused = true, tile_m = 128, tile_n = 128>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}

//--- window.mlir
!q = tensor<1x1x330x128xbf16>
!k = tensor<1x1x300x128xbf16>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: tensor<1x1x330xf32>, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x1x330xf32>) d_output(%do : !q) scale(0.25)
      mask_mod sliding_window(20, 7) {schedule = #attn.schedule<fused = true>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}

//--- group.mlir
!q = tensor<?x?x?x128xbf16>
!k = tensor<?x?x?x128xbf16>
!v = tensor<?x?x?x64xbf16>
func.func @grad(%q: !q, %k: !k, %v: !v, %o: !v, %lse: tensor<?x?x?xf32>, %do: !v, %dlse: tensor<?x?x?xf32>) -> (!q, !k, !v) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !v) lse(%lse : tensor<?x?x?xf32>) d_output(%do : !v) d_lse(%dlse : tensor<?x?x?xf32>)
      mask_mod causal(top_left) {schedule = #attn.schedule<fused = true>} : !q, !k, !v -> !q, !k, !v
  return %d#0, %d#1, %d#2 : !q, !k, !v
}

//--- soft-cap.mlir
!q = tensor<1x2x128x128xbf16>
!k = tensor<1x1x192x128xbf16>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: tensor<1x2x128xf32>, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x2x128xf32>) d_output(%do : !q)
      score_mod soft_cap(3.0) {schedule = #attn.schedule<fused = true>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}

//--- one-stage.mlir
!q = tensor<1x1x300x128xbf16>
!k = tensor<1x1x256x128xbf16>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: tensor<1x1x300xf32>, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x1x300xf32>) d_output(%do : !q)
      {schedule = #attn.schedule<fused = true, stages = 1>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}

//--- dropout.mlir
!q = tensor<1x1x128x64xbf16>
!k = tensor<1x1x128x64xbf16>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: tensor<1x1x128xf32>, %do: !q) -> (!q, !k, !k) {
  %seed = arith.constant 7 : i64
  %offset = arith.constant 9 : i64
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x1x128xf32>) d_output(%do : !q)
      dropout(%seed, %offset) rate(0.25) {schedule = #attn.schedule<fused = true, tile_m = 64, tile_n = 64>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}
