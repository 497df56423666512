// What attn-run draws for a packed tensor is data like any other, and only what
// says where sequences begin are offsets: from 0 or above to the number of rows.
// RUN: rm -rf %t && mkdir %t
// RUN: attn-run %s --random=1 --verify --output=%t/o.npy --output=%t/k.npy --output=%t/begin.npy | FileCheck %s
// RUN: %python -c "import numpy as np; k, begin = np.load('%t/k.npy'), np.load('%t/begin.npy'); assert 0.5 < k.std() < 2 and k.min() < -1 and len(np.unique(k)) > 1000, k; assert begin[0] >= 0 and (np.diff(begin) >= 0).all() and begin[-1] <= 90, begin"
// CHECK: verify: PASS
// Some draws have rows of no sequence, before the first, behind the last or both; the reference, which the compiled graph is (it returns integers), does not
// define them either.
// RUN: attn-run %s --random=3 --verify | FileCheck %s --check-prefix=GAPS
// RUN: attn-run %s --random=5 --verify | FileCheck %s --check-prefix=GAPS
// GAPS: result 0: {{[0-9]+}} of 2880 elements are of what nothing writes, and not compared
// GAPS: verify: PASS

func.func @f(%qp: tensor<90x2x16xf32>, %kp: tensor<90x2x16xf32>, %begin: tensor<4xi32>) -> (tensor<90x2x16xf32>, tensor<90x2x16xf32>, tensor<4xi32>) {
  %q = attn.ragged %qp[%begin] : tensor<90x2x16xf32>[tensor<4xi32>] -> tensor<3x2x90x16xf32>
  %k = attn.ragged %kp[%begin] : tensor<90x2x16xf32>[tensor<4xi32>] -> tensor<3x2x90x16xf32>
  %n = attn.sequence_lengths %begin : tensor<4xi32> -> tensor<3xi32>
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<3xi32>, query %n : tensor<3xi32>)
      : tensor<3x2x90x16xf32>, tensor<3x2x90x16xf32>, tensor<3x2x90x16xf32> -> tensor<3x2x90x16xf32>
  %e = tensor.empty() : tensor<90x2x16xf32>
  %p = attn.pack %o[%begin] into %e : tensor<3x2x90x16xf32>[tensor<4xi32>] into tensor<90x2x16xf32>
  return %p, %kp, %begin : tensor<90x2x16xf32>, tensor<90x2x16xf32>, tensor<4xi32>
}
