// RUN: attn-opt %s --attn-tile-prove-barriers | FileCheck %s
// Each mutant of the ring is refused where it is wrong.
// RUN: sed '/^attn_tile.kernel/,/^}/{/RELEASE/d}' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=RELEASE
// RELEASE: error: deadlock: the producer of CTA 0 waits for stage 0 of the mbarriers at 32784 of CTA 0; warpgroup 0 of CTA 0 waits for stage 0 of the mbarriers at 32768 of CTA 0
// RELEASE: note: with 128 rows, 192 keys, CTA 0
// A schedule that chooses no tiles changes nothing.
// RUN: sed '/^attn_tile.kernel/,/^}/{/RELEASE/d}; s/producer_warps = 4 : i64}/producer_warps = 4 : i64, schedule = #attn.schedule<output_tile = true>}/' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: sed '/^attn_tile.kernel/,/^}/{/FREE/d}' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=FREE
// FREE: error: the arrival may count for the phase before: stage 0 of the mbarriers at 32768 of CTA 0
// RUN: sed '/^attn_tile.kernel/,/^}/{/THERE/d}' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=THERE
// THERE: error: the next phase may be over, too, when the wait looks: stage 0 of the mbarriers at 32784 of CTA 0
// RUN: sed '/^attn_tile.kernel/,/^}/{s/%%full\[%%place\], %%turn/%%full[%%place], %%other/}' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=PARITY
// PARITY: error: deadlock: warpgroup 0 of CTA 0 waits for stage 0 of the mbarriers at 32768 of CTA 0
// RUN: sed '/^!empty/s/4/5/' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: sed '/^!empty/s/4/3/' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=FEWER
// FEWER: error: the arrival may count for the phase before: stage 0 of the mbarriers at 32784 of CTA 0
// RUN: sed '/^attn_tile.kernel/,/^}/{/PRODUCT/d; s/\(.*RELEASE\)/\1\n    %%done = attn_tile.mma_wait 0, %%s : !attn_tile.fragment<64x64xf32, accumulator>/}' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: the copy may write what warpgroup 0 of CTA 0 still uses, or uses before it is there
// RUN: sed '/^!full/s/1>/2>/' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: deadlock: warpgroup 0 of CTA 0 waits for stage 0 of the mbarriers at 32768 of CTA 0
// RUN: sed '/^attn_tile.kernel/,/^}/{s/%%place = arith.remui %%j, %%c2/%%c3 = arith.constant 3 : index\n%%place = arith.remui %%j, %%c3/}' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=PERIOD
// What a count is divided by is known, too.
// RUN: sed '/^attn_tile.kernel/,/^}/{s/arith.divui %%j, %%c2/arith.divui %%j, %%n/}' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=PERIOD
// RUN: sed '/^attn_tile.kernel/,/^}/{s/arith.divui %%j, %%c2/arith.shrui %%j, %%n/}' %s | not attn-opt --attn-tile-prove-barriers 2>&1 | FileCheck %s --check-prefix=PERIOD
// PERIOD: error: expected a stage and a parity that repeat after two turns of a ring of 2

!map = !attn_tile.tensor_map<64x64xf16, swizzle = 128>
!ring = !attn_tile.shared<2x64x64xf16, swizzle = 128>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!full = !attn_tile.mbarrier<2, arrivals = 1>
!empty = !attn_tile.mbarrier<2, arrivals = 4>
!scores = !attn_tile.fragment<64x64xf32, accumulator>

// A ring of two tiles of the keys.
// CHECK-LABEL: attn_tile.kernel @ring
attn_tile.kernel @ring(%q: !attn_tile.global<?x8x?x64xf16>, %k: !attn_tile.global<?x8x?x64xf16>, %map: !map) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %n = attn_tile.dim %k, 2 : !attn_tile.global<?x8x?x64xf16>
  %tiles = arith.ceildivui %n, %c64 : index
  %ring = attn_tile.alloc {offset = 0 : i64} : !ring
  %query = attn_tile.alloc {offset = 16384 : i64} : !tile
  %full = attn_tile.alloc_mbarrier {offset = 32768 : i64} : !full
  %empty = attn_tile.alloc_mbarrier {offset = 32784 : i64} : !empty
  attn_tile.init_mbarriers %full, %empty : !full, !empty
  attn_tile.roles producer(24) {
    scf.for %j = %c0 to %tiles step %c1 {
      %place = arith.remui %j, %c2 : index
      %turns = arith.divui %j, %c2 : index
      %turn = arith.andi %turns, %c1 : index
      %other = arith.xori %turn, %c1 : index
      %row = arith.muli %j, %c64 : index
      attn_tile.mbarrier_wait %empty[%place], %other : !empty // FREE
      %t = attn_tile.stage %ring[%place] : !ring
      attn_tile.copy_tma %map[%c0, %c0, %row] to %t, %full[%place] : !map to !tile, !full
    }
  } consumer(240) {
  ^bb0(%group: index):
    scf.for %j = %c0 to %tiles step %c1 {
      %place = arith.remui %j, %c2 : index
      %turns = arith.divui %j, %c2 : index
      %turn = arith.andi %turns, %c1 : index
      %other = arith.xori %turn, %c1 : index
      attn_tile.mbarrier_wait %full[%place], %turn : !full // THERE
      %t = attn_tile.stage %ring[%place] : !ring
      %s = attn_tile.mma_async %query[%group], %t transpose_b : !tile, !tile -> !scores
      %p = attn_tile.mma_wait 0, %s : !scores // PRODUCT
      attn_tile.mbarrier_arrive %empty[%place] : !empty // RELEASE
    }
  }
  attn_tile.return
}
