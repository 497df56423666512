// Positions and bounds at the ends of 32 bits, on a CPU and in 32-bit registers.
// RUN: attn-run %s --function remainder --shape B=2,Hq=1,Hkv=1,M=17,N=128 --random 1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function remainder --shape B=2,Hq=1,Hkv=1,M=17,N=128 --random 1 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function below --shape "B=1,Hq=2,Hkv=2,M=64,N=128,arg3=1x64" --random 1 --verify | FileCheck %s %}
// RUN: attn-run %s --function below --shape "B=1,Hq=2,Hkv=2,M=64,N=128,arg3=1x64" --random 1 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function beside --shape "B=2,Hq=2,Hkv=2,M=64,N=100,arg3=2x64,arg4=2" --random 1 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function beside --shape "B=2,Hq=2,Hkv=2,M=64,N=100,arg3=2x64,arg4=2" --random 1 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: attn-run %s --function padded --random 1 --device=sim:sm_80 --allow-tf32 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function around --random 1 --verify | FileCheck %s %}
// RUN: attn-run %s --function around --random 1 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function around --random 1 --device=sim:sm_90a --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function unlimited --random 1 --verify | FileCheck %s %}
// RUN: attn-run %s --function unlimited --random 1 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function unlimited --random 1 --verify --output=%t.0.npy && attn-run %s --function all --random 1 --output=%t.1.npy && cmp %t.0.npy %t.1.npy
// CHECK: verify: PASS

!q = tensor<?x?x?x64xf16>

// The remainder of a negative number, taken as one of 64 bits without sign.
func.func @remainder(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c100 = arith.constant 100 : index
        %c50 = arith.constant 50 : index
        %distance = arith.subi %i, %j : index
        %rest = arith.remui %distance, %c100 : index
        %visible = arith.cmpi uge, %rest, %c50 : index
        attn.yield %visible : i1
      } : !q, !q, !q -> !q
  return %o : !q
}

// The end of the visible keys is below -2^31 for the rows of some tiles: bounds
// of tiles have 32 bits.
func.func @below(%q: !q, %k: !q, %v: !q, %shifts: tensor<?x?xi32>) -> !q {
  %o = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %low = arith.constant -2147483653 : index
        %factor = arith.constant 2147483700 : index
        %shift = tensor.extract %shifts[%b, %i] : tensor<?x?xi32>
        %shift64 = arith.index_cast %shift : i32 to index
        %up = arith.muli %shift64, %factor : index
        %end = arith.addi %low, %up : index
        %visible = arith.cmpi slt, %j, %end : index
        %near = arith.subi %h, %j : index
        %c-70 = arith.constant -70 : index
        %isNear = arith.cmpi sge, %near, %c-70 : index
        %both = arith.andi %visible, %isNear : i1
        attn.yield %both : i1
      } : !q, !q, !q -> !q
  return %o : !q
}

// Keys that data hides, beside a finite mask of data: both attentions, that
// which skips and that which repairs, have bounds of their own.
func.func @beside(%q: !q, %k: !q, %v: !q, %lengths: tensor<?x?xi32>, %heads: tensor<?xi32>) -> !q {
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %lowest = arith.constant -3.40282347E+38 : f32
        %first = tensor.extract %heads[%h] : tensor<?xi32>
        %first64 = arith.index_cast %first : i32 to index
        %scale = arith.constant 30 : index
        %begin = arith.muli %first64, %scale : index
        %shown = arith.cmpi sge, %j, %begin : index
        %r = arith.select %shown, %s, %lowest : f32
        attn.yield %r : f32
      } mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %scale = arith.constant 25 : index
        %length = tensor.extract %lengths[%b, %i] : tensor<?x?xi32>
        %length64 = arith.index_cast %length : i32 to index
        %rows = arith.muli %length64, %scale : index
        %end = arith.addi %rows, %i : index
        %visible = arith.cmpi slt, %j, %end : index
        attn.yield %visible : i1
      } : !q, !q, !q -> !q
  return %o : !q
}

// What repairs rows is not sliced: tiles of this head dim would be.
func.func @padded(%q: tensor<1x2x64x96xf32>, %k: tensor<1x2x64x96xf32>, %v: tensor<1x2x64x96xf32>, %padding: tensor<1x64xi32>) -> tensor<1x2x64x96xf32> {
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %c0 = arith.constant 0 : i32
        %flag = tensor.extract %padding[%b, %j] : tensor<1x64xi32>
        %shown = arith.cmpi ne, %flag, %c0 : i32
        %lowest = arith.constant -3.40282347E+38 : f32
        %r = arith.select %shown, %s, %lowest : f32
        attn.yield %r : f32
      } : tensor<1x2x64x96xf32>, tensor<1x2x64x96xf32>, tensor<1x2x64x96xf32> -> tensor<1x2x64x96xf32>
  return %o : tensor<1x2x64x96xf32>
}

// A sum of 32 bits that wraps around, of which a table of tiles is made.
func.func @around(%q: tensor<1x2x70x32xf16>, %k: tensor<1x2x300x32xf16>, %v: tensor<1x2x300x32xf16>) -> tensor<1x2x70x32xf16> {
  %o = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %c7 = arith.constant 7 : index
    %c2 = arith.constant 2 : index
    %big = arith.constant 2147483400 : i32
    %s = arith.index_cast %j : index to i32
    %t = arith.addi %s, %big : i32
    %u = arith.index_cast %i : index to i32
    %r0 = arith.cmpi slt, %t, %u : i32
    %k7 = arith.remui %j, %c7 : index
    %r1 = arith.cmpi eq, %k7, %c2 : index
    %c90 = arith.constant 90 : index
    %r2 = arith.cmpi ult, %j, %c90 : index
    %r3 = arith.andi %r1, %r2 : i1
    %r = arith.ori %r0, %r3 : i1
    attn.yield %r : i1
  } : tensor<1x2x70x32xf16>, tensor<1x2x300x32xf16>, tensor<1x2x300x32xf16> -> tensor<1x2x70x32xf16>
  return %o : tensor<1x2x70x32xf16>
}

// The largest window: all keys, whatever a position is.
func.func @unlimited(%q: tensor<1x2x20x32xf16>, %k: tensor<1x2x80x32xf16>) -> tensor<1x2x20x32xf16> {
  %o = attn.attention %q, %k, %k mask_mod sliding_window(9223372036854775807, 9223372036854775807)
      : tensor<1x2x20x32xf16>, tensor<1x2x80x32xf16>, tensor<1x2x80x32xf16> -> tensor<1x2x20x32xf16>
  return %o : tensor<1x2x20x32xf16>
}

func.func @all(%q: tensor<1x2x20x32xf16>, %k: tensor<1x2x80x32xf16>) -> tensor<1x2x20x32xf16> {
  %o = attn.attention %q, %k, %k : tensor<1x2x20x32xf16>, tensor<1x2x80x32xf16>, tensor<1x2x80x32xf16> -> tensor<1x2x20x32xf16>
  return %o : tensor<1x2x20x32xf16>
}
