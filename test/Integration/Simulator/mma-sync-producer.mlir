// A producer warp of mma.sync beside lengths of keys, pages, packed sequences, latent values, plans and 8 bits. attn-run writes NaN to K and V
// behind the lengths, which TMA brings and the consumers clear. Checks of races and proxies are on; warps run in several orders.
// RUN: %python %S/Inputs/integers.py %t.npy 0,1,63,64,65,300
// RUN: attn-run %s --function=lengths --device=sim:sm_120 --input arg3=%t.npy --random=1 --verify --schedules %if long %{4%} %else %{2%} | FileCheck %s
// RUN: attn-run %s --function=splits --device=sim:sm_120 --input arg3=%t.npy --random=2 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=plan --device=sim:sm_120 --input arg3=%t.npy --random=3 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=pages --device=sim:sm_120 --input arg4=%t.npy --random=4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=ragged --device=sim:sm_120 --random=5 --trials 2 --verify | FileCheck %s
// RUN: attn-run %s --function=latent --device=sim:sm_120 --input arg3=%t.npy --random=6 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=bytes --device=sim:sm_120 --random=7 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=integers --device=sim:sm_120 --random=8 --verify | FileCheck %s
// RUN: attn-opt %s --attn-pipeline="target=sm_120 prove-barriers=true" -o %t.mlir
// CHECK: verify: PASS

!q = tensor<6x4x70x64xf16>
!k = tensor<6x2x300x64xf16>
!n = tensor<6xi32>

func.func @lengths(%q: !q, %k: !k, %v: !k, %n: !n) -> !q {
  %o = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, stages = 2, warps = 4, producer_warps = 1>}
      : !q, !k, !k -> !q
  return %o : !q
}

func.func @splits(%q: !q, %k: !k, %v: !k, %n: !n) -> !q {
  %o = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "split_kv", tile_m = 64, tile_n = 32, stages = 2, warps = 4, splits = 3, pack_gqa = true, producer_warps = 1>}
      : !q, !k, !k -> !q
  return %o : !q
}

// Persistent CTAs: stages and the query's place come round again.
func.func @plan(%q: !q, %k: !k, %v: !k, %n: !n) -> !q {
  %o = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "split_kv", balance = "plan", split_keys = 64, persistent_ctas = 3, tile_m = 32, tile_n = 32, stages = 2, warps = 2, producer_warps = 1, query_in_registers = false>}
      : !q, !k, !k -> !q
  return %o : !q
}

func.func @pages(%q: !q, %kp: tensor<100x2x16x64xf16>, %vp: tensor<100x2x16x64xf16>, %t: tensor<6x19xi32>, %n: !n) -> !q {
  %k = attn.paged %kp[%t] : tensor<100x2x16x64xf16>[tensor<6x19xi32>] -> tensor<6x2x304x64xf16>
  %v = attn.paged %vp[%t] : tensor<100x2x16x64xf16>[tensor<6x19xi32>] -> tensor<6x2x304x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, stages = 2, warps = 4, producer_warps = 1>}
      : !q, tensor<6x2x304x64xf16>, tensor<6x2x304x64xf16> -> !q
  return %o : !q
}

// Sequences one behind the other.
func.func @ragged(%qp: tensor<230x4x64xbf16>, %kp: tensor<230x2x64xbf16>, %vp: tensor<230x2x64xbf16>, %s: tensor<6xi32>) -> tensor<230x4x64xbf16> {
  %q = attn.ragged %qp[%s] : tensor<230x4x64xbf16>[tensor<6xi32>] -> tensor<5x4x90x64xbf16>
  %k = attn.ragged %kp[%s] : tensor<230x2x64xbf16>[tensor<6xi32>] -> tensor<5x2x90x64xbf16>
  %v = attn.ragged %vp[%s] : tensor<230x2x64xbf16>[tensor<6xi32>] -> tensor<5x2x90x64xbf16>
  %n = attn.sequence_lengths %s : tensor<6xi32> -> tensor<5xi32>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %n : tensor<5xi32>) mask_mod causal(bottom_right) {schedule = #attn.schedule<producer_warps = 1>}
      : tensor<5x4x90x64xbf16>, tensor<5x2x90x64xbf16>, tensor<5x2x90x64xbf16> -> tensor<5x4x90x64xbf16>
  %e = tensor.empty() : tensor<230x4x64xbf16>
  %p = attn.pack %o[%s] into %e : tensor<5x4x90x64xbf16>[tensor<6xi32>] into tensor<230x4x64xbf16>
  return %p : tensor<230x4x64xbf16>
}

// Values are columns of the keys, in one tile; warps share rows.
func.func @latent(%q: tensor<6x16x1x576xbf16>, %c: tensor<6x1x300x576xbf16>, %unused: tensor<1xf32>, %n: !n) -> tensor<6x16x1x512xbf16> {
  %v = tensor.extract_slice %c[0, 0, 0, 0] [6, 1, 300, 512] [1, 1, 1, 1] : tensor<6x1x300x576xbf16> to tensor<6x1x300x512xbf16>
  %o = attn.attention %q, %c, %v lengths(key %n : !n) scale(0.1) {schedule = #attn.schedule<producer_warps = 1>}
      : tensor<6x16x1x576xbf16>, tensor<6x1x300x576xbf16>, tensor<6x1x300x512xbf16> -> tensor<6x16x1x512xbf16>
  return %o : tensor<6x16x1x512xbf16>
}

func.func @bytes(%q: tensor<1x2x70x128xf8E4M3FN>, %k: tensor<1x1x200x128xf8E4M3FN>, %v: tensor<1x1x200x128xf8E4M3FN>) -> tensor<1x2x70x128xf16> {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right) {schedule = #attn.schedule<pack_gqa = true, producer_warps = 1>}
      : tensor<1x2x70x128xf8E4M3FN>, tensor<1x1x200x128xf8E4M3FN>, tensor<1x1x200x128xf8E4M3FN> -> tensor<1x2x70x128xf16>
  return %o : tensor<1x2x70x128xf16>
}

func.func @integers(%q: tensor<1x2x70x64xi8>, %k: tensor<1x1x200x64xi8>, %v: tensor<1x1x200x64xf16>) -> tensor<1x2x70x64xf16> {
  %o = attn.attention %q, %k, %v scale(0.0001) {schedule = #attn.schedule<producer_warps = 1>}
      : tensor<1x2x70x64xi8>, tensor<1x1x200x64xi8>, tensor<1x1x200x64xf16> -> tensor<1x2x70x64xf16>
  return %o : tensor<1x2x70x64xf16>
}
