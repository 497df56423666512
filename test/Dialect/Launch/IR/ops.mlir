// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!q = !attn_tile.global<?x8x?x64xf16>

// A program in rounds, over part of a workspace.
// CHECK-LABEL: attn_launch.program "attention" attributes {deterministic, scale = 1.250000e-01 : f64, semantics = "attention"}
attn_launch.program "attention" attributes {deterministic, scale = 0.125 : f64, semantics = "attention"} {
  // CHECK: %[[Q:.*]] = attn_launch.operand input "query" vector(8) argument(0) : <?x8x?x64xf16>
  // CHECK: %[[O:.*]] = attn_launch.operand output "output" result(0) dims ["B", "Hq", "M", "Dv"] : <?x8x?x64xf16>
  %q = attn_launch.operand input "query" vector(8) argument(0) : !q
  %o = attn_launch.operand output "output" result(0) dims ["B", "Hq", "M", "Dv"] : !q
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %m = attn_tile.dim %q, 2 : !q
  // CHECK: attn_launch.stride %[[Q]], 2 : <?x8x?x64xf16>
  %stride = attn_launch.stride %q, 2 : !q
  // CHECK: %[[SMS:.*]] = attn_launch.sm_count
  %sms = attn_launch.sm_count
  %rest = arith.remui %stride, %c64 : index
  // CHECK: attn_launch.constraint %{{.*}} equals 0, "expected whole rows"
  attn_launch.constraint %rest equals 0, "expected whole rows"
  %bytes = arith.muli %m, %c64 : index
  // CHECK: %[[W:.*]] = attn_launch.workspace "sums" bytes(%{{.*}}) zero
  %w = attn_launch.workspace "sums" bytes(%bytes) zero
  // CHECK: attn_launch.repeat %[[SMS]]
  attn_launch.repeat %sms {
  ^bb0(%iteration: index):
    // CHECK: %[[V:.*]] = attn_launch.view %[[W]][%{{.*}}] sizes(%{{.*}}) strides(%{{.*}}) : !attn_launch.workspace to <?x16xf32>
    %v = attn_launch.view %w[%c0] sizes(%m) strides(%c64) : !attn_launch.workspace to !attn_tile.global<?x16xf32>
    %round = arith.index_cast %iteration : index to i32
    // CHECK: attn_launch.launch @kernel grid(%{{.*}}, %{{.*}}, %{{.*}}) args(%[[Q]], %[[O]], %[[V]], %{{.*}} : {{.*}}, i32)
    attn_launch.launch @kernel grid(%m, %c1, %c1) args(%q, %o, %v, %round : !q, !q, !attn_tile.global<?x16xf32>, i32)
  }
}

attn_tile.kernel @kernel(%q: !q, %o: !q, %v: !attn_tile.global<?x16xf32>, %round: i32) warps(4) {
  attn_tile.return
}

// Of a function: what a CTA has is known, and so are its tensor maps.
// CHECK-LABEL: attn_launch.program "lowered"
attn_launch.program "lowered" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %q = attn_launch.operand input "query" vector(8) : !attn_tile.global<?x64xf16>
  %c1 = arith.constant 1 : index
  // CHECK: attn_launch.tensor_map %{{.*}} heads(4) : <?x64xf16> to <64x64xf16, swizzle = 128>
  %map = attn_launch.tensor_map %q heads(4) : !attn_tile.global<?x64xf16> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
  %p = attn_launch.operand input "packed" : !attn_tile.global<?x8x64xf16>
  // CHECK: attn_launch.tensor_map %{{.*}} packed : <?x8x64xf16> to <64x64xf16, swizzle = 128>
  %packed = attn_launch.tensor_map %p packed : !attn_tile.global<?x8x64xf16> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
  // CHECK: attn_launch.launch @function {{.*}} {cluster_ctas = 2 : i64, shared_bytes = 1024 : i64, threads = 384 : i64}
  attn_launch.launch @function grid(%c1, %c1, %c1)
      args(%q, %map : !attn_tile.global<?x64xf16>, !attn_tile.tensor_map<64x64xf16, swizzle = 128>)
      {threads = 384 : i64, cluster_ctas = 2 : i64, shared_bytes = 1024 : i64}
}

llvm.func @function(%q: !llvm.ptr<1>, %m: i32, %stride: i64, %map: !llvm.ptr)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  llvm.return
}
