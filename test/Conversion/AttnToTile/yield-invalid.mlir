// RUN: attn-opt %s --attn-to-tile --split-input-file --verify-diagnostics

// A loop whose state is not what its step computed.
module attributes {attn.normal_form = #attn.normal_form<tiled>} {
  func.func @attention(%q: tensor<4x4x64x32xf16>, %k: tensor<4x2x64x32xf16>) -> tensor<4x4x64x32xf16> {
    %empty = tensor.empty() : tensor<4x4x64x32xf16>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %result = scf.forall (%b, %h, %i) = (0, 0, 0) to (4, 4, 64) step (1, 1, 16) shared_outs(%out = %empty) -> (tensor<4x4x64x32xf16>) {
      %zero = arith.constant 0.0 : f32
      %lowest = arith.constant 0xFF800000 : f32
      %e0 = tensor.empty() : tensor<1x1x16x32xf32>
      %acc0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x1x16x32xf32>) -> tensor<1x1x16x32xf32>
      %e1 = tensor.empty() : tensor<1x1x16xf32>
      %max0 = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<1x1x16xf32>) -> tensor<1x1x16xf32>
      %e2 = tensor.empty() : tensor<1x1x16xf32>
      %sum0 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x1x16xf32>) -> tensor<1x1x16xf32>
      %hkv = affine.apply affine_map<()[s0] -> (s0 floordiv 2)>()[%h]
      %qt = tensor.extract_slice %q[%b, %h, %i, 0] [1, 1, 16, 32] [1, 1, 1, 1] : tensor<4x4x64x32xf16> to tensor<1x1x16x32xf16>
      %state:3 = scf.for %j = %c0 to %c64 step %c64 iter_args(%acc1 = %acc0, %max1 = %max0, %sum1 = %sum0) -> (tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>) {
        %kt = tensor.extract_slice %k[%b, %hkv, %j, 0] [1, 1, 64, 32] [1, 1, 1, 1] : tensor<4x2x64x32xf16> to tensor<1x1x64x32xf16>
        %vt = tensor.extract_slice %k[%b, %hkv, %j, 0] [1, 1, 64, 32] [1, 1, 1, 1] : tensor<4x2x64x32xf16> to tensor<1x1x64x32xf16>
        %acc, %max, %sum = attn.online_attention %qt, %kt, %vt offsets(%b, %h, %i, %j) outs(%acc1, %max1, %sum1) {schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 16, tile_n = 64, tile_d = 32, tile_dv = 32, stages = 2, warps = 1, query_in_registers = true, rescale_threshold = 0, persistent_ctas = 0, output_tile = false, turns = "none", exp2_on_fma = 0, pack_gqa = false, splits = 1, cluster_m = 1, cluster_d = 1, fused = false>} : tensor<1x1x16x32xf16>, tensor<1x1x64x32xf16>, tensor<1x1x64x32xf16> -> tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>
        // expected-error @below {{expected state of a step in its loop, got a value from outside}}
        scf.yield %acc0, %max, %sum : tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>
      }
      %output = attn.normalize %state#0, %state#1, %state#2 : tensor<1x1x16x32xf32>, tensor<1x1x16xf32> -> tensor<1x1x16x32xf16>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %output into %out[%b, %h, %i, 0] [1, 1, 16, 32] [1, 1, 1, 1] : tensor<1x1x16x32xf16> into tensor<4x4x64x32xf16>
      }
    }
    return %result : tensor<4x4x64x32xf16>
  }
}

// -----

// A step whose state is not that of its loop.
module attributes {attn.normal_form = #attn.normal_form<tiled>} {
  func.func @attention(%q: tensor<4x4x64x32xf16>, %k: tensor<4x2x64x32xf16>) -> tensor<4x4x64x32xf16> {
    %empty = tensor.empty() : tensor<4x4x64x32xf16>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %result = scf.forall (%b, %h, %i) = (0, 0, 0) to (4, 4, 64) step (1, 1, 16) shared_outs(%out = %empty) -> (tensor<4x4x64x32xf16>) {
      %zero = arith.constant 0.0 : f32
      %lowest = arith.constant 0xFF800000 : f32
      %e0 = tensor.empty() : tensor<1x1x16x32xf32>
      %acc0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x1x16x32xf32>) -> tensor<1x1x16x32xf32>
      %e1 = tensor.empty() : tensor<1x1x16xf32>
      %max0 = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<1x1x16xf32>) -> tensor<1x1x16xf32>
      %e2 = tensor.empty() : tensor<1x1x16xf32>
      %sum0 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x1x16xf32>) -> tensor<1x1x16xf32>
      %hkv = affine.apply affine_map<()[s0] -> (s0 floordiv 2)>()[%h]
      %qt = tensor.extract_slice %q[%b, %h, %i, 0] [1, 1, 16, 32] [1, 1, 1, 1] : tensor<4x4x64x32xf16> to tensor<1x1x16x32xf16>
      %state:3 = scf.for %j = %c0 to %c64 step %c64 iter_args(%acc1 = %acc0, %max1 = %max0, %sum1 = %sum0) -> (tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>) {
        %kt = tensor.extract_slice %k[%b, %hkv, %j, 0] [1, 1, 64, 32] [1, 1, 1, 1] : tensor<4x2x64x32xf16> to tensor<1x1x64x32xf16>
        %vt = tensor.extract_slice %k[%b, %hkv, %j, 0] [1, 1, 64, 32] [1, 1, 1, 1] : tensor<4x2x64x32xf16> to tensor<1x1x64x32xf16>
        // expected-error @below {{expected state of a step in its loop, got a value from outside}}
        %acc, %max, %sum = attn.online_attention %qt, %kt, %vt offsets(%b, %h, %i, %j) outs(%acc0, %max1, %sum1) {schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 16, tile_n = 64, tile_d = 32, tile_dv = 32, stages = 2, warps = 1, query_in_registers = true, rescale_threshold = 0, persistent_ctas = 0, output_tile = false, turns = "none", exp2_on_fma = 0, pack_gqa = false, splits = 1, cluster_m = 1, cluster_d = 1, fused = false>} : tensor<1x1x16x32xf16>, tensor<1x1x64x32xf16>, tensor<1x1x64x32xf16> -> tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>
        scf.yield %acc, %max, %sum : tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>
      }
      %output = attn.normalize %state#0, %state#1, %state#2 : tensor<1x1x16x32xf32>, tensor<1x1x16xf32> -> tensor<1x1x16x32xf16>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %output into %out[%b, %h, %i, 0] [1, 1, 16, 32] [1, 1, 1, 1] : tensor<1x1x16x32xf16> into tensor<4x4x64x32xf16>
      }
    }
    return %result : tensor<4x4x64x32xf16>
  }
}

// -----

// An output of another state than that of the loop.
module attributes {attn.normal_form = #attn.normal_form<tiled>} {
  func.func @attention(%q: tensor<4x4x64x32xf16>, %k: tensor<4x2x64x32xf16>) -> tensor<4x4x64x32xf16> {
    %empty = tensor.empty() : tensor<4x4x64x32xf16>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %result = scf.forall (%b, %h, %i) = (0, 0, 0) to (4, 4, 64) step (1, 1, 16) shared_outs(%out = %empty) -> (tensor<4x4x64x32xf16>) {
      %zero = arith.constant 0.0 : f32
      %lowest = arith.constant 0xFF800000 : f32
      %e0 = tensor.empty() : tensor<1x1x16x32xf32>
      %acc0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x1x16x32xf32>) -> tensor<1x1x16x32xf32>
      %e1 = tensor.empty() : tensor<1x1x16xf32>
      %max0 = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<1x1x16xf32>) -> tensor<1x1x16xf32>
      %e2 = tensor.empty() : tensor<1x1x16xf32>
      %sum0 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x1x16xf32>) -> tensor<1x1x16xf32>
      %hkv = affine.apply affine_map<()[s0] -> (s0 floordiv 2)>()[%h]
      %qt = tensor.extract_slice %q[%b, %h, %i, 0] [1, 1, 16, 32] [1, 1, 1, 1] : tensor<4x4x64x32xf16> to tensor<1x1x16x32xf16>
      %state:3 = scf.for %j = %c0 to %c64 step %c64 iter_args(%acc1 = %acc0, %max1 = %max0, %sum1 = %sum0) -> (tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>) {
        %kt = tensor.extract_slice %k[%b, %hkv, %j, 0] [1, 1, 64, 32] [1, 1, 1, 1] : tensor<4x2x64x32xf16> to tensor<1x1x64x32xf16>
        %vt = tensor.extract_slice %k[%b, %hkv, %j, 0] [1, 1, 64, 32] [1, 1, 1, 1] : tensor<4x2x64x32xf16> to tensor<1x1x64x32xf16>
        %acc, %max, %sum = attn.online_attention %qt, %kt, %vt offsets(%b, %h, %i, %j) outs(%acc1, %max1, %sum1) {schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 16, tile_n = 64, tile_d = 32, tile_dv = 32, stages = 2, warps = 1, query_in_registers = true, rescale_threshold = 0, persistent_ctas = 0, output_tile = false, turns = "none", exp2_on_fma = 0, pack_gqa = false, splits = 1, cluster_m = 1, cluster_d = 1, fused = false>} : tensor<1x1x16x32xf16>, tensor<1x1x64x32xf16>, tensor<1x1x64x32xf16> -> tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>
        scf.yield %acc, %max, %sum : tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>
      }
      // expected-error @below {{expected state of a step in its loop, got a value from outside}}
      %output = attn.normalize %state#0, %max0, %state#2 : tensor<1x1x16x32xf32>, tensor<1x1x16xf32> -> tensor<1x1x16x32xf16>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %output into %out[%b, %h, %i, 0] [1, 1, 16, 32] [1, 1, 1, 1] : tensor<1x1x16x32xf16> into tensor<4x4x64x32xf16>
      }
    }
    return %result : tensor<4x4x64x32xf16>
  }
}
