// A position that 32 bits do not hold, in a graph that narrows it to 32 and widens it again: the mask is what the graph computes.
// RUN: sed 's/\[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,/[0, 1, 2, 3, 4, 5, 6, 7, 9223372036854775807, 9, 10, 11,/' %source_dir/test/Models/gemma2-tosa.mlir > %t.mlir
// RUN: attn-run %t.mlir --random=1 --verify | FileCheck %s
// The largest that they hold.
// RUN: sed 's/\[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,/[0, 1, 2, 3, 4, 5, 6, 7, 2147483647, 9, 10, 11,/' %source_dir/test/Models/gemma2-tosa.mlir > %t.fits.mlir
// RUN: attn-run %t.fits.mlir --random=1 --verify | FileCheck %s
// An offset of the diagonal whose product with a size is the least number of 64 bits.
// RUN: sed 's/dense<0> : tensor<i64>/dense<-2147483648> : tensor<i64>/' %source_dir/test/Models/jax-dot-product-attention.mlir > %t.offset.mlir
// RUN: attn-run %t.offset.mlir --random=1 --verify | FileCheck %s
// CHECK: verify: PASS
