// Keys that end at their lengths have kernels of wgmma and tcgen05, also of 8 bits; of pages that are too small for TMA, those of mma_sync are
// taken, which a warning says.
// RUN: attn-opt %s --split-input-file --attn-select-schedule=target=sm_90a --verify-diagnostics
// RUN: attn-opt %s --split-input-file --attn-select-schedule=target=sm_90a 2>/dev/null | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-select-schedule=target=sm_100a 2>%t.err | FileCheck %s --check-prefix=TENSOR
// RUN: FileCheck %s --check-prefix=TENSOR-PAGES < %t.err
// TENSOR-COUNT-2: mma = "tcgen05"
// TENSOR: func.func @pages(
// TENSOR: mma = "mma_sync"
// TENSOR: func.func @pages_of_32
// TENSOR: mma = "tcgen05"
// TENSOR: func.func @training
// TENSOR: mma = "tcgen05"{{.*}}persistent_ctas = 0
// TENSOR-PAGES-NOT: warning: falls
// TENSOR-PAGES: warning: falls back from tcgen05 to the mma_sync kernels of sm_80: TMA brings tiles of up to 8 pages
// TENSOR-PAGES-NOT: warning: falls

// CHECK-LABEL: func.func @lengths
// CHECK: attn.attention
// CHECK-SAME: mma = "wgmma"
func.func @lengths(%q: tensor<2x8x512x128xf16>, %k: tensor<2x2x1024x128xf16>, %n: tensor<2xi32>) -> tensor<2x8x512x128xf16> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      : tensor<2x8x512x128xf16>, tensor<2x2x1024x128xf16>, tensor<2x2x1024x128xf16> -> tensor<2x8x512x128xf16>
  return %o : tensor<2x8x512x128xf16>
}

// -----

// CHECK-LABEL: func.func @bytes
// CHECK: mma = "wgmma"
func.func @bytes(%q: tensor<2x8x512x128xf8E4M3FN>, %k: tensor<2x2x1024x128xf8E4M3FN>, %n: tensor<2xi32>) -> tensor<2x8x512x128xbf16> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      : tensor<2x8x512x128xf8E4M3FN>, tensor<2x2x1024x128xf8E4M3FN>, tensor<2x2x1024x128xf8E4M3FN> -> tensor<2x8x512x128xbf16>
  return %o : tensor<2x8x512x128xbf16>
}

// -----

// CHECK-LABEL: func.func @pages
// CHECK: mma = "mma_sync"
func.func @pages(%q: tensor<2x8x512x128xf16>, %p: tensor<?x2x12x128xf16>, %t: tensor<2x99xi32>) -> tensor<2x8x512x128xf16> {
  %k = attn.paged %p[%t] : tensor<?x2x12x128xf16>[tensor<2x99xi32>] -> tensor<2x2x1188x128xf16>
  // expected-warning @below {{falls back from wgmma to the mma_sync kernels of sm_80: TMA brings tiles of up to 8 pages of a multiple of 8 keys, or a part of one, and pages have 12}}
  %o = attn.attention %q, %k, %k
      : tensor<2x8x512x128xf16>, tensor<2x2x1188x128xf16>, tensor<2x2x1188x128xf16> -> tensor<2x8x512x128xf16>
  return %o : tensor<2x8x512x128xf16>
}

// -----

// Tiles are made of pages of 32 keys.
// CHECK-LABEL: func.func @pages_of_32
// CHECK: attn.attention
// CHECK-SAME: mma = "wgmma", tile_m = 128, tile_n = {{64|96|128|160}},
func.func @pages_of_32(%q: tensor<2x8x2048x128xf16>, %p: tensor<?x2x32x128xf16>, %t: tensor<2x99xi32>) -> tensor<2x8x2048x128xf16> {
  %k = attn.paged %p[%t] : tensor<?x2x32x128xf16>[tensor<2x99xi32>] -> tensor<2x2x3168x128xf16>
  %o = attn.attention %q, %k, %k
      : tensor<2x8x2048x128xf16>, tensor<2x2x3168x128xf16>, tensor<2x2x3168x128xf16> -> tensor<2x8x2048x128xf16>
  return %o : tensor<2x8x2048x128xf16>
}

// -----

// Sequences behind each other, whose CTAs end where they do.
// CHECK-LABEL: func.func @training
// CHECK: mma = "wgmma"{{.*}}persistent_ctas = 0, output_tile = false{{.*}}cluster_m = 1
func.func @training(%qp: tensor<?x16x128xbf16>, %kp: tensor<?x16x128xbf16>, %vp: tensor<?x16x128xbf16>, %o: tensor<?xi32>) -> tensor<?x16x128xbf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%o] : tensor<?x16x128xbf16>[tensor<?xi32>] -> tensor<?x16x4096x128xbf16>
  %k = attn.ragged %kp[%o] : tensor<?x16x128xbf16>[tensor<?xi32>] -> tensor<?x16x4096x128xbf16>
  %v = attn.ragged %vp[%o] : tensor<?x16x128xbf16>[tensor<?xi32>] -> tensor<?x16x4096x128xbf16>
  %n = attn.sequence_lengths %o : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %n : tensor<?xi32>) mask_mod causal(bottom_right)
      : tensor<?x16x4096x128xbf16>, tensor<?x16x4096x128xbf16>, tensor<?x16x4096x128xbf16> -> tensor<?x16x4096x128xbf16>
  %rows = tensor.dim %qp, %c0 : tensor<?x16x128xbf16>
  %e = tensor.empty(%rows) : tensor<?x16x128xbf16>
  %p = attn.pack %r[%o] into %e : tensor<?x16x4096x128xbf16>[tensor<?xi32>] into tensor<?x16x128xbf16>
  return %p : tensor<?x16x128xbf16>
}
