// Modules beside the attention, with attentions of their own: no function here can call into them.
// RUN: attn-run %s --random=1 --verify | FileCheck %s
// RUN: attn-run %s --device=sim:sm_80 --random=1 --verify | FileCheck %s
// RUN: attn-opt %s --target=cpu --emit=llvm -o - | FileCheck %s --check-prefix=LLVM
// CHECK: verify: PASS
// LLVM-NOT: @inner
// LLVM: define {{.*}} @f(
// LLVM-NOT: @inner

!x = tensor<1x2x40x32xf16>
module @beside {
  func.func @inner(%q: !x) -> !x {
    %y = attn.attention %q, %q, %q mask_mod causal(top_left) : !x, !x, !x -> !x
    return %y : !x
  }
  module @deep {
    func.func @inner(%q: !x) -> !x {
      %y = attn.attention %q, %q, %q : !x, !x, !x -> !x
      return %y : !x
    }
  }
}
func.func @f(%q: !x) -> !x {
  %y = attn.attention %q, %q, %q : !x, !x, !x -> !x
  return %y : !x
}
