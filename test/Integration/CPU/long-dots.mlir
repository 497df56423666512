// Dot products of many columns are added up in parts. What is left of a probability beside 1/2 shows the error of its score, as LSE does.
// RUN: attn-run %s --function=above_half --shape B=1,Hq=1,Hkv=1,M=130,N=8 --random=1 --trials=8 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=above_half --shape B=1,Hq=1,Hkv=1,M=130,N=8 --random=30 --trials=8 --verify | FileCheck %s %}
// RUN: attn-run %s --function=lse --shape B=1,Hq=2,Hkv=1,M=130,N=1 --random=20 --trials=8 --verify | FileCheck %s
// RUN: attn-run %s --function=odd --shape B=1,Hq=2,Hkv=1,M=33,N=70 --random=1 --trials=4 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @above_half(%q: tensor<?x?x?x128xf32>, %k: tensor<?x?x?x128xf32>, %v: tensor<?x?x?x128xf32>) -> tensor<?x?x?x128xf32> {
  %o = attn.attention %q, %k, %v prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
    %half = arith.constant 0.5 : f32
    %zero = arith.constant 0.0 : f32
    %0 = arith.subf %p, %half : f32
    %1 = arith.maximumf %0, %zero : f32
    attn.yield %1 : f32
  } : tensor<?x?x?x128xf32>, tensor<?x?x?x128xf32>, tensor<?x?x?x128xf32> -> tensor<?x?x?x128xf32>
  return %o : tensor<?x?x?x128xf32>
}

func.func @lse(%q: tensor<?x?x?x320xf32>, %k: tensor<?x?x?x320xf32>, %v: tensor<?x?x?x320xf32>) -> tensor<?x?x?xf32> {
  %o, %lse = attn.attention %q, %k, %v
    : tensor<?x?x?x320xf32>, tensor<?x?x?x320xf32>, tensor<?x?x?x320xf32> -> tensor<?x?x?x320xf32>, tensor<?x?x?xf32>
  return %lse : tensor<?x?x?xf32>
}

// Columns that are no multiple of a part's.
func.func @odd(%q: tensor<?x?x?x71xf32>, %k: tensor<?x?x?x71xf32>, %v: tensor<?x?x?x71xf32>) -> tensor<?x?x?x71xf32> {
  %o = attn.attention %q, %k, %v : tensor<?x?x?x71xf32>, tensor<?x?x?x71xf32>, tensor<?x?x?x71xf32> -> tensor<?x?x?x71xf32>
  return %o : tensor<?x?x?x71xf32>
}
