// Where pages are, and what else is in a pool, changes no bit: of keys behind each other the same tiles give the same.
// RUN: %python %S/check_permuted_pages.py %s sim:sm_80 | FileCheck %s
// RUN: sed 's/mma_sync/wgmma/' %s > %t.mlir
// RUN: %python %S/check_permuted_pages.py %t.mlir sim:sm_90a | FileCheck %s
// CHECK: PASS

!q = tensor<3x2x40x64xf16>
!k = tensor<3x1x192x64xf16>
!p = tensor<?x1x16x64xf16>
!lse = tensor<3x2x40xf32>
#schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 64, tile_n = 64, stages = 2, warps = 4>

func.func @paged(%q: !q, %kp: !p, %vp: !p, %t: tensor<3x12xi32>, %n: tensor<3xi32>) -> (!q, !lse) {
  %k = attn.paged %kp[%t] : !p[tensor<3x12xi32>] -> !k
  %v = attn.paged %vp[%t] : !p[tensor<3x12xi32>] -> !k
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<3xi32>) mask_mod causal(bottom_right) {schedule = #schedule} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @behind(%q: !q, %k: !k, %v: !k, %n: tensor<3xi32>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<3xi32>) mask_mod causal(bottom_right) {schedule = #schedule} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}
