// The schedules of the kernels of a backward are attributes of it: of dQ, of dK and dV. A CPU has none.

// RUN: attn-opt %s --attn-select-schedule='target=sm_80 deterministic=true' | FileCheck %s
// RUN: attn-opt %s --attn-select-schedule=target=cpu | FileCheck %s --check-prefix=CPU

// CHECK: attn.attention_backward
// CHECK-SAME: {key_schedule = #attn.schedule<kind = "large_cache"{{.*}}, schedule = #attn.schedule<kind = "large_cache"
// CPU: attn.attention_backward
// CPU-NOT: key_schedule
func.func @f(%q: tensor<1x2x256x64xf16>, %lse: tensor<1x2x256xf32>) -> (tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>) {
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x256x64xf16>) lse(%lse : tensor<1x2x256xf32>) d_output(%q : tensor<1x2x256x64xf16>)
      : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
  return %d#0, %d#1, %d#2 : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
}

// Fields that it has not, which a forward beside it may have.
// RUN: attn-opt %s --attn-select-schedule='target=sm_90a schedule="splits=4 stages=2"' -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: warning: the kernels of a backward have no splits

// Nor a producer that is a choice.
// RUN: attn-opt %s --attn-select-schedule='target=sm_120 schedule=producer_warps=1' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRODUCER
// RUN: attn-opt %s --attn-select-schedule='target=sm_90a schedule=producer_warps=4' --verify-diagnostics -o /dev/null
// PRODUCER: warning: the kernels of a backward have no producer_warps
