// Rotary embedding and norms in front of an attention, in the spellings of graphs, and graphs that are nearly such.

// RUN: attn-opt %s --attn-raise | FileCheck %s
// RUN: attn-opt %s --attn-raise | attn-run - --function halves --random 1 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function halves --random 1 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function partial --random 2 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function interleaved --random 3 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function normed --random 4 --verify | FileCheck %s --check-prefix=PASS
// PASS: verify: PASS

#id = affine_map<(b, h, n, d) -> (b, h, n, d)>
#table = affine_map<(b, h, n, d) -> (n, d)>
#rows = affine_map<(b, n, h, d) -> (n, d)>
#heads = affine_map<(b, h, n, d) -> (h, d)>
#row = affine_map<(b, h, n, d) -> (b, h, n)>
#column = affine_map<(b, h, n, d) -> (d)>

// Llama's: x * cos + cat(-x[d/2:], x[:d/2]) * sin.
// CHECK-LABEL: @halves
// CHECK: %[[Q:.*]] = attn.rotary %arg0, %arg2, %arg3 halves : tensor<1x2x6x8xf32>, tensor<6x8xf32>
// CHECK: attn.attention %[[Q]], %arg1, %arg1
func.func @halves(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<1x2x6x8xf32> {
  %lo = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %hi = tensor.extract_slice %q[0, 0, 0, 4] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %minus_e = tensor.empty() : tensor<1x2x6x4xf32>
  %minus = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%hi : tensor<1x2x6x4xf32>) outs(%minus_e : tensor<1x2x6x4xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %r = arith.negf %a0 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x4xf32>
  %other = tensor.concat dim(3) %minus, %lo : (tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) -> tensor<1x2x6x8xf32>
  %t_e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #table, #id, #table, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %cos, %other, %sin : tensor<1x2x6x8xf32>, tensor<6x8xf32>, tensor<1x2x6x8xf32>, tensor<6x8xf32>) outs(%t_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// Four columns of eight, of which the table has a column for each pair, and
// heads behind rows.
// CHECK-LABEL: @partial
// CHECK: %[[X:.*]] = linalg.transpose ins(%arg0 : tensor<1x6x2x8xf32>)
// CHECK: attn.rotary %{{.*}}, %arg2, %arg3 halves columns [0, 4] : tensor<1x2x6x8xf32>, tensor<6x2xf32>
func.func @partial(%q: tensor<1x6x2x8xf32>, %k: tensor<1x2x6x8xf32>, %cos: tensor<6x2xf32>, %sin: tensor<6x2xf32>) -> tensor<1x2x6x8xf32> {
  %px = tensor.extract_slice %q[0, 0, 0, 0] [1, 6, 2, 2] [1, 1, 1, 1] : tensor<1x6x2x8xf32> to tensor<1x6x2x2xf32>
  %py = tensor.extract_slice %q[0, 0, 0, 2] [1, 6, 2, 2] [1, 1, 1, 1] : tensor<1x6x2x8xf32> to tensor<1x6x2x2xf32>
  %rest = tensor.extract_slice %q[0, 0, 0, 4] [1, 6, 2, 4] [1, 1, 1, 1] : tensor<1x6x2x8xf32> to tensor<1x6x2x4xf32>
  %x1_e = tensor.empty() : tensor<1x6x2x2xf32>
  %x1 = linalg.generic {indexing_maps = [#id, #rows, #id, #rows, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%px, %cos, %py, %sin : tensor<1x6x2x2xf32>, tensor<6x2xf32>, tensor<1x6x2x2xf32>, tensor<6x2xf32>) outs(%x1_e : tensor<1x6x2x2xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x6x2x2xf32>
  %y1_e = tensor.empty() : tensor<1x6x2x2xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #rows, #id, #rows, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%py, %cos, %px, %sin : tensor<1x6x2x2xf32>, tensor<6x2xf32>, tensor<1x6x2x2xf32>, tensor<6x2xf32>) outs(%y1_e : tensor<1x6x2x2xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x6x2x2xf32>
  %turned = tensor.concat dim(3) %x1, %y1 : (tensor<1x6x2x2xf32>, tensor<1x6x2x2xf32>) -> tensor<1x6x2x4xf32>
  %all = tensor.concat dim(3) %turned, %rest : (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) -> tensor<1x6x2x8xf32>
  %e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.transpose ins(%all : tensor<1x6x2x8xf32>) outs(%e : tensor<1x2x6x8xf32>) permutation = [0, 2, 1, 3]
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// Pairs of neighbours, as complex numbers by reshapes.
// CHECK-LABEL: @interleaved
// CHECK: attn.rotary %arg0, %arg2, %arg3 interleaved : tensor<1x2x6x8xf32>, tensor<6x4xf32>
func.func @interleaved(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %cos: tensor<6x4xf32>, %sin: tensor<6x4xf32>) -> tensor<1x2x6x8xf32> {
  %pairs = tensor.expand_shape %q [[0], [1], [2], [3, 4]] output_shape [1, 2, 6, 4, 2] : tensor<1x2x6x8xf32> into tensor<1x2x6x4x2xf32>
  %px = tensor.extract_slice %pairs[0, 0, 0, 0, 0] [1, 2, 6, 4, 1] [1, 1, 1, 1, 1] : tensor<1x2x6x4x2xf32> to tensor<1x2x6x4xf32>
  %py = tensor.extract_slice %pairs[0, 0, 0, 0, 1] [1, 2, 6, 4, 1] [1, 1, 1, 1, 1] : tensor<1x2x6x4x2xf32> to tensor<1x2x6x4xf32>
  %x1_e = tensor.empty() : tensor<1x2x6x4xf32>
  %x1 = linalg.generic {indexing_maps = [#id, #table, #id, #table, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%px, %cos, %py, %sin : tensor<1x2x6x4xf32>, tensor<6x4xf32>, tensor<1x2x6x4xf32>, tensor<6x4xf32>) outs(%x1_e : tensor<1x2x6x4xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x4xf32>
  %y1_e = tensor.empty() : tensor<1x2x6x4xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #table, #id, #table, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%px, %sin, %py, %cos : tensor<1x2x6x4xf32>, tensor<6x4xf32>, tensor<1x2x6x4xf32>, tensor<6x4xf32>) outs(%y1_e : tensor<1x2x6x4xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x4xf32>
  %x2 = tensor.expand_shape %x1 [[0], [1], [2], [3, 4]] output_shape [1, 2, 6, 4, 1] : tensor<1x2x6x4xf32> into tensor<1x2x6x4x1xf32>
  %y2 = tensor.expand_shape %y1 [[0], [1], [2], [3, 4]] output_shape [1, 2, 6, 4, 1] : tensor<1x2x6x4xf32> into tensor<1x2x6x4x1xf32>
  %stack = tensor.concat dim(4) %x2, %y2 : (tensor<1x2x6x4x1xf32>, tensor<1x2x6x4x1xf32>) -> tensor<1x2x6x4x2xf32>
  %t = tensor.collapse_shape %stack [[0], [1], [2], [3, 4]] : tensor<1x2x6x4x2xf32> into tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// Qwen3's: a norm, then a rotation.
// CHECK-LABEL: @normed
// CHECK: %[[N:.*]] = attn.qk_norm %arg0 weight(%arg4 : tensor<8xf32>) epsilon({{.*}}) : tensor<1x2x6x8xf32>
// CHECK: %[[R:.*]] = attn.rotary %[[N]], %arg2, %arg3 halves
// CHECK: attn.attention %[[R]]
func.func @normed(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>, %w: tensor<8xf32>) -> tensor<1x2x6x8xf32> {
  %n_zero = arith.constant dense<0.0> : tensor<1x2x6xf32>
  %n_sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q : tensor<1x2x6x8xf32>) outs(%n_zero : tensor<1x2x6xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %x = arith.mulf %a0, %a0 : f32
    %r = arith.addf %out, %x : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6xf32>
  %n_e = tensor.empty() : tensor<1x2x6x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %n_sum, %w : tensor<1x2x6x8xf32>, tensor<1x2x6xf32>, tensor<8xf32>) outs(%n_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %out: f32):
    %share = arith.constant 0.125 : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %mean = arith.mulf %a1, %share : f32
    %square = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %square : f32
    %x = arith.mulf %a0, %root : f32
    %r = arith.mulf %x, %a2 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %lo = tensor.extract_slice %n[0, 0, 0, 0] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %hi = tensor.extract_slice %n[0, 0, 0, 4] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %minus_e = tensor.empty() : tensor<1x2x6x4xf32>
  %minus = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%hi : tensor<1x2x6x4xf32>) outs(%minus_e : tensor<1x2x6x4xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %r = arith.negf %a0 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x4xf32>
  %other = tensor.concat dim(3) %minus, %lo : (tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) -> tensor<1x2x6x8xf32>
  %t_e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #table, #id, #table, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%n, %cos, %other, %sin : tensor<1x2x6x8xf32>, tensor<6x8xf32>, tensor<1x2x6x8xf32>, tensor<6x8xf32>) outs(%t_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// Both signs are the same: no rotation.
// CHECK-LABEL: @no_sign
// CHECK-NOT: attn.rotary
// CHECK: attn.attention
func.func @no_sign(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<1x2x6x8xf32> {
  %lo = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %hi = tensor.extract_slice %q[0, 0, 0, 4] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %minus_e = tensor.empty() : tensor<1x2x6x4xf32>
  %minus = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%hi : tensor<1x2x6x4xf32>) outs(%minus_e : tensor<1x2x6x4xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %r = arith.addf %a0, %a0 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x4xf32>
  %other = tensor.concat dim(3) %minus, %lo : (tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) -> tensor<1x2x6x8xf32>
  %t_e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #table, #id, #table, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %cos, %other, %sin : tensor<1x2x6x8xf32>, tensor<6x8xf32>, tensor<1x2x6x8xf32>, tensor<6x8xf32>) outs(%t_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// Angles of heads, not of positions.
// CHECK-LABEL: @of_heads
// CHECK-NOT: attn.rotary
// CHECK: attn.attention
func.func @of_heads(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<1x2x6x8xf32> {
  %lo = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %hi = tensor.extract_slice %q[0, 0, 0, 4] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %minus_e = tensor.empty() : tensor<1x2x6x4xf32>
  %minus = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%hi : tensor<1x2x6x4xf32>) outs(%minus_e : tensor<1x2x6x4xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %r = arith.negf %a0 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x4xf32>
  %other = tensor.concat dim(3) %minus, %lo : (tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) -> tensor<1x2x6x8xf32>
  %t_e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #heads, #id, #heads, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %cos, %other, %sin : tensor<1x2x6x8xf32>, tensor<2x8xf32>, tensor<1x2x6x8xf32>, tensor<2x8xf32>) outs(%t_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// The halves of another tensor.
// CHECK-LABEL: @of_two
// CHECK-NOT: attn.rotary
// CHECK: attn.attention
func.func @of_two(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<1x2x6x8xf32> {
  %lo = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %hi = tensor.extract_slice %k[0, 0, 0, 4] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %minus_e = tensor.empty() : tensor<1x2x6x4xf32>
  %minus = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%hi : tensor<1x2x6x4xf32>) outs(%minus_e : tensor<1x2x6x4xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %r = arith.negf %a0 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x4xf32>
  %other = tensor.concat dim(3) %minus, %lo : (tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) -> tensor<1x2x6x8xf32>
  %t_e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #table, #id, #table, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %cos, %other, %sin : tensor<1x2x6x8xf32>, tensor<6x8xf32>, tensor<1x2x6x8xf32>, tensor<6x8xf32>) outs(%t_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// Halves that are not exchanged.
// CHECK-LABEL: @not_exchanged
// CHECK-NOT: attn.rotary
// CHECK: attn.attention
func.func @not_exchanged(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<1x2x6x8xf32> {
  %lo = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %hi = tensor.extract_slice %q[0, 0, 0, 4] [1, 2, 6, 4] [1, 1, 1, 1] : tensor<1x2x6x8xf32> to tensor<1x2x6x4xf32>
  %minus_e = tensor.empty() : tensor<1x2x6x4xf32>
  %minus = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%hi : tensor<1x2x6x4xf32>) outs(%minus_e : tensor<1x2x6x4xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %r = arith.negf %a0 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x4xf32>
  %other = tensor.concat dim(3) %lo, %minus : (tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) -> tensor<1x2x6x8xf32>
  %t_e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #table, #id, #table, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %cos, %other, %sin : tensor<1x2x6x8xf32>, tensor<6x8xf32>, tensor<1x2x6x8xf32>, tensor<6x8xf32>) outs(%t_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %out: f32):
    %x = arith.mulf %a0, %a1 : f32
    %y = arith.mulf %a2, %a3 : f32
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// A sum of squares that is no mean.
// CHECK-LABEL: @no_mean
// CHECK-NOT: attn.qk_norm
// CHECK: attn.attention
func.func @no_mean(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %w: tensor<8xf32>) -> tensor<1x2x6x8xf32> {
  %t_zero = arith.constant dense<0.0> : tensor<1x2x6xf32>
  %t_sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q : tensor<1x2x6x8xf32>) outs(%t_zero : tensor<1x2x6xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %x = arith.mulf %a0, %a0 : f32
    %r = arith.addf %out, %x : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6xf32>
  %t_e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %t_sum, %w : tensor<1x2x6x8xf32>, tensor<1x2x6xf32>, tensor<8xf32>) outs(%t_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %out: f32):
    %share = arith.constant 1.0 : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %mean = arith.mulf %a1, %share : f32
    %square = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %square : f32
    %x = arith.mulf %a0, %root : f32
    %r = arith.mulf %x, %a2 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// The root mean square of other rows.
// CHECK-LABEL: @of_other_rows
// CHECK-NOT: attn.qk_norm
// CHECK: attn.attention
func.func @of_other_rows(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %w: tensor<8xf32>) -> tensor<1x2x6x8xf32> {
  %t_zero = arith.constant dense<0.0> : tensor<1x2x6xf32>
  %t_sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%k : tensor<1x2x6x8xf32>) outs(%t_zero : tensor<1x2x6xf32>) {
  ^bb0(%a0: f32, %out: f32):
    %x = arith.mulf %a0, %a0 : f32
    %r = arith.addf %out, %x : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6xf32>
  %t_e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %t_sum, %w : tensor<1x2x6x8xf32>, tensor<1x2x6xf32>, tensor<8xf32>) outs(%t_e : tensor<1x2x6x8xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %out: f32):
    %share = arith.constant 0.125 : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %mean = arith.mulf %a1, %share : f32
    %square = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %square : f32
    %x = arith.mulf %a0, %root : f32
    %r = arith.mulf %x, %a2 : f32
    linalg.yield %r : f32
  } -> tensor<1x2x6x8xf32>
  %o = attn.attention %t, %k, %k : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}
