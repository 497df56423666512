// A mask and a score that depend on the size of a tensor the attention does not read, as in decode steps whose keys are moved: a capture whose size alone is read.
// RUN: attn-run %s --function windowed --device=sim:sm_80 --shape "arg0=2x4x1x64,arg1=2x2x42x64,arg2=2x2x42x64,arg3=2x2x41x64;arg0=2x4x5x64,arg1=2x2x9x64,arg2=2x2x9x64,arg3=2x2x3x64" --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function windowed --device=sim:sm_90a --shape "arg0=2x4x1x64,arg1=2x2x300x64,arg2=2x2x300x64,arg3=2x2x299x64" --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function windowed --device=cpu --shape "arg0=2x4x1x64,arg1=2x2x42x64,arg2=2x2x42x64,arg3=2x2x41x64" --random 1 --verify | FileCheck %s
// RUN: attn-opt %s --attn-grad=recompute=true -o %t.mlir && attn-run %t.mlir --function windowed_grad --device=sim:sm_90a --shape "arg0=2x4x70x64,arg1=2x2x90x64,arg2=2x2x90x64,arg3=2x2x60x64,arg4=2x4x70x64" --random 1 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL
!q = tensor<?x4x?x64xf16>
!kv = tensor<?x2x?x64xf16>
func.func @windowed(%q: !q, %k: !kv, %v: !kv, %other: !kv) -> !q {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %size = tensor.dim %other, %c2 : !kv
    %back = arith.subi %size, %j : index
    %int = arith.index_cast %back : index to i32
    %far = arith.sitofp %int : i32 to f32
    %slope = arith.constant -0.01 : f32
    %change = arith.mulf %far, %slope : f32
    %r = arith.addf %s, %change : f32
    attn.yield %r : f32
  } mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %rows = arith.constant 2 : index
    %size = tensor.dim %other, %rows : !kv
    %first = arith.subi %size, %c16 : index
    %shown = arith.cmpi slt, %first, %j : index
    attn.yield %shown : i1
  } : !q, !kv, !kv -> !q
  return %o : !q
}
