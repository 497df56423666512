// What an output_mod reads for each element of the output is priced, a tensor once; not what it reads for each row, however its place is computed (a walk over all
// ways to the argument of 60 doublings would not end).
// RUN: attn-opt %s --target=sm_80 --emit=report -o %t
// RUN: FileCheck %s < %t.report.json
// CHECK: "problem": "B=2 Hq=4 Hkv=4 M=64 N=64 D=64 Dv=64 dtype=f16 mask=full captures=6"

func.func @f(%q: tensor<2x4x64x64xf16>, %gate: tensor<2x4x64x64xf32>, %mix: tensor<2x4x64x64xf16>, %rows: tensor<64xf32>) -> tensor<2x4x64x64xf16> {
  %o = attn.attention %q, %q, %q : tensor<2x4x64x64xf16>, tensor<2x4x64x64xf16>, tensor<2x4x64x64xf16> -> tensor<2x4x64x64xf32>
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %d0 = arith.addi %i, %i : index
    %d1 = arith.addi %d0, %d0 : index
    %d2 = arith.addi %d1, %d1 : index
    %d3 = arith.addi %d2, %d2 : index
    %d4 = arith.addi %d3, %d3 : index
    %d5 = arith.addi %d4, %d4 : index
    %d6 = arith.addi %d5, %d5 : index
    %d7 = arith.addi %d6, %d6 : index
    %d8 = arith.addi %d7, %d7 : index
    %d9 = arith.addi %d8, %d8 : index
    %d10 = arith.addi %d9, %d9 : index
    %d11 = arith.addi %d10, %d10 : index
    %d12 = arith.addi %d11, %d11 : index
    %d13 = arith.addi %d12, %d12 : index
    %d14 = arith.addi %d13, %d13 : index
    %d15 = arith.addi %d14, %d14 : index
    %d16 = arith.addi %d15, %d15 : index
    %d17 = arith.addi %d16, %d16 : index
    %d18 = arith.addi %d17, %d17 : index
    %d19 = arith.addi %d18, %d18 : index
    %d20 = arith.addi %d19, %d19 : index
    %d21 = arith.addi %d20, %d20 : index
    %d22 = arith.addi %d21, %d21 : index
    %d23 = arith.addi %d22, %d22 : index
    %d24 = arith.addi %d23, %d23 : index
    %d25 = arith.addi %d24, %d24 : index
    %d26 = arith.addi %d25, %d25 : index
    %d27 = arith.addi %d26, %d26 : index
    %d28 = arith.addi %d27, %d27 : index
    %d29 = arith.addi %d28, %d28 : index
    %d30 = arith.addi %d29, %d29 : index
    %d31 = arith.addi %d30, %d30 : index
    %d32 = arith.addi %d31, %d31 : index
    %d33 = arith.addi %d32, %d32 : index
    %d34 = arith.addi %d33, %d33 : index
    %d35 = arith.addi %d34, %d34 : index
    %d36 = arith.addi %d35, %d35 : index
    %d37 = arith.addi %d36, %d36 : index
    %d38 = arith.addi %d37, %d37 : index
    %d39 = arith.addi %d38, %d38 : index
    %d40 = arith.addi %d39, %d39 : index
    %d41 = arith.addi %d40, %d40 : index
    %d42 = arith.addi %d41, %d41 : index
    %d43 = arith.addi %d42, %d42 : index
    %d44 = arith.addi %d43, %d43 : index
    %d45 = arith.addi %d44, %d44 : index
    %d46 = arith.addi %d45, %d45 : index
    %d47 = arith.addi %d46, %d46 : index
    %d48 = arith.addi %d47, %d47 : index
    %d49 = arith.addi %d48, %d48 : index
    %d50 = arith.addi %d49, %d49 : index
    %d51 = arith.addi %d50, %d50 : index
    %d52 = arith.addi %d51, %d51 : index
    %d53 = arith.addi %d52, %d52 : index
    %d54 = arith.addi %d53, %d53 : index
    %d55 = arith.addi %d54, %d54 : index
    %d56 = arith.addi %d55, %d55 : index
    %d57 = arith.addi %d56, %d56 : index
    %d58 = arith.addi %d57, %d57 : index
    %d59 = arith.addi %d58, %d58 : index
    %last = arith.constant 63 : index
    %place = arith.andi %d59, %last : index
    %row = tensor.extract %rows[%place] : tensor<64xf32>
    %g = tensor.extract %gate[%b, %h, %i, %c] : tensor<2x4x64x64xf32>
    %again = tensor.extract %gate[%b, %h, %i, %c] : tensor<2x4x64x64xf32>
    %m = tensor.extract %mix[%b, %h, %i, %c] : tensor<2x4x64x64xf16>
    %wide = arith.extf %m : f16 to f32
    %1 = arith.mulf %x, %g : f32
    %2 = arith.addf %1, %wide : f32
    %3 = arith.mulf %2, %row : f32
    %4 = arith.mulf %3, %again : f32
    attn.yield %4 : f32
  } : tensor<2x4x64x64xf32> -> tensor<2x4x64x64xf16>
  return %y : tensor<2x4x64x64xf16>
}
