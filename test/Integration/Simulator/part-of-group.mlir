// Tiles that are a part of the query heads of a group, of one row: of mma.sync, wgmma and tcgen05; with a mask of several rows, what
// depends on the head, splits of the keys, persistent CTAs, sequences behind each other of a plan, a rotation, a latent cache.
// RUN: attn-run %s --function=masked --device=sim:sm_80 --random=1 --shape B=2,M=3,N=70 --verify | FileCheck %s
// RUN: attn-run %s --function=masked --device=sim:sm_90a --random=2 --shape B=1,M=5,N=33 --verify | FileCheck %s
// RUN: attn-run %s --function=by_head --device=sim:sm_80 --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=split --device=sim:sm_90a --random=4 --shape B=2,N=300 --verify | FileCheck %s
// RUN: attn-run %s --function=persistent --device=sim:sm_90a --random=5 --shape B=2,M=2,N=130 --verify | FileCheck %s
// RUN: attn-run %s --function=blackwell --device=sim:sm_100a --random=6 --shape B=1,M=2,N=100 --verify | FileCheck %s
// RUN: attn-run %s --function=planned --device=sim:sm_80 --random=7 --verify | FileCheck %s
// RUN: attn-run %s --function=turned --device=sim:sm_90a --random=8 --verify | FileCheck %s
// RUN: attn-run %s --function=latent --device=sim:sm_90a --random=9 --shape arg0=2x128x1x576,arg1=5x1x64x576,arg2=2x2,arg3=2 --report=%t.json --verify | FileCheck %s
// CHECK: verify: PASS
// RUN: FileCheck %s --check-prefix=READ --implicit-check-not='"value"' --input-file=%t.json
// READ: "name": "key",

func.func @masked(%q: tensor<?x24x?x64xf16>, %k: tensor<?x1x?x64xf16>, %sink: tensor<24xf16>) -> (tensor<?x24x?x64xf16>, tensor<?x24x?xf32>) {
  %o, %lse = attn.attention %q, %k, %k sink(%sink : tensor<24xf16>) mask_mod causal(bottom_right) {schedule = #attn.schedule<mma = "mma_sync", tile_m = 48, warps = 3, tile_n = 16, pack_gqa = true>}
      : tensor<?x24x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16> -> tensor<?x24x?x64xf16>, tensor<?x24x?xf32>
  return %o, %lse : tensor<?x24x?x64xf16>, tensor<?x24x?xf32>
}

// Two key heads with three tiles of 16 heads each.
func.func @by_head(%q: tensor<2x96x2x64xbf16>, %k: tensor<2x2x50x64xbf16>, %slopes: tensor<96xf32>, %gate: tensor<2x96x2x64xbf16>, %seeds: tensor<2xi64>) -> tensor<2x96x2x64xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seed = tensor.extract %seeds[%c0] : tensor<2xi64>
  %start = tensor.extract %seeds[%c1] : tensor<2xi64>
  %r = attn.attention %q, %k, %k dropout(%seed, %start) rate(0.25) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %slope = tensor.extract %slopes[%h] : tensor<96xf32>
    %x = arith.addf %s, %slope : f32
    attn.yield %x : f32
  } {schedule = #attn.schedule<mma = "mma_sync", tile_m = 16, warps = 1, tile_n = 32, pack_gqa = true>}
      : tensor<2x96x2x64xbf16>, tensor<2x2x50x64xbf16>, tensor<2x2x50x64xbf16> -> tensor<2x96x2x64xbf16>
  %o = attn.output_mod %r (%x: f32, %b: index, %h: index, %i: index, %d: index) {
    %g = tensor.extract %gate[%b, %h, %i, %d] : tensor<2x96x2x64xbf16>
    %wide = arith.extf %g : bf16 to f32
    %y = arith.mulf %x, %wide : f32
    attn.yield %y : f32
  } : tensor<2x96x2x64xbf16> -> tensor<2x96x2x64xbf16>
  return %o : tensor<2x96x2x64xbf16>
}

func.func @split(%q: tensor<?x128x1x128xbf16>, %k: tensor<?x1x?x128xbf16>, %n: tensor<?xi32>) -> tensor<?x128x1x128xbf16> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>) {schedule = #attn.schedule<kind = "split_kv", splits = 3, mma = "wgmma", tile_m = 64, warps = 4, pack_gqa = true>}
      : tensor<?x128x1x128xbf16>, tensor<?x1x?x128xbf16>, tensor<?x1x?x128xbf16> -> tensor<?x128x1x128xbf16>
  return %o : tensor<?x128x1x128xbf16>
}

func.func @persistent(%q: tensor<?x512x?x64xf16>, %k: tensor<?x2x?x64xf16>) -> (tensor<?x512x?x64xf16>, tensor<?x512x?xf32>) {
  %o, %lse = attn.attention %q, %k, %k mask_mod causal(bottom_right) {schedule = #attn.schedule<mma = "wgmma", tile_m = 128, warps = 8, pack_gqa = true, persistent_ctas = 3>}
      : tensor<?x512x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x512x?x64xf16>, tensor<?x512x?xf32>
  return %o, %lse : tensor<?x512x?x64xf16>, tensor<?x512x?xf32>
}

func.func @blackwell(%q: tensor<?x256x?x64xf16>, %k: tensor<?x1x?x64xf16>) -> (tensor<?x256x?x64xf16>, tensor<?x256x?xf32>) {
  %o, %lse = attn.attention %q, %k, %k mask_mod causal(bottom_right) {schedule = #attn.schedule<mma = "tcgen05", tile_m = 128, warps = 4, pack_gqa = true>}
      : tensor<?x256x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16> -> tensor<?x256x?x64xf16>, tensor<?x256x?xf32>
  return %o, %lse : tensor<?x256x?x64xf16>, tensor<?x256x?xf32>
}

func.func @planned(%packed: tensor<9x32x64xf16>, %k: tensor<3x1x150x64xf16>, %offsets: tensor<4xi32>, %n: tensor<3xi32>) -> tensor<9x32x64xf16> {
  %q = attn.ragged %packed[%offsets] : tensor<9x32x64xf16>[tensor<4xi32>] -> tensor<3x32x6x64xf16>
  %m = attn.sequence_lengths %offsets : tensor<4xi32> -> tensor<3xi32>
  %r = attn.attention %q, %k, %k lengths(key %n : tensor<3xi32>, query %m : tensor<3xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", balance = "plan", split_keys = 64, mma = "mma_sync", tile_m = 16, warps = 1, tile_n = 32, pack_gqa = true>}
      : tensor<3x32x6x64xf16>, tensor<3x1x150x64xf16>, tensor<3x1x150x64xf16> -> tensor<3x32x6x64xf16>
  %e = tensor.empty() : tensor<9x32x64xf16>
  %o = attn.pack %r[%offsets] into %e : tensor<3x32x6x64xf16>[tensor<4xi32>] into tensor<9x32x64xf16>
  return %o : tensor<9x32x64xf16>
}

func.func @turned(%q: tensor<1x128x2x64xbf16>, %k: tensor<1x1x90x64xbf16>, %cos: tensor<256x32xf32>, %sin: tensor<256x32xf32>) -> tensor<1x128x2x64xbf16> {
  %query = attn.rotary %q, %cos, %sin halves : tensor<1x128x2x64xbf16>, tensor<256x32xf32>
  %o = attn.attention %query, %k, %k {schedule = #attn.schedule<mma = "wgmma", query_prologue = "fused", tile_m = 64, warps = 4, pack_gqa = true>}
      : tensor<1x128x2x64xbf16>, tensor<1x1x90x64xbf16>, tensor<1x1x90x64xbf16> -> tensor<1x128x2x64xbf16>
  return %o : tensor<1x128x2x64xbf16>
}

// DeepSeek's decode step: the two warpgroups of a CTA have 64 heads.
func.func @latent(%q: tensor<?x128x1x576xbf16>, %p: tensor<?x1x64x576xbf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>) -> (tensor<?x128x1x512xbf16>, tensor<?x128x1xf32>) {
  %c0 = arith.constant 0 : index
  %pages = tensor.dim %p, %c0 : tensor<?x1x64x576xbf16>
  %w = tensor.extract_slice %p[0, 0, 0, 0] [%pages, 1, 64, 512] [1, 1, 1, 1] : tensor<?x1x64x576xbf16> to tensor<?x1x64x512xbf16>
  %k = attn.paged %p[%t] : tensor<?x1x64x576xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x576xbf16>
  %v = attn.paged %w[%t] : tensor<?x1x64x512xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x512xbf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) {schedule = #attn.schedule<mma = "wgmma", kind = "split_kv", splits = 2>}
      : tensor<?x128x1x576xbf16>, tensor<?x1x?x576xbf16>, tensor<?x1x?x512xbf16> -> tensor<?x128x1x512xbf16>, tensor<?x128x1xf32>
  return %o, %lse : tensor<?x128x1x512xbf16>, tensor<?x128x1xf32>
}
