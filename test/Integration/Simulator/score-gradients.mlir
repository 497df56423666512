// The gradients of a bias, of slopes, of a table and of a sink in one manifest: the same bits from ten schedules, with all
// checks of the simulator, against float64; with dropout, and at the sizes where a tile is cut.

// RUN: attn-opt %s --attn-grad="recompute=true lse-gradient=true" -o %t.mlir
// RUN: sed s/bf16/f16/g %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.f16.mlir
// RUN: sed s/bf16/f32/g %s | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.f32.mlir
// RUN: attn-run %t.mlir --function all_grad --device=sim:sm_80 --shape M=130,N=67 --random 1 --verify --schedules %if long %{10%} %else %{2%}
// RUN: %if long %{ attn-run %t.mlir --function all_grad --device=sim:sm_90a --shape M=66,N=129 --random 2 --verify --schedules 10 %}
// RUN: %if long %{ attn-run %t.f16.mlir --function dropped_grad --device=sim:sm_80 --shape M=40,N=33 --random 3 --verify --schedules 3 %}
// RUN: attn-run %t.f16.mlir --function dropped_grad --device=sim:sm_90a --shape M=64,N=64 --random 4 --fill arg3=normal --verify --schedules %if long %{3%} %else %{2%}
// RUN: %if long %{ attn-run %t.f32.mlir --function all_grad --shape M=130,N=67 --random 5 --verify %}
// RUN: %if long %{ attn-run %t.f32.mlir --function dropped_grad --shape M=40,N=33 --random 3 --verify %}

!q = tensor<1x4x?x64xbf16>
!k = tensor<1x2x?x64xbf16>
!lse = tensor<1x4x?xf32>
func.func @all(%q: !q, %k: !k, %v: !k, %bias: tensor<1x4x1x?xbf16>, %slopes: tensor<4xf32>, %table: tensor<?x?xf32>,
               %sink: tensor<4xbf16>) -> (!q, !lse) {
  %c = arith.constant 0.02 : f32
  %o, %lse = attn.attention %q, %k, %v bias(%bias : tensor<1x4x1x?xbf16>) sink(%sink : tensor<4xbf16>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %entry = tensor.extract %table[%i, %j] : tensor<?x?xf32>
        %d = arith.subi %j, %i : index
        %di = arith.index_cast %d : index to i32
        %df = arith.sitofp %di : i32 to f32
        %u = arith.mulf %df, %c : f32
        %t = arith.mulf %slope, %u : f32
        %x = arith.addf %s, %t : f32
        %r = arith.addf %x, %entry : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right) : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @dropped(%q: !q, %k: !k, %v: !k, %bias: tensor<1x1x?x?xf32>, %scales: tensor<4xf32>, %random: tensor<2xi64>)
    -> (!q, !lse) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seed = tensor.extract %random[%c0] : tensor<2xi64>
  %offset = tensor.extract %random[%c1] : tensor<2xi64>
  %o, %lse = attn.attention %q, %k, %v bias(%bias : tensor<1x1x?x?xf32>) dropout(%seed, %offset) rate(0.3)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %scales[%h] : tensor<4xf32>
        %y = math.tanh %s : f32
        %r = arith.mulf %x, %y : f32
        attn.yield %r : f32
      }
      mask_mod causal(top_left) : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}
