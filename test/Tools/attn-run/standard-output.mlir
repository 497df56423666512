// A report and a timeline on standard output, before what else is said there.
// RUN: attn-run %s --shape=M=3,N=5 --device=sim:sm_80 --report=- | FileCheck %s --check-prefix=REPORT
// REPORT: "name": "f_attention"
// REPORT: @f on sm_80 in the simulator
// RUN: attn-run %s --shape=M=3,N=5 --device=sim:sm_80 --trace=- | FileCheck %s --check-prefix=TRACE
// TRACE: "traceEvents"
// TRACE: @f on sm_80 in the simulator

func.func @f(%q: tensor<1x1x?x16xf16>, %k: tensor<1x1x?x16xf16>, %v: tensor<1x1x?x16xf16>) -> tensor<1x1x?x16xf16> {
  %o = attn.attention %q, %k, %v : tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16> -> tensor<1x1x?x16xf16>
  return %o : tensor<1x1x?x16xf16>
}
