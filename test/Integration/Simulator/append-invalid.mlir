// Slots that are no rows of the pool, and equal ones: reported by --verify, and with --device-asserts by the kernels.
// RUN: %python %S/Inputs/slots.py %t
// RUN: not attn-run %s --input arg3=%tlarge.npy --random=1 --verify 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not attn-run %s --input arg3=%tequal.npy --random=1 --verify 2>&1 | FileCheck %s --check-prefix=EQUAL
// RUN: not attn-run %s --input arg3=%tlow.npy --random=1 --device=sim:sm_80 --device-asserts 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not attn-run %s --input arg3=%tequal.npy --random=1 --device=sim:sm_90a --device-asserts 2>&1 | FileCheck %s --check-prefix=DIFFER
// Without the checks nothing outside of the pool is written.
// RUN: attn-run %s --input arg3=%tlarge.npy --random=1 --device=sim:sm_80
// RUN: attn-run %s --input arg3=%tlow.npy --random=1

// LARGE: [[#@LINE+6]]:8: error: 'attn.append' op expected slots that are -1 or one of the 96 rows of the pool, got 96 of token 1
// EQUAL: [[#@LINE+5]]:8: error: 'attn.append' op expected slots that differ, got 7 of tokens 0 and 2
// ROWS: device assertion failed: expected slots that are -1 or rows of the pool
// DIFFER: device assertion failed: expected slots that differ
func.func @f(%q: tensor<1x1x16x64xf16>, %new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> (tensor<1x1x16x64xf16>, tensor<1x1x96x64xf16>) {

  %k = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  %o = attn.attention %q, %k, %k : tensor<1x1x16x64xf16>, tensor<1x1x96x64xf16>, tensor<1x1x96x64xf16> -> tensor<1x1x16x64xf16>
  return %o, %k : tensor<1x1x16x64xf16>, tensor<1x1x96x64xf16>
}
