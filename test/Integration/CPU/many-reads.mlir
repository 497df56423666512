// Mods that read data in more than two places have loops over keys in place of
// a copy of each reading for each key.
// RUN: attn-opt %s --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function=forward --random=1 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function=forward_grad --random=2 --verify | FileCheck %s
// CHECK: verify: PASS
//
// RUN: attn-opt %s --attn-cpu-pipeline --mlir-print-ir-before=one-shot-bufferize -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP-LABEL: func.func @forward
// LOOP-COUNT-2: tensor.extract {{.*}} : tensor<80xf16>
// LOOP-NOT: tensor<80xf16>
// LOOP: tensor.extract {{.*}} : tensor<2x40xi8>
// LOOP-COUNT-2: tensor.extract {{.*}} : tensor<40xi1>
// LOOP-NOT: tensor<40xi1>

!x = tensor<2x2x40x16xf32>
func.func @forward(%q: !x, %k: !x, %v: !x, %ids: tensor<2x40xi8>, %seen: tensor<40xi1>, %bias: tensor<80xf16>) -> !x {
  %y = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %n = arith.constant 39 : index
    %0 = arith.subi %i, %j : index
    %1 = arith.addi %0, %n : index
    %2 = tensor.extract %bias[%1] : tensor<80xf16>
    %3 = arith.extf %2 : f16 to f32
    %4 = math.erf %s : f32
    %5 = tensor.extract %bias[%j] : tensor<80xf16>
    %6 = arith.extf %5 : f16 to f32
    %7 = arith.mulf %4, %6 : f32
    %8 = arith.addf %7, %3 : f32
    attn.yield %8 : f32
  } mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : i8
    %c1 = arith.constant 1 : index
    %0 = tensor.extract %ids[%b, %j] : tensor<2x40xi8>
    %1 = tensor.extract %seen[%j] : tensor<40xi1>
    %odd = arith.remui %j, %c2 : index
    %2 = arith.cmpi eq, %odd, %c1 : index
    %3 = scf.if %2 -> i1 {
      %4 = arith.cmpi sgt, %0, %c0 : i8
      scf.yield %4 : i1
    } else {
      %5 = tensor.extract %seen[%i] : tensor<40xi1>
      %6 = arith.ori %5, %1 : i1
      scf.yield %6 : i1
    }
    attn.yield %3 : i1
  } : !x, !x, !x -> !x
  return %y : !x
}
