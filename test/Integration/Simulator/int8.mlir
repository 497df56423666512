// Query and key of i8, whose products are summed as integers, beside values of 16 bits, or of 8-bit floats.
// RUN: %if long %{ attn-run %s --function=heads --shape M=70,N=150 --random=1 --verify | FileCheck %s %}
// RUN: attn-run %s --function=heads --shape M=70,N=150 --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=heads --shape M=70,N=150 --device=sim:sm_90a --random=3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=heads --shape M=70,N=150 --device=sim:sm_100a --random=4 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=float8 --shape B=1,M=70,N=200 --random=1 --verify | FileCheck %s %}
// RUN: attn-run %s --function=float8 --shape B=1,M=70,N=200 --device=sim:sm_89 --random=2 --verify | FileCheck %s
// RUN: attn-run %s --function=float8 --shape B=1,M=70,N=200 --device=sim:sm_90a --random=3 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=float8 --shape B=1,M=70,N=200 --device=sim:sm_100a --random=4 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=float8 --shape B=1,M=70,N=200 --device=sim:sm_120 --random=5 --verify | FileCheck %s %}
// RUN: attn-run %s --function=sum --shape B=1,M=40,N=90 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=sum --shape B=1,M=40,N=90 --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: attn-run %s --function=wide --shape B=1,M=30,N=70 --device=sim:sm_80 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=paged --shape B=3,T=10,P=31 --random=1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=paged --shape B=3,T=10,P=31 --device=sim:sm_80 --random=2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=paged --shape B=3,T=10,P=31 --device=sim:sm_90a --random=3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=packed --shape query_rows=90,key_rows=300 --random=1 --verify | FileCheck %s %}
// RUN: attn-run %s --function=packed --shape query_rows=90,key_rows=300 --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=packed --shape query_rows=90,key_rows=300 --device=sim:sm_90a --random=3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=packed --shape query_rows=90,key_rows=300 --device=sim:sm_100a --random=4 --verify | FileCheck %s %}
// RUN: attn-run %s --function=decode --shape B=2,N=300 --device=sim:sm_80 --random=1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=decode --shape B=2,N=300 --device=sim:sm_90a --random=2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=blocks --shape B=1,M=200,N=250 --random=1 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=blocks --shape B=1,M=200,N=250 --device=sim:sm_80 --random=2 --verify | FileCheck %s %}
// RUN: attn-run %s --function=blocks --shape B=1,M=200,N=250 --device=sim:sm_90a --random=3 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=blocks --shape B=1,M=200,N=250 --device=sim:sm_100a --random=4 --verify | FileCheck %s %}
// CHECK: verify: PASS

// Descales of heads; a bottom-right mask.
func.func @heads(%q: tensor<2x4x?x128xi8>, %k: tensor<2x2x?x128xi8>, %v: tensor<2x2x?x128xf16>) -> (tensor<2x4x?x128xf16>, tensor<2x4x?xf32>) {
  %dq = arith.constant dense<0.021> : tensor<1xf32>
  %dk = arith.constant dense<[[0.01, 0.02], [0.03, -0.015]]> : tensor<2x2xf32>
  %o, %lse = attn.attention %q, %k, %v descale(%dq, %dk : tensor<1xf32>, tensor<2x2xf32>) mask_mod causal(bottom_right)
      : tensor<2x4x?x128xi8>, tensor<2x2x?x128xi8>, tensor<2x2x?x128xf16> -> tensor<2x4x?x128xf16>, tensor<2x4x?xf32>
  return %o, %lse : tensor<2x4x?x128xf16>, tensor<2x4x?xf32>
}

// Weights of 8 bits; a window; an output of another type.
func.func @float8(%q: tensor<?x2x?x64xi8>, %k: tensor<?x1x?x64xi8>, %v: tensor<?x1x?x96xf8E4M3FN>) -> (tensor<?x2x?x96xf32>, tensor<?x2x?xf32>) {
  %d = arith.constant dense<0.02> : tensor<1xf32>
  %dv = arith.constant dense<-0.7> : tensor<1xf32>
  %o, %lse = attn.attention %q, %k, %v descale(%d, %d, %dv : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) mask_mod sliding_window(40, 9)
      : tensor<?x2x?x64xi8>, tensor<?x1x?x64xi8>, tensor<?x1x?x96xf8E4M3FN> -> tensor<?x2x?x96xf32>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x96xf32>, tensor<?x2x?xf32>
}

// Integers for scores, without softmax; head dims that are padded.
func.func @sum(%q: tensor<?x2x?x48xi8>, %k: tensor<?x2x?x48xi8>, %v: tensor<?x2x?x80xbf16>) -> tensor<?x2x?x80xbf16> {
  %o = attn.attention %q, %k, %v scale(0.0001) normalization(#attn.none)
      : tensor<?x2x?x48xi8>, tensor<?x2x?x48xi8>, tensor<?x2x?x80xbf16> -> tensor<?x2x?x80xbf16>
  return %o : tensor<?x2x?x80xbf16>
}

// Sums of more products than the short way to a float has room for.
func.func @wide(%q: tensor<?x2x?x320xi8>, %k: tensor<?x2x?x320xi8>, %v: tensor<?x2x?x64xf16>) -> (tensor<?x2x?x64xf16>, tensor<?x2x?xf32>) {
  %d = arith.constant dense<0.02> : tensor<1xf32>
  %o, %lse = attn.attention %q, %k, %v descale(%d, %d : tensor<1xf32>, tensor<1xf32>)
      : tensor<?x2x?x320xi8>, tensor<?x2x?x320xi8>, tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x64xf16>, tensor<?x2x?xf32>
}

// A cache in pages, of integers and of 16 bits, with lengths.
func.func @paged(%q: tensor<?x4x20x64xi8>, %kp: tensor<?x2x16x64xi8>, %vp: tensor<?x2x16x64xbf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x4x20x64xbf16>, tensor<?x4x20xf32>) {
  %d = arith.constant dense<0.02> : tensor<1xf32>
  %k = attn.paged %kp[%t] : tensor<?x2x16x64xi8>[tensor<?x?xi32>] -> tensor<?x2x?x64xi8>
  %v = attn.paged %vp[%t] : tensor<?x2x16x64xbf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xbf16>
  %o, %lse = attn.attention %q, %k, %v descale(%d, %d : tensor<1xf32>, tensor<1xf32>) lengths(key %n : tensor<?xi32>) mask_mod causal(bottom_right)
      : tensor<?x4x20x64xi8>, tensor<?x2x?x64xi8>, tensor<?x2x?x64xbf16> -> tensor<?x4x20x64xbf16>, tensor<?x4x20xf32>
  return %o, %lse : tensor<?x4x20x64xbf16>, tensor<?x4x20xf32>
}

// Sequences behind each other.
func.func @packed(%q: tensor<?x4x128xi8>, %k: tensor<?x2x128xi8>, %v: tensor<?x2x128xf16>) -> tensor<?x4x128xf16> {
  %d = arith.constant dense<0.02> : tensor<1xf32>
  %rows = arith.constant dense<[0, 40, 41, 90]> : tensor<4xi32>
  %keys = arith.constant dense<[0, 75, 130, 300]> : tensor<4xi32>
  %qs = attn.ragged %q[%rows] : tensor<?x4x128xi8>[tensor<4xi32>] -> tensor<3x4x?x128xi8>
  %ks = attn.ragged %k[%keys] : tensor<?x2x128xi8>[tensor<4xi32>] -> tensor<3x2x?x128xi8>
  %vs = attn.ragged %v[%keys] : tensor<?x2x128xf16>[tensor<4xi32>] -> tensor<3x2x?x128xf16>
  %m = attn.sequence_lengths %rows : tensor<4xi32> -> tensor<3xi32>
  %n = attn.sequence_lengths %keys : tensor<4xi32> -> tensor<3xi32>
  %o = attn.attention %qs, %ks, %vs descale(%d, %d : tensor<1xf32>, tensor<1xf32>)
      lengths(key %n : tensor<3xi32>, query %m : tensor<3xi32>) mask_mod causal(bottom_right)
      : tensor<3x4x?x128xi8>, tensor<3x2x?x128xi8>, tensor<3x2x?x128xf16> -> tensor<3x4x?x128xf16>
  %c0 = arith.constant 0 : index
  %size = tensor.dim %q, %c0 : tensor<?x4x128xi8>
  %empty = tensor.empty(%size) : tensor<?x4x128xf16>
  %p = attn.pack %o[%rows] into %empty : tensor<3x4x?x128xf16>[tensor<4xi32>] into tensor<?x4x128xf16>
  return %p : tensor<?x4x128xf16>
}

// Splits of the keys, whose heads share a tile.
func.func @decode(%q: tensor<?x8x1x64xi8>, %k: tensor<?x2x?x64xi8>, %v: tensor<?x2x?x64xf16>) -> (tensor<?x8x1x64xf16>, tensor<?x8x1xf32>) {
  %d = arith.constant dense<0.02> : tensor<1xf32>
  %o, %lse = attn.attention %q, %k, %v descale(%d, %d : tensor<1xf32>, tensor<1xf32>)
      {schedule = #attn.schedule<kind = "split_kv", splits = 3>}
      : tensor<?x8x1x64xi8>, tensor<?x2x?x64xi8>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
  return %o, %lse : tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
}

// Scales of blocks of 128 rows and of 64 keys.
func.func @blocks(%q: tensor<?x4x?x128xi8>, %k: tensor<?x2x?x128xi8>, %v: tensor<?x2x?x128xf16>) -> (tensor<?x4x?x128xf16>, tensor<?x4x?xf32>) {
  %dq = arith.constant dense<[0.02, 0.013]> : tensor<2xf32>
  %dk = arith.constant dense<[[0.02, -0.011, 0.03, 0.007], [-0.021, 0.002, 0.017, 0.026]]> : tensor<2x4xf32>
  %rows = arith.constant 128 : index
  %keys = arith.constant 64 : index
  %group = arith.constant 2 : index
  %o, %lse = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %ib = arith.divui %i, %rows : index
        %jb = arith.divui %j, %keys : index
        %hk = arith.divui %h, %group : index
        %x = tensor.extract %dq[%ib] : tensor<2xf32>
        %y = tensor.extract %dk[%hk, %jb] : tensor<2x4xf32>
        %f = arith.mulf %x, %y : f32
        %r = arith.mulf %s, %f : f32
        attn.yield %r : f32
      } mask_mod causal(bottom_right)
      : tensor<?x4x?x128xi8>, tensor<?x2x?x128xi8>, tensor<?x2x?x128xf16> -> tensor<?x4x?x128xf16>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x128xf16>, tensor<?x4x?xf32>
}
