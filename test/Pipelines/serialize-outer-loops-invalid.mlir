// RUN: attn-opt %s --attn-serialize-outer-loops --verify-diagnostics

func.func @sum(%m: memref<4xf32>, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @below {{expected a parallel loop without reductions around other parallel loops}}
  %sum = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%x) -> f32 {
    scf.forall (%j) in (4) {
      memref.store %x, %m[%j] : memref<4xf32>
    }
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      scf.reduce.return %c : f32
    }
  }
  return %sum : f32
}
