// Windows over pages, whose tiles begin at multiples of their rows wherever the windows do: pages that hold several tiles, one, and a part of one; ranges
// of keys by number and by size.
// RUN: sed "s/SCHEDULE/splits = 3, tile_n = 16/; s/PAGE/64/" %s > %t.mlir && attn-run %t.mlir --device=sim:sm_80 --shape B=3,T=7,P=21 --random 1 --verify | FileCheck %s
// RUN: sed "s/SCHEDULE/splits = 5, tile_n = 64/; s/PAGE/16/" %s > %t.mlir && attn-run %t.mlir --device=sim:sm_80 --shape B=3,T=26,P=78 --random 2 --verify | FileCheck %s
// RUN: sed "s/SCHEDULE/split_keys = 96, tile_n = 48/; s/PAGE/32/" %s > %t.mlir && attn-run %t.mlir --device=sim:sm_80 --shape B=3,T=13,P=39 --random 3 --verify | FileCheck %s
// RUN: sed "s/SCHEDULE/splits = 2, tile_n = 128, warps = 2, tile_m = 32/; s/PAGE/128/" %s > %t.mlir && attn-run %t.mlir --device=sim:sm_90a --shape B=3,T=4,P=12 --random 4 --verify | FileCheck %s
// RUN: %if long %{ sed "s/SCHEDULE/splits = 3, tile_n = 32/; s/PAGE/48/" %s > %t.mlir && attn-run %t.mlir --device=sim:sm_90a --shape B=3,T=9,P=27 --random 5 --verify | FileCheck %s %}
// CHECK: verify: PASS

!pool = tensor<?x2xPAGEx64xf16>
func.func @window(%q: tensor<?x4x3x64xf16>, %kp: !pool, %vp: !pool, %table: tensor<?x?xi32>, %n: tensor<?xi32>) -> tensor<?x4x3x64xf16> {
  %k = attn.paged %kp[%table] : !pool[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%table] : !pool[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %m = attn.length query
    %l = attn.length key
    %d = arith.subi %l, %m : index
    %p = arith.addi %i, %d : index
    %c = arith.constant 37 : index
    %lo = arith.subi %p, %c : index
    %a = arith.cmpi sge, %j, %lo : index
    %e = arith.cmpi sle, %j, %p : index
    %s = arith.andi %a, %e : i1
    attn.yield %s : i1
  } {schedule = #attn.schedule<kind = "split_kv", mma = "mma_sync", SCHEDULE>} : tensor<?x4x3x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x3x64xf16>
  return %o : tensor<?x4x3x64xf16>
}
