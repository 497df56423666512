// RUN: attn-opt %s --attn-verify-normal-form --split-input-file --verify-diagnostics
// RUN: not attn-opt %s --attn-verify-normal-form=form=flat 2>&1 | FileCheck %s

// CHECK: error: expected form to be one of tensor, scheduled, tiled, tile, nvvm, got 'flat'

// expected-error @+1 {{expected the module to carry attn.normal_form, or the option 'form'}}
module {
}

// -----

module attributes {attn.normal_form = #attn.normal_form<tensor>} {
  func.func @f(%acc: tensor<1x1x4x8xf32>, %s: tensor<1x1x4xf32>) {
    // expected-error @+1 {{expected no such op in the form 'tensor'}}
    %o = attn.normalize %acc, %s, %s
        : tensor<1x1x4x8xf32>, tensor<1x1x4xf32> -> tensor<1x1x4x8xf32>
    return
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<scheduled>} {
  func.func @f(%q: tensor<1x1x4x8xf32>) {
    // expected-error @+1 {{expected a complete schedule in the form 'scheduled', got none}}
    %o = attn.attention %q, %q, %q
        : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
        -> tensor<1x1x4x8xf32>
    return
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<tiled>} {
  func.func @f(%q: tensor<1x1x4x8xf32>) {
    // expected-error @+1 {{expected no such op in the form 'tiled'}}
    %o = attn.attention %q, %q, %q
        : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
        -> tensor<1x1x4x8xf32>
    return
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<tiled>} {
  func.func @f(%acc: tensor<1x1x4x8xf32>, %s: tensor<1x1x4xf32>) {
    // expected-error @+1 {{expected to be in an scf.forall over (b, h, m) in the form 'tiled'}}
    %o = attn.normalize %acc, %s, %s
        : tensor<1x1x4x8xf32>, tensor<1x1x4xf32> -> tensor<1x1x4x8xf32>
    return
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<tiled>} {
  func.func @f(%q: tensor<1x1x4x8xf32>, %s: tensor<1x1x4xf32>, %c: index) {
    // expected-error @+1 {{expected to be the only one in an scf.for over key tiles in the form 'tiled'}}
    %r:3 = attn.online_attention %q, %q, %q offsets(%c, %c, %c, %c)
        outs(%q, %s, %s)
        : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
        -> tensor<1x1x4x8xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
    return
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<tile>} {
  attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  }
  // expected-error @+1 {{expected an attn_launch.launch of @kernel in the form 'tile'}}
  attn_tile.kernel @kernel() warps(4) {
    attn_tile.return
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  }
  // expected-error @+1 {{expected an attn_launch.launch of @kernel in the form 'nvvm'}}
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  // Sizes in a program may stay.
  attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
    %c1 = arith.constant 1 : index
  }
  llvm.func @function() {
    // expected-error @+1 {{expected no such op in the form 'nvvm'}}
    %c1 = arith.constant 1 : index
    llvm.return
  }
}

// -----

module attributes {attn.normal_form = #attn.normal_form<tiled>} {
  func.func @f(%accs: tensor<2x1x1x4x8xf32>, %s: tensor<2x1x1x4xf32>, %out: tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32> {
    %r = scf.forall (%b, %h, %m) in (1, 1, 1) shared_outs(%o = %out) -> (tensor<1x1x4x8xf32>) {
      // expected-error @+1 {{expected slices of what an scf.forall over (b, h, m, split) gives in the form 'tiled'}}
      %acc, %max, %sum = attn.combine %accs, %s, %s
          : tensor<2x1x1x4x8xf32>, tensor<2x1x1x4xf32> -> tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
      %t = attn.normalize %acc, %max, %sum : tensor<1x1x4x8xf32>, tensor<1x1x4xf32> -> tensor<1x1x4x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %t into %o[0, 0, 0, 0] [1, 1, 4, 8] [1, 1, 1, 1]
            : tensor<1x1x4x8xf32> into tensor<1x1x4x8xf32>
      }
    }
    return %r : tensor<1x1x4x8xf32>
  }
}
