// Names that PTX has not get others; the manifest keeps them.
// RUN: rm -rf %t && mkdir %t
// RUN: split-file %s %t
// RUN: attn-opt %t/words.mlir --target=sm_80 --emit=ptx,manifest,header -o %t/words
// RUN: FileCheck %s --check-prefix=WORDS < %t/words.ptx
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/words.json
// RUN: attn-run %t/words.mlir --device=sim:sm_80 --random 1 --verify
// RUN: attn-opt %t/digit.mlir --target=sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=DIGIT
// RUN: attn-opt %t/backward.mlir --target=sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=BACKWARD
// WORDS: .entry two_x20w_xC3_xB6rds(
// MANIFEST: "entry": "two_x20w_xC3_xB6rds"
// MANIFEST: "function": "two wörds"
// DIGIT: .entry _1abc(
// BACKWARD: .entry a_x2Db_dq

//--- words.mlir
!q = tensor<1x2x32x64xf16>
func.func @"two wörds"(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q : !q, !q, !q -> !q
  return %o : !q
}

//--- digit.mlir
!q = tensor<1x2x32x64xf16>
func.func @"1abc"(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q : !q, !q, !q -> !q
  return %o : !q
}

//--- backward.mlir
!q = tensor<1x2x32x64xf16>
!l = tensor<1x2x32xf32>
func.func @"a-b"(%q: !q, %o: !q, %l: !l, %g: !q) -> (!q, !q, !q) {
  %d:3 = attn.attention_backward %q, %q, %q output(%o : !q) lse(%l : !l) d_output(%g : !q) : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}
