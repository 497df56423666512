// ptxas takes both kernels of the backward at head dimensions 64 and 128, without
// spills.
// REQUIRES: ptxas
// RUN: attn-opt %s --target=sm_80 --emit=ptx -o %t
// RUN: %ptxas -arch=sm_80 -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
// RUN: sed s/x64x/x128x/g %s | attn-opt --target=sm_80 --emit=ptx -o %t128
// RUN: %ptxas -arch=sm_80 -v %t128.ptx -o %t.cubin 2>&1 | FileCheck %s
// CHECK: grad_dkv
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK: grad_dq
// CHECK: 0 bytes spill stores, 0 bytes spill loads
func.func @grad(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>,
                %o: tensor<?x?x?x64xf16>, %lse: tensor<?x?x?xf32>, %do: tensor<?x?x?x64xf16>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<?x?x?x64xf16>)
      lse(%lse : tensor<?x?x?xf32>) d_output(%do : tensor<?x?x?x64xf16>) mask_mod causal(bottom_right)
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>
      -> tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>
  return %d#0, %d#1, %d#2 : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>
}
