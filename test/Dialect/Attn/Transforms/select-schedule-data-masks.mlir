// What is read at a row is no distance from the diagonal: of a mask by offsets
// of sequences, the cost model knows that it is causal, and nothing more.

// RUN: attn-opt %s --target=sm_90a --emit=report -o - | FileCheck %s

// CHECK: "problem": "B=1 Hq=4 Hkv=4 M=4096 N=4096 D=64 Dv=64 dtype=f16 mask=causal"
func.func @sequences(%q: tensor<1x4x4096x64xf16>, %offsets: tensor<?xi32>) -> tensor<1x4x4096x64xf16> {
  %o = attn.attention %q, %q, %q mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %c1 = arith.constant 1 : index
    %s = attn.segment %offsets at %i : tensor<?xi32>
    %next = arith.addi %s, %c1 : index
    %first = tensor.extract %offsets[%s] : tensor<?xi32>
    %end = tensor.extract %offsets[%next] : tensor<?xi32>
    %from = arith.index_cast %first : i32 to index
    %to = arith.index_cast %end : i32 to index
    %not_before = arith.cmpi sge, %j, %from : index
    %not_behind = arith.cmpi slt, %j, %to : index
    %past = arith.cmpi sle, %j, %i : index
    %same = arith.andi %not_before, %not_behind : i1
    %r = arith.andi %same, %past : i1
    attn.yield %r : i1
  } : tensor<1x4x4096x64xf16>, tensor<1x4x4096x64xf16>, tensor<1x4x4096x64xf16> -> tensor<1x4x4096x64xf16>
  return %o : tensor<1x4x4096x64xf16>
}
