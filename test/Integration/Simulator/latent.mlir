// Decode over a latent cache (DeepSeek's MLA, absorbed): one key head of 576 columns, whose first 512 are the values, and a scale of its
// own. The values are a tensor of their own, or columns of the keys, which the kernel reads in the tiles of these. Against float64.

// RUN: attn-run %s --function=paged --shape B=2,T=3,P=9 --device=sim:sm_80 --random=1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=paged --shape B=2,T=3,P=9 --device=sim:sm_90a --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=paged --shape B=2,T=3,P=9 --device=sim:sm_90a --random=2 --verify --allow-tf32 | FileCheck %s %}
// RUN: attn-run %s --function=sliced --shape B=2,N=41 --device=sim:sm_80 --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=sliced --shape B=3,N=40 --device=sim:sm_90a --random=5 --verify 2>&1 | FileCheck %s
// RUN: attn-run %s --function=latent --shape B=2,T=9,P=19 --device=sim:sm_80 --random=1 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function=latent --shape B=2,T=9,P=19 --device=sim:sm_90a --random=2 --verify | FileCheck %s %}
// RUN: attn-run %s --function=guessed --shape B=2,T=3,P=9 --device=sim:sm_90a --random=4 --verify | FileCheck %s
// RUN: attn-run %s --function=other --shape B=2,N=41 --device=sim:sm_80 --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=whole_rows --shape B=2,N=41 --device=sim:sm_80 --random=3 --verify | FileCheck %s
// CHECK: {{^}}verify: PASS
// CHECK-NOT: FAIL

func.func @paged(%q: tensor<?x16x1x576xbf16>, %kp: tensor<?x1x16x576xbf16>, %vp: tensor<?x1x16x512xbf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>) {
  %k = attn.paged %kp[%t] : tensor<?x1x16x576xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x576xbf16>
  %v = attn.paged %vp[%t] : tensor<?x1x16x512xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x512xbf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) scale(0.07216878364870322)
      : tensor<?x16x1x576xbf16>, tensor<?x1x?x576xbf16>, tensor<?x1x?x512xbf16> -> tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>
  return %o, %lse : tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>
}

// Two guessed tokens of 24 heads: more rows than a tile of 16 has.
func.func @sliced(%q: tensor<?x24x2x576xf16>, %c: tensor<?x1x?x576xf16>, %n: tensor<?xi32>) -> tensor<?x24x2x512xf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batches = tensor.dim %c, %c0 : tensor<?x1x?x576xf16>
  %keys = tensor.dim %c, %c2 : tensor<?x1x?x576xf16>
  %v = tensor.extract_slice %c[0, 0, 0, 0] [%batches, 1, %keys, 512] [1, 1, 1, 1] : tensor<?x1x?x576xf16> to tensor<?x1x?x512xf16>
  %o = attn.attention %q, %c, %v lengths(key %n : tensor<?xi32>) scale(0.07216878364870322) mask_mod causal(bottom_right)
      : tensor<?x24x2x576xf16>, tensor<?x1x?x576xf16>, tensor<?x1x?x512xf16> -> tensor<?x24x2x512xf16>
  return %o : tensor<?x24x2x512xf16>
}

// A kernel has no values: they are columns of the pool of the keys.
func.func @latent(%q: tensor<?x16x1x576xbf16>, %kp: tensor<?x1x16x576xbf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>) {
  %c0 = arith.constant 0 : index
  %pages = tensor.dim %kp, %c0 : tensor<?x1x16x576xbf16>
  %vp = tensor.extract_slice %kp[0, 0, 0, 0] [%pages, 1, 16, 512] [1, 1, 1, 1] : tensor<?x1x16x576xbf16> to tensor<?x1x16x512xbf16>
  %k = attn.paged %kp[%t] : tensor<?x1x16x576xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x576xbf16>
  %v = attn.paged %vp[%t] : tensor<?x1x16x512xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x512xbf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) scale(0.07216878364870322)
      : tensor<?x16x1x576xbf16>, tensor<?x1x?x576xbf16>, tensor<?x1x?x512xbf16> -> tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>
  return %o, %lse : tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>
}

// Two guessed tokens, pages of one row, and 128 heads, of which a tile has some.
func.func @guessed(%q: tensor<?x128x2x576xf16>, %kp: tensor<?x1x1x576xf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>) -> tensor<?x128x2x512xf16> {
  %c0 = arith.constant 0 : index
  %pages = tensor.dim %kp, %c0 : tensor<?x1x1x576xf16>
  %vp = tensor.extract_slice %kp[0, 0, 0, 0] [%pages, 1, 1, 512] [1, 1, 1, 1] : tensor<?x1x1x576xf16> to tensor<?x1x1x512xf16>
  %k = attn.paged %kp[%t] : tensor<?x1x1x576xf16>[tensor<?x?xi32>] -> tensor<?x1x?x576xf16>
  %v = attn.paged %vp[%t] : tensor<?x1x1x512xf16>[tensor<?x?xi32>] -> tensor<?x1x?x512xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) scale(0.07216878364870322) mask_mod causal(bottom_right)
      : tensor<?x128x2x576xf16>, tensor<?x1x?x576xf16>, tensor<?x1x?x512xf16> -> tensor<?x128x2x512xf16>
  return %o : tensor<?x128x2x512xf16>
}

// Not the first columns: a tensor of their own.
func.func @other(%q: tensor<?x16x1x576xf16>, %c: tensor<?x1x?x576xf16>, %n: tensor<?xi32>) -> tensor<?x16x1x512xf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batches = tensor.dim %c, %c0 : tensor<?x1x?x576xf16>
  %keys = tensor.dim %c, %c2 : tensor<?x1x?x576xf16>
  %v = tensor.extract_slice %c[0, 0, 0, 64] [%batches, 1, %keys, 512] [1, 1, 1, 1] : tensor<?x1x?x576xf16> to tensor<?x1x?x512xf16>
  %o = attn.attention %q, %c, %v lengths(key %n : tensor<?xi32>) scale(0.07216878364870322)
      : tensor<?x16x1x576xf16>, tensor<?x1x?x576xf16>, tensor<?x1x?x512xf16> -> tensor<?x16x1x512xf16>
  return %o : tensor<?x16x1x512xf16>
}

// Of slices of 256 columns the last would end behind the keys' 320: a tile of their own.
func.func @whole_rows(%q: tensor<?x16x1x320xbf16>, %c: tensor<?x1x?x320xbf16>, %n: tensor<?xi32>) -> tensor<?x16x1x320xbf16> {
  %o = attn.attention %q, %c, %c lengths(key %n : tensor<?xi32>)
      {schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 16, tile_n = 16, tile_dv = 256, stages = 1, warps = 1>}
      : tensor<?x16x1x320xbf16>, tensor<?x1x?x320xbf16>, tensor<?x1x?x320xbf16> -> tensor<?x16x1x320xbf16>
  return %o : tensor<?x16x1x320xbf16>
}
