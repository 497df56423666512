// A learned logit of each head in the denominator (attention sinks), forward and backward, against float64: both cache
// schedules, ragged and empty sizes, rows without keys, whose LSE is the sink.

// RUN: sed s/TYPE/f32/g %s | attn-opt --attn-grad=recompute=true -o %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad=recompute=true -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s | attn-opt "--attn-grad=recompute=true lse-gradient=true" -o %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function a --shape B=2,M=65,N=130 --random 1 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function a --shape B=1,M=70,N=20 --random 2 --verify %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function a --shape B=1,M=3,N=0 --random 3 --verify %}
// RUN: attn-run %t.f32.mlir --function small --shape B=1,M=33,N=70 --random 4 --verify
// RUN: %if long %{ attn-run %t.f32.mlir --function a_grad --shape B=2,M=40,N=33 --random 5 --verify %}
// RUN: %if long %{ attn-run %t.f16.mlir --function a_grad --shape B=1,M=40,N=12 --random 6 --verify %}
// RUN: attn-run %t.bf16.mlir --function a_grad --shape B=1,M=17,N=40 --random 7 --verify

func.func @a(%q: tensor<?x4x?x32xTYPE>, %k: tensor<?x2x?x32xTYPE>, %v: tensor<?x2x?x24xTYPE>, %sink: tensor<4xTYPE>)
    -> (tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<4xTYPE>) mask_mod causal(bottom_right)
      : tensor<?x4x?x32xTYPE>, tensor<?x2x?x32xTYPE>, tensor<?x2x?x24xTYPE> -> tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x24xTYPE>, tensor<?x4x?xf32>
}

func.func @small(%q: tensor<?x2x?x64xTYPE>, %k: tensor<?x2x?x64xTYPE>, %sink: tensor<2xf32>)
    -> (tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %k sink(%sink : tensor<2xf32>)
      {schedule = #attn.schedule<kind = "small_cache">}
      : tensor<?x2x?x64xTYPE>, tensor<?x2x?x64xTYPE>, tensor<?x2x?x64xTYPE> -> tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x64xTYPE>, tensor<?x2x?xf32>
}
