// RUN: attn-opt %s --convert-attn-tile-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

!q = !attn_tile.global<?x8x?x64xf16>
!map = !attn_tile.tensor_map<64x64xf16, swizzle = 128>

// What the kernel says of a CTA its launches say from now on, and they make its tensor maps.
// CHECK-LABEL: attn_launch.program "attention"
// CHECK: %[[Q:.*]] = attn_launch.operand input "query"
// CHECK: %[[O:.*]] = attn_launch.operand output "output"
// CHECK: %[[OF_O:.*]] = attn_launch.tensor_map %[[O]] :
// CHECK: %[[OF_Q:.*]] = attn_launch.tensor_map %[[Q]] heads(2) :
// CHECK: attn_launch.launch @kernel {{.*}} args(%[[Q]], %[[O]], %[[OF_O]], %[[OF_Q]] :
// CHECK-SAME: {cluster_ctas = 2 : i64, shared_bytes = 1024 : i64, threads = 256 : i64}
attn_launch.program "attention" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %q = attn_launch.operand input "query" vector(8) : !q
  %o = attn_launch.operand output "output" vector(2) : !q
  %c1 = arith.constant 1 : index
  attn_launch.launch @kernel grid(%c1, %c1, %c1) args(%q, %o : !q, !q)
}

// CHECK-LABEL: llvm.func @kernel
attn_tile.kernel @kernel(%q: !q, %o: !q, %of_o: !map, %of_q: !map) warps(4) attributes {
    producer_warps = 4 : i64, cluster_ctas = 2 : i64, shared_bytes = 1024 : i64,
    mapped = array<i64: 1, 0>, mapped_heads = array<i64: 1, 2>} {
  attn_tile.return
}

// -----

attn_launch.program "attention" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  attn_launch.launch @kernel grid(%c1, %c1, %c1)
}
// expected-error @+1 {{expected tensor maps to be the last parameters, and mapped to say of which others they are}}
attn_tile.kernel @kernel(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) {
  attn_tile.return
}
