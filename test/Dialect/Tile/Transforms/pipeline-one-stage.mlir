// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pipeline{stages=1}))' | FileCheck %s

// The first tile is under way before the query is waited for, each further one as soon as all warps have read the one before.
// CHECK-LABEL: attn_tile.kernel @read_before
// CHECK: %[[Q:.*]] = attn_tile.alloc : <64x64xf16, swizzle = 128>
// CHECK: attn_tile.copy_async %{{.*}} to %[[Q]]
// CHECK-NEXT: attn_tile.commit_group
// CHECK: %[[RING:.*]] = attn_tile.alloc : <1x64x64xf16, swizzle = 128>
// CHECK: scf.if
// CHECK: attn_tile.copy_async
// CHECK: }
// CHECK-NEXT: attn_tile.commit_group
// CHECK: attn_tile.wait_group 1
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: attn_tile.load_operand %[[Q]]
// CHECK: scf.for %[[N:.*]] = {{.*}} iter_args
// CHECK-NEXT: attn_tile.wait_group 0
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: attn_tile.copy_async
// CHECK: attn_tile.mma
// CHECK-NEXT: gpu.barrier
// CHECK: %[[NEXT:.*]] = arith.addi %[[N]]
// CHECK: arith.cmpi slt, %[[NEXT]]
// CHECK: scf.if
// CHECK: attn_tile.stage %[[RING]]
// CHECK: attn_tile.copy_async
// CHECK: }
// CHECK-NEXT: attn_tile.commit_group
// CHECK: scf.yield
attn_tile.kernel @read_before(%q: !attn_tile.global<?x64xf16>, %k: !attn_tile.global<?x64xf16>, %o: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 0 : !attn_tile.global<?x64xf16>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %qt = attn_tile.load %q[%c0] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  %qr = attn_tile.load_operand %qt : !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf16, operand_a>
  %a = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!attn_tile.fragment<64x64xf32, accumulator>) {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %s = attn_tile.mma %qr, %kt transpose_b, %acc : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
    scf.yield %s : !attn_tile.fragment<64x64xf32, accumulator>
  }
  attn_tile.store %a, %o[%c0] : !attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.global<?x64xf16>
  attn_tile.return
}

// A forward kernel asks for keys first, and for its query in one group with them; values are the next one.
// CHECK-LABEL: attn_tile.kernel @keys_first
// CHECK-SAME: (%[[QUERY:.*]]: {{[^,]*}}, %[[KEY:.*]]: {{[^,]*}}, %[[VALUE:.*]]: {{[^,]*}}, %
// CHECK: %[[Q:.*]] = attn_tile.alloc : <64x64xf16, swizzle = 128>
// CHECK-NOT: attn_tile.copy_async
// CHECK: scf.if
// CHECK: attn_tile.copy_async %[[KEY]]
// CHECK-NEXT: attn_tile.copy_async %[[QUERY]]{{.*}} to %[[Q]]
// CHECK-NEXT: attn_tile.commit_group
// CHECK: attn_tile.copy_async %[[VALUE]]
// CHECK: } else {
// CHECK-NEXT: attn_tile.copy_async %[[QUERY]]{{.*}} to %[[Q]]
// CHECK-NEXT: attn_tile.commit_group
// CHECK-NEXT: }
// CHECK-NEXT: attn_tile.commit_group
// CHECK: attn_tile.wait_group 1
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: attn_tile.load_operand %[[Q]]
attn_tile.kernel @keys_first(%q: !attn_tile.global<?x64xf16>, %k: !attn_tile.global<?x64xf16>, %v: !attn_tile.global<?x64xf16>, %o: !attn_tile.global<?x64xf16>) warps(4) attributes {forward} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 0 : !attn_tile.global<?x64xf16>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %qt = attn_tile.load %q[%c0] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  %qr = attn_tile.load_operand %qt : !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf16, operand_a>
  %a = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!attn_tile.fragment<64x64xf32, accumulator>) {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %vt = attn_tile.load %v[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %s = attn_tile.mma %qr, %kt transpose_b, %zero : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
    %p = attn_tile.to_operand %s : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf16, operand_a>
    %next = attn_tile.mma %p, %vt, %acc : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
    scf.yield %next : !attn_tile.fragment<64x64xf32, accumulator>
  }
  attn_tile.store %a, %o[%c0] : !attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.global<?x64xf16>
  attn_tile.return
}

// Where the loop reads all, the tile of a step is copied in it.
// CHECK-LABEL: attn_tile.kernel @read_inside
// CHECK-NOT: attn_tile.wait_group
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK: attn_tile.copy_async
// CHECK: attn_tile.commit_group
// CHECK-NEXT: attn_tile.wait_group 0
// CHECK-NEXT: gpu.barrier
// CHECK: attn_tile.mma
// CHECK-NOT: attn_tile.copy_async
attn_tile.kernel @read_inside(%q: !attn_tile.global<?x64xf16>, %k: !attn_tile.global<?x64xf16>, %o: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 0 : !attn_tile.global<?x64xf16>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %qt = attn_tile.load %q[%c0] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  %a = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!attn_tile.fragment<64x64xf32, accumulator>) {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %s = attn_tile.mma %qt, %kt transpose_b, %acc : !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
    scf.yield %s : !attn_tile.fragment<64x64xf32, accumulator>
  }
  attn_tile.store %a, %o[%c0] : !attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.global<?x64xf16>
  attn_tile.return
}

// A loop that carries nothing, as of gradients that are scattered, carries no stage either.
// CHECK-LABEL: attn_tile.kernel @carries_nothing
// CHECK: %[[RING:.*]] = attn_tile.alloc : <1x64x64xf16, swizzle = 128>
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT: attn_tile.wait_group 0
// CHECK: attn_tile.stage %[[RING]][%c0
// CHECK: attn_tile.mma
// CHECK: attn_tile.store
attn_tile.kernel @carries_nothing(%q: !attn_tile.global<?x64xf16>, %k: !attn_tile.global<?x64xf16>, %o: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 0 : !attn_tile.global<?x64xf16>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %qt = attn_tile.load %q[%c0] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  %qr = attn_tile.load_operand %qt : !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf16, operand_a>
  scf.for %n = %c0 to %end step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %s = attn_tile.mma %qr, %kt transpose_b, %zero : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
    attn_tile.store %s, %o[%n] : !attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.global<?x64xf16>
  }
  attn_tile.return
}
