// A loop with a maximum that is no chain of steps is left alone, and said to be.
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-overlap-softmax))' --verify-diagnostics

attn_tile.kernel @copy(%n: index) warps(4) attributes {forward, producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  attn_tile.roles producer(56) {
    %c = arith.constant 0 : index
  } consumer(256) {
  ^bb0(%warpgroup: index):
    // expected-remark @below {{softmax does not overlap products: expected a loop of steps of online attention}}
    scf.for %i = %c0 to %n step %c1 {
      %s = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
      %m = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, row>
      %x = attn_tile.row_reduce max %s, %m
          : !attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.fragment<64xf32, row>
    }
  }
  attn_tile.return
}
