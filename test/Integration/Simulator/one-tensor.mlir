// Keys and values, and the query too, may be one tensor.
// RUN: attn-run %s --function same --device=sim:sm_80 --shape B=1,Hq=2,Hkv=2,M=100,N=200 --random 1 --verify --schedules 3 | FileCheck %s
// RUN: %if long %{ attn-run %s --function same --device=sim:sm_90a --shape B=1,Hq=2,Hkv=2,M=200,N=300 --random 1 --verify --schedules 3 | FileCheck %s %}
// RUN: attn-run %s --function all --device=sim:sm_90a --shape arg0=1x1x300x64 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function small --device=sim:sm_80 --shape arg0=1x2x100x64 --random 1 --verify | FileCheck %s
// RUN: attn-opt %s --attn-grad="recompute=true" -o %t.mlir
// RUN: attn-run %t.mlir --function all_grad --device=sim:sm_80 --shape "arg0=1x2x100x64; arg1=1x2x100x64" --random 1 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function small_grad --device=sim:sm_80 --shape "arg0=1x2x100x64; arg1=1x2x100x64" --random 1 --verify | FileCheck %s
// CHECK: verify: PASS
func.func @same(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = attn.attention %q, %k, %k mask_mod causal(bottom_right)
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

func.func @all(%x: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = attn.attention %x, %x, %x
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

func.func @small(%x: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = attn.attention %x, %x, %x {schedule = #attn.schedule<kind = "small_cache">}
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}
