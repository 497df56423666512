// Linear attentions within a graph, two of them that hand on a state, one tensor as query, key and value, no position at all.
// RUN: attn-run %s --function=continued --shape B=1,Hq=2,Hkv=1,M=70,B1=1,Hq1=2,Hkv1=1,M1=33 --device=sim:sm_80 --random=1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=continued --shape B=1,Hq=2,Hkv=1,M=70,B1=1,Hq1=2,Hkv1=1,M1=33 --device=sim:sm_90a --random=2 --seed=3 --verify | FileCheck %s %}
// RUN: attn-run %s --function=same --shape B=1,Hq=2,M=100 --device=sim:sm_80 --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=same --shape B=2,Hq=2,M=0 --device=sim:sm_80 --random=4 --verify | FileCheck %s
// RUN: attn-run %s --function=states --shape B=1,Hq=2,Hkv=1,M=150 --device=sim:sm_80 --random=5 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=states --shape B=1,Hq=2,Hkv=1,M=64 --device=sim:sm_90a --random=6 --verify | FileCheck %s %}
// RUN: attn-run %s --function=states --shape B=1,Hq=2,Hkv=1,M=150 --device=cpu --random=7 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=carried --shape B=1,Hq=2,Hkv=1,M=150 --device=sim:sm_80 --random=5 --verify | FileCheck %s %}
// RUN: attn-run %s --function=carried --shape B=1,Hq=2,Hkv=1,M=150 --device=cpu --random=5 --verify | FileCheck %s
// RUN: attn-run %s --function=behind --shape B=1,Hq=2,Hkv=1,M=65 --device=sim:sm_80 --random=6 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=behind --shape B=1,Hq=2,Hkv=1,M=128 --device=sim:sm_90a --random=6 --verify --allow-tf32 | FileCheck %s %}
// CHECK: verify: PASS

!q = tensor<?x?x?x32xf16>
!o = tensor<?x?x?x32xf16>
!s = tensor<?x?x32x32xf32>

func.func @continued(%q: !q, %k: !q, %v: !q, %q1: !q, %k1: !q, %v1: !q) -> (!o, !s) {
  %o, %s = attn.linear_attention %q, %k, %v : !q, !q, !q -> !o, !s
  %o1, %s1 = attn.linear_attention %q1, %k1, %v1 state(%s : !s) scale(0.1) : !q, !q, !q -> !o, !s
  return %o1, %s1 : !o, !s
}

func.func @same(%q: !q) -> !o {
  %o = attn.linear_attention %q, %q, %q : !q, !q, !q -> !o
  return %o : !o
}

// The states carried into every 64 positions, a head dim that no tile has among their sizes.
func.func @states(%q: tensor<?x?x?x24xf16>, %k: tensor<?x?x?x24xf16>, %v: tensor<?x?x?x40xf16>, %s: tensor<?x?x24x40xf32>) -> (tensor<?x?x?x40xf16>, tensor<?x?x?x24x40xf32>) {
  %decay = arith.constant dense<-0.1> : tensor<2xf32>
  %h = tensor.cast %decay : tensor<2xf32> to tensor<?xf32>
  %o, %c = attn.linear_attention %q, %k, %v slope(%h : tensor<?xf32>) state(%s : tensor<?x?x24x40xf32>)
      : tensor<?x?x?x24xf16>, tensor<?x?x?x24xf16>, tensor<?x?x?x40xf16> -> tensor<?x?x?x40xf16> states tensor<?x?x?x24x40xf32>
  return %o, %c : tensor<?x?x?x40xf16>, tensor<?x?x?x24x40xf32>
}

// The states carried into every 64 positions, in reverse those behind them.
func.func @carried(%q: tensor<?x?x?x24xf16>, %k: tensor<?x?x?x24xf16>, %v: tensor<?x?x?x40xf16>, %s: tensor<?x?x24x40xf32>) -> (tensor<?x?x?x40xf16>, tensor<?x?x?x24x40xf32>) {
  %decay = arith.constant dense<-0.1> : tensor<2xf32>
  %h = tensor.cast %decay : tensor<2xf32> to tensor<?xf32>
  %o, %c = attn.linear_attention %q, %k, %v reverse slope(%h : tensor<?xf32>) state(%s : tensor<?x?x24x40xf32>)
      : tensor<?x?x?x24xf16>, tensor<?x?x?x24xf16>, tensor<?x?x?x40xf16> -> tensor<?x?x?x40xf16> states tensor<?x?x?x24x40xf32>
  return %o, %c : tensor<?x?x?x40xf16>, tensor<?x?x?x24x40xf32>
}

// In reverse with a slope, by definition: what a chunk leaves to the one before it, of one position too, has the decay between them when it is rounded.
func.func @behind(%q: tensor<?x?x?x24xf16>, %k: tensor<?x?x?x24xf16>, %v: tensor<?x?x?x40xf16>) -> (tensor<?x?x?x40xf16>, tensor<?x?x?x24x40xf32>) {
  %slope = arith.constant dense<[-0.7, -0.03]> : tensor<2xf32>
  %o:2 = attn.linear_attention %q, %k, %v reverse slope(%slope : tensor<2xf32>)
      : tensor<?x?x?x24xf16>, tensor<?x?x?x24xf16>, tensor<?x?x?x40xf16> -> tensor<?x?x?x40xf16> states tensor<?x?x?x24x40xf32>
  return %o#0, %o#1 : tensor<?x?x?x40xf16>, tensor<?x?x?x24x40xf32>
}
