// Programs of several launches on sm_90 and later, which may overlap: under several schedules against float64, with the check that everything
// comes after the wait for the kernel before.

// An append, a rotation, splits of the keys and their combination.
// RUN: attn-run %source_dir/test/Simulator/Inputs/chained.mlir --device=sim:sm_90a --random=1 --verify --schedules=3 | FileCheck %s
// RUN: attn-run %source_dir/test/Simulator/Inputs/chained.mlir --device=sim:sm_100a --random=2 --verify | FileCheck %s
// RUN: attn-opt %source_dir/test/Simulator/Inputs/chained.mlir --target=sm_90a --emit=manifest -o %t.chain
// RUN: FileCheck %s --check-prefix=CHAIN < %t.chain.json
// CHAIN: "entry": "decode_append",
// CHAIN-NEXT: "grid"
// CHAIN: "entry": "decode_rows1",
// CHAIN-NEXT: "after": "programmatic"
// CHAIN: "entry": "decode",
// CHAIN-NEXT: "after": "programmatic"
// CHAIN: "entry": "decode_combine",
// CHAIN-NEXT: "after": "programmatic"

// Rows and keys that are none, too.
// RUN: attn-run %source_dir/test/Simulator/Inputs/split-kv.mlir --device=sim:sm_90a --shape 'M=33,N=150; M=1,N=0; M=0,N=33' --random=3 --verify --schedules=2 | FileCheck %s

// Gradients by two kernels, and by one that adds to those of the queries.
// RUN: attn-run %source_dir/test/Simulator/Inputs/backward.mlir --device=sim:sm_90a --shape 'M=70,N=133' --random=4 --verify --deterministic | FileCheck %s
// RUN: sed 's/causal(top_left)/causal(top_left) {schedule = #attn.schedule<fused = true>}/' %source_dir/test/Simulator/Inputs/backward.mlir > %t.fused.mlir
// RUN: attn-run %t.fused.mlir --device=sim:sm_90a --shape 'M=70,N=133' --random=5 --verify | FileCheck %s
// RUN: attn-opt %t.fused.mlir --target=sm_90a --emit=manifest -o %t.fused
// RUN: FileCheck %s --check-prefix=FUSED < %t.fused.json
// FUSED-COUNT-2: "after": "programmatic"

// The two kernels of the small-cache schedule.
// RUN: attn-run %s --function=short --device=sim:sm_90a --random=6 --verify | FileCheck %s

// CHECK: verify: PASS
// CHECK-NOT: FAIL
func.func @short(%q: tensor<1x2x40x32xf16>, %k: tensor<1x2x50x32xf16>, %v: tensor<1x2x50x32xf16>) -> tensor<1x2x40x32xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "small_cache">}
      : tensor<1x2x40x32xf16>, tensor<1x2x50x32xf16>, tensor<1x2x50x32xf16> -> tensor<1x2x40x32xf16>
  return %o : tensor<1x2x40x32xf16>
}
