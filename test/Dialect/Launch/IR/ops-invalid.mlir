// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  // expected-error @+1 {{expected ops of attn_launch and sizes in a program}}
  %t = tensor.empty() : tensor<4xf32>
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %q = attn_launch.operand input "query" : !attn_tile.global<4x64xf16>
  // expected-error @+1 {{expected a name that no operand or workspace has, got "query"}}
  %k = attn_launch.operand input "query" : !attn_tile.global<4x64xf16>
}

// -----

// expected-error @+1 {{expected at most one attn_launch.repeat, got 2}}
attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  attn_launch.repeat %c1 {
  ^bb0(%i: index):
  }
  attn_launch.repeat %c1 {
  ^bb0(%i: index):
  }
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  attn_launch.repeat %c1 {
  ^bb0(%i: index):
  }
  // expected-error @+1 {{expected to be in the attn_launch.repeat of the program}}
  attn_launch.launch @kernel grid(%c1, %c1, %c1)
}
attn_tile.kernel @kernel() warps(4) {
  attn_tile.return
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected the number of the round, an index, as the only argument}}
  attn_launch.repeat %c1 {
  }
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %q = attn_launch.operand input "query" : !attn_tile.global<4x64xf16>
  // expected-error @+1 {{expected a dimension before the last, 1, got 1}}
  %s = attn_launch.stride %q, 1 : !attn_tile.global<4x64xf16>
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  %w = attn_launch.workspace "w" bytes(%c1)
  %v = attn_launch.view %w[%c1] strides(%c1) : !attn_launch.workspace to !attn_tile.global<4x64xf16>
  // expected-error @+1 {{expected an attn_launch.operand}}
  %s = attn_launch.stride %v, 0 : !attn_tile.global<4x64xf16>
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  %w = attn_launch.workspace "w" bytes(%c1)
  // expected-error @+1 {{expected 1 sizes of '!attn_tile.global<?x64xf16>', got 0}}
  %v = attn_launch.view %w[%c1] strides(%c1) : !attn_launch.workspace to !attn_tile.global<?x64xf16>
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  %w = attn_launch.workspace "w" bytes(%c1)
  // expected-error @+1 {{expected 1 strides of '!attn_tile.global<4x64xf16>', got 0}}
  %v = attn_launch.view %w[%c1] : !attn_launch.workspace to !attn_tile.global<4x64xf16>
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected a kernel called @kernel, got none}}
  attn_launch.launch @kernel grid(%c1, %c1, %c1)
}

// -----

// A function that is no kernel.
attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected a kernel called @kernel, got none}}
  attn_launch.launch @kernel grid(%c1, %c1, %c1)
}
llvm.func @kernel() {
  llvm.return
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected 1 parameters of @kernel, got 0}}
  attn_launch.launch @kernel grid(%c1, %c1, %c1)
}
attn_tile.kernel @kernel(%q: !attn_tile.global<4x64xf16>) warps(4) {
  attn_tile.return
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  %i = arith.index_cast %c1 : index to i32
  // expected-error @+1 {{expected parameter 0 of @kernel to be of type '!attn_tile.global<4x64xf16>', got 'i32'}}
  attn_launch.launch @kernel grid(%c1, %c1, %c1) args(%i : i32)
}
attn_tile.kernel @kernel(%q: !attn_tile.global<4x64xf16>) warps(4) {
  attn_tile.return
}

// -----

// A tensor is a pointer, its dynamic sizes, its strides.
attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %q = attn_launch.operand input "query" : !attn_tile.global<?x64xf16>
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected parameter 1 of @kernel to be of type 'i64', got 'i32'}}
  attn_launch.launch @kernel grid(%c1, %c1, %c1) args(%q : !attn_tile.global<?x64xf16>)
}
llvm.func @kernel(%q: !llvm.ptr<1>, %m: i64, %s: i64) attributes {nvvm.kernel} {
  llvm.return
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected the threads of a CTA of @kernel, got 64}}
  attn_launch.launch @kernel grid(%c1, %c1, %c1) {threads = 64 : i64}
}
llvm.func @kernel() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  llvm.return
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected the CTAs of a cluster of @kernel, got 2}}
  attn_launch.launch @kernel grid(%c1, %c1, %c1) {threads = 64 : i64, cluster_ctas = 2 : i64}
}
llvm.func @kernel() attributes {nvvm.kernel} {
  llvm.return
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  // expected-error @+1 {{expected names of 2 dimensions, got 1}}
  %q = attn_launch.operand input "query" dims ["M"] : !attn_tile.global<4x64xf16>
}

// -----

attn_launch.program "first" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected a launch behind another one of the program to be programmatic, got the first}}
  attn_launch.launch @kernel programmatic grid(%c1, %c1, %c1)
}
attn_tile.kernel @kernel() warps(4) {
  attn_tile.return
}

// -----

attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %q = attn_launch.operand input "query" : !attn_tile.global<?x8x?x64xf16>
  // expected-error @+1 {{expected packed sequences [rows, H, D], got '!attn_tile.global<?x8x?x64xf16>'}}
  %map = attn_launch.tensor_map %q packed : !attn_tile.global<?x8x?x64xf16> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
}
