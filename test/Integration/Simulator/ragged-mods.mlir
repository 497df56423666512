// Regions of sequences behind each other: a score that reads tensors at a row and at a key, a mask by the sequence's own lengths, and a
// factor of the weights that its steps apply (the scales of tokens of values). Each of the three kinds of kernels, keys split, and the CPU.
// RUN: attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --random=1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_80 --random=2 --verify | FileCheck %s %}
// RUN: attn-run %s --function=varlen_wgmma --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_90a --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=varlen_tcgen05 --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_100a --random=4 --verify | FileCheck %s
// RUN: attn-run %s --function=varlen_split --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_90a --random=5 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @varlen(%qp: tensor<?x4x64xf16>, %kp: tensor<?x2x64xf16>, %vp: tensor<?x2x64xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>,
    %rows: tensor<5x230xf32>, %keys: tensor<5x310xf32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.ragged %kp[%ko] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %qn = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %kn = attn.sequence_lengths %ko : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %kn : tensor<?xi32>, query %qn : tensor<?xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %row = tensor.extract %rows[%b, %i] : tensor<5x230xf32>
        %t = arith.addf %s, %row : f32
        attn.yield %t : f32
      } mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %n = attn.length key
        %c3 = arith.constant 3 : index
        %c0_0 = arith.constant 0 : index
        %back = arith.subi %n, %j : index
        %rest = arith.remui %back, %c3 : index
        %sees = arith.cmpi ne, %rest, %c0_0 : index
        attn.yield %sees : i1
      } prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %key = tensor.extract %keys[%b, %j] : tensor<5x310xf32>
        %w = arith.mulf %p, %key : f32
        attn.yield %w : f32
      }
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  %n = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%n) : tensor<?x4x64xf16>
  %r = attn.pack %o[%qo] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %r : tensor<?x4x64xf16>
}

func.func @varlen_wgmma(%qp: tensor<?x4x64xf16>, %kp: tensor<?x2x64xf16>, %vp: tensor<?x2x64xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>,
    %rows: tensor<5x230xf32>, %keys: tensor<5x310xf32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.ragged %kp[%ko] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %qn = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %kn = attn.sequence_lengths %ko : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %kn : tensor<?xi32>, query %qn : tensor<?xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %row = tensor.extract %rows[%b, %i] : tensor<5x230xf32>
        %t = arith.addf %s, %row : f32
        attn.yield %t : f32
      } mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %n = attn.length key
        %c3 = arith.constant 3 : index
        %c0_0 = arith.constant 0 : index
        %back = arith.subi %n, %j : index
        %rest = arith.remui %back, %c3 : index
        %sees = arith.cmpi ne, %rest, %c0_0 : index
        attn.yield %sees : i1
      } prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %key = tensor.extract %keys[%b, %j] : tensor<5x310xf32>
        %w = arith.mulf %p, %key : f32
        attn.yield %w : f32
      }
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8>}
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  %n = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%n) : tensor<?x4x64xf16>
  %r = attn.pack %o[%qo] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %r : tensor<?x4x64xf16>
}

func.func @varlen_tcgen05(%qp: tensor<?x4x64xf16>, %kp: tensor<?x2x64xf16>, %vp: tensor<?x2x64xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>,
    %rows: tensor<5x230xf32>, %keys: tensor<5x310xf32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.ragged %kp[%ko] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %qn = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %kn = attn.sequence_lengths %ko : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %kn : tensor<?xi32>, query %qn : tensor<?xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %row = tensor.extract %rows[%b, %i] : tensor<5x230xf32>
        %t = arith.addf %s, %row : f32
        attn.yield %t : f32
      } mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %n = attn.length key
        %c3 = arith.constant 3 : index
        %c0_0 = arith.constant 0 : index
        %back = arith.subi %n, %j : index
        %rest = arith.remui %back, %c3 : index
        %sees = arith.cmpi ne, %rest, %c0_0 : index
        attn.yield %sees : i1
      } prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %key = tensor.extract %keys[%b, %j] : tensor<5x310xf32>
        %w = arith.mulf %p, %key : f32
        attn.yield %w : f32
      }
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8>}
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  %n = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%n) : tensor<?x4x64xf16>
  %r = attn.pack %o[%qo] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %r : tensor<?x4x64xf16>
}

func.func @varlen_split(%qp: tensor<?x4x64xf16>, %kp: tensor<?x2x64xf16>, %vp: tensor<?x2x64xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>,
    %rows: tensor<5x230xf32>, %keys: tensor<5x310xf32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.ragged %kp[%ko] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %qn = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %kn = attn.sequence_lengths %ko : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %kn : tensor<?xi32>, query %qn : tensor<?xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %row = tensor.extract %rows[%b, %i] : tensor<5x230xf32>
        %t = arith.addf %s, %row : f32
        attn.yield %t : f32
      } mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %n = attn.length key
        %c3 = arith.constant 3 : index
        %c0_0 = arith.constant 0 : index
        %back = arith.subi %n, %j : index
        %rest = arith.remui %back, %c3 : index
        %sees = arith.cmpi ne, %rest, %c0_0 : index
        attn.yield %sees : i1
      } prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %key = tensor.extract %keys[%b, %j] : tensor<5x310xf32>
        %w = arith.mulf %p, %key : f32
        attn.yield %w : f32
      }
      {schedule = #attn.schedule<kind = "split_kv", splits = 3>}
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  %n = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%n) : tensor<?x4x64xf16>
  %r = attn.pack %o[%qo] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %r : tensor<?x4x64xf16>
}
