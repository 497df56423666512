// Rows whose highest score is near -1e9, where an LSE of f32 is a multiple of 64: no weight is above 1, and gradients are finite.
// RUN: attn-opt %s --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function penalized_grad --device=sim:sm_90a --shape "B=1,Hq=1,Hkv=1,M=66,N=16;B=1,Hq=2,Hkv=1,M=67,N=65" --random 2 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function penalized_grad --device=sim:sm_80 --shape "B=1,Hq=1,Hkv=1,M=66,N=16" --random 2 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL
!t = tensor<?x?x?x128xf16>
func.func @penalized(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %back = arith.subi %i, %j : index
    %int = arith.index_cast %back : index to i32
    %float = arith.sitofp %int : i32 to f32
    %far = math.absf %float : f32
    %slope = arith.constant -1.0e9 : f32
    %change = arith.mulf %far, %slope : f32
    %r = arith.addf %s, %change : f32
    attn.yield %r : f32
  } : !t, !t, !t -> !t
  return %o : !t
}
