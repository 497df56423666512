// Ragged batches by lengths that are read: 0, 1, around a tile, all keys. Rows of an empty sequence give 0 and LSE = -inf.
// RUN: %python %S/check_lengths.py %s cpu | FileCheck %s --check-prefix=PASS
// RUN: %python %S/check_lengths.py %s sim:sm_80 | FileCheck %s --check-prefix=PASS
// RUN: %python %S/check_lengths.py %s sim:sm_90a | FileCheck %s --check-prefix=PASS
// PASS: @padding passes
// PASS: @causal passes
// PASS: @existing passes
// PASS: @paged passes
// PASS: @window passes

func.func @padding(%q: tensor<6x2x100x32xf16>, %k: tensor<6x1x150x32xf16>, %v: tensor<6x1x150x32xf16>,
                   %lengths: tensor<6xi32>) -> (tensor<6x2x100x32xf16>, tensor<6x2x100xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %length = tensor.extract %lengths[%b] : tensor<6xi32>
        %n = arith.index_cast %length : i32 to index
        %visible = arith.cmpi slt, %j, %n : index
        attn.yield %visible : i1
      } {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 32>}
      : tensor<6x2x100x32xf16>, tensor<6x1x150x32xf16>, tensor<6x1x150x32xf16>
      -> tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
  return %o, %lse : tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
}

// Both sequences end at the length: the last row sees the last key.
func.func @causal(%q: tensor<6x2x100x32xf16>, %k: tensor<6x1x150x32xf16>, %v: tensor<6x1x150x32xf16>,
                  %lengths: tensor<6xi32>) -> (tensor<6x2x100x32xf16>, tensor<6x2x100xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c100 = arith.constant 100 : index
        %length = tensor.extract %lengths[%b] : tensor<6xi32>
        %n = arith.index_cast %length : i32 to index
        %shift = arith.subi %n, %c100 : index
        %last = arith.addi %i, %shift : index
        %visible = arith.cmpi sle, %j, %last : index
        attn.yield %visible : i1
      } {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 32>}
      : tensor<6x2x100x32xf16>, tensor<6x1x150x32xf16>, tensor<6x1x150x32xf16>
      -> tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
  return %o, %lse : tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
}

// A width that is read outside of the attention.
func.func @window(%q: tensor<6x2x100x32xf16>, %k: tensor<6x1x150x32xf16>, %v: tensor<6x1x150x32xf16>,
                  %lengths: tensor<6xi32>) -> (tensor<6x2x100x32xf16>, tensor<6x2x100xf32>) {
  %c3 = arith.constant 3 : index
  %number = tensor.extract %lengths[%c3] : tensor<6xi32>
  %width = arith.index_cast %number : i32 to index
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %last = arith.addi %i, %width : index
        %visible = arith.cmpi sgt, %j, %last : index
        attn.yield %visible : i1
      } {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 32>}
      : tensor<6x2x100x32xf16>, tensor<6x1x150x32xf16>, tensor<6x1x150x32xf16>
      -> tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
  return %o, %lse : tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
}

func.func @existing(%q: tensor<6x2x100x32xf16>, %k: tensor<6x1x150x32xf16>, %v: tensor<6x1x150x32xf16>,
                    %lengths: tensor<6xi32>) -> (tensor<6x2x100x32xf16>, tensor<6x2x100xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %lengths : tensor<6xi32>)
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 32>}
      : tensor<6x2x100x32xf16>, tensor<6x1x150x32xf16>, tensor<6x1x150x32xf16>
      -> tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
  return %o, %lse : tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
}

func.func @paged(%q: tensor<6x2x100x32xf16>, %kp: tensor<62x1x15x32xf16>, %vp: tensor<62x1x15x32xf16>, %table: tensor<6x10xi32>,
                 %lengths: tensor<6xi32>) -> (tensor<6x2x100x32xf16>, tensor<6x2x100xf32>) {
  %k = attn.paged %kp[%table] : tensor<62x1x15x32xf16>[tensor<6x10xi32>] -> tensor<6x1x150x32xf16>
  %v = attn.paged %vp[%table] : tensor<62x1x15x32xf16>[tensor<6x10xi32>] -> tensor<6x1x150x32xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %lengths : tensor<6xi32>)
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 32>}
      : tensor<6x2x100x32xf16>, tensor<6x1x150x32xf16>, tensor<6x1x150x32xf16>
      -> tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
  return %o, %lse : tensor<6x2x100x32xf16>, tensor<6x2x100xf32>
}
