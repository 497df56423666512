// New keys that are turned or normalised, then appended: on a GPU the kernel that appends them does both, so that a program takes the rows as
// the projection left them. Slots of -1, positions as data, a cache of 8 bits whose rows are rounded twice, as the ops say.
// RUN: attn-opt %s --attn-outline=target=sm_90a | FileCheck %s --check-prefix=OUTLINE
// RUN: attn-run %s --function=decode --shape B=3,T=4,P=13 --random=1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=decode --shape B=3,T=4,P=13 --random=2 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: attn-run %s --function=decode --shape B=3,T=4,P=13 --random=3 --device=sim:sm_90a --verify --device-asserts --schedules=3 | FileCheck %s
// RUN: attn-run %s --function=normed --shape B=2,N=24 --random=4 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function=normed --shape B=2,N=24 --random=5 --device=sim:sm_90a --verify | FileCheck %s
// RUN: attn-run %s --function=alone --shape Bnew=3,Pnew=5 --random=6 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function=twice --random=7 --device=sim:sm_80 --verify 2>/dev/null | FileCheck %s
// CHECK: verify: PASS

// OUTLINE-LABEL: func.func @decode
// OUTLINE-NOT: attn.rotary
// OUTLINE: call @
// OUTLINE-NEXT: return
func.func @decode(%q: tensor<?x8x1x64xf16>, %k: tensor<?x2x1x64xf16>, %v: tensor<?x2x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>,
                  %s: tensor<?x1xi64>, %table: tensor<?x?xi32>, %n: tensor<?xi32>, %pos: tensor<?x1xi32>, %cos: tensor<64x32xf32>, %sin: tensor<64x32xf32>)
    -> (tensor<?x8x1x64xf16>, tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>) {
  %query = attn.rotary %q, %cos, %sin halves positions(%pos : tensor<?x1xi32>) : tensor<?x8x1x64xf16>, tensor<64x32xf32>
  %rows = attn.rotary %k, %cos, %sin halves positions(%pos : tensor<?x1xi32>) : tensor<?x2x1x64xf16>, tensor<64x32xf32>
  %k1, %v1 = attn.append %rows, %v into %kp, %vp slots(%s : tensor<?x1xi64>)
      : tensor<?x2x1x64xf16>, tensor<?x2x1x64xf16> into tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>
  %key = attn.paged %k1[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %value = attn.paged %v1[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %query, %key, %value lengths(key %n : tensor<?xi32>)
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>
  return %o, %k1, %v1 : tensor<?x8x1x64xf16>, tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>
}

// A norm and a partial rotation, of columns that are not whole warps, into 8 bits; the op reads the rows of each batch.
// OUTLINE-LABEL: func.func @normed
// OUTLINE-NOT: attn.qk_norm
// OUTLINE: call @
// OUTLINE-NEXT: return
func.func @normed(%q: tensor<?x2x3x48xbf16>, %k: tensor<2x1x2x48xbf16>, %kc: tensor<?x1x?x48xf8E4M3FN>, %vc: tensor<?x1x?x48xf8E4M3FN>,
                  %w: tensor<48xbf16>, %s: tensor<2x2xi32>, %d: tensor<1xf32>, %cos: tensor<2x16xf32>, %sin: tensor<2x16xf32>)
    -> (tensor<?x2x3x48xbf16>, tensor<?x1x?x48xf8E4M3FN>) {
  %normed = attn.qk_norm %k weight(%w : tensor<48xbf16>) epsilon(1.0e-5) : tensor<2x1x2x48xbf16>
  %rows = attn.rotary %normed, %cos, %sin interleaved columns [8, 40] : tensor<2x1x2x48xbf16>, tensor<2x16xf32>
  %k1 = attn.append %rows into %kc slots(%s : tensor<2x2xi32>) descale(%d : tensor<1xf32>) : tensor<2x1x2x48xbf16> into tensor<?x1x?x48xf8E4M3FN>
  %o = attn.attention %q, %k1, %vc descale(%d, %d : tensor<1xf32>, tensor<1xf32>)
      : tensor<?x2x3x48xbf16>, tensor<?x1x?x48xf8E4M3FN>, tensor<?x1x?x48xf8E4M3FN> -> tensor<?x2x3x48xbf16>
  return %o, %k1 : tensor<?x2x3x48xbf16>, tensor<?x1x?x48xf8E4M3FN>
}

// Without an attention.
func.func @alone(%k: tensor<?x2x3x64xf32>, %kp: tensor<?x2x5x64xf16>, %s: tensor<?x3xi32>, %cos: tensor<9x32xf32>, %sin: tensor<9x32xf32>) -> tensor<?x2x5x64xf16> {
  %rows = attn.rotary %k, %cos, %sin halves : tensor<?x2x3x64xf32>, tensor<9x32xf32>
  %0 = attn.append %rows into %kp slots(%s : tensor<?x3xi32>) : tensor<?x2x3x64xf32> into tensor<?x2x5x64xf16>
  return %0 : tensor<?x2x5x64xf16>
}

// Pairs of two kinds, of the same columns: no lane has both, so the module around computes them.
// OUTLINE-LABEL: func.func @twice
// OUTLINE: attn.rotary
// OUTLINE: attn.rotary
// OUTLINE: call @
func.func @twice(%q: tensor<1x2x1x64xf16>, %k: tensor<1x1x1x64xf16>, %kc: tensor<1x1x24x64xf16>, %vc: tensor<1x1x24x64xf16>, %s: tensor<1x1xi32>, %cos: tensor<3x32xf32>, %sin: tensor<3x32xf32>)
    -> (tensor<1x2x1x64xf16>, tensor<1x1x24x64xf16>) {
  %once = attn.rotary %k, %cos, %sin halves : tensor<1x1x1x64xf16>, tensor<3x32xf32>
  %rows = attn.rotary %once, %cos, %sin interleaved : tensor<1x1x1x64xf16>, tensor<3x32xf32>
  %k1 = attn.append %rows into %kc slots(%s : tensor<1x1xi32>) : tensor<1x1x1x64xf16> into tensor<1x1x24x64xf16>
  %o = attn.attention %q, %k1, %vc : tensor<1x2x1x64xf16>, tensor<1x1x24x64xf16>, tensor<1x1x24x64xf16> -> tensor<1x2x1x64xf16>
  return %o, %k1 : tensor<1x2x1x64xf16>, tensor<1x1x24x64xf16>
}
