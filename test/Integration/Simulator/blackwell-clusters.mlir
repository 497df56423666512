// Clusters of CTAs of sm_100a that load each other's key tiles, whose products one thread of each CTA starts: whole and ragged key tiles, row tiles that do
// not fill the last cluster, no keys at all; one tile for each CTA and persistent.
// RUN: attn-run %s --function pair --device=sim:sm_100a --shape B=1,Hq=4,Hkv=2,M=520,N=333 --random 1 --verify --schedules 3 | FileCheck %s
// RUN: attn-run %s --function pair --device=sim:sm_100a --shape B=2,Hq=1,Hkv=1,M=60,N=70 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function pair --device=sim:sm_100a --shape B=1,Hq=1,Hkv=1,M=100,N=0 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function persistent --device=sim:sm_100a --shape B=2,Hq=4,Hkv=2,M=600,N=260 --random 1 --verify --schedules 3 | FileCheck %s
// RUN: attn-run %s --function persistent --device=sim:sm_100a --shape B=2,Hq=4,Hkv=2,M=600,N=0 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function four --device=sim:sm_100a --random 1 --verify --schedules 3 | FileCheck %s
// CHECK: verify: PASS

// The grid has whole clusters, and each CTA copies half of a tile to both.
// RUN: sed "/^func.func @persistent/,$d" %s > %t.mlir
// RUN: attn-opt %t.mlir --target=sm_100a --emit=ptx,manifest -o %t
// RUN: FileCheck %s --check-prefix=GRID --input-file=%t.json
// RUN: FileCheck %s --check-prefix=COPY --input-file=%t.ptx
// GRID: "ceildiv(dim(query, 2), 512) * 2"
// GRID: "cluster": [
// GRID-NEXT: 2,
// COPY: cp.async.bulk.tensor.4d.shared::cluster.global{{.*}}.multicast::cluster
!q = tensor<?x?x?x64xf16>
!lse = tensor<?x?x?xf32>

func.func @pair(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, cluster_m = 2, persistent_ctas = 0>}
      : !q, !q, !q -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @persistent(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, cluster_m = 2, persistent_ctas = 4>}
      : !q, !q, !q -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @four(%q: tensor<1x2x900x128xbf16>, %k: tensor<1x2x176x128xbf16>, %v: tensor<1x2x176x128xbf16>) -> tensor<1x2x900x128xbf16> {
  %o = attn.attention %q, %k, %v
      {schedule = #attn.schedule<mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, cluster_m = 4, persistent_ctas = 0>}
      : tensor<1x2x900x128xbf16>, tensor<1x2x176x128xbf16>, tensor<1x2x176x128xbf16> -> tensor<1x2x900x128xbf16>
  return %o : tensor<1x2x900x128xbf16>
}
