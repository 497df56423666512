// Clusters of CTAs that load each other's key tiles: whole and ragged key tiles, one and several tiles for each head, row tiles
// that do not fill the last cluster, no keys at all; one tile for each CTA and persistent.
// RUN: attn-run %s --function pair --device=sim:sm_90a --shape B=1,Hq=4,Hkv=2,M=333,N=260 --random 1 --verify --schedules 5 | FileCheck %s
// RUN: attn-run %s --function pair --device=sim:sm_90a --shape B=2,Hq=1,Hkv=1,M=60,N=70 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function pair --device=sim:sm_90a --shape B=1,Hq=1,Hkv=1,M=100,N=0 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function persistent --device=sim:sm_90a --shape B=2,Hq=4,Hkv=2,M=333,N=260 --random 1 --verify --schedules 5 | FileCheck %s
// RUN: attn-run %s --function four --device=sim:sm_90a --random 1 --verify --schedules 5 | FileCheck %s
// RUN: attn-run %s --function packed --device=sim:sm_90a --shape B=2,M=100,N=260 --random 1 --verify --schedules 5 | FileCheck %s
// CHECK: verify: PASS

// The grid has whole clusters.
// RUN: sed "/^func.func @persistent/,$d" %s > %t.mlir
// RUN: attn-opt %t.mlir --target=sm_90a --emit=manifest -o - | FileCheck %s --check-prefix=GRID
// GRID: "ceildiv(dim(query, 2), 128) * 2"
// GRID: "cluster": [
// GRID-NEXT: 2,
!q = tensor<?x?x?x64xf16>
!lse = tensor<?x?x?xf32>

func.func @pair(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<tile_m = 64, tile_n = 64, stages = 2, warps = 4, cluster_m = 2, persistent_ctas = 0>}
      : !q, !q, !q -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @persistent(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<tile_m = 128, tile_n = 64, stages = 2, warps = 8, cluster_m = 2, persistent_ctas = 4>}
      : !q, !q, !q -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @four(%q: tensor<1x2x500x128xbf16>, %k: tensor<1x2x176x128xbf16>, %v: tensor<1x2x176x128xbf16>) -> tensor<1x2x500x128xbf16> {
  %o = attn.attention %q, %k, %v
      {schedule = #attn.schedule<tile_m = 64, tile_n = 96, stages = 2, warps = 4, cluster_m = 4, persistent_ctas = 0>}
      : tensor<1x2x500x128xbf16>, tensor<1x2x176x128xbf16>, tensor<1x2x176x128xbf16> -> tensor<1x2x500x128xbf16>
  return %o : tensor<1x2x500x128xbf16>
}

func.func @packed(%q: tensor<?x8x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>) -> tensor<?x8x?x64xf16> {
  %o = attn.attention %q, %k, %v
      {schedule = #attn.schedule<tile_m = 64, tile_n = 64, stages = 2, warps = 4, cluster_m = 2, pack_gqa = true, persistent_ctas = 2>}
      : tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}
