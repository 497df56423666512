// Every kind of parameter and every op of a size, in the words of the manifest.
// RUN: attn-opt %s --target=sm_80 --emit=manifest -o - | FileCheck %s --check-prefixes=CHECK,STDOUT
// RUN: rm -rf %t && mkdir %t
// RUN: attn-opt %s --target=sm_80 --emit=ptx,manifest -o %t/twice
// RUN: FileCheck %s --check-prefixes=CHECK,FILE < %t/twice.json
// RUN: ls %t | FileCheck %s --check-prefix=LS

// CHECK:      "schema": "attn-mlir/manifest/1"
// STDOUT:     "name": "attention"
// FILE:       "name": "twice"
// CHECK-NEXT: "target": "sm_80"
// STDOUT-NEXT: "ptx": "attention.ptx"
// FILE-NEXT:  "ptx": "twice.ptx"
// CHECK:      "name": "query"
// CHECK-NEXT: "role": "input"
// CHECK-NEXT: "dtype": "f16"
// CHECK-NEXT: "shape": [
// CHECK-NEXT:   "B",
// CHECK-NEXT:   8,
// CHECK-NEXT:   "M",
// CHECK-NEXT:   64
// CHECK:      "contiguous_dims": [
// CHECK-NEXT:   3
// CHECK:      "multiple_of": 8
// CHECK:      "alignment_bytes": 16
// CHECK:      "name": "output"
// CHECK-NEXT: "role": "output"
// CHECK:      "multiple_of": 2
// CHECK:      "alignment_bytes": 8
// CHECK:      "expr": "mod(stride(query, 2), 64)"
// CHECK-NEXT: "equals": 0
// CHECK-NEXT: "message": "expected \"whole\" rows"
// CHECK:      "name": "sums"
// CHECK-NEXT: "bytes": "max(dim(query, 2), 1) * 64"
// CHECK-NEXT: "fill": "zero"
// CHECK:      "entry": "twice"
// CHECK-NEXT: "grid": [
// CHECK-NEXT:   "ceildiv(dim(query, 2), 64)",
// CHECK-NEXT:   "min(sm_count, floordiv(dim(query, 0), 2))",
// CHECK-NEXT:   8
// CHECK:      "block": [
// CHECK-NEXT:   128
// CHECK:      "cluster": [
// CHECK-NEXT:   2
// CHECK:      "shared_bytes": 1024
// A tensor: pointer, dynamic sizes, strides.
// CHECK:      "kind": "pointer",
// CHECK-NEXT: "operand": "query"
// CHECK:      "value": "dim(query, 0)"
// CHECK:      "value": "dim(query, 2)"
// CHECK:      "kind": "i64",
// CHECK-NEXT: "value": "stride(query, 0)"
// CHECK:      "value": "stride(query, 2)"
// CHECK:      "operand": "output"
// A view of a workspace, and of an operand.
// CHECK:      "workspace": "sums",
// CHECK-NEXT: "byte_offset": "0 - iteration * (64 + 4)"
// CHECK:      "kind": "i32",
// CHECK-NEXT: "value": "dim(query, 2)"
// CHECK:      "kind": "i64",
// CHECK-NEXT: "value": 16
// CHECK:      "operand": "query",
// CHECK-NEXT: "byte_offset": "stride(query, 0) * 2"
// CHECK:      "kind": "i32",
// CHECK-NEXT: "value": "iteration"
// CHECK:      "kind": "f32",
// CHECK-NEXT: "value": "0.125"
// CHECK:      "kind": "tensor_map",
// CHECK-NEXT: "operand": "query",
// CHECK-NEXT: "dtype": "f16",
// CHECK-NEXT: "dims": [
// CHECK-NEXT:   64,
// CHECK-NEXT:   "max(dim(query, 2), 1)",
// CHECK-NEXT:   8,
// CHECK-NEXT:   "max(dim(query, 0), 1)"
// CHECK:      "strides_bytes": [
// CHECK-NEXT:   "stride(query, 2) * 2",
// CHECK:      "box": [
// CHECK-NEXT:   64,
// CHECK-NEXT:   16,
// CHECK-NEXT:   4,
// CHECK-NEXT:   1
// CHECK:      "swizzle": 128
// CHECK:      "repeat": "sm_count - (sm_count - 1)"
// CHECK:      "op": "attention",
// CHECK-NEXT: "results": {
// CHECK-NEXT:   "output": 0

// LS:      twice.json
// LS-NEXT: twice.ptx
// LS-NOT:  {{.}}

!q = !attn_tile.global<?x8x?x64xf16>
!o = !attn_tile.global<4xf32>
!v = !attn_tile.global<?x16xf32>
!w = !attn_tile.global<64xf16>
!map = !attn_tile.tensor_map<64x64xf16, swizzle = 128>

module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "p" attributes {scale = 0.125 : f64, semantics = "attention"} {
    %q = attn_launch.operand input "query" vector(8) dims ["B", "Hq", "M", "D"] : !q
    %o = attn_launch.operand output "output" vector(2) result(0) : !o
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %scale = arith.constant 0.125 : f32
    %b = attn_tile.dim %q, 0 : !q
    %m = attn_tile.dim %q, 2 : !q
    %row = attn_launch.stride %q, 2 : !q
    %rest = arith.remui %row, %c64 : index
    attn_launch.constraint %rest equals 0, "expected \22whole\22 rows"
    %least = arith.maxsi %m, %c1 : index
    %bytes = arith.muli %least, %c64 : index
    %w = attn_launch.workspace "sums" bytes(%bytes) zero
    %x = arith.ceildivsi %m, %c64 : index
    %half = arith.floordivsi %b, %c2 : index
    %sms = attn_launch.sm_count
    %y = arith.minsi %sms, %half : index
    %batch = attn_launch.stride %q, 0 : !q
    %second = arith.muli %batch, %c2 : index
    %part = attn_launch.view %q[%second] : !q to !w
    %map = attn_launch.tensor_map %q heads(4) : !q to !map
    %others = arith.subi %sms, %c1 : index
    %rounds = arith.subi %sms, %others : index
    attn_launch.repeat %rounds {
    ^bb0(%iteration: index):
      %step = arith.addi %c64, %c4 : index
      %done = arith.muli %iteration, %step : index
      %offset = arith.subi %c0, %done : index
      %v = attn_launch.view %w[%offset] sizes(%m) strides(%c16) : !attn_launch.workspace to !v
      %i = arith.index_cast %iteration : index to i32
      attn_launch.launch @twice grid(%x, %y, %c8)
          args(%q, %o, %v, %part, %i, %scale, %map : !q, !o, !v, !w, i32, f32, !map)
          {threads = 128 : i64, cluster_ctas = 2 : i64, shared_bytes = 1024 : i64}
    }
  }
  llvm.func @twice(%q: !llvm.ptr<1>, %b: i32, %m: i32, %s0: i64, %s1: i64, %s2: i64, %o: !llvm.ptr<1>,
                   %v: !llvm.ptr<1>, %rows: i32, %stride: i64, %part: !llvm.ptr<1>, %i: i32, %scale: f32,
                   %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i32})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    llvm.return
  }
}
