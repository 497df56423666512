// Score changes whose functions, or derivatives, the host has as calls of its C
// library only, or not at all.

// RUN: sed "s/OP/math.erf %low : f32/" %s | attn-opt --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function f_grad --shape M=5,N=40 --random 1 --verify
// RUN: sed "s/OP/math.acosh %big : f32/" %s | attn-opt --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function f_grad --shape M=5,N=40 --random 2 --verify
// RUN: sed "s/OP/math.cbrt %big : f32/" %s | attn-opt --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function f_grad --shape M=5,N=40 --random 3 --verify
// RUN: sed "s/OP/math.fpowi %low, %cube : f32, i32/" %s | attn-opt --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function f_grad --shape M=5,N=40 --random 4 --verify
// RUN: sed "s/OP/math.clampf %given to [%half, %big] : f32/" %s | attn-opt --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function f_grad --shape M=5,N=40 --random 5 --verify

func.func @f(%q: tensor<1x1x?x16xf32>, %k: tensor<1x1x?x16xf32>, %v: tensor<1x1x?x16xf32>)
    -> tensor<1x1x?x16xf32> {
  %o = attn.attention %q, %k, %v
      score_mod (%given: f32, %b: index, %h: index, %i: index, %j: index) {
        %half = arith.constant 0.5 : f32
        %one = arith.constant 1.1 : f32
        %cube = arith.constant 3 : i32
        %low = arith.mulf %given, %half : f32
        %square = arith.mulf %low, %low : f32
        %big = arith.addf %square, %one : f32
        %r = OP
        attn.yield %r : f32
      }
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}
