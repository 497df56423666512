// Factors of weights within the attention's kernel, against float64: the scales of a cache's tokens, of bytes and behind lengths, where NaN is
// stored; factors of pairs; masks, ragged sizes, grouped heads, sinks and dropout. One kernel, whose softmax overlaps its products. Beside a mask of
// the lowest float, whose hidden keys are skipped, a second one for the rows that it hides whole.
// RUN: sed s/TYPE/f16/g %s > %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.bf16.mlir --function tokens --device=cpu --random 1 --verify | FileCheck %s
// RUN: attn-run %t.f16.mlir --function tokens --device=sim:sm_80 --random 2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.bf16.mlir --function tokens --device=sim:sm_90a --random 3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.f16.mlir --function pairs --device=cpu --shape M=35,N=70 --shape arg3=35x70 --random 4 --verify | FileCheck %s %}
// RUN: attn-run %t.f16.mlir --function pairs --device=sim:sm_80 --shape M=70,N=70 --shape arg3=70x70 --random 5 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.bf16.mlir --function pairs --device=sim:sm_90a --shape M=130,N=200 --shape arg3=130x200 --random 6 --verify | FileCheck %s %}
// RUN: attn-run %t.f16.mlir --function pairs --device=sim:sm_90a --shape M=200,N=130 --shape arg3=200x130 --random 7 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.bf16.mlir --function pairs --device=sim:sm_100a --shape M=130,N=150 --shape arg3=130x150 --random 8 --verify | FileCheck %s %}
// RUN: sed 's/ : !rows, !keys, !keys/ {schedule = #attn.schedule<kind = "split_kv", splits = 2>}&/' %t.bf16.mlir > %t.split.mlir
// RUN: attn-run %t.split.mlir --function pairs --device=sim:sm_80 --shape M=5,N=200 --shape arg3=5x200 --random 9 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.bf16.mlir --function padded --device=cpu --shape M=150,N=150 --shape arg3=2x150,arg4=2x2x150 --random 10 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.f16.mlir --function padded --device=sim:sm_80 --shape M=150,N=150 --shape arg3=2x150,arg4=2x2x150 --random 11 --verify | FileCheck %s %}
// RUN: attn-run %t.bf16.mlir --function padded --device=sim:sm_90a --shape M=150,N=150 --shape arg3=2x150,arg4=2x2x150 --random 12 --verify | FileCheck %s
// CHECK: verify: PASS
// RUN: sed -n -e '/^!large/,$p' %t.bf16.mlir > %t.large.mlir
// RUN: attn-opt %t.large.mlir --target=sm_90a --emit=ptx -o %t 2>&1 | FileCheck %s --check-prefix=SERIAL --allow-empty
// RUN: FileCheck %s --check-prefix=KERNEL < %t.ptx
// SERIAL-NOT: remark
// KERNEL-COUNT-1: .visible .entry
// KERNEL-NOT: .visible .entry
// RUN: sed -n -e '/^!square/,/^}/p' %t.bf16.mlir > %t.padded.mlir
// RUN: attn-opt %t.padded.mlir --target=sm_90a --emit=ptx -o %t.padded
// RUN: FileCheck %s --check-prefix=PADDED < %t.padded.ptx
// PADDED: .visible .entry padded(
// PADDED: .visible .entry padded_repair(

!q = tensor<2x4x3x64xTYPE>
!cache = tensor<2x2x100x64xi8>
!scales = tensor<2x2x100xf32>
func.func @tokens(%q: !q, %k: !cache, %v: !cache, %lengths: tensor<2xi32>, %ks: !scales, %vs: !scales) -> (!q, tensor<2x4x3xf32>) {
  %two = arith.constant 2 : index
  %o, %lse = attn.attention %q, %k, %v lengths(key %lengths : tensor<2xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %g = arith.divui %h, %two : index
        %x = tensor.extract %ks[%b, %g, %j] : !scales
        %r = arith.mulf %s, %x : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %g = arith.divui %h, %two : index
        %x = tensor.extract %vs[%b, %g, %j] : !scales
        %r = arith.mulf %p, %x : f32
        attn.yield %r : f32
      } : !q, !cache, !cache -> !q, tensor<2x4x3xf32>
  return %o, %lse : !q, tensor<2x4x3xf32>
}

!rows = tensor<1x4x?x64xTYPE>
!keys = tensor<1x2x?x64xTYPE>
func.func @pairs(%q: !rows, %k: !keys, %v: !keys, %w: tensor<?x?xf32>, %sink: tensor<4xf32>, %random: tensor<2xi64>) -> !rows {
  %zero = arith.constant 0 : index
  %seed = tensor.extract %random[%zero] : tensor<2xi64>
  %o = attn.attention %q, %k, %v sink(%sink : tensor<4xf32>) dropout(%seed, %seed) rate(0.25)
      mask_mod sliding_window(60, 9)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %w[%i, %j] : tensor<?x?xf32>
        %y = arith.mulf %p, %x : f32
        %r = arith.subf %p, %y : f32
        attn.yield %r : f32
      } : !rows, !keys, !keys -> !rows
  return %o : !rows
}

!square = tensor<2x4x?x64xTYPE>
!context = tensor<2x2x?x64xTYPE>
!weights = tensor<2x2x?xf32>
func.func @padded(%q: !square, %k: !context, %v: !context, %seen: tensor<2x?xi1>, %w: !weights) -> !square {
  %two = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -3.4028234663852886e+38 : f32
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %token = tensor.extract %seen[%b, %j] : tensor<2x?xi1>
        %before = arith.cmpi sle, %j, %i : index
        %visible = arith.andi %token, %before : i1
        %mask = arith.select %visible, %zero, %lowest : f32
        %r = arith.addf %s, %mask : f32
        attn.yield %r : f32
      }
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %g = arith.divui %h, %two : index
        %x = tensor.extract %w[%b, %g, %j] : !weights
        %r = arith.mulf %p, %x : f32
        attn.yield %r : f32
      } : !square, !context, !context -> !square
  return %o : !square
}

!large = tensor<4x16x?x128xTYPE>
func.func @large(%q: !large, %k: !large, %v: !large, %w: tensor<4x16x?xf32>) -> !large {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %w[%b, %h, %j] : tensor<4x16x?xf32>
        %r = arith.mulf %p, %x : f32
        attn.yield %r : f32
      } : !large, !large, !large -> !large
  return %o : !large
}
