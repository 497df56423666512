// Static sizes without keys: whole and ragged tiles of rows, with an LSE and a bias.

// RUN: attn-run %s --function=whole --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function=ragged --random 1 --verify | FileCheck %s
// CHECK: verify: PASS

!q = tensor<1x2x64x64xf16>
!k = tensor<1x2x0x64xf16>
func.func @whole(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v : !q, !k, !k -> !q
  return %o : !q
}

!r = tensor<1x2x65x64xf16>
!lse = tensor<1x2x65xf32>
func.func @ragged(%q: !r, %k: !k, %v: !k, %bias: tensor<1x2x65x0xf16>) -> (!r, !lse) {
  %o:2 = attn.attention %q, %k, %v bias(%bias : tensor<1x2x65x0xf16>) mask_mod causal(top_left) : !r, !k, !k -> !r, !lse
  return %o#0, %o#1 : !r, !lse
}
