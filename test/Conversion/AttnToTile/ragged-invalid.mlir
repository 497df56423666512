// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-to-tiled --convert-attn-to-tile

// The output stays padded.
func.func @f(%qp: tensor<?x4x64xf16>, %k: tensor<?x4x?x64xf16>, %o: tensor<?xi32>, %n: tensor<?xi32>) -> tensor<?x4x?x64xf16> {
  // expected-error @+1 {{expected output to be packed by the offsets of the query, and not used otherwise, on a GPU}}
  %q = attn.ragged %qp[%o] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %m = attn.sequence_lengths %o : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2, pack_gqa = false>}
      : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  return %r : tensor<?x4x?x64xf16>
}

// -----

// The query has batches.
func.func @f(%q: tensor<?x4x?x64xf16>, %k: tensor<?x4x?x64xf16>, %o: tensor<?xi32>, %rows: tensor<?x4x64xf16>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %r = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2, pack_gqa = false>}
      : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  %d = tensor.dim %rows, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%d) : tensor<?x4x64xf16>
  // expected-error @+1 {{expected the query to be a view of sequences by the same offsets on a GPU}}
  %p = attn.pack %r[%o] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}

// -----

// Other rows would have to be copied.
func.func @f(%qp: tensor<?x4x64xf16>, %k: tensor<?x4x?x64xf16>, %o: tensor<?xi32>, %n: tensor<?xi32>, %into: tensor<?x4x64xf16>) -> tensor<?x4x64xf16> {
  %q = attn.ragged %qp[%o] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %m = attn.sequence_lengths %o : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2, pack_gqa = false>}
      : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  // expected-error @+1 {{expected the destination to be a tensor.empty on a GPU: no other rows are copied}}
  %p = attn.pack %r[%o] into %into : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}

// -----

// No lengths of the keys.
func.func @f(%qp: tensor<?x4x64xf16>, %k: tensor<?x4x?x64xf16>, %o: tensor<?xi32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected lengths of the keys beside a view of the query on the GPU}}
  %q = attn.ragged %qp[%o] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %m = attn.sequence_lengths %o : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %k lengths(query %m : tensor<?xi32>) {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2, pack_gqa = false>}
      : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  %d = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%d) : tensor<?x4x64xf16>
  %p = attn.pack %r[%o] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}

// -----

// Two views of one tensor.
func.func @f(%qp: tensor<?x4x64xf16>, %kp: tensor<?x4x64xf16>, %o: tensor<?xi32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%o] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.ragged %kp[%o] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x100x64xf16>
  // expected-error @+1 {{expected one view of a packed tensor on the GPU, got two}}
  %v = attn.ragged %kp[%o] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %m = attn.sequence_lengths %o : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %v lengths(key %m : tensor<?xi32>, query %m : tensor<?xi32>) {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2, pack_gqa = false>}
      : tensor<?x4x?x64xf16>, tensor<?x4x100x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  %d = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%d) : tensor<?x4x64xf16>
  %p = attn.pack %r[%o] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}

// -----

// CTAs of several tiles.
func.func @f(%qp: tensor<?x4x64xf16>, %k: tensor<?x4x?x64xf16>, %o: tensor<?xi32>, %n: tensor<?xi32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected persistent_ctas=0 and cluster_m=1 beside a view of the query, whose CTAs end where their sequence does, got #attn.schedule<}}
  %q = attn.ragged %qp[%o] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %m = attn.sequence_lengths %o : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) {schedule = #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 64, warps = 4, stages = 2, pack_gqa = false, persistent_ctas = 4>}
      : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  %d = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%d) : tensor<?x4x64xf16>
  %p = attn.pack %r[%o] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}

// -----

// A bias.
func.func @f(%q: tensor<3x4x8x64xf16>, %k: tensor<3x4x32x64xf16>, %bp: tensor<?x4x32xf16>, %o: tensor<4xi32>, %n: tensor<3xi32>) -> tensor<3x4x8x64xf16> {
  // expected-error @+1 {{expected sequences of query, keys and values, got those of a bias}}
  %b = attn.ragged %bp[%o] : tensor<?x4x32xf16>[tensor<4xi32>] -> tensor<3x4x8x32xf16>
  %r = attn.attention %q, %k, %k bias(%b : tensor<3x4x8x32xf16>) lengths(key %n : tensor<3xi32>) {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2, pack_gqa = false>}
      : tensor<3x4x8x64xf16>, tensor<3x4x32x64xf16>, tensor<3x4x32x64xf16> -> tensor<3x4x8x64xf16>
  return %r : tensor<3x4x8x64xf16>
}
