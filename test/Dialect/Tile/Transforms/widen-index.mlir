// What comes from i64 data or a large constant is computed in i64, up to where
// it fits 32 bits again. Sums of i32 data, too; sizes and coordinates are not.

// RUN: attn-opt %s --attn-tile-widen-index --split-input-file | FileCheck %s

// CHECK-LABEL: @length
// CHECK: %[[LENGTH:.*]] = attn_tile.extract
// CHECK: %[[KEYS:.*]] = arith.index_cast {{.*}} : index to i64
// CHECK: %[[LEAST:.*]] = arith.minsi %[[LENGTH]], %[[KEYS]] : i64
// CHECK: arith.maxsi %[[LEAST]], {{.*}} : i64
attn_tile.kernel @length(%k: !attn_tile.global<?x?xf16>, %lengths: !attn_tile.global<?xi64>) warps(4) {
  %zero = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %keys = attn_tile.dim %k, 0 : <?x?xf16>
  %length = attn_tile.extract %lengths[%zero] : <?xi64>
  %end = arith.index_cast %length : i64 to index
  %least = arith.minsi %end, %keys : index
  %bound = arith.maxsi %least, %c0 : index
  scf.for %j = %c0 to %bound step %c64 {
  }
  attn_tile.return
}

// -----

// CHECK-LABEL: @window
// CHECK: %[[WIDE:.*]] = arith.addi {{.*}} : i64
// CHECK: arith.minsi %[[WIDE]], {{.*}} : i64
attn_tile.kernel @window(%k: !attn_tile.global<?x?xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %right = arith.constant 2147483647 : index
  %keys = attn_tile.dim %k, 0 : <?x?xf16>
  %row = gpu.block_id x
  %end = arith.addi %row, %right : index
  %bound = arith.minsi %end, %keys : index
  scf.for %j = %c0 to %bound step %c64 {
  }
  attn_tile.return
}

// -----

// CHECK-LABEL: @sizes
// CHECK-NOT: i64
// CHECK: attn_tile.return
attn_tile.kernel @sizes(%q: !attn_tile.global<?x?xf16>, %k: !attn_tile.global<?x?xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = attn_tile.dim %q, 0 : <?x?xf16>
  %keys = attn_tile.dim %k, 0 : <?x?xf16>
  %row = gpu.block_id x
  %offset = arith.subi %keys, %rows : index
  %end = arith.addi %row, %offset : index
  %bound = arith.minsi %end, %keys : index
  scf.for %j = %c0 to %bound step %c64 {
  }
  attn_tile.return
}

// -----

// Rounded down to a multiple of 32, a bound of 2^31 + 1 leaves 32 bits again, behind ops that fit them.

// CHECK-LABEL: @rounded
// CHECK: arith.divsi {{.*}} : i64
// CHECK: %[[BLOCKS:.*]] = arith.select {{.*}} : index
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[BLOCKS]] : index to i64
// CHECK: arith.muli %[[WIDE]], {{.*}} : i64
attn_tile.kernel @rounded(%k: !attn_tile.global<?x?xf16>, %isSeen: i1) warps(4) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %most = arith.constant 2147483649 : index
  %keys = attn_tile.dim %k, 0 : <?x?xf16>
  %end = arith.select %isSeen, %most, %c0 : index
  %blocks = arith.divsi %end, %c32 : index
  %others = arith.select %isSeen, %blocks, %c0 : index
  %whole = arith.muli %others, %c32 overflow<nsw> : index
  %bound = arith.minsi %whole, %keys : index
  scf.for %j = %c0 to %bound step %c32 {
  }
  attn_tile.return
}

// -----

// A number of a list is a coordinate where a kernel of the program wrote it, and data elsewhere. A truth is 0 or 1.

// CHECK-LABEL: @list
// CHECK: %[[OWN:.*]] = attn_tile.coordinate
// CHECK-NOT: i64
// CHECK: arith.muli %[[OWN]], %{{.*}} : index
// CHECK: arith.addi {{.*}} : index
// CHECK: %[[OTHER:.*]] = arith.index_castui %{{.*}} : i32 to index
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[OTHER]] : index to i64
// CHECK: arith.muli %[[WIDE]], {{.*}} : i64
attn_tile.kernel @list(%list: !attn_tile.global<?xi32>, %numbers: !attn_tile.global<?xi32>) warps(4) {
  %zero = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %count = attn_tile.dim %list, 0 : <?xi32>
  %number = attn_tile.extract %list[%zero] : <?xi32>
  %own = attn_tile.coordinate %number
  %first = arith.muli %own, %count : index
  %rest = arith.divui %first, %own : index
  %isOdd = arith.cmpi eq, %rest, %c0 : index
  %one = arith.index_castui %isOdd : i1 to index
  %bound = arith.addi %rest, %one : index
  scf.for %j = %c0 to %bound step %count {
  }
  %given = attn_tile.extract %numbers[%zero] : <?xi32>
  %other = arith.index_castui %given : i32 to index
  %last = arith.muli %other, %count : index
  scf.for %j = %c0 to %last step %count {
  }
  attn_tile.return
}
