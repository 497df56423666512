// The small-cache schedule on the CPU, forced and chosen: slices that do not
// divide the head dimensions, masks, groups, bias, score changes; every result
// against float64.

// RUN: sed s/TYPE/f32/g %s > %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s > %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function causal --shape M=65,N=130 --random 1 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function causal --shape M=130,N=17 --random 2 --verify %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function causal --shape M=1,N=1 --random 3 --verify %}
// RUN: attn-run %t.f16.mlir --function window --shape M=70,N=90 --random 4 --verify
// RUN: attn-run %t.f32.mlir --function mods --random 5 --verify

// From Dv = 264 on it is the choice.
// RUN: attn-opt %t.f16.mlir --attn-select-schedule=target=cpu | FileCheck %s --check-prefix=CHOICE
// CHOICE-LABEL: func.func @wide
// CHOICE: kind = "small_cache", {{.*}}spill = "scores"
// RUN: attn-run %t.f16.mlir --function wide --shape M=33,N=50 --random 6 --verify

func.func @causal(%q: tensor<1x4x?x72xTYPE>, %k: tensor<1x2x?x72xTYPE>,
                  %v: tensor<1x2x?x104xTYPE>)
    -> (tensor<1x4x?x104xTYPE>, tensor<1x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "small_cache", tile_m = 32, tile_n = 48, tile_d = 32, tile_dv = 48>}
      : tensor<1x4x?x72xTYPE>, tensor<1x2x?x72xTYPE>, tensor<1x2x?x104xTYPE>
      -> tensor<1x4x?x104xTYPE>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?x104xTYPE>, tensor<1x4x?xf32>
}

func.func @window(%q: tensor<1x2x?x32xTYPE>, %k: tensor<1x2x?x32xTYPE>,
                  %v: tensor<1x2x?x32xTYPE>) -> tensor<1x2x?x32xTYPE> {
  %o = attn.attention %q, %k, %v mask_mod sliding_window(16, 0)
      {schedule = #attn.schedule<kind = "small_cache", tile_m = 20, tile_n = 24, tile_d = 16, tile_dv = 32>}
      : tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>, tensor<1x2x?x32xTYPE>
      -> tensor<1x2x?x32xTYPE>
  return %o : tensor<1x2x?x32xTYPE>
}

func.func @mods(%q: tensor<1x2x40x64xTYPE>, %k: tensor<1x2x50x64xTYPE>,
                %v: tensor<1x2x50x64xTYPE>, %bias: tensor<1x1x40x50xf32>)
    -> tensor<1x2x40x64xTYPE> {
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x1x40x50xf32>)
      score_mod soft_cap(5.0) mask_mod causal(top_left)
      {schedule = #attn.schedule<kind = "small_cache">}
      : tensor<1x2x40x64xTYPE>, tensor<1x2x50x64xTYPE>, tensor<1x2x50x64xTYPE>
      -> tensor<1x2x40x64xTYPE>
  return %o : tensor<1x2x40x64xTYPE>
}

func.func @wide(%q: tensor<1x1x?x1024xTYPE>, %k: tensor<1x1x?x1024xTYPE>,
                %v: tensor<1x1x?x264xTYPE>) -> tensor<1x1x?x264xTYPE> {
  %o = attn.attention %q, %k, %v
      : tensor<1x1x?x1024xTYPE>, tensor<1x1x?x1024xTYPE>, tensor<1x1x?x264xTYPE>
      -> tensor<1x1x?x264xTYPE>
  return %o : tensor<1x1x?x264xTYPE>
}
