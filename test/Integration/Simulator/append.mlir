// New keys and values in a cache, which the attention behind it sees: attn-run makes slots, -1 among them, writes NaN to all rows that
// nobody has, and compares the caches bit for bit with what they must hold.
// RUN: attn-run %s --function=decode --shape B=4,T=10,P=41,tokens=9 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=decode --shape B=4,T=10,P=41,tokens=9 --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=decode --shape B=4,T=10,P=41,tokens=9 --device=sim:sm_90a --random=3 --verify --schedules=3 | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=decode --shape B=4,T=10,P=41,tokens=0 --device=sim:sm_80 --random=2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=cast --shape B=3,N=50,Bnew=4,Mnew=2 --random=4 --verify | FileCheck %s %}
// RUN: attn-run %s --function=cast --shape B=3,N=50,Bnew=4,Mnew=2 --device=sim:sm_80 --random=5 --verify | FileCheck %s
// RUN: attn-run %s --function=cast --shape B=3,N=50,Bnew=4,Mnew=2 --device=sim:sm_90a --random=6 --verify | FileCheck %s
// RUN: attn-run %s --function=whole --device=sim:sm_90a --random=7 --verify 2>/dev/null | FileCheck %s
// RUN: attn-run %s --function=alone --shape tokens=9,Pnew=3 --random=8 --verify | FileCheck %s
// RUN: attn-run %s --function=alone --shape tokens=9,Pnew=3 --device=sim:sm_80 --random=9 --verify --device-asserts | FileCheck %s
// RUN: attn-run %s --function=bytes --shape B=4,T=10,P=41,tokens=9 --random=11 --verify | FileCheck %s
// RUN: attn-run %s --function=bytes --shape B=4,T=10,P=41,tokens=9 --device=sim:sm_80 --random=12 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=bytes --shape B=4,T=10,P=41,tokens=9 --device=sim:sm_90a --random=13 --verify | FileCheck %s %}
// RUN: attn-run %s --function=branch --random=10 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=twice --random=14 --verify | FileCheck %s %}
// RUN: attn-run %s --function=twice --device=sim:sm_80 --random=15 --verify | FileCheck %s
// RUN: attn-run %s --function=twice --device=sim:sm_90a --random=16 --verify 2>/dev/null | FileCheck %s
// CHECK: verify: PASS

// One token of some sequences, G = 4.
func.func @decode(%q: tensor<?x8x1x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>,
                  %s: tensor<?xi32>, %table: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x8x1x64xf16>, tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>) {
  %k1, %v1 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?xi32>)
      : tensor<?x2x64xf16>, tensor<?x2x64xf16> into tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>
  %ks = attn.paged %k1[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %vs = attn.paged %v1[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %q, %ks, %vs lengths(key %n : tensor<?xi32>)
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>
  return %o, %k1, %v1 : tensor<?x8x1x64xf16>, tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>
}

// A contiguous cache of each batch; f32 and f16 rounded to bf16; head dims that are not whole warps; 64-bit slots.
func.func @cast(%q: tensor<?x2x5x40xbf16>, %k: tensor<?x1x?x40xf32>, %v: tensor<?x1x?x24xf16>, %kc: tensor<?x1x?x40xbf16>, %vc: tensor<?x1x?x24xbf16>,
                %s: tensor<?x?xi64>, %n: tensor<?xi64>) -> (tensor<?x2x5x24xbf16>, tensor<?x1x?x24xbf16>, tensor<?x1x?x40xbf16>) {
  %k1, %v1 = attn.append %k, %v into %kc, %vc slots(%s : tensor<?x?xi64>)
      : tensor<?x1x?x40xf32>, tensor<?x1x?x24xf16> into tensor<?x1x?x40xbf16>, tensor<?x1x?x24xbf16>
  %o = attn.attention %q, %k1, %v1 lengths(key %n : tensor<?xi64>) mask_mod causal(bottom_right)
      : tensor<?x2x5x40xbf16>, tensor<?x1x?x40xbf16>, tensor<?x1x?x24xbf16> -> tensor<?x2x5x24xbf16>
  return %o, %v1, %k1 : tensor<?x2x5x24xbf16>, tensor<?x1x?x24xbf16>, tensor<?x1x?x40xbf16>
}

// Without lengths, by TMA; an op for each cache, of which one is not returned.
func.func @whole(%q: tensor<2x2x64x64xf16>, %k: tensor<6x1x64xf16>, %v: tensor<6x1x64xf16>, %kc: tensor<2x1x96x64xf16>, %vc: tensor<2x1x96x64xf16>, %s: tensor<6xi32>)
    -> (tensor<2x2x64x64xf16>, tensor<2x1x96x64xf16>) {
  %k1 = attn.append %k into %kc slots(%s : tensor<6xi32>) : tensor<6x1x64xf16> into tensor<2x1x96x64xf16>
  %v1 = attn.append %v into %vc slots(%s : tensor<6xi32>) : tensor<6x1x64xf16> into tensor<2x1x96x64xf16>
  %o = attn.attention %q, %k1, %v1 : tensor<2x2x64x64xf16>, tensor<2x1x96x64xf16>, tensor<2x1x96x64xf16> -> tensor<2x2x64x64xf16>
  return %o, %v1 : tensor<2x2x64x64xf16>, tensor<2x1x96x64xf16>
}

// Of 8 bits: bytes are copied.
func.func @bytes(%q: tensor<?x4x1x64xf16>, %k: tensor<?x1x64xf8E4M3FN>, %v: tensor<?x1x48xf8E4M3FN>, %kp: tensor<?x1x8x64xf8E4M3FN>, %vp: tensor<?x1x8x48xf8E4M3FN>,
                 %s: tensor<?xi32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>) -> (tensor<?x4x1x48xf16>, tensor<?x1x8x64xf8E4M3FN>, tensor<?x1x8x48xf8E4M3FN>) {
  %k1, %v1 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?xi32>)
      : tensor<?x1x64xf8E4M3FN>, tensor<?x1x48xf8E4M3FN> into tensor<?x1x8x64xf8E4M3FN>, tensor<?x1x8x48xf8E4M3FN>
  %kv = attn.paged %k1[%t] : tensor<?x1x8x64xf8E4M3FN>[tensor<?x?xi32>] -> tensor<?x1x?x64xf8E4M3FN>
  %vv = attn.paged %v1[%t] : tensor<?x1x8x48xf8E4M3FN>[tensor<?x?xi32>] -> tensor<?x1x?x48xf8E4M3FN>
  %o = attn.attention %q, %kv, %vv lengths(key %n : tensor<?xi32>)
      : tensor<?x4x1x64xf16>, tensor<?x1x?x64xf8E4M3FN>, tensor<?x1x?x48xf8E4M3FN> -> tensor<?x4x1x48xf16>
  return %o, %k1, %v1 : tensor<?x4x1x48xf16>, tensor<?x1x8x64xf8E4M3FN>, tensor<?x1x8x48xf8E4M3FN>
}

// Without an attention, a program of its own.
func.func @alone(%k: tensor<?x2x40xf32>, %v: tensor<?x2x64xbf16>, %kp: tensor<?x2x5x40xf16>, %vp: tensor<?x2x5x64xf32>, %s: tensor<?xi64>)
    -> (tensor<?x2x5x64xf32>, tensor<?x2x5x40xf16>) {
  %0:2 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?xi64>)
      : tensor<?x2x40xf32>, tensor<?x2x64xbf16> into tensor<?x2x5x40xf16>, tensor<?x2x5x64xf32>
  return %0#1, %0#0 : tensor<?x2x5x64xf32>, tensor<?x2x5x40xf16>
}

// Which block returns, and whether rows are appended, depends on the data: nothing is known of the results bit for bit.
func.func @branch(%q: tensor<1x1x2x16xf16>, %new: tensor<3x1x16xf16>, %c: tensor<1x1x32x16xf16>, %s: tensor<3xi32>, %flag: tensor<1xi32>)
    -> (tensor<1x1x2x16xf16>, tensor<1x1x2xf32>, tensor<1x1x32x16xf16>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %number = tensor.extract %flag[%c0] : tensor<1xi32>
  %test = arith.cmpi sgt, %number, %zero : i32
  %o:2 = attn.attention %q, %c, %c : tensor<1x1x2x16xf16>, tensor<1x1x32x16xf16>, tensor<1x1x32x16xf16> -> tensor<1x1x2x16xf16>, tensor<1x1x2xf32>
  cf.cond_br %test, ^appends, ^end(%c : tensor<1x1x32x16xf16>)
^appends:
  %1 = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x16xf16> into tensor<1x1x32x16xf16>
  cf.br ^end(%1 : tensor<1x1x32x16xf16>)
^end(%pool: tensor<1x1x32x16xf16>):
  return %o#0, %o#1, %pool : tensor<1x1x2x16xf16>, tensor<1x1x2xf32>, tensor<1x1x32x16xf16>
}

// One append, two attentions that read it: a prob_mod is two on a GPU. The second reads what the first one's program has written.
func.func @twice(%q: tensor<1x1x3x64xf16>, %kp: tensor<1x1x8x64xf16>, %vp: tensor<1x1x8x64xf16>, %s: tensor<2xi32>, %kn: tensor<2x1x64xf16>)
    -> (tensor<1x1x3x64xf16>, tensor<1x1x8x64xf16>) {
  %k = attn.append %kn into %kp slots(%s : tensor<2xi32>) : tensor<2x1x64xf16> into tensor<1x1x8x64xf16>
  %o = attn.attention %q, %k, %vp
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %p, %p : f32
        attn.yield %r : f32
      } : tensor<1x1x3x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16> -> tensor<1x1x3x64xf16>
  return %o, %k : tensor<1x1x3x64xf16>, tensor<1x1x8x64xf16>
}
