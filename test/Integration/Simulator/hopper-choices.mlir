// What a schedule of sm_90a may choose besides its tiles: an output tile of its own, turns at softmax, exponentials on the
// FMA units. The same output as without, however the warps run.
// RUN: attn-run %s --function output_tile --device=sim:sm_90a --shape B=2,Hq=4,Hkv=2,M=333,N=260 --random 1 --verify --schedules %if long %{10%} %else %{3%} | FileCheck %s
// RUN: attn-run %s --function output_tile --device=sim:sm_90a --shape B=2,Hq=4,Hkv=2,M=333,N=0 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function softmax_turns --device=sim:sm_90a --shape B=1,Hq=2,Hkv=2,M=333,N=260 --random 1 --verify --schedules 5 | FileCheck %s
// RUN: %if long %{ attn-run %s --function exp2_on_fma --device=sim:sm_90a --shape B=1,Hq=2,Hkv=2,M=133,N=260 --random 1 --verify --schedules 2 | FileCheck %s %}
// One key, whose exponential is 1.
// RUN: attn-run %s --function exp2_on_fma --device=sim:sm_90a --shape B=1,Hq=2,Hkv=2,M=133,N=1 --random 1 --verify | FileCheck %s
// Rows without keys, whose exponentials are of -inf.
// RUN: attn-run %s --function exp2_on_fma_causal --device=sim:sm_90a --shape B=1,Hq=2,Hkv=2,M=133,N=60 --random 1 --verify --schedules 2 | FileCheck %s
// CHECK: verify: PASS
!q = tensor<?x?x?x64xf16>
!b = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

func.func @output_tile(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 3, output_tile = true>}
      : !q, !q, !q -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @softmax_turns(%q: !b, %k: !b, %v: !b) -> (!b, !lse) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      {schedule = #attn.schedule<tile_m = 192, tile_n = 64, stages = 2, warps = 12, turns = "softmax">}
      : !b, !b, !b -> !b, !lse
  return %o, %lse : !b, !lse
}

func.func @exp2_on_fma(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<tile_m = 128, tile_n = 64, stages = 2, warps = 8, exp2_on_fma = 8>}
      : !q, !q, !q -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @exp2_on_fma_causal(%q: !b, %k: !b, %v: !b) -> (!b, !lse) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      {schedule = #attn.schedule<tile_m = 128, tile_n = 64, stages = 2, warps = 8, exp2_on_fma = 3>}
      : !b, !b, !b -> !b, !lse
  return %o, %lse : !b, !lse
}
