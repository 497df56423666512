// A module with several attentions: a program for each distinct one, one PTX, one bundle with the calls, one header.
// RUN: rm -rf %t && mkdir -p %t
// RUN: attn-opt %s --target=sm_80 --emit=ptx,manifest,header,report -o %t/m
// RUN: FileCheck %s --check-prefix=BUNDLE < %t/m.json
// RUN: FileCheck %s --check-prefix=PTX < %t/m.ptx
// RUN: FileCheck %s --check-prefix=HEADER < %t/m.h
// RUN: FileCheck %s --check-prefix=REPORT < %t/m.report.json
// RUN: attn-opt %s --target=sm_80 --emit=mlir -o - | FileCheck %s --check-prefix=MLIR

// BUNDLE: "schema": "attn-mlir/bundle/1"
// BUNDLE-NEXT: "name": "m"
// BUNDLE-NEXT: "target": "sm_80"
// BUNDLE-NEXT: "ptx": "m.ptx"
// BUNDLE: "name": "layers_attention",
// BUNDLE: "name": "layers_attention_0",
// BUNDLE: "name": "layers_attention_1",
// BUNDLE: "name": "other_attention",
// BUNDLE-NOT: "name": "other_attention_0"
// BUNDLE: "calls": [

// The first is in a loop: its query is what the trip before left.
// BUNDLE: "function": "layers"
// BUNDLE-NEXT: "program": "layers_attention"
// BUNDLE-NEXT: "within": [
// BUNDLE-NEXT: "scf.for"
// BUNDLE: "key": {
// BUNDLE-NEXT: "argument": 1
// BUNDLE: "results": {}
// BUNDLE: "program": "layers_attention_0"
// BUNDLE-NEXT: "inputs"
// BUNDLE-NEXT: "capture0"
// BUNDLE-NEXT: "argument": 3
// BUNDLE: "results"
// BUNDLE-NEXT: "lse": 1,
// BUNDLE-NEXT: "output": 0

// The backward reads what the forward gave.
// BUNDLE: "program": "layers_attention_1"
// BUNDLE: "lse": {
// BUNDLE-NEXT: "call": 1,
// BUNDLE-NEXT: "operand": "lse"
// BUNDLE: "output": {
// BUNDLE-NEXT: "call": 1,
// BUNDLE-NEXT: "operand": "output"
// BUNDLE: "results"
// BUNDLE-NEXT: "d_key": 3,
// BUNDLE-NEXT: "d_query": 2

// An equal one of another function shares the program; so does one of its own.
// BUNDLE: "function": "other"
// BUNDLE-NEXT: "program": "layers_attention"
// BUNDLE: "function": "other"
// BUNDLE-NEXT: "program": "other_attention"
// BUNDLE: "query": {
// BUNDLE-NEXT: "call": 3,
// BUNDLE: "function": "other"
// BUNDLE-NEXT: "program": "other_attention"

// PTX: .entry layers_attention(
// PTX: .entry layers_attention_0(
// PTX: .entry layers_attention_1_
// PTX: .entry other_attention(

// HEADER: inline constexpr char m_ptx[]
// HEADER: struct m_layers_attention_Args
// HEADER: m_layers_attention_launch(
// HEADER: m_layers_attention_0_launch(
// HEADER: m_layers_attention_1_launch(
// HEADER: m_other_attention_launch(

// REPORT: "programs"
// REPORT: "name": "layers_attention"

// MLIR: attn_launch.program "layers_attention"
// MLIR: llvm.func @layers_attention(

// The simulator runs each by its name.
// RUN: %python %S/../Simulator/Inputs/make-npy.py %t/q.npy f16 1x2x96x64 1
// RUN: %python %S/../Simulator/Inputs/make-npy.py %t/k.npy f16 1x2x80x64 2
// RUN: attn-sim %t/m.ptx --program other_attention --input %t/q.npy --input %t/k.npy --input %t/k.npy --output %t/o.npy --check
// RUN: not attn-sim %t/m.ptx --input %t/q.npy 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not attn-sim %t/m.ptx --program attention --input %t/q.npy 2>&1 | FileCheck %s --check-prefix=NO-SUCH
// NAME: attn-sim: error: --program: expected the name of a program (layers_attention, layers_attention_0, layers_attention_1, other_attention), got none
// NO-SUCH: attn-sim: error: --program: expected the name of a program (layers_attention, layers_attention_0, layers_attention_1, other_attention), got 'attention'

!q = tensor<1x2x96x64xf16>
!k = tensor<1x2x80x64xf16>
!l = tensor<1x2x96xf32>

func.func @layers(%q: !q, %k: !k, %v: !k, %slopes: tensor<2xf32>, %g: !q) -> (!q, !l, !q, !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = scf.for %i = %c0 to %c2 step %c1 iter_args(%y = %q) -> (!q) {
    %o = attn.attention %y, %k, %v : !q, !k, !k -> !q
    scf.yield %o : !q
  }
  %o, %lse = attn.attention %x, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<2xf32>
        %r = arith.addf %s, %slope : f32
        attn.yield %r : f32
      } : !q, !k, !k -> !q, !l
  %dq, %dk, %dv = attn.attention_backward %x, %k, %v output(%o : !q) lse(%lse : !l) d_output(%g : !q)
      : !q, !k, !k -> !q, !k, !k
  return %o, %lse, %dq, %dk : !q, !l, !q, !k
}

func.func @other(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v : !q, !k, !k -> !q
  %p = attn.attention %o, %k, %v scale(2.0) : !q, !k, !k -> !q
  %r = attn.attention %p, %k, %v scale(2.0) : !q, !k, !k -> !q
  return %r : !q
}
