// Weights without softmax on the GPU, forward and backward: large and small cache, packed heads, persistent CTAs, masks that skip
// tiles, a bias, dropout, gradients of captures, rows without keys.
// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s | attn-opt --attn-grad -o %t.bf16.mlir
// RUN: attn-run %t.f16.mlir --function sigmoid --device=sim:sm_80 --shape B=1,M=70,N=130 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %t.f16.mlir --function sigmoid --device=sim:sm_90a --shape B=1,M=70,N=130 --random 2 --verify --schedules 2 | FileCheck %s %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function sigmoid --device=sim:sm_90a --shape B=1,M=200,N=100 --random 3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function gelu --device=sim:sm_80 --shape B=2,M=5,N=100 --random 4 --verify | FileCheck %s %}
// RUN: attn-run %t.f16.mlir --function gelu --device=sim:sm_90a --shape B=1,M=70,N=90 --random 5 --verify | FileCheck %s
// RUN: attn-run %t.f16.mlir --function relu_squared --device=sim:sm_90a --shape B=1,M=150,N=150 --random 6 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.f16.mlir --function sigmoid_grad --device=sim:sm_80 --shape B=1,M=40,N=70 --random 7 --verify | FileCheck %s %}
// RUN: attn-run %t.bf16.mlir --function sigmoid_grad --device=sim:sm_90a --shape B=1,M=70,N=40 --random 8 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.f16.mlir --function gelu_grad --device=sim:sm_80 --shape B=1,M=33,N=70 --random 9 --verify | FileCheck %s %}
// RUN: attn-run %t.f16.mlir --function gelu_grad --device=sim:sm_90a --shape B=1,M=33,N=70 --random 10 --verify | FileCheck %s
// RUN: attn-run %t.bf16.mlir --function silu_grad --device=sim:sm_90a --shape B=1,M=33,N=70 --random 11 --verify | FileCheck %s
// RUN: attn-run %t.f16.mlir --function relu_squared_grad --device=sim:sm_90a --shape B=1,M=90,N=90 --random 12 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.f16.mlir --function sum_grad --device=sim:sm_80 --shape B=1,M=70,N=50,arg2=1x2x50x24,arg3=1x4x70x24 --random 15 --verify | FileCheck %s %}
// RUN: attn-run %t.bf16.mlir --function sum_grad --device=sim:sm_90a --shape B=1,M=33,N=70,arg2=1x2x70x24,arg3=1x4x33x24 --random 16 --verify | FileCheck %s
// RUN: sed 's/ : !q, !k, !v -> !o/ {schedule = #attn.schedule<mma = "wgmma">}&/' %s > %t.wgmma.mlir
// RUN: sed s/TYPE/f16/g %t.wgmma.mlir > %t.wgmma.f16.mlir
// RUN: attn-run %t.wgmma.f16.mlir --function sigmoid --device=sim:sm_90a --shape B=1,M=200,N=230 --random 13 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.wgmma.f16.mlir --function gelu --device=sim:sm_90a --shape B=1,M=70,N=200 --random 14 --verify | FileCheck %s %}
// RUN: sed 's/ : !q, !k, !v -> !o/ {schedule = #attn.schedule<kind = "small_cache">}&/' %s > %t.small.mlir
// RUN: sed s/TYPE/f16/g %t.small.mlir > %t.small.f16.mlir
// RUN: sed s/TYPE/bf16/g %t.small.mlir > %t.small.bf16.mlir
// RUN: attn-run %t.small.f16.mlir --function sigmoid --device=sim:sm_80 --shape B=1,M=70,N=130 --random 17 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.small.bf16.mlir --function gelu --device=sim:sm_90a --shape B=2,M=5,N=100 --random 18 --verify | FileCheck %s %}
// RUN: attn-run %t.small.f16.mlir --function sum --device=sim:sm_80 --shape B=1,M=70,N=50 --random 19 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.small.bf16.mlir --function sum --device=sim:sm_90a --shape B=1,M=33,N=200 --random 20 --verify | FileCheck %s %}
// RUN: attn-opt %t.small.f16.mlir --target=sm_80 --emit=ptx -o %t.small
// RUN: FileCheck %s --check-prefix=SMALL --input-file %t.small.ptx
// SMALL-DAG: .entry sigmoid_attention_scores
// SMALL-DAG: .entry sum_attention_scores
// CHECK: verify: PASS

!q = tensor<?x4x?x32xTYPE>
!k = tensor<?x2x?x32xTYPE>
!v = tensor<?x2x?x24xTYPE>
!o = tensor<?x4x?x24xTYPE>

func.func @sigmoid(%q: !q, %k: !k, %v: !v) -> !o {
  %o = attn.attention %q, %k, %v normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %one = arith.constant 1.0 : f32
        %n = attn.length key
        %ni = arith.index_cast %n : index to i32
        %nf = arith.sitofp %ni : i32 to f32
        %t = arith.negf %s : f32
        %e = math.exp %t : f32
        %en = arith.mulf %e, %nf : f32
        %d = arith.addf %en, %one : f32
        %r = arith.divf %one, %d : f32
        attn.yield %r : f32
      } mask_mod causal(bottom_right) : !q, !k, !v -> !o
  return %o : !o
}

func.func @gelu(%q: !q, %k: !k, %v: !v, %bias: tensor<1x4x1x?xTYPE>) -> !o {
  %seed = arith.constant 11 : i64
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x4x1x?xTYPE>)
      dropout(%seed, %seed) rate(0.25) normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %half = arith.constant 0.5 : f32
        %one = arith.constant 1.0 : f32
        %root = arith.constant 0.70710678 : f32
        %x = arith.mulf %s, %root : f32
        %e = math.erf %x : f32
        %p = arith.addf %e, %one : f32
        %hs = arith.mulf %s, %half : f32
        %r = arith.mulf %hs, %p : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

func.func @relu_squared(%q: !q, %k: !k, %v: !v) -> !o {
  %o = attn.attention %q, %k, %v normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %c0 = arith.constant 0.0 : f32
        %x = arith.maximumf %s, %c0 : f32
        %r = arith.mulf %x, %x : f32
        attn.yield %r : f32
      } mask_mod sliding_window(20, 3) : !q, !k, !v -> !o
  return %o : !o
}

func.func @silu(%q: !q, %k: !k, %v: !v, %slopes: tensor<4xf32>) -> !o {
  %o = attn.attention %q, %k, %v normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %one = arith.constant 1.0 : f32
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %x = arith.mulf %s, %slope : f32
        %t = arith.negf %x : f32
        %e = math.exp %t : f32
        %d = arith.addf %e, %one : f32
        %r = arith.divf %x, %d : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

// Divided by their sum; rows with more queries than keys see none, and one over their sum has no number in f16.
func.func @sum(%q: !q, %k: !k, %v: !v) -> !o {
  %o = attn.attention %q, %k, %v scale(0.5) normalization(#attn.sum<1.0e-6>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %s, %s : f32
        attn.yield %r : f32
      } mask_mod causal(bottom_right) : !q, !k, !v -> !o
  return %o : !o
}
