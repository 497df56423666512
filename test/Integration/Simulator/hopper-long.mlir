// More keys and more rows than 16 bits count: keys for one row, and rows that all
// but the last see no key.
// RUN: attn-run %s --device=sim:sm_90a --shape B=1,Hq=1,Hkv=1,M=1,N=70001 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --device=sim:sm_90a --shape B=1,Hq=1,Hkv=1,M=70001,N=1 --random 1 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @long(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right) : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16> -> tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
