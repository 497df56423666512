// RUN: attn-opt %s --attn-tile-backward --convert-attn-to-tile --split-input-file --verify-diagnostics

// f32
func.func @f(%q: tensor<1x2x64x64xf32>, %o: tensor<1x2x64x64xf32>, %lse: tensor<1x2x64xf32>, %do: tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32> {
  // expected-error @+1 {{expected f16 or bf16 inputs of a backward on the GPU, got 'f32'}}
  %d:3 = attn.attention_backward %q, %q, %q output(%o : tensor<1x2x64x64xf32>) lse(%lse : tensor<1x2x64xf32>) d_output(%do : tensor<1x2x64x64xf32>)
      : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>
  return %d#0 : tensor<1x2x64x64xf32>
}

// -----

// the gradient in another type
func.func @f(%q: tensor<1x2x64x64xf16>, %o: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>, %do: tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected d_output in the type of query on the GPU, got 'tensor<1x1x64x64xf32>'}}
  %d:3 = attn.attention_backward %q, %q, %q output(%o : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%do : tensor<1x2x64x64xf32>)
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}

// -----

// a head dimension that 16 bytes do not divide
func.func @f(%q: tensor<1x2x64x20xf16>, %o: tensor<1x2x64x20xf16>, %lse: tensor<1x2x64xf32>, %do: tensor<1x2x64x20xf16>) -> tensor<1x2x64x20xf16> {
  // expected-error @+1 {{expected D to be a multiple of 8, got 20}}
  %d:3 = attn.attention_backward %q, %q, %q output(%o : tensor<1x2x64x20xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%do : tensor<1x2x64x20xf16>)
      : tensor<1x2x64x20xf16>, tensor<1x2x64x20xf16>, tensor<1x2x64x20xf16> -> tensor<1x2x64x20xf16>, tensor<1x2x64x20xf16>, tensor<1x2x64x20xf16>
  return %d#0 : tensor<1x2x64x20xf16>
}

// -----

// tiles of a schedule
func.func @f(%q: tensor<1x2x64x64xf16>, %o: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>, %do: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected tile_m and tile_n to be multiples of 16 in a backward on the GPU, got 24 and 64}}
  %d:3 = attn.attention_backward %q, %q, %q output(%o : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%do : tensor<1x2x64x64xf16>) {schedule = #attn.schedule<tile_m = 24>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}

// -----

// more warps than rows of a tile
func.func @f(%q: tensor<1x2x64x64xf16>, %o: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>, %do: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected tile_m to be a multiple of 16 for each of the 8 warps of a backward on the GPU, got 64}}
  %d:3 = attn.attention_backward %q, %q, %q output(%o : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%do : tensor<1x2x64x64xf16>) {schedule = #attn.schedule<warps = 8>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}

// -----

// and of keys
func.func @f(%q: tensor<1x2x64x64xf16>, %o: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>, %do: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected tile_n to be a multiple of 16 for each of the 4 warps of a backward on the GPU, got 32}}
  %d:3 = attn.attention_backward %q, %q, %q output(%o : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%do : tensor<1x2x64x64xf16>) {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}

// -----

// a captured tensor at an index that is computed from the score
func.func @f(%q: tensor<1x2x64x64xf16>, %t: tensor<64xf32>, %lse: tensor<1x2x64xf32>) -> tensor<64xf32> {
  // expected-remark @+1 {{gradients of captured tensors are computed unfused, from whole score tensors}}
  %d:4 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>)
      captures(%t : tensor<64xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %n = arith.fptosi %s : f32 to i32
        %x = arith.index_cast %n : i32 to index
        // expected-error @+1 {{expected to read a tensor whose gradient is computed on a GPU at indices that do not depend on the score}}
        %y = tensor.extract %t[%x] : tensor<64xf32>
        %r = arith.addf %s, %y : f32
        attn.yield %r : f32
      }
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> d_captures(tensor<64xf32>)
  return %d#3 : tensor<64xf32>
}

// -----

// the gradient of a bias, of scores that are all 0
func.func @f(%q: tensor<1x2x64x64xf16>, %b: tensor<1x1x64x64xf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x1x64x64xf16> {
  // expected-error @+1 {{expected a scale from 1e-30 to 1e30, or from -1e30 to -1e-30, for the gradient of a bias, a captured tensor or a sink on a GPU, got 0.000000e+00}}
  %d:4 = attn.attention_backward %q, %q, %q bias(%b : tensor<1x1x64x64xf16>) output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>) scale(0.0)
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> d_bias(tensor<1x1x64x64xf16>)
  return %d#3 : tensor<1x1x64x64xf16>
}

// -----

// the gradient of a bias, whose scores times 1 / scale overflow
func.func @f(%q: tensor<1x2x64x64xf16>, %b: tensor<1x1x64x64xf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x1x64x64xf16> {
  // expected-error @+1 {{expected a scale from 1e-30 to 1e30, or from -1e30 to -1e-30, for the gradient of a bias, a captured tensor or a sink on a GPU, got -1.000000e-39}}
  %d:4 = attn.attention_backward %q, %q, %q bias(%b : tensor<1x1x64x64xf16>) output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>) scale(-1.0e-39)
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> d_bias(tensor<1x1x64x64xf16>)
  return %d#3 : tensor<1x1x64x64xf16>
}

// -----

// two backwards
// expected-error @+1 {{expected one backward in a function on a GPU, as --attn-tile-backward gives}}
func.func @f(%q: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>) -> (tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>) {
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>) : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  %e:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>) : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0, %e#0 : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
}

// -----

// a forward step beside it
func.func @f(%q: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>, %acc: tensor<1x2x64x64xf32>, %z: index) -> (tensor<1x2x64x64xf16>, tensor<1x2x64x64xf32>) {
  // expected-error @+1 {{expected no attention beside a backward in a function on a GPU: put it into a function of a module of its own}}
  %s:3 = attn.online_attention %q, %q, %q offsets(%z, %z, %z, %z) outs(%acc, %lse, %lse)
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf32>, tensor<1x2x64xf32>, tensor<1x2x64xf32>
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>) : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0, %s#0 : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf32>
}

// -----

// an op that no nest has
func.func @f(%q: tensor<1x1x64x64xf16>, %lse: tensor<1x1x64xf32>) -> tensor<1x1x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %z = arith.constant 0 : index
  %i = tensor.empty() : tensor<1x1x64x64xf32>
  %l = tensor.empty() : tensor<1x1x64xf32>
  %a:2 = scf.forall (%b, %h, %m) = (0, 0, 0) to (1, 1, 64) step (1, 1, 64) shared_outs(%x = %i, %y = %l) -> (tensor<1x1x64x64xf32>, tensor<1x1x64xf32>) {
    %qt = tensor.extract_slice %q[%b, %h, %m, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<1x1x64x64xf16> to tensor<1x1x64x64xf16>
    %lt = tensor.extract_slice %lse[%b, %h, %m] [1, 1, 64] [1, 1, 1] : tensor<1x1x64xf32> to tensor<1x1x64xf32>
    // expected-error @+1 {{expected only ops that --attn-tile-backward gives}}
    %ft = linalg.transpose ins(%lt : tensor<1x1x64xf32>) outs(%l : tensor<1x1x64xf32>) permutation = [1, 0, 2]
    %delta = attn.backward_delta %qt, %qt : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64xf32>
    %acc = linalg.fill ins(%zero : f32) outs(%i : tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32>
    %d = attn.backward_step %qt, %qt, %qt d_output(%qt) lse(%lt) delta(%delta) offsets(%b, %h, %m, %z) d_query(%acc : tensor<1x1x64x64xf32>) : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %x[%b, %h, %m, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<1x1x64x64xf32> into tensor<1x1x64x64xf32>
    }
  }
  %k:2 = scf.forall (%b, %h, %n) = (0, 0, 0) to (1, 1, 64) step (1, 1, 64) shared_outs(%x = %i, %y = %i) -> (tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>) {
    %qt = tensor.extract_slice %q[%b, %h, %n, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<1x1x64x64xf16> to tensor<1x1x64x64xf16>
    %lt = tensor.extract_slice %lse[%b, %h, %n] [1, 1, 64] [1, 1, 1] : tensor<1x1x64xf32> to tensor<1x1x64xf32>
    %dk, %dv = attn.backward_step %qt, %qt, %qt d_output(%qt) lse(%lt) delta(%lt) offsets(%b, %h, %z, %n) d_key(%x : tensor<1x1x64x64xf32>) d_value(%y : tensor<1x1x64x64xf32>) : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %dk into %x[%b, %h, %n, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<1x1x64x64xf32> into tensor<1x1x64x64xf32>
    }
  }
  return %a#0 : tensor<1x1x64x64xf32>
}

// -----

// a small cache without softmax
func.func @f(%q: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected normalization #attn.softmax with a fused or small-cache backward on the GPU, got #attn.none}}
  %d:3 = attn.attention_backward %q, %q, %q d_output(%q : tensor<1x2x64x64xf16>) normalization(#attn.none)
      {schedule = #attn.schedule<kind = "small_cache", mma = "mma_sync", tile_m = 64, tile_n = 64, tile_d = 64, tile_dv = 64, warps = 4, stages = 1, chunk_rows = 64>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}

// -----

func.func @no_slices(%q: tensor<1x1x16x16xf16>, %lse: tensor<1x1x16xf32>, %z: index, %t: tensor<4xf32>, %ds: tensor<1x1x16x16xf32>) {
  // expected-error @+1 {{expected tiles that are slices of tensors, as --attn-tile-backward gives}}
  %r:1 = attn.backward_step %q, %q, %q d_output(%q) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z)
    d_scores(%ds : tensor<1x1x16x16xf32>) : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16xf32>
  return
}

// -----

func.func @size(%q: tensor<1x1x64x64xf16>, %lse: tensor<1x1x64xf32>, %x: tensor<?x?xf16>) -> (tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>) {
  %rows = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf16> into tensor<?xf16>
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x1x64x64xf16>) lse(%lse : tensor<1x1x64xf32>) d_output(%q : tensor<1x1x64x64xf16>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{expected the size of an operand of the attention}}
    %size = tensor.dim %rows, %c0 : tensor<?xf16>
    %number = arith.index_cast %size : index to i32
    %f = arith.sitofp %number : i32 to f32
    %r = arith.addf %s, %f : f32
    attn.yield %r : f32
  } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
  return %d#0, %d#1, %d#2 : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
}
