// Windows that are counted from a length which follows from i64 offsets of a table, and from where a block begins, by a division without sign: the analysis
// bounds both, so that nothing left of them is read. What attn-run writes there is NaN.
// RUN: sed "s/SCHEDULE//" %s > %t.mlir
// RUN: attn-run %t.mlir --function=window --random=1 --trials=3 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function=blocks --shape B=3,T=4,P=13 --random=5 --verify | FileCheck %s
// RUN: sed 's/SCHEDULE/{schedule = #attn.schedule<kind = "split_kv", splits = 3, mma = "mma_sync">}/' %s > %t.split.mlir
// RUN: attn-run %t.split.mlir --function=window --device=sim:sm_80 --random=1 --trials=3 --verify | FileCheck %s
// RUN: attn-run %t.split.mlir --function=blocks --device=sim:sm_80 --shape B=3,T=4,P=13 --random=5 --verify | FileCheck %s
// RUN: sed 's/SCHEDULE/{schedule = #attn.schedule<mma = "wgmma">}/' %s > %t.wgmma.mlir
// RUN: attn-run %t.wgmma.mlir --function=window --device=sim:sm_90a --random=1 --trials=3 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.wgmma.mlir --function=blocks --device=sim:sm_90a --shape B=3,T=4,P=13 --random=5 --verify | FileCheck %s %}
// RUN: sed 's/SCHEDULE/{schedule = #attn.schedule<mma = "tcgen05">}/' %s > %t.tcgen05.mlir
// RUN: attn-run %t.tcgen05.mlir --function=window --device=sim:sm_100a --random=1 --trials=3 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @window(%q: tensor<2x2x3x64xf16>, %kp: tensor<9x1x16x64xf16>, %vp: tensor<9x1x16x64xf16>, %table: tensor<8xi32>, %offsets: tensor<3xi64>, %n: tensor<2xi32>,
                  %m: tensor<2xi32>) -> tensor<2x2x3x64xf16> {
  %k = attn.paged %kp[%table, %offsets] : tensor<9x1x16x64xf16>[tensor<8xi32>, tensor<3xi64>] -> tensor<2x1x128x64xf16>
  %v = attn.paged %vp[%table, %offsets] : tensor<9x1x16x64xf16>[tensor<8xi32>, tensor<3xi64>] -> tensor<2x1x128x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<2xi32>, query %m : tensor<2xi32>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %keys = attn.length key
    %rows = attn.length query
    %before = arith.subi %keys, %rows : index
    %place = arith.addi %i, %before : index
    %c = arith.constant 5 : index
    %first = arith.subi %place, %c : index
    %a = arith.cmpi sge, %j, %first : index
    %e = arith.cmpi sle, %j, %place : index
    %s = arith.andi %a, %e : i1
    attn.yield %s : i1
  } SCHEDULE : tensor<2x2x3x64xf16>, tensor<2x1x128x64xf16>, tensor<2x1x128x64xf16> -> tensor<2x2x3x64xf16>
  return %o : tensor<2x2x3x64xf16>
}

func.func @blocks(%q: tensor<?x4x3x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %n: tensor<?xi64>) -> tensor<?x4x3x64xf16> {
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi64>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %keys = attn.length key
    %place = arith.addi %i, %keys : index
    %four = arith.constant 4 : index
    %block = arith.divui %place, %four : index
    %begin = arith.muli %block, %four : index
    %c = arith.constant 19 : index
    %first = arith.subi %begin, %c : index
    %s = arith.cmpi sgt, %j, %first : index
    attn.yield %s : i1
  } SCHEDULE : tensor<?x4x3x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x3x64xf16>
  return %o : tensor<?x4x3x64xf16>
}
