// Several sets of sizes and of files, compiled once: each is run and judged, and one that is wrong is the exit code.

// RUN: rm -rf %t && mkdir %t
// RUN: attn-run %s --shape "M=2,N=3; M=65,N=70; M=1,N=1" --random 1 --verify | FileCheck %s
// CHECK: @f on cpu: tensor<1x2x2x16xf32>
// CHECK: verify: PASS
// CHECK: @f on cpu: tensor<1x2x65x16xf32>
// CHECK: verify: PASS
// CHECK: @f on cpu: tensor<1x2x1x16xf32>
// CHECK: verify: PASS

// What is given once holds for all; sets of files and of sizes go together.
// RUN: attn-run %s --shape M=4,N=5 --random 1 --output %t/a.npy
// RUN: attn-run %s --shape M=6,N=5 --random 2 --output %t/b.npy
// RUN: attn-run %s --shape N=5 --input "arg0=%t/a.npy; arg0=%t/b.npy" --verify | FileCheck %s --check-prefix=FILES
// FILES: @f on cpu: tensor<1x2x4x16xf32>
// FILES: verify: PASS
// FILES: @f on cpu: tensor<1x2x6x16xf32>
// FILES: verify: PASS

// Each set writes files of its own.
// RUN: attn-run %s --shape "M=4,N=5; M=6,N=5" --random 1 --output "%t/c.npy; %t/d.npy"
// RUN: cmp %t/a.npy %t/c.npy && not cmp %t/c.npy %t/d.npy
// RUN: attn-run %s --shape M=6,N=5 --random 1 --output %t/e.npy && cmp %t/d.npy %t/e.npy

// RUN: not attn-run %s --shape "M=2,N=3; M=3" --verify 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: @f on cpu: tensor<1x2x2x16xf32>
// ONE: verify: PASS
// ONE: error: no size for the dynamic dimensions N

func.func @f(%q: tensor<1x2x?x16xf32>, %k: tensor<1x2x?x16xf32>, %v: tensor<1x2x?x16xf32>) -> tensor<1x2x?x16xf32> {
  %o = attn.attention %q, %k, %v : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}
