// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// online_attention_c1
func.func @f(%q: tensor<1x2x4x8xf32>, %c: index, %a: tensor<1x2x4x8xf32>,
             %m: tensor<1x2x4xf32>, %s: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected 4 offsets (b, h, i, j), got 3}}
  %r:3 = attn.online_attention %q, %q, %q offsets(%c, %c, %c) outs(%a, %m, %s)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
      -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
  return
}

// -----

// online_attention_c2
func.func @f(%q: tensor<1x2x4x8xf32>, %c: index, %a: tensor<1x2x4x8xf64>,
             %m: tensor<1x2x4xf32>, %s: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected element type of acc to be 'f32', got 'f64'}}
  %r:3 = attn.online_attention %q, %q, %q offsets(%c, %c, %c, %c) outs(%a, %m, %s)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
      -> tensor<1x2x4x8xf64>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
  return
}

// -----

// online_attention_c2
func.func @f(%q: tensor<1x2x4x8xf32>, %c: index, %a: tensor<1x2x4x8xf32>,
             %m: tensor<1x2x5xf32>, %s: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected max dimension M to be 4 as in the inputs, got 5}}
  %r:3 = attn.online_attention %q, %q, %q offsets(%c, %c, %c, %c) outs(%a, %m, %s)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
      -> tensor<1x2x4x8xf32>, tensor<1x2x5xf32>, tensor<1x2x4xf32>
  return
}

// -----

// online_attention_c3
func.func @f(%q: tensor<1x2x4x8xf32>, %c: index, %m: tensor<1x2x4xf32>) {
  // expected-error @+1 {{acc and its result have the same type}}
  %r:3 = "attn.online_attention"(%q, %q, %q, %c, %c, %c, %c, %q, %m, %m)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 4, 0, 0, 1, 2>}> ({}, {}, {})
      : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, index,
         index, index, index, tensor<1x2x4x8xf32>, tensor<1x2x4xf32>,
         tensor<1x2x4xf32>)
      -> (tensor<?x2x4x8xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

// normalize_c1
func.func @f(%a: tensor<1x2x4x8xf32>, %m: tensor<1x2x5xf32>) {
  // expected-error @+1 {{expected max dimension 2 to be 4 as in acc, got 5}}
  %o = attn.normalize %a, %m, %m : tensor<1x2x4x8xf32>, tensor<1x2x5xf32>
      -> tensor<1x2x4x8xf32>
  return
}

// -----

// normalize_c1
func.func @f(%a: tensor<1x2x4x8xf32>, %m: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected output dimension 3 to be 8 as in acc, got 7}}
  %o = attn.normalize %a, %m, %m : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
      -> tensor<1x2x4x7xf32>
  return
}

// -----

// normalize_c2
func.func @f(%a: tensor<1x2x4x8xf32>, %m: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected lse to have the type of max, 'tensor<1x2x4xf32>', got 'tensor<1x2x?xf32>'}}
  %o:2 = attn.normalize %a, %m, %m : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
      -> tensor<1x2x4x8xf32>, tensor<1x2x?xf32>
  return
}

// -----

// normalize_c4
func.func @f(%a: tensor<1x2x4x8xf32>, %m: tensor<1x2x4xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{expected sink dimension 0 to be 2 as in acc, got 1}}
  %o = attn.normalize %a, %m, %m sink(%s : tensor<1xf32>) : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
      -> tensor<1x2x4x8xf32>
  return
}

// -----

// merge_c1
func.func @f() {
  // expected-error @+1 {{expected at least one partial result}}
  %o, %l = "attn.merge"() : () -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>)
  return
}

// -----

// merge_c2
func.func @f(%o: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected every partial output to have the shape of 'tensor<1x2x4x4xf32>', got 'tensor<1x2x4x8xf32>'}}
  %r, %s = attn.merge outputs(%o : tensor<1x2x4x8xf32>)
      lses(%l : tensor<1x2x4xf32>)
      -> tensor<1x2x4x4xf32>, tensor<1x2x4xf32>
  return
}

// -----

// merge_c2
func.func @f(%o: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected every partial lse to be 'tensor<1x2x4xf64>', got 'tensor<1x2x4xf32>'}}
  %r, %s = attn.merge outputs(%o : tensor<1x2x4x8xf32>)
      lses(%l : tensor<1x2x4xf32>)
      -> tensor<1x2x4x8xf32>, tensor<1x2x4xf64>
  return
}

// -----

// merge_c1
func.func @f(%o: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected as many partial lses as outputs, got 1 and 2}}
  %r, %s = attn.merge outputs(%o, %o : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) lses(%l : tensor<1x2x4xf32>)
      -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}

// -----

// merge_c2
func.func @f(%o: tensor<3x1x2x4x8xf32>, %l: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected every partial lse to be 'tensor<1x2x4xf32>', got 'tensor<1x2x4xf32>' in place of a stack}}
  %r, %s = attn.merge outputs(%o : tensor<3x1x2x4x8xf32>) lses(%l : tensor<1x2x4xf32>)
      -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}

// -----

// merge_c3
func.func @f(%o: tensor<3x1x2x4x8xf32>, %l: tensor<4x1x2x4xf32>) {
  // expected-error @+1 {{expected lses dimension 0 to be 3 as in outputs, got 4}}
  %r, %s = attn.merge outputs(%o : tensor<3x1x2x4x8xf32>) lses(%l : tensor<4x1x2x4xf32>)
      -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}

// -----

// merge_c4
func.func @f(%o: tensor<1x2x4x8xf32>, %l: tensor<1x2x5xf32>) {
  // expected-error @+1 {{expected lse dimension 2 to be 4 as in output, got 5}}
  %r, %s = attn.merge outputs(%o : tensor<1x2x4x8xf32>) lses(%l : tensor<1x2x5xf32>)
      -> tensor<1x2x4x8xf32>, tensor<1x2x5xf32>
  return
}

// -----

// merge_c5
func.func @f(%o: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>, %sink: tensor<3xf32>) {
  // expected-error @+1 {{expected sink dimension 0 to be 2 as in output, got 3}}
  %r, %s = attn.merge outputs(%o : tensor<1x2x4x8xf32>) lses(%l : tensor<1x2x4xf32>) sink(%sink : tensor<3xf32>)
      -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}

// -----

// combine_c1
func.func @f(%accs: tensor<3x1x1x4x8xf32>, %s: tensor<3x1x1x4xf32>) {
  // expected-error @+1 {{expected the result of acc to be 'tensor<1x1x4x8xf32>' as in its stack, got 'tensor<1x1x4x16xf32>'}}
  %r:3 = attn.combine %accs, %s, %s : tensor<3x1x1x4x8xf32>, tensor<3x1x1x4xf32> -> tensor<1x1x4x16xf32>, tensor<1x1x4xf32>
  return
}

// -----

// combine_c2
func.func @f(%accs: tensor<3x1x1x4x8xf32>, %s: tensor<3x1x1x4xf32>) {
  // expected-error @+1 {{expected the result of max to be 'tensor<1x1x4xf32>' as in its stack, got 'tensor<1x1x5xf32>'}}
  %r:3 = attn.combine %accs, %s, %s : tensor<3x1x1x4x8xf32>, tensor<3x1x1x4xf32> -> tensor<1x1x4x8xf32>, tensor<1x1x5xf32>
  return
}

// -----

// combine_c3
func.func @f(%accs: tensor<3x1x1x4x8xf32>, %s: tensor<2x1x1x4xf32>) {
  // expected-error @+1 {{expected max dimension 0 to be 3 as in acc, got 2}}
  %r:3 = attn.combine %accs, %s, %s : tensor<3x1x1x4x8xf32>, tensor<2x1x1x4xf32> -> tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
  return
}

// -----

// combine_c3
func.func @f(%accs: tensor<3x1x1x4x8xf32>, %s: tensor<3x1x1x4xf64>) {
  // expected-error @+1 {{expected element type of max to be 'f32', got 'f64'}}
  %r:3 = attn.combine %accs, %s, %s : tensor<3x1x1x4x8xf32>, tensor<3x1x1x4xf64> -> tensor<1x1x4x8xf32>, tensor<1x1x4xf64>
  return
}

// -----

// length_c1
func.func @f() {
  // expected-error @+1 {{expected to be inside a region of attn.attention}}
  %n = attn.length key
  return
}

// -----

// Assembly.
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected top_left or bottom_right, got 'left'}}
  %o = attn.attention %q, %q, %q mask_mod causal(left)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// Assembly.
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected soft_cap to be positive, and neither too small nor too large for 'f32', got -1.0}}
  %o = attn.attention %q, %q, %q score_mod soft_cap(-1.0)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// Assembly.
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected soft_cap to be positive, and neither too small nor too large for 'f32', got 1.000000e+39}}
  %o = attn.attention %q, %q, %q score_mod soft_cap(1.0e39)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// Assembly.
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected mask_mod to be a region or causal, sliding_window, got 'prefix'}}
  %o = attn.attention %q, %q, %q mask_mod prefix(3)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// Assembly.
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected score_mod to be a region or soft_cap, got 'causal'}}
  %o = attn.attention %q, %q, %q score_mod causal(top_left)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// schedule_c1
// expected-error @+1 {{expected kind one of large_cache, split_kv, small_cache, chunks, got 'huge'}}
func.func private @f() attributes {s = #attn.schedule<kind = "huge">}

// -----

// schedule_c2
// expected-error @+1 {{expected warps from 1 to 32, got 2147483648}}
func.func private @f() attributes {s = #attn.schedule<tile_m = 64, warps = 2147483648>}

// -----

// expected-error @+1 {{expected tile_n from 1 to 1048576, got -8}}
func.func private @f() attributes {s = #attn.schedule<tile_m = 64, tile_n = -8>}

// -----

// expected-error @+1 {{expected an integer for tile_n, got 'wide'}}
func.func private @f() attributes {s = #attn.schedule<tile_n = "wide">}

// -----

// expected-error @+1 {{expected an integer for tile_n, got 'true'}}
func.func private @f() attributes {s = #attn.schedule<tile_n = true>}

// -----

// expected-error @+1 {{expected 0 or 1 for pack_gqa, got '2'}}
func.func private @f() attributes {s = #attn.schedule<pack_gqa = 2>}

// -----

// expected-error @+1 {{expected tile_m once, got it again}}
func.func private @f() attributes {s = #attn.schedule<tile_m = 64, tile_m = 128>}

// -----

// expected-error @+1 {{unknown schedule field 'tile', expected one of kind, mma, tile_m}}
func.func private @f() attributes {s = #attn.schedule<tile = 64>}

// -----

// 0 is a number, not what is left out.
// expected-error @+1 {{expected cluster_m from 1 to 16, got 0}}
func.func private @f() attributes {s = #attn.schedule<cluster_m = 0>}

// -----

func.func @repair_c2(%o: tensor<1x2x96x64xf16>, %lse: tensor<1x2x90xf32>) {
  // expected-error @+1 {{expected lse to have the rows of output, got 'tensor<1x2x90xf32>' and 'tensor<1x2x96x64xf16>'}}
  %r:2 = attn.repair %o, %lse by %o, %lse below(-5000.0) : tensor<1x2x96x64xf16>, tensor<1x2x90xf32>
  return
}
