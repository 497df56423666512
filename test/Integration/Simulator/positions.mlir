// A part of a larger attention (docs/Spec.md): masks and score changes read the
// positions of its rows and keys in the whole. Forward and backward, on each
// target, against float64.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/positions.py %t
// RUN: attn-opt %s --attn-grad="recompute=true lse-gradient=true" -o %t/grad.mlir
// RUN: attn-run %s --device=cpu --input=arg3=%t/rows.npy --input=arg4=%t/keys.npy --random 1 --verify
// RUN: attn-run %s --device=sim:sm_80 --input=arg3=%t/rows.npy --input=arg4=%t/keys.npy --random 1 --verify
// RUN: attn-run %s --device=sim:sm_90a --input=arg3=%t/rows.npy --input=arg4=%t/keys.npy --random 1 --verify
// RUN: %if long %{ attn-run %t/grad.mlir --function part_grad --device=cpu --input=arg3=%t/rows.npy --input=arg4=%t/keys.npy --random 2 --verify %}
// RUN: attn-run %t/grad.mlir --function part_grad --device=sim:sm_80 --input=arg3=%t/rows.npy --input=arg4=%t/keys.npy --random 2 --verify
// RUN: %if long %{ attn-run %t/grad.mlir --function part_grad --device=sim:sm_90a --input=arg3=%t/rows.npy --input=arg4=%t/keys.npy --random 2 --verify %}

func.func @part(%q: tensor<1x4x80x64xf16>, %k: tensor<1x2x180x64xf16>, %v: tensor<1x2x180x64xf16>,
                %rows: tensor<80xi32>, %keys: tensor<180xi32>) -> (tensor<1x4x80x64xf16>, tensor<1x4x80xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %row = tensor.extract %rows[%i] : tensor<80xi32>
        %key = tensor.extract %keys[%j] : tensor<180xi32>
        %behind = arith.subi %key, %row : i32
        %f = arith.sitofp %behind : i32 to f32
        %slope = arith.constant 0.05 : f32
        %t = arith.mulf %f, %slope : f32
        %r = arith.addf %s, %t : f32
        attn.yield %r : f32
      }
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %row = tensor.extract %rows[%i] : tensor<80xi32>
        %key = tensor.extract %keys[%j] : tensor<180xi32>
        %window = arith.constant 100 : i32
        %first = arith.subi %row, %window : i32
        %not_after = arith.cmpi sle, %key, %row : i32
        %not_before = arith.cmpi sge, %key, %first : i32
        %seen = arith.andi %not_after, %not_before : i1
        attn.yield %seen : i1
      }
      : tensor<1x4x80x64xf16>, tensor<1x2x180x64xf16>, tensor<1x2x180x64xf16>
      -> tensor<1x4x80x64xf16>, tensor<1x4x80xf32>
  return %o, %lse : tensor<1x4x80x64xf16>, tensor<1x4x80xf32>
}
