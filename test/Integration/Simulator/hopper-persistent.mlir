// Persistent grids: 3 CTAs take 24 tiles one after the other, with the products of one tile and the loads of the next under
// way at once; the same output however the warps run.
// RUN: attn-run %s --function full --device=sim:sm_90a --shape B=2,Hq=4,Hkv=2,M=333,N=260 --random 1 --verify --schedules 5 | FileCheck %s
// RUN: attn-run %s --function causal --device=sim:sm_90a --shape B=2,Hq=4,Hkv=2,M=333,N=200 --random 1 --verify --schedules 5 | FileCheck %s
// Rows without keys, and no keys at all.
// RUN: attn-run %s --function causal --device=sim:sm_90a --shape B=1,Hq=4,Hkv=2,M=333,N=20 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function full --device=sim:sm_90a --shape B=1,Hq=4,Hkv=2,M=333,N=0 --random 1 --verify --schedules 2 | FileCheck %s
// CHECK: verify: PASS

// The grid is no larger than the tiles.
// RUN: sed "/^func.func @causal/,$d" %s > %t.mlir
// RUN: attn-opt %t.mlir --target=sm_90a --schedule='persistent_ctas=3 tile_m=128 tile_n=64 stages=2 warps=8' --emit=manifest -o - | FileCheck %s --check-prefix=GRID
// GRID: "min(ceildiv(dim(query, 2), 128) * dim(query, 1) * dim(query, 0), 3)"
func.func @full(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 3>}
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}

func.func @causal(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      {schedule = #attn.schedule<tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 3>}
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
