// A learned logit of each head in the denominator (attention sinks): large and small cache, packed heads, persistent CTAs,
// rows without keys; the backward, whose LSE has the sink in it.
// RUN: attn-run %s --function plain --device=sim:sm_80 --shape B=1,M=70,N=130 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function plain --device=sim:sm_90a --shape B=1,M=70,N=130 --random 2 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function plain --device=sim:sm_90a --shape B=1,M=70,N=20 --random 3 --verify | FileCheck %s %}
// RUN: attn-run %s --function packed --device=sim:sm_80 --shape B=2,M=5,N=100 --random 4 --verify | FileCheck %s
// RUN: attn-run %s --function packed --device=sim:sm_90a --shape B=2,M=5,N=100 --random 5 --verify | FileCheck %s
// RUN: attn-run %s --function persistent --device=sim:sm_90a --shape B=1,M=200,N=100 --random 6 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function small --device=sim:sm_80 --shape B=1,M=70,N=100 --random 7 --verify | FileCheck %s
// RUN: attn-opt %s --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function plain_grad --device=sim:sm_80 --shape B=1,M=40,N=33 --random 8 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function plain_grad --device=sim:sm_90a --shape B=1,M=40,N=33 --random 9 --verify | FileCheck %s %}
// RUN: attn-run %s --function any --device=sim:sm_90a --shape B=1,Hq=3,M=20,N=20 --random 10 --verify | FileCheck %s
// CHECK: verify: PASS

// A size that is not known is tied to the number of heads.
// RUN: sed "/^func.func @[pms]/,/^}/d" %s > %t.any.mlir
// RUN: attn-opt %t.any.mlir --target=sm_80 --emit=manifest -o - | FileCheck %s --check-prefix=MANIFEST
// MANIFEST: "name": "sink"
// MANIFEST: "shape": [
// MANIFEST-NEXT: "Hq"

!q = tensor<?x4x?x64xbf16>
!k = tensor<?x2x?x64xbf16>
!lse = tensor<?x4x?xf32>
func.func @plain(%q: !q, %k: !k, %v: !k, %sink: tensor<4xbf16>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<4xbf16>) mask_mod causal(bottom_right)
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @packed(%q: !q, %k: !k, %v: !k, %sink: tensor<4xf32>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<4xf32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<pack_gqa = true>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @persistent(%q: !q, %k: !k, %v: !k, %sink: tensor<4xf32>) -> !q {
  %o = attn.attention %q, %k, %v sink(%sink : tensor<4xf32>) score_mod soft_cap(20.0)
      {schedule = #attn.schedule<mma = "wgmma", persistent_ctas = 2>} : !q, !k, !k -> !q
  return %o : !q
}

func.func @small(%q: !q, %k: !k, %v: !k, %sink: tensor<4xf32>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<4xf32>) mask_mod sliding_window(20, 0)
      {schedule = #attn.schedule<kind = "small_cache", tile_m = 32, tile_n = 32, chunk_rows = 64>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @any(%q: tensor<?x?x?x64xf16>, %sink: tensor<?xf16>) -> tensor<?x?x?x64xf16> {
  %o = attn.attention %q, %q, %q sink(%sink : tensor<?xf16>)
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}
