//===- Passes.td - Passes on the attn_tile dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define ATTN_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "attn/Dialect/Tile/Transforms/ProductPasses.td"
include "mlir/Pass/PassBase.td"

def StoreByPanelsPass : Pass<"attn-tile-store-by-panels", "::attn::tile::KernelOp"> {
  let summary = "Write an output through a tile of one panel";
  let description = [{
    What comes from tensor memory is written some columns after the other
    (`--attn-tile-slice-outputs`). An output tile (`output_tile` of the schedule) is then
    needed for as many columns as a panel of its swizzle has, 64 of 16 bits: each
    panel is copied to global memory when it is written, and the next one is
    written when that copy has read it. So it fits beside rings that leave no
    room for a whole output.

    Requires: `--attn-tile-stage-stores`. Ensures: the output tile of a kernel with tensor memory has one panel.

    Example: 128 columns go through 64.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-store-by-panels))'
    attn_tile.kernel @output(%map: !attn_tile.tensor_map<128x64xf16, swizzle = 128>) warps(4)
        attributes {producer_warps = 4 : i64, schedule = #attn.schedule<output_tile = true>} {
      %c0 = arith.constant 0 : index
      %sums = attn_tile.alloc_tensors : !attn_tile.tensor<128x128xf32>
      %tile = attn_tile.alloc : <128x128xf16, swizzle = 128>
      attn_tile.roles producer(56) {
      } consumer(240) {
      ^bb0(%group: index):
        %o = attn_tile.load_tensor %sums[%group] : <128x128xf32> -> <128x128xf32, accumulator>
        attn_tile.wait_stores
        attn_tile.store_shared %o to %tile : <128x128xf32, accumulator> to <128x128xf16, swizzle = 128>
        attn_tile.store_tma %tile[%group] to %map[%c0, %c0, %c0] async
            : <128x128xf16, swizzle = 128> to <128x64xf16, swizzle = 128>
        attn_tile.wait_stores
        attn_tile.free_tensors %sums : !attn_tile.tensor<128x128xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numOutputs", "outputs-by-panels", "Number of outputs that go through one panel">
  ];
}

def PipelinePass : Pass<"attn-tile-pipeline", "::attn::tile::KernelOp"> {
  let summary = "Stage the loads of the key loops through shared memory";
  let description = [{
    Replaces each `attn_tile.load` by asynchronous copies. Tiles that are loaded
    outside the key loops (the query) get a buffer of their own. The tiles of
    the key loops get rings of `stages` tiles, shared by all loops of the chain
    (docs/Forms.md: each loop starts where the one before ends), so that the
    copies for the next tile are under way across loop boundaries:

    ```
    copy query; for s in [0, stages - 1): copy tile s; commit    (prologue)
    for each tile j:
      wait for the group of tile j; barrier
      copy tile j + stages - 1 into the stage that tile j - 1 left; commit
      compute on stage j mod stages
    ```

    The one barrier of a step serves both ways: tile j is there for all warps,
    and all warps are done with tile j - 1. With one stage a step waits for the
    tile that it copies, behind a second barrier: other CTAs of the SM have work
    meanwhile. Where something is read before the loops (a query in registers)
    it is waited for behind the prologue, which then copies tile 0 with one stage
    as well, and a step copies tile j + 1 at its end. A forward kernel whose
    prologue copies tiles copies the query behind the first load of tile 0, its
    keys, in one group with it, so that it asks for keys first.

    In a persistent kernel, whose tiles a loop with the step `gpu.grid_dim` takes
    one after the other, each role has that loop: the producer runs ahead into the
    next tile, and the query's tile has an empty barrier too.

    Requires: `attn_tile.load`s in a chain of scf.for with one step. Ensures: no
    `attn_tile.load` is left.

    Example: two stages of keys.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pipeline{stages=2}))'
    attn_tile.kernel @keys(%k: !attn_tile.global<?x64xf16>) warps(4) {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %end = attn_tile.dim %k, 0 : !attn_tile.global<?x64xf16>
      scf.for %n = %c0 to %end step %c64 {
        %tile = attn_tile.load %k[%n]
            : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
      }
      attn_tile.return
    }
    ```
  }];
  let options = [
    Option<"stages", "stages", "int64_t", /*default=*/"0",
           "Tiles in flight; 0 takes the kernel's schedule">
  ];
  let statistics = [
    Statistic<"numLoads", "loads-staged", "Number of loads made asynchronous">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

def SpecializeWarpsPass
    : Pass<"attn-tile-specialize-warps", "::attn::tile::KernelOp"> {
  let summary = "Producer warps load by TMA, consumers multiply";
  let description = [{
    For sm_90a what `--attn-tile-pipeline` is for sm_80. Each `attn_tile.load` gets
    a tensor map (a parameter of the kernel), a shared
    tile or a ring of `stages` tiles, a barrier that says that the tile is full
    and, for the tiles of the key loops, one that says that it is empty:

    ```
    producer:                              consumers, for each tile j:
      copy query -> q, full                  wait full[j mod stages]
      for each tile j of all key loops:      multiply (wgmma)
        wait empty[j mod stages]             arrive at empty[j mod stages]
        copy tile j -> ring[j mod stages],
                       full[j mod stages]
    ```

    Products become `attn_tile.mma_async` and a wait for all of them;
    `--attn-tile-overlap-softmax` moves the waits apart. With `cluster_m` = C, the
    CTAs of a cluster of C have the same key stream: each loads 1/C of the rows of
    a tile into all of them, when the consumers of all have given the stage back.
    With `mma` = `tcgen05` each product of a step has a tile in tensor memory and a
    barrier: `attn_tile.mma_tensor`, the wait for it and `attn_tile.load_tensor`,
    after `attn_tile.store_tensor` of an operand that was computed. A value that
    loops carry, and only products change, or a factor of its rows in an `scf.if`
    (`attn_tile.scale_tensor`), stays in its tile until they are over.
    A tile of which products read `attn_tile.transpose_bytes` or
    `attn_tile.widen_bytes` is copied to a ring of two: all warps of the producer
    rewrite it from there to the ring that the consumers read
    (`attn_tile.store_transposed`, `attn_tile.store_widened`).
    With `mma` = `mma_sync` and `producer_warps` = 1 a single warp loads, all threads
    keep the registers of the launch, products stay `attn_tile.mma`, and a warp
    gives a stage back when its lanes have read it. A kernel without producer warps
    is left to `--attn-tile-pipeline`.

    Requires: `attn_tile.load`s in a chain of scf.for with one step; with wgmma 64
    rows for each warpgroup, with tcgen05 128; with mma_sync a query that does not
    change in its tile. Ensures: no `attn_tile.load` is left.

    Example: a kernel with a producer and one consumer warpgroup.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2}))'
    attn_tile.kernel @scores(%q: !attn_tile.global<?x8x?x64xf16>,
                             %k: !attn_tile.global<?x8x?x64xf16>) warps(4)
        attributes {schedule = #attn.schedule<mma = "wgmma">} {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %end = attn_tile.dim %k, 2 : !attn_tile.global<?x8x?x64xf16>
      %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
      %query = attn_tile.load %q[%c0, %c0, %c0]
          : !attn_tile.global<?x8x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
      %sum = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero)
          -> (!attn_tile.fragment<64x64xf32, accumulator>) {
        %key = attn_tile.load %k[%c0, %c0, %n]
            : !attn_tile.global<?x8x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
        %s = attn_tile.mma %query, %key transpose_b, %acc
            : !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
        scf.yield %s : !attn_tile.fragment<64x64xf32, accumulator>
      }
      attn_tile.return
    }
    ```
  }];
  let options = [
    Option<"stages", "stages", "int64_t", /*default=*/"0",
           "Tiles in flight; 0 takes the kernel's schedule">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of kernels specialised">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

def OverlapSoftmaxPass
    : Pass<"attn-tile-overlap-softmax", "::attn::tile::KernelOp"> {
  let summary = "Compute the softmax of a tile beside the product of another";
  let description = [{
    Rewrites the key loops of the consumers that `--attn-tile-specialize-warps`
    made into a software pipeline. For each tile j but the first and the last:

    ```
    wait for K(j);   start S = Q K(j)^T;   start O += P(j-1) V(j-1)
    wait for S;      give K(j) back
    softmax of S
    wait for V(j)
    wait for O;      give V(j-1) back;     rescale O;   P(j) = the softmax
    ```

    Where the product is of one tile, and is added behind it (`promote` in the
    schedule), O is rescaled by that sum, one tile later.

    The first tile's scores are computed before the loops, with the masks of the
    loop that it belongs to; the last tile's product after them.

    Several warpgroups take turns, at starting their products or at computing
    softmax, as the schedule's `turns` says.

    Requires: loops over (acc, max, sum, number) with two products, as
    `--convert-attn-to-tile` makes them, and two stages; others are left alone,
    with a remark. Ensures: nothing.
  }];
  let options = [
    Option<"turns", "turns", "std::string", /*default=*/"",
           "none, products or softmax; empty takes the kernel's schedule">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of kernels changed">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def OverlapProductsPass
    : Pass<"attn-tile-overlap-products", "::attn::tile::KernelOp"> {
  let summary = "Wait for a product where it is read";
  let description = [{
    Takes the loops of consumers in which `--attn-tile-specialize-warps` has put a
    wait behind each product, as those of a backward. A product of shared tiles
    starts right behind the product before it; each wait moves to the first op
    that reads the product, and leaves the products that started later in flight;
    a stage is given back behind the wait for the last product that reads it:

    ```
    wait for Q, dO;    start S = K Q^T;    start dP = V dO^T
    wait for S;        P = exp2(...)
    wait for dP;       dS = P * (dP - delta)
    start dV += P^T dO;  start dK += dS^T Q
    wait for dV, dK;   give dO, Q back
    ```

    Products complete in order: a wait stands no later than one for a product that
    started later. A product of a tile that the warps have written themselves starts
    behind the barrier.

    Before a wait behind arithmetic stands a second wait for a tile that is there:
    ptxas moves the wait for a product up through arithmetic, but not through a
    loop (docs/Rationale/Hopper.md).

    Requires: nothing. Ensures: nothing.
  }];
  let statistics = [
    Statistic<"numLoops", "loops", "Number of loops changed">
  ];
}

def StageFragmentsPass
    : Pass<"attn-tile-stage-fragments", "::attn::tile::KernelOp"> {
  let summary = "Pass fragments through shared memory";
  let description = [{
    In the key loops of a kernel with roles, gives each `attn_tile.share` a ring of
    tiles, which turn with the stages of the loop: what a warpgroup still reads is
    not what the next step writes. `attn_tile.accumulate` becomes
    `accumulate_bulk`, with room for what is being copied.

    ```
    %t = attn_tile.share %ds                   // becomes
    attn_tile.store_shared %ds to %ring[%stage] transpose
    attn_tile.sync_consumers
    ```

    Requires: `--attn-tile-specialize-warps`. Ensures: no `share` or `accumulate`
    in a kernel with roles.

    Example: a tile of dS that the other warpgroup reads.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-stage-fragments))'
    attn_tile.kernel @share(%n: index) warps(4) attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %q = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
      attn_tile.roles producer(24) {
        %c = arith.constant 0 : index
      } consumer(240) {
      ^bb0(%warpgroup: index):
        scf.for %i = %c0 to %n step %c1 {
          %stage = arith.remui %i, %n : index
          %tile = attn_tile.stage %q[%stage] : !attn_tile.shared<2x64x64xf16, swizzle = 128>
          %ds = attn_tile.fill 1.0 : !attn_tile.fragment<64x64xf32, accumulator>
          %t = attn_tile.share %ds
              : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.shared<64x64xf16, swizzle = 128>
        }
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numFragments", "fragments-staged", "Number of fragments staged">
  ];
}

def StageStoresPass : Pass<"attn-tile-stage-stores", "::attn::tile::KernelOp"> {
  let summary = "Write accumulators through shared memory";
  let description = [{
    In a kernel with roles, replaces an `attn_tile.store` of an accumulator by
    `store_shared` to a tile that is no longer needed (the query's), or to one of
    its own where the schedule has an `output_tile`, and `store_tma`, which also
    cuts off rows past the end. Stores for which there is no such tile, or that TMA
    cannot do, stay.

    Requires: nothing. Ensures: nothing.

    Example: the output goes through the query's place.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-stage-stores))'
    attn_tile.kernel @output(%o: !attn_tile.global<2x8x?x64xf16>) warps(4)
        attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %q = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
      attn_tile.roles producer(56) {
        %c = arith.constant 0 : index
      } consumer(256) {
      ^bb0(%warpgroup: index):
        %acc = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
        attn_tile.store %acc, %o[%c0, %c0, %c0]
            : !attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.global<2x8x?x64xf16>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numStores", "stores-staged", "Number of stores replaced">
  ];
}

def StartAheadPass : Pass<"attn-tile-start-ahead", "::attn::tile::KernelOp"> {
  let summary = "Start the next step's products of tiles in this step";
  let description = [{
    Of products in tensor memory those that begin a step of the key loops are
    started in the step before, the first before the loops: each behind the product
    that reads an operand in its place, or behind the last one. A
    product waits for nothing but the tensor cores then: those work off what a
    thread has started in its order (PTX ISA, tcgen05.mma), so that S of the next
    tile may take the place of the weights that P V reads. Loops that
    read or write that place later in the step stay as they are.

    Requires: roles, as `--attn-tile-specialize-warps` makes them. Ensures: nothing.

    Example: S of the next tile is started while O is computed.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-start-ahead))'
    attn_tile.kernel @steps(%n: index, %o: !attn_tile.global<2x8x?x64xf32>) warps(4)
        attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %k = attn_tile.alloc : <64x64xf16, swizzle = 128>
      %s, %acc = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      %full = attn_tile.alloc_mbarrier : <2, arrivals = 1>
      %ready = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      attn_tile.roles producer(56) {
        %c = arith.constant 0 : index
      } consumer(256) {
      ^bb0(%warpgroup: index):
        %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
          %parity = arith.remui %step, %c1 : index
          attn_tile.mbarrier_wait %full[%c0], %parity : <2, arrivals = 1>
          attn_tile.mma_tensor %q, %k transpose_b into %s[%warpgroup], %ready
              : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          attn_tile.mbarrier_wait %ready[%warpgroup], %parity : <1, arrivals = 1>
          %scores = attn_tile.load_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
          %p = attn_tile.to_operand %scores : <128x64xf32, accumulator> -> <128x64xf16, operand_a>
          %place = attn_tile.narrow_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf16>
          attn_tile.store_tensor %p to %place[%warpgroup] : <128x64xf16, operand_a> to <128x64xf16>
          attn_tile.mma_tensor %place, %k into %acc[%warpgroup], %done accumulate meet
              : !attn_tile.tensor<128x64xf16>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          attn_tile.mbarrier_wait %done[%warpgroup], %parity : <1, arrivals = 1>
          %next = arith.addi %step, %c1 : index
          scf.yield %next : index
        }
        attn_tile.free_tensors %s, %acc : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels-started-ahead", "Number of kernels whose products start ahead">
  ];
}

def SliceOutputsPass : Pass<"attn-tile-slice-outputs", "::attn::tile::KernelOp"> {
  let summary = "Load outputs from tensor memory by columns";
  let description = [{
    A thread has a row, or half of one, of a product in tensor memory, and not the
    registers for all of it and what is computed of it. What is loaded to be
    stored, through elementwise ops and reductions of rows, is so for 64 columns
    after the other, where the last slice would be stored: an output, and what
    follows it. Fragments that something else uses, or whose tile is written before,
    stay whole.

    Requires: nothing. Ensures: nothing.

    Example: two slices of 64 columns, the second from `column = 64` on.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-slice-outputs))'
    attn_tile.kernel @output(%o: !attn_tile.global<2x8x?x128xf32>) warps(4)
        attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x128xf32>
      attn_tile.roles producer(56) {
        %c = arith.constant 0 : index
      } consumer(256) {
      ^bb0(%warpgroup: index):
        %sum = attn_tile.load_tensor %t[%warpgroup]
            : !attn_tile.tensor<128x128xf32> -> !attn_tile.fragment<128x128xf32, accumulator>
        attn_tile.store %sum, %o[%c0, %c0, %c0]
            : !attn_tile.fragment<128x128xf32, accumulator>, !attn_tile.global<2x8x?x128xf32>
        attn_tile.free_tensors %t : !attn_tile.tensor<128x128xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numSliced", "outputs-sliced", "Number of outputs sliced">
  ];
}

def AssignLayoutsPass : Pass<"attn-tile-assign-layouts", "::attn::tile::KernelOp"> {
  let summary = "Give each lane a row of what comes from tensor memory";
  let description = [{
    A tile of tensor memory has a row in each lane, and can be loaded so
    (`lane_row`) or in the parts of rows that tensor cores give other kernels
    (`accumulator`). With a row in a lane reductions exchange nothing between
    lanes, what is computed for each row is computed once and not in four
    lanes, and bytes are stored as they are in memory. Fragments that maps,
    reductions, loops and branches bring together have one layout:

    - Those that come from tensor memory become `lane_row`, unless something
      reads or writes them that has another layout: stores of outputs, dropout,
      what is loaded for each column, and maps that load from memory for each element,
      of which eight lanes would read eight rows.
    - What there is for each row takes the layout of the fragments that it
      is used with. Where others need it, `convert_layout` brings it to the lanes
      that they have it in.

    Requires: nothing. Ensures: what is loaded from tensor memory for a
    softmax has rows in lanes, where the above allows it.

    Example: the maximum of a row is found in a lane.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-assign-layouts))'
    attn_tile.kernel @maximum(%o: !attn_tile.global<?xf32>) warps(4) {
      %c0 = arith.constant 0 : index
      %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
      %scores = attn_tile.load_tensor %s[%c0] : <128x64xf32> -> <128x64xf32, accumulator>
      %init = attn_tile.fill 0.0 : !attn_tile.fragment<128xf32, row>
      %part = attn_tile.row_reduce max %scores, %init
          : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.fragment<128xf32, row>
      %max = attn_tile.row_all_reduce max %part : !attn_tile.fragment<128xf32, row>
      attn_tile.store %max, %o[%c0] : !attn_tile.fragment<128xf32, row>, !attn_tile.global<?xf32>
      attn_tile.free_tensors %s : !attn_tile.tensor<128x64xf32>
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numLaneRows", "fragments-in-lanes", "Number of fragments with a row in a lane">,
    Statistic<"numConverted", "rows-converted", "Number of row fragments that are converted">
  ];
}

def SinkScalarsPass : Pass<"attn-tile-sink-scalars", "::attn::tile::KernelOp"> {
  let summary = "Compute scalars in each role that reads them";
  let description = [{
    In a kernel with tensor memory, or whose producer looks up pages, what several roles
    of `attn_tile.roles` read, and is computed in front, is computed in each: bounds
    of loops, places of tiles. A register that they share would be one of the
    producer's few, which fragments of the consumers, neighbouring registers that
    are loaded at once, take, too: ptxas (13.0) keeps it in memory. Other kernels with wgmma are better without, whose
    accumulators leave it such registers.

    Requires: nothing. Ensures: nothing.

    Example: the sum is in both roles.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-sink-scalars))'
    attn_tile.kernel @bounds(%a: index, %o: !attn_tile.global<?xf32>) warps(4)
        attributes {producer_warps = 4 : i64} {
      %n = arith.addi %a, %a : index
      %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
      attn_tile.roles producer(56) {
        %p = arith.muli %n, %n : index
      } consumer(256) {
      ^bb0(%warpgroup: index):
        %c = arith.addi %n, %a : index
        attn_tile.free_tensors %t : !attn_tile.tensor<128x64xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numSunk", "scalars-sunk", "Number of scalars sunk">
  ];
}

def AllocateSharedMemoryPass
    : Pass<"attn-tile-allocate-shared-memory", "::attn::tile::KernelOp"> {
  let summary = "Give each shared tile its place";
  let description = [{
    Sets `offset` on each `attn_tile.alloc`, aligned to eight rows of its panels
    (1024 bytes with a 128-byte swizzle, as TMA needs it) and the most aligned first,
    so that there are no gaps; then on each `attn_tile.alloc_mbarrier`, and
    `shared_bytes` on the kernel. Fails if the total is more than `limit`.

    Requires: no `attn_tile.load`. Ensures: every allocation has an offset.

    Example:
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-allocate-shared-memory))'
    attn_tile.kernel @two() warps(4) {
      %a = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
      %b = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
      attn_tile.return
    }
    // becomes
    attn_tile.kernel @two() warps(4) attributes {shared_bytes = 24576 : i64} {
      %a = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<64x64xf16, swizzle = 128>
      %b = attn_tile.alloc {offset = 8192 : i64} : !attn_tile.shared<2x64x64xf16, swizzle = 128>
      attn_tile.return
    }
    ```
  }];
  let options = [
    Option<"limit", "limit", "int64_t", /*default=*/"166912",
           "Shared memory of a CTA in bytes (default: sm_80)">
  ];
  let statistics = [
    Statistic<"numBytes", "shared-bytes", "Shared memory of all kernels">
  ];
}

def ProveBarriersPass : Pass<"attn-tile-prove-barriers", "::attn::tile::KernelOp"> {
  let summary = "Prove that roles neither wait in vain nor use memory too early";
  let description = [{
    Of a kernel with roles: no order in which its warps, those of all CTAs of its
    cluster, and its copies may run deadlocks, lets an arrival or a wait count for
    another phase than the one that it is for, or overwrites a tile that somebody
    still reads, or reads one that is not there. Nothing is changed; an error is at
    the operation, with sizes that show it.

    For given sizes each warp's barriers, copies and products are a fixed sequence,
    since control flow is arithmetic on sizes. Of these sequences one interleaving is
    run with vector clocks, and stands for all if every arrival and every wait is bound
    to its phase by what must have happened before:

    ```
    a contribution to phase k   comes after the end of phase k - 1
    a wait for phase k          comes after the end of phase k - 1,
                                and before some contribution to phase k + 1
    a copy                      comes after every use of the tile before it
    a use                       comes after the end of the copy's phase
    ```

    Products in tensor memory are a sequence of their own, which goes on where the
    thread starts one, and whose commits arrive. They are taken to be done in the
    order in which they are started, whatever their shapes. Of tensor memory what warps and
    products read and write is in order, each by the lanes and columns that it has.

    All sizes follow from few: stages and parities are the count of tiles modulo
    twice the stages of their ring, which is checked, and so what a tile does to
    barriers repeats after two turns. The rules above are about three phases in a row,
    that is three turns: those of a longer launch are, two turns earlier or later, those of
    a launch of at most five turns and a tile. Each number of tiles up to that is looked at;
    of static sizes and persistent CTAs, what each CTA of the one launch has.

    Where bounds of loops are read from memory (documents, lists of blocks), some
    values are taken, those of ascending lists. Not looked at: operands that consumers
    write in shared memory for each other beside products that end in registers, and
    fences, which the simulator checks.

    Example:
    ```mlir
    attn_tile.mbarrier_wait %full[%stage], %parity // parity of another turn:
    // error: deadlock: the producer of CTA 0 waits for stage 0 of the mbarriers at 1024 of CTA 0; ...
    ```

    Requires: `--attn-tile-allocate-shared-memory`. Ensures: what is proven.
  }];
  let statistics = [
    Statistic<"numProven", "kernels-proven", "Number of kernels that were proven">,
    Statistic<"numLaunches", "launches", "Number of sizes that were looked at">
  ];
}

def BoundWaitsPass : Pass<"attn-tile-bound-waits", "::attn::tile::KernelOp"> {
  let summary = "Let waits for mbarriers give up";
  let description = [{
    A kernel whose roles wait for each other in vain holds its GPU until somebody
    kills the process. With this pass, which is for the first runs of a kernel,
    each wait asks `tries` times, with 100 ns of sleep between them; then it reports
    which of the kernel's waits it is, with stage, parity, the number of the loop
    around it, CTA and thread, and ends the kernel:

    ```mlir
    attn_tile.mbarrier_wait %full[%stage], %parity  // becomes
    %done = scf.while ... { attn_tile.mbarrier_test %full[%stage], %parity ... }
    scf.if %lost { attn_tile.give_up 0 at %full[%stage], %parity in %turn }
    ```

    Named barriers have no instruction that gives up: warps that wait there end
    with the kernel, when another one has given up at an mbarrier.

    Requires: nothing. Ensures: no `attn_tile.mbarrier_wait`.

    Example:
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-bound-waits{tries=1000}))'
    attn_tile.kernel @wait(%stage: index, %parity: index) warps(4) {
      %full = attn_tile.alloc_mbarrier {offset = 0} : !attn_tile.mbarrier<2, arrivals = 1>
      attn_tile.mbarrier_wait %full[%stage], %parity : !attn_tile.mbarrier<2, arrivals = 1>
      attn_tile.return
    }
    ```
  }];
  let options = [
    Option<"tries", "tries", "int64_t", /*default=*/"10000000",
           "How often a wait asks, 1 to 2^31 - 1">
  ];
  let statistics = [
    Statistic<"numWaits", "waits-bounded", "Number of waits that give up">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def WidenIndexPass : Pass<"attn-tile-widen-index", "::attn::tile::KernelOp"> {
  let summary = "Compute in i64 what 32 bits may not hold";
  let description = [{
    `index` is lowered to 32 bits, which hold sizes and coordinates. Arithmetic on
    indices that come from i64 data (lengths, offsets) or from constants above 2^29
    (a window of 2147483647 keys) is done in i64, up to where a minimum or a
    comparison makes it fit again:

    ```
    %end = arith.index_cast %length : i64 to index
    %bound = arith.minsi %end, %keys : index
    // becomes
    %wide = arith.index_cast %keys : index to i64
    %least = arith.minsi %length, %wide : i64
    %bound = arith.index_cast %least : i64 to index
    ```

    A bound that may still be longer is cut to the nearest number of 32 bits.

    Requires: affine ops lowered. Ensures: no arith op on index takes a number that
    32 bits may not hold.

    Example: a window to the right that has no end.
    ```mlir
    // attn-opt --attn-tile-widen-index
    attn_tile.kernel @window(%k: !attn_tile.global<?x?xf16>) warps(4) {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %right = arith.constant 2147483647 : index
      %keys = attn_tile.dim %k, 0 : !attn_tile.global<?x?xf16>
      %row = gpu.block_id x
      %end = arith.addi %row, %right : index
      %bound = arith.minsi %end, %keys : index
      scf.for %j = %c0 to %bound step %c64 {
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numOps", "ops-widened", "Number of ops that compute in i64">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // ATTN_DIALECT_TILE_TRANSFORMS_PASSES_TD
