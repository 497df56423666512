// What tanh lacks to 1 or -1 is its derivative, whatever the sign of x: a slope inside a tanh of distances, nearly all of which are at its ends.
// RUN: attn-opt %s --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function=attention_grad --device=sim:sm_80 --shape B=1,Hq=8,Hkv=1,M=3,N=150 --fill=arg3=ones --random=1000 --trials=8 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %slope: tensor<?xf32>) -> tensor<?x?x?x64xbf16> {
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %slope_of_head = tensor.extract %slope[%h] : tensor<?xf32>
    %distance = arith.subi %j, %i : index
    %int = arith.index_cast %distance : index to i32
    %float = arith.sitofp %int : i32 to f32
    %unit = arith.constant -0.058 : f32
    %unit_distance = arith.mulf %unit, %float : f32
    %product = arith.mulf %slope_of_head, %unit_distance : f32
    %bounded = math.tanh %product : f32
    %0 = arith.addf %s, %bounded : f32
    attn.yield %0 : f32
  } mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %first = arith.constant 100 : index
    %0 = arith.cmpi uge, %j, %first : index
    attn.yield %0 : i1
  } : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16> -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}
