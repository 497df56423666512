// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile=allow-tf32 --split-input-file --verify-diagnostics

func.func @f64(%q: tensor<1x1x64x64xf64>) -> tensor<1x1x64x64xf64> {
  // expected-error @below {{expected f8E4M3FN, f8E5M2, f16, bf16 or f32 (computed as tf32) inputs on the GPU, got 'f64'}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf64>, tensor<1x1x64x64xf64>, tensor<1x1x64x64xf64> -> tensor<1x1x64x64xf64>
  return %o : tensor<1x1x64x64xf64>
}

// -----

func.func @head_dim(%q: tensor<1x1x64x84xf16>) -> tensor<1x1x64x84xf16> {
  // expected-error @below {{expected D to be a multiple of 8, got 84}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x84xf16>, tensor<1x1x64x84xf16>, tensor<1x1x64x84xf16> -> tensor<1x1x64x84xf16>
  return %o : tensor<1x1x64x84xf16>
}

// -----

func.func @chunk(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected chunk_rows to be a positive multiple of tile_m}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<kind = "small_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 64, warps = 4, stages = 2, chunk_rows = 96>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @slices(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected tile_d and tile_dv to be positive multiples of 16}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<kind = "small_cache", tile_m = 64, tile_n = 64, tile_dv = 64, warps = 4, stages = 2, chunk_rows = 64>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @small_f32(%q: tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> {
  // expected-error @below {{expected f16 or bf16 inputs with kind = "small_cache" on the GPU, got 'f32'}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<kind = "small_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 64, warps = 4, stages = 2, chunk_rows = 64>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

func.func @spill(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected spill = "probabilities" on the GPU}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<kind = "small_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 64, warps = 4, stages = 2, chunk_rows = 64, spill = "scores">}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @schedule(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected tile_dv to be a multiple of 128 with 2 warps that share rows, got #attn.schedule<}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 32, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @scalar(%q: tensor<1x1x64x64xf16>, %x: f32) -> tensor<1x1x64x64xf16> { // expected-error {{expected scalars used by an attention on the GPU to be constants or tensor sizes; pass others in a tensor}}
  %o = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.addf %s, %x : f32
        attn.yield %r : f32
      }
      {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @two(%q: tensor<1x1x64x64xf16>) -> (tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>) {
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  // expected-error @below {{expected one attention in a function on a GPU, got 2: put each into a function of a module of its own}}
  %p = attn.attention %o, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o, %p : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
}

// -----

func.func @constant(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  %table = arith.constant dense<[1, 2]> : tensor<2xi64>
  %c1 = arith.constant 1 : index
  // expected-error @below {{expected to read an operand of the attention, or a constant vector of i32}}
  %n = tensor.extract %table[%c1] : tensor<2xi64>
  %width = arith.index_cast %n : i64 to index
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %last = arith.addi %i, %width : index
        %visible = arith.cmpi sle, %j, %last : index
        attn.yield %visible : i1
      } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @loop(%q: tensor<1x2x64x64xf16>, %n: index) -> tensor<1x2x64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q) -> tensor<1x2x64x64xf16> {
    // expected-error @below {{expected an attention that its function computes once, whatever its arguments are, got one in 'scf.for': put it into a function of its own}}
    %o = attn.attention %x, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
        : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>
    scf.yield %o : tensor<1x2x64x64xf16>
  }
  return %r : tensor<1x2x64x64xf16>
}

// -----

func.func @branch(%q: tensor<1x2x64x64xf16>, %c: i1) -> tensor<1x2x64x64xf16> {
  cf.cond_br %c, ^attend, ^skip
^attend:
  // expected-error @below {{got one in a block of several: put it into a function of its own}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
^skip:
  return %q : tensor<1x2x64x64xf16>
}

// -----

func.func @persistent_splits(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected persistent_ctas=0 with splits of the keys, got 3}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<kind = "split_kv", splits = 2, mma = "wgmma", tile_m = 64, tile_n = 64, warps = 4, producer_warps = 4, stages = 2, persistent_ctas = 3>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @persistent(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected mma=wgmma with persistent_ctas=3: other kernels have one tile for each CTA}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2, persistent_ctas = 3>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @rows(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected tile_m to be a multiple of 16 * warps and tile_n of 16, got #attn.schedule<tile_m = 3}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 3, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @small_cache_lengths(%q: tensor<1x1x64x64xf16>, %n: tensor<1xi32>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected neither lengths nor pages of the keys with kind = "small_cache" on the GPU}}
  %o = attn.attention %q, %q, %q lengths(key %n : tensor<1xi32>) {schedule = #attn.schedule<kind = "small_cache", tile_m = 64, tile_n = 64, tile_d = 64, tile_dv = 64, warps = 4, stages = 2, chunk_rows = 64>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @wgmma_pages(%q: tensor<1x1x64x64xf16>, %pool: tensor<9x1x48x64xf16>, %t: tensor<1x4xi32>) -> tensor<1x1x64x64xf16> {
  %k = attn.paged %pool[%t] : tensor<9x1x48x64xf16>[tensor<1x4xi32>] -> tensor<1x1x192x64xf16>
  // expected-error @below {{expected mma = "mma_sync" without producer_warps, got #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 64, stages = 2, warps = 4>: TMA brings tiles of up to 8 pages of a multiple of 8 keys, or a part of one, and pages have 48}}
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2, mma = "wgmma">}
      : tensor<1x1x64x64xf16>, tensor<1x1x192x64xf16>, tensor<1x1x192x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @query_pages(%pool: tensor<9x1x16x64xf16>, %t: tensor<1x4xi32>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected pages of keys and values, got those of a query}}
  %q = attn.paged %pool[%t] : tensor<9x1x16x64xf16>[tensor<1x4xi32>] -> tensor<1x1x64x64xf16>
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @bias_pages(%q: tensor<1x1x64x64xf16>, %pool: tensor<9x1x16x64xf16>, %t: tensor<1x4xi32>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected pages of keys and values, got those of a bias}}
  %b = attn.paged %pool[%t] : tensor<9x1x16x64xf16>[tensor<1x4xi32>] -> tensor<1x1x64x64xf16>
  %o = attn.attention %q, %q, %q bias(%b : tensor<1x1x64x64xf16>) {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @index_data(%q: tensor<1x1x64x64xf16>, %data: tensor<64xindex>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %q, %q score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    // expected-error @+1 {{expected a tensor of f16, bf16, f32, f64, i1, i8, i16, i32 or i64 on the GPU, got one of 'index'}}
    %x = tensor.extract %data[%j] : tensor<64xindex>
    %w = arith.index_cast %x : index to i32
    %y = arith.sitofp %w : i32 to f32
    %t = arith.addf %s, %y : f32
    attn.yield %t : f32
  } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @wide_data(%q: tensor<1x1x64x64xf16>, %data: tensor<64xi128>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %q, %q score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    // expected-error @+1 {{expected a tensor of f16, bf16, f32, f64, i1, i8, i16, i32 or i64 on the GPU, got one of 'i128'}}
    %x = tensor.extract %data[%j] : tensor<64xi128>
    %y = arith.sitofp %x : i128 to f32
    %t = arith.addf %s, %y : f32
    attn.yield %t : f32
  } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @nibbles(%q: tensor<1x1x64x64xf16>, %data: tensor<64xi4>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %q, %q score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    // expected-error @+1 {{expected a tensor of f16, bf16, f32, f64, i1, i8, i16, i32 or i64 on the GPU, got one of 'i4'}}
    %x = tensor.extract %data[%j] : tensor<64xi4>
    %y = arith.sitofp %x : i4 to f32
    %t = arith.addf %s, %y : f32
    attn.yield %t : f32
  } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @f8_data(%q: tensor<1x1x64x64xf16>, %data: tensor<64xf8E4M3FN>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %q, %q score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    // expected-error @+1 {{expected a tensor of f16, bf16, f32, f64, i1, i8, i16, i32 or i64 on the GPU, got one of 'f8E4M3FN'}}
    %x = tensor.extract %data[%j] : tensor<64xf8E4M3FN>
    %y = arith.extf %x : f8E4M3FN to f32
    %t = arith.addf %s, %y : f32
    attn.yield %t : f32
  } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

// Read before the loop over the keys.
func.func @index_bound(%q: tensor<1x1x64x64xf16>, %ends: tensor<1xindex>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %q, %q mask_mod (%b: index, %h: index, %i: index, %j: index) {
    // expected-error @+1 {{expected a tensor of f16, bf16, f32, f64, i1, i8, i16, i32 or i64 on the GPU, got one of 'index'}}
    %end = tensor.extract %ends[%h] : tensor<1xindex>
    %r = arith.cmpi slt, %j, %end : index
    attn.yield %r : i1
  } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @size(%q: tensor<1x1x64x64xf16>, %x: tensor<?x?xf16>) -> tensor<1x1x64x64xf16> {
  %rows = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf16> into tensor<?xf16>
  %o = attn.attention %q, %q, %q mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{expected the size of an operand of the attention}}
    %size = tensor.dim %rows, %c0 : tensor<?xf16>
    %shown = arith.cmpi slt, %j, %size : index
    attn.yield %shown : i1
  } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @shared_wgmma(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected mma = "mma_sync", or "wgmma" with values that are columns of the keys, with 2 warps that share rows, got #attn.schedule<mma = "wgmma"}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 64, warps = 8, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}
