// RUN: attn-opt %s --convert-attn-to-tile --split-input-file --verify-diagnostics

!o = tensor<2x1x4x64xf32>
!l = tensor<2x1x4xf32>
func.func @twice(%a: !o, %la: !l, %b: !o, %lb: !l) -> (!o, !l, !o, !l) {
  %o:2 = attn.merge outputs(%a, %b : !o, !o) lses(%la, %lb : !l, !l) -> !o, !l
  // expected-error @below {{expected one merge in a function on a GPU: merge all parts at once}}
  %p:2 = attn.merge outputs(%b, %b : !o, !o) lses(%la, %lb : !l, !l) -> !o, !l
  return %o#0, %o#1, %p#0, %p#1 : !o, !l, !o, !l
}

// -----

!o = tensor<2x1x4x64xf64>
!l = tensor<2x1x4xf64>
func.func @wide(%a: !o, %la: !l) -> (!o, !l) {
  // expected-error @below {{expected parts of f16, bf16 or f32 on a GPU, got 'f64'}}
  %o:2 = attn.merge outputs(%a, %a : !o, !o) lses(%la, %la : !l, !l) -> !o, !l
  return %o#0, %o#1 : !o, !l
}

// -----

!o = tensor<2x1x4x64xf32>
!l = tensor<2x1x4xf32>
func.func @used(%a: !o, %la: !l) -> !o {
  // expected-error @below {{expected a merge whose results are those of its function on a GPU}}
  %o:2 = attn.merge outputs(%a, %a : !o, !o) lses(%la, %la : !l, !l) -> !o, !l
  %z = arith.addf %o#0, %a : !o
  return %z : !o
}
