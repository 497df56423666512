// Two kernels of one program: on sm_90 and later the second starts while the first still runs.

// RUN: attn-opt %s --target=sm_90a --emit=ptx,manifest -o %t.90
// RUN: FileCheck %s --check-prefix=PTX < %t.90.ptx
// RUN: FileCheck %s --check-prefix=MANIFEST < %t.90.json
// RUN: attn-opt %s --target=sm_100a --emit=ptx -o %t.100
// RUN: FileCheck %s --check-prefix=PTX < %t.100.ptx
// RUN: attn-opt %s --attn-pipeline=target=sm_90a | FileCheck %s --check-prefix=IR

// PTX-LABEL: .entry attention(
// PTX-NOT: {{ld.global|cp.async|griddepcontrol.wait}}
// PTX: griddepcontrol.launch_dependents;
// PTX-NOT: griddepcontrol
// PTX-LABEL: .entry attention_combine(
// PTX-NOT: {{ld.global|st.global|launch_dependents}}
// PTX: griddepcontrol.wait;
// What another kernel writes does not come through the cache of constant data.
// PTX-NOT: {{griddepcontrol|ld.global.nc}}

// MANIFEST: "entry": "attention",
// MANIFEST-NEXT: "grid"
// MANIFEST: "entry": "attention_combine",
// MANIFEST-NEXT: "after": "programmatic",

// IR: attn_launch.launch @attention_combine programmatic
// IR: llvm.func @attention(
// IR: nvvm.griddepcontrol launch_dependents

// Elsewhere, and where it is not wanted, it starts after the end of the first.
// RUN: attn-opt %s --target=sm_80 --emit=ptx,manifest -o %t.80
// RUN: cat %t.80.ptx %t.80.json | FileCheck %s --check-prefix=NONE
// RUN: attn-opt %s --target=sm_90a --no-programmatic-launch --emit=ptx,manifest -o %t.off
// RUN: cat %t.off.ptx %t.off.json | FileCheck %s --check-prefix=NONE
// RUN: attn-opt %s '--attn-pipeline=target=sm_90a programmatic-launch=false' | FileCheck %s --check-prefix=NONE
// NONE: attention_combine
// NONE-NOT: {{griddepcontrol|"after"|programmatic grid}}

func.func @attention(%q: tensor<1x2x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "split_kv", splits = 4, tile_m = 16, tile_n = 16, warps = 1, stages = 2, mma = "mma_sync">}
      : tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
