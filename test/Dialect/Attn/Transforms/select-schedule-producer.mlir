// sm_120: a warp that loads by TMA, and where tiles cannot come so the warps that compute, with the reason.
// RUN: attn-opt %s --attn-select-schedule=target=sm_120 --remarks-filter=attn-select-schedule \
// RUN:   --remark-format=emitRemark --remark-policy=all --mlir-disable-threading -o /dev/null 2>&1 | FileCheck %s
// RUN: not attn-opt %s --attn-select-schedule='target=sm_120 schedule=producer_warps=1' 2>&1 | FileCheck %s --check-prefix=GIVEN

// CHECK: remark: {{.*}}schedule-chosen{{.*}}producer_warps=1
func.func @tma(%q: tensor<1x32x8192x128xf16>, %k: tensor<1x8x8192x128xf16>) -> tensor<1x32x8192x128xf16> {
  %o = attn.attention %q, %k, %k mask_mod causal(bottom_right) : tensor<1x32x8192x128xf16>, tensor<1x8x8192x128xf16>, tensor<1x8x8192x128xf16> -> tensor<1x32x8192x128xf16>
  return %o : tensor<1x32x8192x128xf16>
}

// CHECK: remark: {{.*}}schedule-chosen
// CHECK-NOT: schedule-chosen{{.*}}producer_warps=1
// CHECK: remark: {{.*}}schedule-rejected{{.*}}producer_warps=1{{.*}}expected producer_warps=0 with keys and values of f8E4M3FN beside a query of bf16, got 1
// GIVEN: error: {{.*}}expected producer_warps=0 with keys and values of f8E4M3FN beside a query of bf16, got 1
func.func @cache(%q: tensor<1x32x8192x128xbf16>, %k: tensor<1x8x8192x128xf8E4M3FN>) -> tensor<1x32x8192x128xbf16> {
  %o = attn.attention %q, %k, %k mask_mod causal(bottom_right) : tensor<1x32x8192x128xbf16>, tensor<1x8x8192x128xf8E4M3FN>, tensor<1x8x8192x128xf8E4M3FN> -> tensor<1x32x8192x128xbf16>
  return %o : tensor<1x32x8192x128xbf16>
}

// CHECK: remark: {{.*}}schedule-rejected{{.*}}producer_warps=1{{.*}}expected tile_n of up to 8 pages or a part of one, and key_page to be a multiple of 8, got tile_n={{[0-9]+}} and key_page=12
func.func @pages(%q: tensor<1x8x64x64xf16>, %pool: tensor<9x8x12x64xf16>, %t: tensor<1x4xi32>) -> tensor<1x8x64x64xf16> {
  %k = attn.paged %pool[%t] : tensor<9x8x12x64xf16>[tensor<1x4xi32>] -> tensor<1x8x48x64xf16>
  %o = attn.attention %q, %k, %k : tensor<1x8x64x64xf16>, tensor<1x8x48x64xf16>, tensor<1x8x48x64xf16> -> tensor<1x8x64x64xf16>
  return %o : tensor<1x8x64x64xf16>
}
