// The kernel of an attention from its PTX and manifest alone, against float64,
// the same under every schedule. What the function computes around the
// attention runs on the CPU.

// RUN: attn-run %s --function plain --device=sim --shape M=70,N=90 --random 1 --verify --schedules 10 | FileCheck %s --check-prefix=PLAIN
// PLAIN: @plain on sm_80 in the simulator: tensor<1x4x70x64xf16> tensor<1x4x70xf32>
// PLAIN: verify: PASS

// RUN: attn-run %s --function around --device=sim:sm_90a --shape N=70 --shape arg0=2x70x2x32 --shape arg2=70 --random 1 --verify --seed 3 | FileCheck %s --check-prefix=AROUND
// AROUND: @around on sm_90a in the simulator, all but the attention on cpu: tensor<2x2x70x32xbf16> tensor<2x70x2x32xbf16>
// AROUND: verify: PASS

// Inputs and outputs are files as on the CPU; both devices agree but for
// rounding.
// RUN: rm -rf %t && mkdir -p %t
// RUN: attn-run %s --function shared --device=sim --shape arg0=1x2x40x64 --shape arg1=1x2x40x32 --output %t/sim.npy | FileCheck %s --check-prefix=SHARED
// RUN: attn-run %s --function shared --device=cpu --shape arg0=1x2x40x64 --shape arg1=1x2x40x32 --output %t/cpu.npy
// RUN: %python %S/Inputs/npy.py close %t/sim.npy %t/cpu.npy | FileCheck %s --check-prefix=CLOSE
// SHARED: @shared on sm_80 in the simulator: tensor<1x2x40x32xf16>
// CLOSE: largest difference below 0.002

func.func @plain(%q: tensor<1x4x?x64xf16>, %k: tensor<1x2x?x64xf16>,
                 %v: tensor<1x2x?x64xf16>)
    -> (tensor<1x4x?x64xf16>, tensor<1x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
      : tensor<1x4x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
      -> tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
}

// The operands are transposed before, the result is after; one argument is
// returned; the mask reads an argument, the score a constant.
func.func @around(%x: tensor<2x?x2x32xbf16>, %v: tensor<2x2x?x32xbf16>,
                  %mask: tensor<?xi1>)
    -> (tensor<2x2x?x32xbf16>, tensor<2x?x2x32xbf16>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x2x32xbf16>
  %half = arith.constant 0.5 : f32
  %empty = tensor.empty(%n) : tensor<2x2x?x32xbf16>
  %k = linalg.transpose ins(%x : tensor<2x?x2x32xbf16>)
      outs(%empty : tensor<2x2x?x32xbf16>) permutation = [0, 2, 1, 3]
  %o = attn.attention %k, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %t = arith.mulf %s, %half : f32
        attn.yield %t : f32
      }
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %r = tensor.extract %mask[%j] : tensor<?xi1>
        attn.yield %r : i1
      }
      : tensor<2x2x?x32xbf16>, tensor<2x2x?x32xbf16>, tensor<2x2x?x32xbf16>
      -> tensor<2x2x?x32xbf16>
  %result = tensor.empty(%n) : tensor<2x?x2x32xbf16>
  %t = linalg.transpose ins(%o : tensor<2x2x?x32xbf16>)
      outs(%result : tensor<2x?x2x32xbf16>) permutation = [0, 2, 1, 3]
  return %v, %t : tensor<2x2x?x32xbf16>, tensor<2x?x2x32xbf16>
}

// One argument is query and key.
func.func @shared(%x: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x32xf16>)
    -> tensor<?x?x?x32xf16> {
  %o = attn.attention %x, %x, %v
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x32xf16>
      -> tensor<?x?x?x32xf16>
  return %o : tensor<?x?x?x32xf16>
}
