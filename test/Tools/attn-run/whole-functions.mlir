// A function's attentions run as kernels, however many and wherever they are; the rest of it runs on the CPU.

// Two that are alike in a loop with linalg between them, then a masked one whose statistics are a result.
// RUN: attn-run %s --function layers --device=sim:sm_80 --random 1 --verify | FileCheck %s --check-prefix=LAYERS
// RUN: attn-run %s --function layers --device=sim:sm_90a --random 2 --verify 2>/dev/null | FileCheck %s --check-prefix=LAYERS
// RUN: attn-run %s --function layers --device=cpu --random 3 --verify | FileCheck %s
// LAYERS: @layers on sm_{{80|90a}} in the simulator, all but the 2 attentions on cpu: tensor<1x4x70x64xf16> tensor<1x4x70xf32>
// LAYERS: verify: PASS
// CHECK: verify: PASS
func.func @layers(%q: tensor<1x4x70x64xf16>, %k: tensor<1x4x80x64xf16>, %v: tensor<1x4x80x64xf16>,
                  %add: tensor<1x4x70x64xf16>) -> (tensor<1x4x70x64xf16>, tensor<1x4x70xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %q) -> (tensor<1x4x70x64xf16>) {
    %o = attn.attention %h, %k, %v
        : tensor<1x4x70x64xf16>, tensor<1x4x80x64xf16>, tensor<1x4x80x64xf16> -> tensor<1x4x70x64xf16>
    %empty = tensor.empty() : tensor<1x4x70x64xf16>
    %sum = linalg.add ins(%o, %add : tensor<1x4x70x64xf16>, tensor<1x4x70x64xf16>)
        outs(%empty : tensor<1x4x70x64xf16>) -> tensor<1x4x70x64xf16>
    scf.yield %sum : tensor<1x4x70x64xf16>
  }
  %o:2 = attn.attention %x, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c = arith.cmpi ule, %j, %i : index
        attn.yield %c : i1
      }
      : tensor<1x4x70x64xf16>, tensor<1x4x80x64xf16>, tensor<1x4x80x64xf16>
      -> tensor<1x4x70x64xf16>, tensor<1x4x70xf32>
  return %o#0, %o#1 : tensor<1x4x70x64xf16>, tensor<1x4x70xf32>
}

// One after the other, and a report for each call.
// RUN: rm -rf %t && mkdir -p %t
// RUN: attn-run %s --function two --device=sim --random 4 --verify --report %t/report.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT0 < %t/report.json
// RUN: FileCheck %s --check-prefix=REPORT1 < %t/report.json.1
// REPORT0: "entry": "two_attention"
// REPORT1: "entry": "two_attention_0"
func.func @two(%x: tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16> {
  %a = attn.attention %x, %x, %x
      : tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16> -> tensor<1x2x70x64xf16>
  %b = attn.attention %a, %x, %x
      : tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16> -> tensor<1x2x70x64xf16>
  return %b : tensor<1x2x70x64xf16>
}

// In a branch, taken or not.
// RUN: attn-run %s --function branch --device=sim --random 5 --fill arg1=zeros --verify | FileCheck %s
// RUN: attn-run %s --function branch --device=sim --random 5 --fill arg1=ones --verify | FileCheck %s
func.func @branch(%x: tensor<1x2x70x64xf16>, %flag: tensor<i32>) -> tensor<1x2x70x64xf16> {
  %zero = arith.constant 0 : i32
  %f = tensor.extract %flag[] : tensor<i32>
  %c = arith.cmpi ne, %f, %zero : i32
  %r = scf.if %c -> (tensor<1x2x70x64xf16>) {
    %b = attn.attention %x, %x, %x
        : tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16> -> tensor<1x2x70x64xf16>
    scf.yield %b : tensor<1x2x70x64xf16>
  } else {
    scf.yield %x : tensor<1x2x70x64xf16>
  }
  return %r : tensor<1x2x70x64xf16>
}

// In a block that may be passed by.
// RUN: attn-run %s --function block --device=sim --random 6 --fill arg1=ones --verify | FileCheck %s
func.func @block(%x: tensor<1x2x70x64xf16>, %c: i1) -> tensor<1x2x70x64xf16> {
  cf.cond_br %c, ^attend, ^skip
^attend:
  %b = attn.attention %x, %x, %x
      : tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16> -> tensor<1x2x70x64xf16>
  return %b : tensor<1x2x70x64xf16>
^skip:
  return %x : tensor<1x2x70x64xf16>
}

// Sizes that are known only when it runs.
// RUN: attn-run %s --function dynamic --device=sim --shape arg0=1x2x37x64,arg1=1x2x50x64 --random 7 --verify | FileCheck %s
func.func @dynamic(%x: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %a = attn.attention %x, %k, %k
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  %b = attn.attention %a, %x, %x
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %b : tensor<1x2x?x64xf16>
}

// Ops of arith and math on tensors around it, as a host has them.
// RUN: attn-run %s --function elementwise --device=cpu --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function elementwise --device=sim:sm_80 --random 1 --verify | FileCheck %s
func.func @elementwise(%q: tensor<1x2x40x32xf16>, %k: tensor<1x2x40x32xf16>) -> tensor<1x2x40x32xf16> {
  %sum = arith.addf %q, %k : tensor<1x2x40x32xf16>
  %near = math.tanh %sum : tensor<1x2x40x32xf16>
  %o = attn.attention %near, %k, %k mask_mod causal(top_left)
      : tensor<1x2x40x32xf16>, tensor<1x2x40x32xf16>, tensor<1x2x40x32xf16> -> tensor<1x2x40x32xf16>
  %gated = arith.mulf %o, %q : tensor<1x2x40x32xf16>
  return %gated : tensor<1x2x40x32xf16>
}
