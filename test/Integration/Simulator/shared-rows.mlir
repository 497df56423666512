// Warps that share rows, each with columns of O, those of mma.sync: of 512 columns, of one slice of two of 1024, of values that are columns of the keys, of several
// warps for the rows, of 8 bits; with an LSE, dropout, a mod of the output, splits of the keys, and a plan.
// RUN: attn-run %s --function=wide --device=sim:sm_80 --random=1 --shape B=2,M=40,N=70 --verify | FileCheck %s
// RUN: attn-run %s --function=wide --device=sim:sm_90a --random=2 --shape B=1,M=64,N=33 --verify | FileCheck %s
// RUN: attn-run %s --function=slices --device=sim:sm_80 --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=dropped --device=sim:sm_80 --random=4 --verify | FileCheck %s
// RUN: attn-run %s --function=latent --device=sim:sm_80 --random=5 --shape B=3,N=300 --verify | FileCheck %s
// RUN: attn-run %s --function=latent --device=sim:sm_90a --random=6 --shape B=1,N=129 --verify | FileCheck %s
// RUN: attn-run %s --function=bytes --device=sim:sm_90a --random=7 --shape B=2,N=100 --verify | FileCheck %s
// RUN: attn-run %s --function=planned --device=sim:sm_80 --random=8 --shape B=3,N=300 --verify | FileCheck %s
// RUN: attn-run %s --function=latent_bytes --device=sim:sm_90a --random=9 --shape B=2,N=90 --report=%t.json --verify | FileCheck %s
// RUN: attn-run %s --function=latent_bytes --device=sim:sm_80 --random=10 --shape B=1,N=40 --verify | FileCheck %s
// Two warpgroups of wgmma, of values that are columns of the keys: rows that end in a tile, a mask, pages.
// RUN: attn-run %s --function=prompt --device=sim:sm_90a --random=11 --shape arg0=1x2x70x576,arg1=4x1x64x576,arg2=1x3,arg3=1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=prompt --device=sim:sm_90a --random=12 --shape arg0=2x1x130x576,arg1=9x1x64x576,arg2=2x4,arg3=2 --verify | FileCheck %s %}
// RUN: attn-run %s --function=whole --device=sim:sm_90a --random=13 --verify | FileCheck %s
// RUN: attn-run %s --function=turned --device=sim:sm_90a --random=2 --verify | FileCheck %s
// CHECK: verify: PASS
// RUN: FileCheck %s --check-prefix=READ --implicit-check-not='"value"' --input-file=%t.json
// READ: "name": "key",

func.func @wide(%q: tensor<?x2x?x512xf16>, %k: tensor<?x1x?x512xf16>, %v: tensor<?x1x?x512xf16>) -> (tensor<?x2x?x512xf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right) {schedule = #attn.schedule<mma = "mma_sync", tile_m = 32, tile_n = 16, tile_dv = 512, warps = 4, stages = 1>}
      : tensor<?x2x?x512xf16>, tensor<?x1x?x512xf16>, tensor<?x1x?x512xf16> -> tensor<?x2x?x512xf16>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x512xf16>, tensor<?x2x?xf32>
}

func.func @slices(%q: tensor<1x1x20x64xbf16>, %k: tensor<1x1x50x64xbf16>, %v: tensor<1x1x50x1024xbf16>) -> (tensor<1x1x20x1024xbf16>, tensor<1x1x20xf32>) {
  %o, %lse = attn.attention %q, %k, %v {schedule = #attn.schedule<mma = "mma_sync", tile_m = 16, tile_n = 16, tile_dv = 512, warps = 2, stages = 2>}
      : tensor<1x1x20x64xbf16>, tensor<1x1x50x64xbf16>, tensor<1x1x50x1024xbf16> -> tensor<1x1x20x1024xbf16>, tensor<1x1x20xf32>
  return %o, %lse : tensor<1x1x20x1024xbf16>, tensor<1x1x20xf32>
}

func.func @dropped(%q: tensor<1x2x33x64xf16>, %k: tensor<1x2x50x64xf16>, %v: tensor<1x2x50x256xf16>, %seeds: tensor<2xi64>) -> tensor<1x2x33x256xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seed = tensor.extract %seeds[%c0] : tensor<2xi64>
  %start = tensor.extract %seeds[%c1] : tensor<2xi64>
  %o = attn.attention %q, %k, %v dropout(%seed, %start) rate(0.25) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %back = arith.subi %i, %j : index
    %int = arith.index_cast %back : index to i32
    %float = arith.sitofp %int : i32 to f32
    %r = arith.addf %s, %float : f32
    attn.yield %r : f32
  } {schedule = #attn.schedule<mma = "mma_sync", tile_m = 16, tile_n = 32, tile_dv = 256, warps = 4, stages = 2>}
      : tensor<1x2x33x64xf16>, tensor<1x2x50x64xf16>, tensor<1x2x50x256xf16> -> tensor<1x2x33x256xf16>
  return %o : tensor<1x2x33x256xf16>
}

func.func @latent(%q: tensor<?x16x1x576xbf16>, %c: tensor<?x1x?x576xbf16>, %n: tensor<?xi32>) -> (tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %c, %c0 : tensor<?x1x?x576xbf16>
  %rows = tensor.dim %c, %c2 : tensor<?x1x?x576xbf16>
  %v = tensor.extract_slice %c[0, 0, 0, 0] [%b, 1, %rows, 512] [1, 1, 1, 1] : tensor<?x1x?x576xbf16> to tensor<?x1x?x512xbf16>
  %o, %lse = attn.attention %q, %c, %v lengths(key %n : tensor<?xi32>) {schedule = #attn.schedule<kind = "split_kv", mma = "mma_sync", splits = 3, tile_m = 16, tile_dv = 512, warps = 4>}
      : tensor<?x16x1x576xbf16>, tensor<?x1x?x576xbf16>, tensor<?x1x?x512xbf16> -> tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>
  return %o, %lse : tensor<?x16x1x512xbf16>, tensor<?x16x1xf32>
}

func.func @bytes(%q: tensor<?x4x1x128xf16>, %k: tensor<?x1x?x128xf8E4M3FN>, %v: tensor<?x1x?x512xf8E4M3FN>, %n: tensor<?xi32>, %d: tensor<1xf32>) -> tensor<?x4x1x512xf16> {
  %o = attn.attention %q, %k, %v descale(%d, %d : tensor<1xf32>, tensor<1xf32>) lengths(key %n : tensor<?xi32>) {schedule = #attn.schedule<mma = "mma_sync", tile_m = 16, tile_n = 32, tile_dv = 512, warps = 2, stages = 2>}
      : tensor<?x4x1x128xf16>, tensor<?x1x?x128xf8E4M3FN>, tensor<?x1x?x512xf8E4M3FN> -> tensor<?x4x1x512xf16>
  return %o : tensor<?x4x1x512xf16>
}

func.func @planned(%q: tensor<?x16x1x576xbf16>, %c: tensor<?x1x?x576xbf16>, %n: tensor<?xi32>) -> tensor<?x16x1x512xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %c, %c0 : tensor<?x1x?x576xbf16>
  %rows = tensor.dim %c, %c2 : tensor<?x1x?x576xbf16>
  %v = tensor.extract_slice %c[0, 0, 0, 0] [%b, 1, %rows, 512] [1, 1, 1, 1] : tensor<?x1x?x576xbf16> to tensor<?x1x?x512xbf16>
  %o = attn.attention %q, %c, %v lengths(key %n : tensor<?xi32>) {schedule = #attn.schedule<kind = "split_kv", mma = "mma_sync", balance = "plan", split_keys = 64, invariance = "prefix", tile_dv = 512>}
      : tensor<?x16x1x576xbf16>, tensor<?x1x?x576xbf16>, tensor<?x1x?x512xbf16> -> tensor<?x16x1x512xbf16>
  return %o : tensor<?x16x1x512xbf16>
}

// A query of bf16 is narrowed by one of the warps.
func.func @latent_bytes(%q: tensor<?x16x1x576xbf16>, %c: tensor<?x1x?x576xf8E4M3FN>, %n: tensor<?xi32>, %d: tensor<1xf32>) -> tensor<?x16x1x512xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %c, %c0 : tensor<?x1x?x576xf8E4M3FN>
  %rows = tensor.dim %c, %c2 : tensor<?x1x?x576xf8E4M3FN>
  %v = tensor.extract_slice %c[0, 0, 0, 0] [%b, 1, %rows, 512] [1, 1, 1, 1] : tensor<?x1x?x576xf8E4M3FN> to tensor<?x1x?x512xf8E4M3FN>
  %o = attn.attention %q, %c, %v descale(%d, %d : tensor<1xf32>, tensor<1xf32>) lengths(key %n : tensor<?xi32>) {schedule = #attn.schedule<kind = "split_kv", tile_dv = 512>}
      : tensor<?x16x1x576xbf16>, tensor<?x1x?x576xf8E4M3FN>, tensor<?x1x?x512xf8E4M3FN> -> tensor<?x16x1x512xbf16>
  return %o : tensor<?x16x1x512xbf16>
}

func.func @prompt(%q: tensor<?x?x?x576xbf16>, %p: tensor<?x1x64x576xbf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>) -> tensor<?x?x?x512xbf16> {
  %c0 = arith.constant 0 : index
  %pages = tensor.dim %p, %c0 : tensor<?x1x64x576xbf16>
  %w = tensor.extract_slice %p[0, 0, 0, 0] [%pages, 1, 64, 512] [1, 1, 1, 1] : tensor<?x1x64x576xbf16> to tensor<?x1x64x512xbf16>
  %k = attn.paged %p[%t] : tensor<?x1x64x576xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x576xbf16>
  %v = attn.paged %w[%t] : tensor<?x1x64x512xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x512xbf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) mask_mod causal(bottom_right) {schedule = #attn.schedule<mma = "wgmma", kind = "large_cache">}
      : tensor<?x?x?x576xbf16>, tensor<?x1x?x576xbf16>, tensor<?x1x?x512xbf16> -> tensor<?x?x?x512xbf16>
  return %o : tensor<?x?x?x512xbf16>
}

func.func @whole(%q: tensor<1x2x64x576xf16>, %c: tensor<1x1x150x576xf16>, %n: tensor<1xi64>) -> (tensor<1x2x64x512xf16>, tensor<1x2x64xf32>) {
  %v = tensor.extract_slice %c[0, 0, 0, 0] [1, 1, 150, 512] [1, 1, 1, 1] : tensor<1x1x150x576xf16> to tensor<1x1x150x512xf16>
  %o, %lse = attn.attention %q, %c, %v lengths(key %n : tensor<1xi64>) {schedule = #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 64, warps = 8, stages = 2>}
      : tensor<1x2x64x576xf16>, tensor<1x1x150x576xf16>, tensor<1x1x150x512xf16> -> tensor<1x2x64x512xf16>, tensor<1x2x64xf32>
  return %o, %lse : tensor<1x2x64x512xf16>, tensor<1x2x64xf32>
}

// One warpgroup turns the rows of the query that both multiply.
func.func @turned(%q: tensor<1x2x70x576xbf16>, %c: tensor<1x1x150x576xbf16>, %cos: tensor<256x32xf32>, %sin: tensor<256x32xf32>, %n: tensor<1xi32>) -> tensor<1x2x70x512xbf16> {
  %v = tensor.extract_slice %c[0, 0, 0, 0] [1, 1, 150, 512] [1, 1, 1, 1] : tensor<1x1x150x576xbf16> to tensor<1x1x150x512xbf16>
  %query = attn.rotary %q, %cos, %sin halves columns [512, 576] : tensor<1x2x70x576xbf16>, tensor<256x32xf32>
  %o = attn.attention %query, %c, %v lengths(key %n : tensor<1xi32>) {schedule = #attn.schedule<mma = "wgmma", query_prologue = "fused", tile_m = 64, tile_n = 64, warps = 8, stages = 2>}
      : tensor<1x2x70x576xbf16>, tensor<1x1x150x576xbf16>, tensor<1x1x150x512xbf16> -> tensor<1x2x70x512xbf16>
  return %o : tensor<1x2x70x512xbf16>
}
