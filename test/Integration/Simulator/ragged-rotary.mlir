// Rows of sequences behind each other are turned and normalised as they lie,
// before a view takes them: those of queries, of keys, and of what is appended.
// RUN: attn-run %s --function=prefill --shape offsets=6,query_rows=70,T=6,P=40 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=prefill --shape offsets=6,query_rows=70,T=6,P=40 --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=prefill --shape offsets=6,query_rows=70,T=6,P=40 --device=sim:sm_90a --random=3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=prefill --shape offsets=6,query_rows=70,T=6,P=40 --device=sim:sm_100a --random=4 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --random=5 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_80 --random=6 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_90a --random=7 --verify | FileCheck %s %}
// RUN: attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_100a --random=8 --verify | FileCheck %s

// CHECK: verify: PASS

func.func @prefill(%qp: tensor<?x4x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %kn: tensor<?x2x64xf16>, %vn: tensor<?x2x64xf16>,
    %slots: tensor<?xi64>, %qo: tensor<?xi32>, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>,
    %cos: tensor<200x16xf32>, %sin: tensor<200x16xf32>, %at: tensor<?xi64>)
    -> (tensor<?x4x64xf16>, tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>) {
  %c0 = arith.constant 0 : index
  %qt = attn.rotary %qp, %cos, %sin interleaved positions(%at : tensor<?xi64>) columns [32, 64] : tensor<?x4x64xf16>, tensor<200x16xf32>
  %kt = attn.rotary %kn, %cos, %sin interleaved positions(%at : tensor<?xi64>) columns [32, 64] : tensor<?x2x64xf16>, tensor<200x16xf32>
  %kw, %vw = attn.append %kt, %vn into %kp, %vp slots(%slots : tensor<?xi64>)
      : tensor<?x2x64xf16>, tensor<?x2x64xf16> into tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>
  %q = attn.ragged %qt[%qo] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.paged %kw[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vw[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %lengths : tensor<?xi32>, query %m : tensor<?xi32>)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %n = attn.length key
        %rows = attn.length query
        %shift = arith.subi %n, %rows : index
        %place = arith.addi %i, %shift : index
        %sees = arith.cmpi sle, %j, %place : index
        attn.yield %sees : i1
      }
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  %n = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%n) : tensor<?x4x64xf16>
  %r = attn.pack %o[%qo] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %r, %kw, %vw : tensor<?x4x64xf16>, tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>
}

func.func @varlen(%qp: tensor<?x4x64xbf16>, %kp: tensor<?x2x64xbf16>, %vp: tensor<?x2x64xbf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>,
    %weight: tensor<64xbf16>, %cos: tensor<400x32xf32>, %sin: tensor<400x32xf32>, %qat: tensor<?xi32>, %kat: tensor<?xi32>) -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %qs = attn.qk_norm %qp weight(%weight : tensor<64xbf16>) epsilon(1.0e-6) : tensor<?x4x64xbf16>
  %ks = attn.qk_norm %kp epsilon(1.0e-6) : tensor<?x2x64xbf16>
  %qt = attn.rotary %qs, %cos, %sin halves positions(%qat : tensor<?xi32>) : tensor<?x4x64xbf16>, tensor<400x32xf32>
  %kt = attn.rotary %ks, %cos, %sin halves positions(%kat : tensor<?xi32>) : tensor<?x2x64xbf16>, tensor<400x32xf32>
  %q = attn.ragged %qt[%qo] : tensor<?x4x64xbf16>[tensor<?xi32>] -> tensor<?x4x?x64xbf16>
  %k = attn.ragged %kt[%ko] : tensor<?x2x64xbf16>[tensor<?xi32>] -> tensor<?x2x?x64xbf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x64xbf16>[tensor<?xi32>] -> tensor<?x2x?x64xbf16>
  %qn = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %kn = attn.sequence_lengths %ko : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %kn : tensor<?xi32>, query %qn : tensor<?xi32>)
      : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x?x64xbf16>
  %n = tensor.dim %qp, %c0 : tensor<?x4x64xbf16>
  %e = tensor.empty(%n) : tensor<?x4x64xbf16>
  %r = attn.pack %o[%qo] into %e : tensor<?x4x?x64xbf16>[tensor<?xi32>] into tensor<?x4x64xbf16>
  return %r : tensor<?x4x64xbf16>
}
