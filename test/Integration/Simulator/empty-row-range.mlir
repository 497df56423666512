// Two ranges of row tiles, of which one holds none: the walk over the heads of a
// group divides by how many there are, in the prologue of its pipeline as well,
// where that was a register that nobody had written.
//
// RUN: attn-run %s --shape B=1,Hq=4,Hkv=2,M=70,N=70 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --shape B=1,Hq=4,Hkv=2,M=70,N=70 --device=sim:sm_90a --verify | FileCheck %s %}

// CHECK: verify: PASS

func.func @first_row(%arg0: tensor<?x?x?x64xbf16>, %arg1: tensor<?x?x?x64xbf16>, %arg2: tensor<?x?x?x32xbf16>, %arg4: tensor<?x?x?x32xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16>) {
  %output, %lse = attn.attention %arg0, %arg1, %arg2 score_mod (%arg5: f32, %arg6: index, %arg7: index, %arg8: index, %arg9: index) {
    %0 = arith.subi %arg8, %arg9 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = math.absf %2 : f32
    %cst = arith.constant -3.125000e-02 : f32
    %4 = arith.mulf %3, %cst : f32
    %5 = arith.addf %arg5, %4 : f32
    %cst_0 = arith.constant -3.40282347E+38 : f32
    %6 = arith.cmpi sgt, %arg9, %arg8 : index
    %7 = arith.select %6, %5, %cst_0 : f32
    %cst_1 = arith.constant 3.000000e+01 : f32
    %8 = arith.divf %7, %cst_1 : f32
    %9 = math.tanh %8 : f32
    %10 = arith.mulf %8, %cst_1 : f32
    attn.yield %10 : f32
  } mask_mod (%arg5: index, %arg6: index, %arg7: index, %arg8: index) {
    %c1 = arith.constant 1 : index
    %0 = arith.addi %arg8, %arg5 : index
    %1 = arith.remsi %0, %c1 : index
    %2 = arith.cmpi uge, %1, %arg7 : index
    attn.yield %2 : i1
  } : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16> -> tensor<?x?x?x32xbf16>, tensor<?x?x?xf32>
  %dQuery, %dKey, %dValue = attn.attention_backward %arg0, %arg1, %arg2 output(%output : tensor<?x?x?x32xbf16>) lse(%lse : tensor<?x?x?xf32>) d_output(%arg4 : tensor<?x?x?x32xbf16>) score_mod (%arg5: f32, %arg6: index, %arg7: index, %arg8: index, %arg9: index) {
    %0 = arith.subi %arg8, %arg9 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = math.absf %2 : f32
    %cst = arith.constant -3.125000e-02 : f32
    %4 = arith.mulf %3, %cst : f32
    %5 = arith.addf %arg5, %4 : f32
    %cst_0 = arith.constant -3.40282347E+38 : f32
    %6 = arith.cmpi sgt, %arg9, %arg8 : index
    %7 = arith.select %6, %5, %cst_0 : f32
    %cst_1 = arith.constant 3.000000e+01 : f32
    %8 = arith.divf %7, %cst_1 : f32
    %9 = math.tanh %8 : f32
    %10 = arith.mulf %8, %cst_1 : f32
    attn.yield %10 : f32
  } mask_mod (%arg5: index, %arg6: index, %arg7: index, %arg8: index) {
    %c1 = arith.constant 1 : index
    %0 = arith.addi %arg8, %arg5 : index
    %1 = arith.remsi %0, %c1 : index
    %2 = arith.cmpi uge, %1, %arg7 : index
    attn.yield %2 : i1
  } : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16> -> tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16>
  return %dQuery, %dKey, %dValue : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16>
}
