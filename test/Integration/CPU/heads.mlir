// Query heads that share key heads (GQA, MQA; static and dynamic) and value
// heads of another size, against float64.

// RUN: sed s/TYPE/f32/g %s > %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s > %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function grouped --shape M=17,N=65 --random 1 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function grouped --shape M=64,N=3 --random 2 --verify %}
// RUN: %if long %{ attn-run %t.bf16.mlir --function grouped --shape M=130,N=130 --random 3 --verify %}
// RUN: %if long %{ attn-run %t.f32.mlir --function dynamic --shape B=1,Hq=6,Hkv=1,M=3,N=64 --random 4 --verify %}
// RUN: attn-run %t.f16.mlir --function dynamic --shape B=2,Hq=6,Hkv=3,M=65,N=17 --random 5 --verify
// RUN: attn-run %t.bf16.mlir --function dynamic --shape B=3,Hq=2,Hkv=2,M=1,N=130 --random 6 --verify
// RUN: attn-run %t.f32.mlir --function dynamic --shape B=0,Hq=4,Hkv=2,M=5,N=7 --random 7 --verify
// RUN: attn-run %t.f16.mlir --function latent --random 8 --verify

func.func @grouped(%q: tensor<2x8x?x32xTYPE>, %k: tensor<2x2x?x32xTYPE>,
                   %v: tensor<2x2x?x16xTYPE>)
    -> (tensor<2x8x?x16xTYPE>, tensor<2x8x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      : tensor<2x8x?x32xTYPE>, tensor<2x2x?x32xTYPE>, tensor<2x2x?x16xTYPE>
      -> tensor<2x8x?x16xTYPE>, tensor<2x8x?xf32>
  return %o, %lse : tensor<2x8x?x16xTYPE>, tensor<2x8x?xf32>
}

func.func @dynamic(%q: tensor<?x?x?x24xTYPE>, %k: tensor<?x?x?x24xTYPE>,
                   %v: tensor<?x?x?x40xTYPE>)
    -> (tensor<?x?x?x40xTYPE>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      : tensor<?x?x?x24xTYPE>, tensor<?x?x?x24xTYPE>, tensor<?x?x?x40xTYPE>
      -> tensor<?x?x?x40xTYPE>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x40xTYPE>, tensor<?x?x?xf32>
}

// DeepSeek's (192, 128), output in f32.
func.func @latent(%q: tensor<1x4x17x192xTYPE>, %k: tensor<1x4x65x192xTYPE>,
                  %v: tensor<1x4x65x128xTYPE>) -> tensor<1x4x17x128xf32> {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      : tensor<1x4x17x192xTYPE>, tensor<1x4x65x192xTYPE>,
        tensor<1x4x65x128xTYPE> -> tensor<1x4x17x128xf32>
  return %o : tensor<1x4x17x128xf32>
}
