// Heads that a map selects of keys and values in pages, of sequences behind each other, and of caches that are appended to, against float64.
// attn-run puts pages at random places and writes NaN to rows that nobody has, and what is no page to entries behind the lengths.

// RUN: attn-run %s --function=decode --shape B=4,T=10,P=41 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=decode --shape B=4,T=10,P=41 --device=sim:sm_80 --random=2 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function=decode --shape B=4,T=10,P=41 --device=sim:sm_90a --random=3 --verify | FileCheck %s %}
// RUN: sed '/func.func @boxes/,/^}/s/causal(bottom_right)$/& {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 64, stages = 2, warps = 4>}/' %s > %t.tma.mlir
// RUN: attn-run %t.tma.mlir --function=boxes --shape P=41,Pv=20 --device=sim:sm_90a --random=4 --verify --schedules 2 | FileCheck %s
// RUN: attn-opt %t.tma.mlir --target=sm_90a --emit=ptx -o %t.tma && FileCheck %s --check-prefix=TMA < %t.tma.ptx
// TMA-LABEL: .entry boxes_attention(
// TMA: cp.async.bulk.tensor
// TMA: .entry
// RUN: attn-run %s --function=boxes --shape P=41,Pv=20 --device=sim:sm_80 --random=5 --verify 2>%t.err | FileCheck %s
// RUN: attn-run %s --function=ragged --shape query_rows=60,key_rows=150,offsets=4 --random=6 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=ragged --shape query_rows=60,key_rows=150,offsets=4 --device=sim:sm_80 --random=7 --verify | FileCheck %s %}
// RUN: attn-run %s --function=ragged --shape query_rows=60,key_rows=150,offsets=4 --device=sim:sm_90a --random=8 --verify | FileCheck %s
// RUN: attn-run %s --function=appended --shape B=2,T=6,P=15,tokens=3 --random=9 --verify | FileCheck %s
// RUN: attn-run %s --function=appended --shape B=2,T=6,P=15,tokens=3 --device=sim:sm_80 --random=10 --verify | FileCheck %s
// RUN: attn-run %s --function=appended --shape B=2,T=6,P=15,tokens=3 --device=sim:sm_90a --random=11 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

// The head of a page is that of the map; the program names the heads of each pool.
// RUN: attn-opt %s --attn-select-schedule="target=sm_80 schedule=kind=large_cache" --attn-convert-to-online --attn-tile --attn-fuse-outputs --convert-attn-to-tile | FileCheck %s --check-prefix=TILE
// TILE-LABEL: attn_launch.program "boxes"
// TILE: attn_launch.operand input "key" vector(8) argument(1) dims ["key_pages", "key_heads", "key_page", "D"]
// TILE: attn_launch.operand input "value" vector(8) argument(2) dims ["value_pages", "value_heads", "value_page", "Dv"]
// TILE-LABEL: attn_tile.kernel @boxes(
// TILE: %[[ENTRY:.*]] = attn_tile.extract %arg{{[0-9]+}}[%{{.*}}] : <5xi32>
// TILE: %[[INDEX:.*]] = arith.index_cast %[[ENTRY]]
// TILE: %[[HEAD:.*]] = arith.minui %[[INDEX]]
// TILE: attn_tile.load %arg1[%{{.*}}, %[[HEAD]], %{{.*}}] pages(%arg3

func.func @decode(%q: tensor<?x6x1x64xf16>, %kp: tensor<?x3x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %n: tensor<?xi32>,
                  %km: tensor<6xi32>, %vm: tensor<6xi64>) -> (tensor<?x6x1x64xf16>, tensor<?x6x1xf32>) {
  %kr = attn.paged %kp[%table] : tensor<?x3x16x64xf16>[tensor<?x?xi32>] -> tensor<?x3x?x64xf16>
  %vr = attn.paged %vp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %k = attn.select_heads %kr[%km] : tensor<?x3x?x64xf16>[tensor<6xi32>] -> tensor<?x6x?x64xf16>
  %v = attn.select_heads %vr[%vm] : tensor<?x2x?x64xf16>[tensor<6xi64>] -> tensor<?x6x?x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      : tensor<?x6x1x64xf16>, tensor<?x6x?x64xf16>, tensor<?x6x?x64xf16> -> tensor<?x6x1x64xf16>, tensor<?x6x1xf32>
  return %o, %lse : tensor<?x6x1x64xf16>, tensor<?x6x1xf32>
}

// Tiles of several pages, and pages of several tiles, by TMA on sm_90a. No query head reads head 1 of the keys where the map has none of it.
func.func @boxes(%q: tensor<3x5x70x64xf16>, %kp: tensor<?x3x16x64xf16>, %vp: tensor<?x3x32x64xf16>, %t: tensor<3x8xi32>, %u: tensor<3x4xi32>,
                 %n: tensor<3xi32>, %map: tensor<5xi32>) -> tensor<3x5x70x64xf16> {
  %kr = attn.paged %kp[%t] : tensor<?x3x16x64xf16>[tensor<3x8xi32>] -> tensor<3x3x128x64xf16>
  %vr = attn.paged %vp[%u] : tensor<?x3x32x64xf16>[tensor<3x4xi32>] -> tensor<3x3x128x64xf16>
  %k = attn.select_heads %kr[%map] : tensor<3x3x128x64xf16>[tensor<5xi32>] -> tensor<3x5x128x64xf16>
  %v = attn.select_heads %vr[%map] : tensor<3x3x128x64xf16>[tensor<5xi32>] -> tensor<3x5x128x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<3xi32>) mask_mod causal(bottom_right)
      : tensor<3x5x70x64xf16>, tensor<3x5x128x64xf16>, tensor<3x5x128x64xf16> -> tensor<3x5x70x64xf16>
  return %o : tensor<3x5x70x64xf16>
}

// Offsets of their own for the keys, and a map of the keys alone.
func.func @ragged(%qp: tensor<?x6x64xf16>, %kp: tensor<?x3x64xf16>, %vp: tensor<?x6x32xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi64>, %map: tensor<6xi32>)
    -> tensor<?x6x32xf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x6x64xf16>[tensor<?xi32>] -> tensor<?x6x?x64xf16>
  %kr = attn.ragged %kp[%ko] : tensor<?x3x64xf16>[tensor<?xi64>] -> tensor<?x3x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x6x32xf16>[tensor<?xi64>] -> tensor<?x6x?x32xf16>
  %k = attn.select_heads %kr[%map] : tensor<?x3x?x64xf16>[tensor<6xi32>] -> tensor<?x6x?x64xf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %n = attn.sequence_lengths %ko : tensor<?xi64> -> tensor<?xi64>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi64>, query %m : tensor<?xi32>) mask_mod causal(bottom_right)
      : tensor<?x6x?x64xf16>, tensor<?x6x?x64xf16>, tensor<?x6x?x32xf16> -> tensor<?x6x?x32xf16>
  %rows = tensor.dim %qp, %c0 : tensor<?x6x64xf16>
  %eo = tensor.empty(%rows) : tensor<?x6x32xf16>
  %po = attn.pack %o[%qo] into %eo : tensor<?x6x?x32xf16>[tensor<?xi32>] into tensor<?x6x32xf16>
  return %po : tensor<?x6x32xf16>
}

// A token of each sequence is appended; its pages have heads in an order of the data.
func.func @appended(%q: tensor<?x3x1x64xf16>, %new: tensor<?x2x64xf16>, %pool: tensor<?x2x8x64xf16>, %s: tensor<?xi32>, %table: tensor<?x?xi32>,
                    %n: tensor<?xi32>, %map: tensor<3xi32>) -> (tensor<?x3x1x64xf16>, tensor<?x2x8x64xf16>) {
  %k1 = attn.append %new into %pool slots(%s : tensor<?xi32>) : tensor<?x2x64xf16> into tensor<?x2x8x64xf16>
  %rows = attn.paged %k1[%table] : tensor<?x2x8x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %k = attn.select_heads %rows[%map] : tensor<?x2x?x64xf16>[tensor<3xi32>] -> tensor<?x3x?x64xf16>
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>)
      : tensor<?x3x1x64xf16>, tensor<?x3x?x64xf16>, tensor<?x3x?x64xf16> -> tensor<?x3x1x64xf16>
  return %o, %k1 : tensor<?x3x1x64xf16>, tensor<?x2x8x64xf16>
}
