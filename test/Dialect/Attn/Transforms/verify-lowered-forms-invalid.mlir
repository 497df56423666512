// RUN: attn-opt %s --attn-verify-normal-form --split-input-file --verify-diagnostics

module attributes {attn.normal_form = #attn.normal_form<tiled>} {
  func.func @backward(%x: tensor<1x1x64x64xf16>, %lse: tensor<1x1x64xf32>) -> tensor<1x1x64x64xf16> {
    // expected-error @below {{expected no such op in the form 'tiled'}}
    %dq, %dk, %dv = attn.attention_backward %x, %x, %x output(%x : tensor<1x1x64x64xf16>) lse(%lse : tensor<1x1x64xf32>)
        d_output(%x : tensor<1x1x64x64xf16>)
        : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
        -> tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
    return %dq : tensor<1x1x64x64xf16>
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<tile>} {
  func.func @attention(%x: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
    // expected-error @below {{expected no such op in the form 'tile'}}
    %o = attn.attention %x, %x, %x
        : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
    return %o : tensor<1x1x64x64xf16>
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @kernel(%x: i32) attributes {nvvm.kernel} {
    // expected-error @below {{expected no such op in the form 'nvvm'}}
    %y = arith.addi %x, %x : i32
    llvm.return
  }
}
