// RUN: attn-opt %s --attn-chain-launches --split-input-file | FileCheck %s

!o = !attn_tile.global<?x64xf32>

// The first launch is as it was; each kernel waits for the one before, and then lets the next in. Sizes are parameters.
// CHECK-LABEL: attn_launch.program "three"
// CHECK: attn_launch.launch @first grid(
// CHECK: attn_launch.launch @second programmatic grid(
// CHECK: attn_launch.launch @third programmatic grid(
attn_launch.program "three" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %o = attn_launch.operand output "output" : !o
  %c1 = arith.constant 1 : index
  attn_launch.launch @first grid(%c1, %c1, %c1) args(%o : !o)
  attn_launch.launch @second grid(%c1, %c1, %c1) args(%o : !o)
  attn_launch.launch @third grid(%c1, %c1, %c1)
}

// CHECK-LABEL: attn_tile.kernel @first
// CHECK: attn_tile.dim
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: attn_tile.extract
attn_tile.kernel @first(%o: !o) warps(1) {
  %rows = attn_tile.dim %o, 0 : !o
  %row = arith.index_cast %rows : index to i64
  %x = attn_tile.extract %o[%row, %row] : !o
  attn_tile.return
}

// In a loop, after the barriers have been initialised.
// CHECK-LABEL: attn_tile.kernel @second
// CHECK: attn_tile.init_mbarriers
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: scf.for
// CHECK-NOT: griddepcontrol
attn_tile.kernel @second(%o: !o) warps(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<2, arrivals = 1>
  attn_tile.init_mbarriers %full : !attn_tile.mbarrier<2, arrivals = 1>
  scf.for %i = %c0 to %c4 step %c1 {
    %row = arith.index_cast %i : index to i64
    %x = attn_tile.extract %o[%row, %row] : !o
  }
  attn_tile.return
}

// What touches nothing waits, too: its end is that of all before it.
// CHECK-LABEL: attn_tile.kernel @third
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: attn_tile.return
attn_tile.kernel @third() warps(1) {
  attn_tile.return
}

// -----

// A CTA that ends early has waited, and rounds follow each other whole.
// CHECK-LABEL: attn_launch.program "rounds"
// CHECK: attn_launch.repeat
// CHECK: attn_launch.launch @one grid(
// CHECK: attn_launch.launch @two programmatic grid(
attn_launch.program "rounds" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c2 = arith.constant 2 : index
  attn_launch.repeat %c2 {
  ^bb0(%iteration: index):
    attn_launch.launch @one grid(%c2, %c2, %c2)
    attn_launch.launch @two grid(%c2, %c2, %c2)
  }
}
// CHECK-LABEL: attn_tile.kernel @one
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
attn_tile.kernel @one() warps(1) {
  attn_tile.return
}
// CHECK-LABEL: attn_tile.kernel @two
// CHECK: arith.cmpi
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: attn_tile.exit
attn_tile.kernel @two() warps(1) {
  %c1 = arith.constant 1 : index
  %x = gpu.block_id x
  %done = arith.cmpi sge, %x, %c1 : index
  attn_tile.exit if %done
  attn_tile.return
}

// -----

// One launch: nothing changes.
// CHECK-LABEL: attn_launch.program "alone"
// CHECK: attn_launch.launch @alone grid(
// CHECK-NOT: griddepcontrol
attn_launch.program "alone" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %c1 = arith.constant 1 : index
  attn_launch.launch @alone grid(%c1, %c1, %c1)
}
attn_tile.kernel @alone() warps(1) {
  attn_tile.return
}

// -----

// Tensor memory is allocated before others may take it.
attn_launch.program "tensors" attributes {scale = 1.0 : f64, semantics = "attention"} {
  %o = attn_launch.operand output "output" : !attn_tile.global<?x64xf32>
  %c1 = arith.constant 1 : index
  attn_launch.launch @early grid(%c1, %c1, %c1) args(%o : !attn_tile.global<?x64xf32>)
  attn_launch.launch @late grid(%c1, %c1, %c1) args(%o : !attn_tile.global<?x64xf32>)
  attn_launch.launch @early grid(%c1, %c1, %c1) args(%o : !attn_tile.global<?x64xf32>)
}
// CHECK-LABEL: attn_tile.kernel @early
// CHECK: attn_tile.alloc_tensors
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: attn_tile.extract
attn_tile.kernel @early(%o: !attn_tile.global<?x64xf32>) warps(4) {
  %c0 = arith.constant 0 : i64
  %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  %x = attn_tile.extract %o[%c0, %c0] : !attn_tile.global<?x64xf32>
  attn_tile.return
}
// CHECK-LABEL: attn_tile.kernel @late
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: attn_tile.extract
// CHECK-NEXT: attn_tile.alloc_tensors
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
attn_tile.kernel @late(%o: !attn_tile.global<?x64xf32>) warps(4) {
  %c0 = arith.constant 0 : i64
  %x = attn_tile.extract %o[%c0, %c0] : !attn_tile.global<?x64xf32>
  %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  attn_tile.return
}
