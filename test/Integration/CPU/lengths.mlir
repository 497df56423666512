// Lengths of keys and of rows, against float64. attn-run writes NaN where a key does not exist: whatever read it would show.

// RUN: sed s/TYPE/f32/g %s > %t.f32.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function plain --shape B=6,M=9,N=130 --random 1 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function plain --shape B=6,M=1,N=100 --random 2 --verify %}
// RUN: %if long %{ attn-run %t.f32.mlir --function causal --shape B=6,M=40,N=70 --random 3 --verify %}
// RUN: attn-run %t.bf16.mlir --function causal --shape B=6,M=70,N=40 --random 4 --verify
// RUN: attn-run %t.f32.mlir --function small --shape B=6,M=33,N=70 --random 5 --verify
// RUN: attn-run %t.bf16.mlir --function probabilities --shape B=6,M=40,N=50 --random 7 --verify
// RUN: attn-run %t.f32.mlir --function weights --shape B=6,M=20,N=70 --random 6 --verify

func.func @plain(%q: tensor<?x4x?x32xTYPE>, %k: tensor<?x2x?x32xTYPE>, %v: tensor<?x2x?x24xTYPE>, %sink: tensor<4xTYPE>, %n: tensor<?xi64>)
    -> (tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<4xTYPE>) lengths(key %n : tensor<?xi64>)
      : tensor<?x4x?x32xTYPE>, tensor<?x2x?x32xTYPE>, tensor<?x2x?x24xTYPE> -> tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>
}

func.func @causal(%q: tensor<?x4x?x32xTYPE>, %k: tensor<?x2x?x32xTYPE>, %v: tensor<?x2x?x32xTYPE>, %n: tensor<?xi32>, %m: tensor<?xi32>)
    -> (tensor<?x4x?x32xTYPE>, tensor<?x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) mask_mod causal(bottom_right)
      : tensor<?x4x?x32xTYPE>, tensor<?x2x?x32xTYPE>, tensor<?x2x?x32xTYPE> -> tensor<?x4x?x32xTYPE>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x32xTYPE>, tensor<?x4x?xf32>
}

// The score reads what the mask does: the distance to the end of the sequence.
func.func @small(%q: tensor<?x2x?x64xTYPE>, %k: tensor<?x2x?x64xTYPE>, %v: tensor<?x2x?x64xTYPE>, %n: tensor<?xi32>)
    -> (tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %end = attn.length key
        %left = arith.subi %end, %j : index
        %integer = arith.index_cast %left : index to i32
        %number = arith.sitofp %integer : i32 to f32
        %slope = arith.constant -0.125 : f32
        %term = arith.mulf %number, %slope : f32
        %sum = arith.addf %s, %term : f32
        attn.yield %sum : f32
      } mask_mod sliding_window(30, 4) {schedule = #attn.schedule<kind = "small_cache">}
      : tensor<?x2x?x64xTYPE>, tensor<?x2x?x64xTYPE>, tensor<?x2x?x64xTYPE> -> tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>
}

func.func @weights(%q: tensor<?x2x?x64xTYPE>, %k: tensor<?x2x?x64xTYPE>, %v: tensor<?x2x?x64xTYPE>, %n: tensor<?xi32>) -> tensor<?x2x?x64xTYPE> {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %zero = arith.constant 0.0 : f32
        %relu = arith.maximumf %s, %zero : f32
        attn.yield %relu : f32
      }
      : tensor<?x2x?x64xTYPE>, tensor<?x2x?x64xTYPE>, tensor<?x2x?x64xTYPE> -> tensor<?x2x?x64xTYPE>
  return %o : tensor<?x2x?x64xTYPE>
}

func.func @probabilities(%q: tensor<?x4x?x32xTYPE>, %k: tensor<?x2x?x32xTYPE>, %v: tensor<?x2x?x24xTYPE>, %n: tensor<?xi32>, %m: tensor<?xi32>) -> (tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>)
      mask_mod causal(bottom_right)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %least = arith.constant 1.0e-2 : f32
        %r = arith.maximumf %p, %least : f32
        attn.yield %r : f32
      } : tensor<?x4x?x32xTYPE>, tensor<?x2x?x32xTYPE>, tensor<?x2x?x24xTYPE> -> tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>
}
