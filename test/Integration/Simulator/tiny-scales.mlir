// Scales that f32 rounds to 0, and the smallest that it has: tiles with keys that are not there.
// RUN: sed s/SCALE/1.0e-46/ %s > %t.mlir
// RUN: attn-run %t.mlir --device=sim:sm_80 --random=1 --verify | FileCheck %s
// RUN: attn-run %t.mlir --device=sim:sm_90a --random=1 --verify | FileCheck %s
// RUN: attn-run %t.mlir --device=sim:sm_100a --random=1 --verify | FileCheck %s
// RUN: sed s/SCALE/-1.0e-46/ %s | attn-run - --device=sim:sm_90a --random=2 --verify | FileCheck %s
// RUN: sed s/SCALE/1.0e-44/ %s | attn-run - --device=sim:sm_80 --random=3 --verify | FileCheck %s
// CHECK: verify: PASS

!x = tensor<1x2x9x64xf16>
!l = tensor<1x2x9xf32>
func.func @f(%q: !x, %k: !x, %v: !x) -> (!x, !l) {
  %o, %l = attn.attention %q, %k, %v scale(SCALE) : !x, !x, !x -> !x, !l
  return %o, %l : !x, !l
}
