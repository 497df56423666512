//===- ProductPasses.td - Passes on products of one thread -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes on kernels of which a thread starts products in tensor memory, in the
// order of the pipeline but for slices: that thread, what it may start and give
// back earlier, and the roles beside it. Included by Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_TRANSFORMS_PRODUCTPASSES_TD
#define ATTN_DIALECT_TILE_TRANSFORMS_PRODUCTPASSES_TD

include "mlir/Pass/PassBase.td"

def SpecializeProductsPass : Pass<"attn-tile-specialize-products", "::attn::tile::KernelOp"> {
  let summary = "Let a thread of its own start the products in tensor memory";
  let description = [{
    A role `products`, one thread of a producer warp, starts the products of all
    warpgroups: it has their loops and branches, waits for the tiles that they read,
    and, where the warps of a warpgroup met, for an mbarrier that each of them
    arrives at. What is between two such waits it does for one warpgroup after the other, so
    that the tensor cores have the products of one while the others compute, as
    FlashAttention-4's warp for products does; and a warp of the consumers waits for no
    other one. Kernels whose producer warps are all at work, or whose consumers
    change the query in its tile, stay as they are, and a remark says why.

    Requires: roles, as `--attn-tile-specialize-warps` makes them. Ensures: products
    in tensor memory are started by one role.

    Example: the warps tell when P is there, and wait for S alone.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))'
    attn_tile.kernel @steps(%n: index, %o: !attn_tile.global<2x8x?x64xf32>) warps(4)
        attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %k = attn_tile.alloc : <64x64xf16, swizzle = 128>
      %s, %acc = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %added = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      attn_tile.init_mbarriers %done, %added : !attn_tile.mbarrier<1, arrivals = 1>, !attn_tile.mbarrier<1, arrivals = 1>
      attn_tile.roles producer(56) {
        %c = arith.constant 0 : index
      } consumer(256) {
      ^bb0(%warpgroup: index):
        %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
          %parity = arith.andi %step, %c1 : index
          attn_tile.mma_tensor %q, %k transpose_b into %s[%warpgroup], %done
              : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          attn_tile.mbarrier_wait %done[%warpgroup], %parity : <1, arrivals = 1>
          %scores = attn_tile.load_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
          %p = attn_tile.to_operand %scores : <128x64xf32, accumulator> -> <128x64xf16, operand_a>
          %place = attn_tile.narrow_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf16>
          attn_tile.store_tensor %p to %place[%warpgroup] : <128x64xf16, operand_a> to <128x64xf16>
          attn_tile.mma_tensor %place, %k into %acc[%warpgroup], %added accumulate meet
              : !attn_tile.tensor<128x64xf16>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          attn_tile.mbarrier_wait %added[%warpgroup], %parity : <1, arrivals = 1>
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
    Statistic<"numKernels", "kernels-with-products-role", "Number of kernels with a role for products">
  ];
}

def StartFirstPass : Pass<"attn-tile-start-first", "::attn::tile::KernelOp"> {
  let summary = "Start next products in front of one that does not read their tiles";
  let description = [{
    A step's thread for products waits for what consumers have stored, multiplies it,
    and starts products of the next step behind that. Those whose tiles the first does
    not read, and consumers no longer when they have told of what they stored, come in
    front of it: of dQ, which reads dS in the place of dP, the next S, for which
    consumers wait first.

    Requires: roles, as `--attn-tile-specialize-products` makes them. Ensures: nothing.

    Example: the next S is started in front of the sum, which reads the place of dP.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-start-first))'
    attn_tile.kernel @steps(%n: index) warps(4) attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %k = attn_tile.alloc : <64x64xf16, swizzle = 128>
      %s, %dp, %dq = attn_tile.alloc_tensors
          : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %stored = attn_tile.alloc_mbarrier : <1, arrivals = 4>
      attn_tile.roles producer(56) {
        %c = arith.constant 0 : index
      } products {
        %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
          %parity = arith.andi %step, %c1 : index
          %place = attn_tile.narrow_tensor %dp[%c0] : <128x64xf32> -> <128x64xf16>
          attn_tile.mbarrier_wait %stored[%c0], %parity : <1, arrivals = 4>
          attn_tile.fence_tensors after
          attn_tile.mma_tensor %place, %k into %dq[%c0] accumulate one_thread
              : !attn_tile.tensor<128x64xf16>, <64x64xf16, swizzle = 128> into <128x64xf32>
          %next = arith.addi %step, %c1 : index
          %exists = arith.cmpi ult, %next, %n : index
          scf.if %exists {
            attn_tile.mma_tensor %q, %k transpose_b into %s[%c0], %done one_thread
                : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          }
          scf.yield %next : index
        }
      } consumer(256) {
      ^bb0(%warpgroup: index):
        scf.for %j = %c0 to %n step %c1 {
          attn_tile.mbarrier_wait %done[%warpgroup], %c0 : <1, arrivals = 1>
          %scores = attn_tile.load_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
          %ds = attn_tile.to_operand %scores : <128x64xf32, accumulator> -> <128x64xf16, operand_a>
          %place = attn_tile.narrow_tensor %dp[%warpgroup] : <128x64xf32> -> <128x64xf16>
          attn_tile.store_tensor %ds to %place[%warpgroup] : <128x64xf16, operand_a> to <128x64xf16>
          attn_tile.mbarrier_arrive %stored[%warpgroup] : <1, arrivals = 4>
        }
        attn_tile.free_tensors %s, %dp, %dq : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numBranches", "products-started-first", "Number of places where products are started first">
  ];
}

def SinkWaitsPass : Pass<"attn-tile-sink-waits", "::attn::tile::KernelOp"> {
  let summary = "Wait for tiles outside the key loops where they are first read";
  let description = [{
    Where a role of its own starts products, tiles that are loaded once are waited for
    in front of the first op of a role that reads them, such as V of dK and dV in front
    of dP: S begins while the producer copies V and dO. Consumers read none before they
    store outputs in their places. Persistent kernels, which have such tiles again and
    again, stay as they are.

    Requires: roles, as `--attn-tile-specialize-products` makes them. Ensures: nothing.

    Example: V is waited for behind S.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-sink-waits))'
    attn_tile.kernel @start(%kmap: !attn_tile.tensor_map<128x64xf16, swizzle = 128>,
                            %vmap: !attn_tile.tensor_map<128x64xf16, swizzle = 128>)
        warps(4) attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %k = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %v = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %s, %dp = attn_tile.alloc_tensors : !attn_tile.tensor<128x128xf32>, !attn_tile.tensor<128x128xf32>
      %kfull = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %vfull = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %sdone = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %dpdone = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      attn_tile.roles producer(56) {
        attn_tile.copy_tma %kmap[%c0, %c0, %c0] to %k, %kfull[%c0]
            : <128x64xf16, swizzle = 128> to <128x64xf16, swizzle = 128>, <1, arrivals = 1>
        attn_tile.copy_tma %vmap[%c0, %c0, %c0] to %v, %vfull[%c0]
            : <128x64xf16, swizzle = 128> to <128x64xf16, swizzle = 128>, <1, arrivals = 1>
      } products {
        attn_tile.mbarrier_wait %kfull[%c0], %c0 : <1, arrivals = 1>
        attn_tile.mbarrier_wait %vfull[%c0], %c0 : <1, arrivals = 1>
        attn_tile.mma_tensor %k, %k transpose_b into %s[%c0], %sdone one_thread
            : !attn_tile.shared<128x64xf16, swizzle = 128>, <128x64xf16, swizzle = 128> into <128x128xf32>, !attn_tile.mbarrier<1, arrivals = 1>
        attn_tile.mma_tensor %v, %v transpose_b into %dp[%c0], %dpdone one_thread
            : !attn_tile.shared<128x64xf16, swizzle = 128>, <128x64xf16, swizzle = 128> into <128x128xf32>, !attn_tile.mbarrier<1, arrivals = 1>
      } consumer(256) {
      ^bb0(%warpgroup: index):
        attn_tile.free_tensors %s, %dp : !attn_tile.tensor<128x128xf32>, !attn_tile.tensor<128x128xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numWaits", "waits-sunk", "Number of waits for tiles that are loaded once">
  ];
}

def HandOverEarlyPass : Pass<"attn-tile-hand-over-early", "::attn::tile::KernelOp"> {
  let summary = "Tell of a product's first weights before the others are computed";
  let description = [{
    Where a role of its own starts products, the first columns of a step's weights are
    stored, and told of at an mbarrier of their own, before the consumers compute
    the others: their part of P V begins beside the last exponentials. As many of a tile's
    keys as the schedule's `early_keys`, as FlashAttention-4 hands P over after three quarters of its
    columns; of a backward's dV, whose weights are stored in slices as it is, `early_rows` of its
    rows. Weights that are not computed column by column (dropout) stay
    whole, and a remark says so.

    Requires: roles, as `--attn-tile-specialize-products` makes them. Ensures: nothing.

    Example: half of P V starts before the other half of the weights is computed.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products,attn-tile-hand-over-early{columns=32}))'
    attn_tile.kernel @steps(%n: index, %o: !attn_tile.global<2x8x?x64xf32>) warps(4)
        attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %k = attn_tile.alloc : <64x64xf16, swizzle = 128>
      %s, %acc = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %added = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      attn_tile.init_mbarriers %done, %added : !attn_tile.mbarrier<1, arrivals = 1>, !attn_tile.mbarrier<1, arrivals = 1>
      attn_tile.roles producer(56) {
        %c = arith.constant 0 : index
      } consumer(256) {
      ^bb0(%warpgroup: index):
        %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
          %parity = arith.andi %step, %c1 : index
          attn_tile.mma_tensor %q, %k transpose_b into %s[%warpgroup], %done
              : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          attn_tile.mbarrier_wait %done[%warpgroup], %parity : <1, arrivals = 1>
          %scores = attn_tile.load_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
          %weights = attn_tile.map %scores : (!attn_tile.fragment<128x64xf32, accumulator>) -> !attn_tile.fragment<128x64xf32, accumulator> {
          ^bb0(%score: f32, %row: i32, %column: i32):
            %weight = math.exp2 %score : f32
            attn_tile.yield %weight : f32
          }
          %p = attn_tile.to_operand %weights : <128x64xf32, accumulator> -> <128x64xf16, operand_a>
          %place = attn_tile.narrow_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf16>
          attn_tile.store_tensor %p to %place[%warpgroup] : <128x64xf16, operand_a> to <128x64xf16>
          attn_tile.mma_tensor %place, %k into %acc[%warpgroup], %added accumulate meet
              : !attn_tile.tensor<128x64xf16>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          attn_tile.mbarrier_wait %added[%warpgroup], %parity : <1, arrivals = 1>
          %next = arith.addi %step, %c1 : index
          scf.yield %next : index
        }
        attn_tile.free_tensors %s, %acc : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let options = [
    Option<"columns", "columns", "int64_t", "0",
           "Columns of the weights that are told of before the others, a multiple of 32; "
           "0: the schedule's">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels-with-early-weights", "Number of kernels that hand weights over early">
  ];
}

def CommitQueryPass : Pass<"attn-tile-commit-query", "::attn::tile::KernelOp"> {
  let summary = "Let the last product with a persistent CTA's query give its place back";
  let description = [{
    The next query of a persistent CTA comes when the place of this one is free.
    Consumers give it back behind the key loops, or behind the output that goes
    through it. The products' thread knows sooner: it starts the last product
    with the query a step before, and then commits at the place's mbarrier. So the
    next query is there, and its first scores, when consumers have stored their
    output. Consumers neither wait for the query nor give it back: a query that has
    no keys the thread gives back at once.

    Kernels whose consumers read or change the query, or whose output goes
    through its place, stay as they are.

    Requires: roles, as `--attn-tile-specialize-products` makes them. Ensures: nothing.

    Example: the second tile's query may come before the consumers have seen the last step of the first one.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-commit-query))'
    attn_tile.kernel @tiles(%count: index, %map: !attn_tile.tensor_map<128x64xf16, swizzle = 128>) warps(4)
        attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %k = attn_tile.alloc : <64x64xf16, swizzle = 128>
      %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
      %full = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %empty = attn_tile.alloc_mbarrier : <1, arrivals = 5>
      %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %first = gpu.block_id x
      %ctas = gpu.grid_dim x
      attn_tile.roles producer(56) {
        scf.for %tile = %first to %count step %ctas {
          attn_tile.mbarrier_wait %empty[%c0], %c1 : <1, arrivals = 5>
          attn_tile.copy_tma %map[%c0, %c0, %tile] to %q, %full[%c0]
              : <128x64xf16, swizzle = 128> to <128x64xf16, swizzle = 128>, <1, arrivals = 1>
        }
      } products {
        scf.for %tile = %first to %count step %ctas {
          attn_tile.mbarrier_wait %full[%c0], %c0 : <1, arrivals = 1>
          attn_tile.mbarrier_arrive %empty[%c0] one_thread : <1, arrivals = 5>
          %any = arith.cmpi ult, %c0, %count : index
          scf.if %any {
            attn_tile.mma_tensor %q, %k transpose_b into %s[%c0], %done one_thread
                : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          }
        }
      } consumer(240) {
      ^bb0(%group: index):
        scf.for %tile = %first to %count step %ctas {
          attn_tile.mbarrier_wait %full[%c0], %c0 : <1, arrivals = 1>
          attn_tile.mbarrier_wait %done[%group], %c0 : <1, arrivals = 1>
          attn_tile.mbarrier_arrive %empty[%c0] : <1, arrivals = 5>
        }
        attn_tile.free_tensors %s : !attn_tile.tensor<128x64xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels-with-early-queries", "Number of kernels whose products give the query back">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def StartNextTilePass : Pass<"attn-tile-start-next-tile", "::attn::tile::KernelOp"> {
  let summary = "Start the next tile's first scores in the last step of a persistent CTA's tile";
  let description = [{
    Behind the product that reads a step's weights, the products' thread starts the
    scores of the next step (`--attn-tile-start-ahead`). In a tile's last step there
    is none, and the next tile's first scores came behind the products of all
    warpgroups. Now the thread waits for the next query there, and starts the scores
    of that tile for each warpgroup behind its own last product: a warpgroup that is
    half a step ahead stays so. Whether they are started goes from tile to tile, since
    a tile may have no keys.

    Only where the query's place is given back by the products that read it: any
    other query may come when consumers have ended this tile, for which they need
    products that the thread would start behind that wait.

    Requires: roles, behind `--attn-tile-commit-query`. Ensures: nothing.

    Example: where no step follows, the first product of the next tile, if there is one.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-start-next-tile))'
    attn_tile.kernel @tiles(%count: index, %steps: index) warps(4) attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %k = attn_tile.alloc : <64x64xf16, swizzle = 128>
      %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
      %full = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %empty = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %first = gpu.block_id x
      %ctas = gpu.grid_dim x
      attn_tile.roles producer(56) {
      } products {
        %all:2 = scf.for %tile = %first to %count step %ctas iter_args(%base = %c0, %number = %c0) -> (index, index) {
          %end = arith.addi %base, %steps : index
          %parity = arith.andi %number, %c1 : index
          %any = arith.cmpi ult, %base, %end : index
          attn_tile.mbarrier_wait %full[%c0], %parity : <1, arrivals = 1>
          scf.if %any {
            attn_tile.mma_tensor %q, %k transpose_b into %s[%c0], %done one_thread
                : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
            attn_tile.commit_tensors %empty[%c0] : <1, arrivals = 1>
          }
          %last = scf.for %j = %c0 to %steps step %c1 iter_args(%step = %base) -> (index) {
            %next = arith.addi %step, %c1 : index
            %more = arith.cmpi ult, %next, %end : index
            scf.if %more {
              attn_tile.mma_tensor %q, %k transpose_b into %s[%c0], %done one_thread
                  : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
              attn_tile.commit_tensors %empty[%c0] : <1, arrivals = 1>
            }
            scf.yield %next : index
          }
          %tiles = arith.addi %number, %c1 : index
          scf.yield %last, %tiles : index, index
        }
      } consumer(240) {
      ^bb0(%group: index):
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels-with-early-tiles", "Number of kernels whose tiles begin in the last step of the one before">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SpecializeCorrectionPass : Pass<"attn-tile-specialize-correction", "::attn::tile::KernelOp"> {
  let summary = "Let a warpgroup of its own rescale the output and store it";
  let description = [{
    Where `correction_warps` asks for it (`#attn.schedule`), the role of another
    warpgroup, behind those of one thread, does what concerns the output, a sum in
    tensor memory, for each warpgroup of the softmax in turn (FlashAttention-4's
    correction):

    - It stores the zeros to which products are added.
    - In each step the softmax tells it by how much its rows have changed the sum's
      scale, a number for each row in shared memory; where one has, it rescales the
      sum. The products' thread waits for it, beside the weights.
    - Behind the key loops the softmax tells it what it has for each row, and begins
      its next tile: this role changes the output, writes it to shared memory and
      copies it to global memory.

    Registers are divided anew. Kernels whose output is no such sum, goes through the
    next query's place, or needs more of the softmax than rows stay as they are; a
    warning says why.

    Requires: roles, as `--attn-tile-specialize-products` makes them. Ensures: nothing.
  }];
  let statistics = [
    Statistic<"numKernels", "corrected-kernels", "Number of kernels with a role that corrects the output">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SpecializeEpiloguePass : Pass<"attn-tile-specialize-epilogue", "::attn::tile::KernelOp"> {
  let summary = "Let a thread of its own copy the output to global memory";
  let description = [{
    Of kernels whose output a warpgroup corrects: a role of one more thread
    (FlashAttention-4's epilogue) copies what that warpgroup has written to shared
    memory, for each copy in the order of these: it waits until the four warps have
    filled the place, copies it, waits until it has been read, and tells the
    correction, which waits for that before it writes there again. So no warp that
    computes starts copies. Kernels whose copies depend on more than the tile's
    number stay as they are, with a remark.

    Requires: roles, as `--attn-tile-specialize-correction` makes them. Ensures:
    nothing.

    Example: the copy becomes a role, which is told of four warps' writes.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-epilogue))'
    attn_tile.kernel @store(%map: !attn_tile.tensor_map<128x64xf16, swizzle = 128>)
        warps(4) attributes {producer_warps = 8 : i64} {
      %c0 = arith.constant 0 : index
      %tile = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %sum = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
      %ended = attn_tile.alloc_mbarrier : <1, arrivals = 4>
      attn_tile.init_mbarriers %ended : !attn_tile.mbarrier<1, arrivals = 4>
      attn_tile.roles producer(32) {
      } correction warpgroup(96) {
        attn_tile.mbarrier_wait %ended[%c0], %c0 : <1, arrivals = 4>
        attn_tile.as_warpgroup %c0 {
          %o = attn_tile.load_tensor %sum[%c0] : <128x64xf32> -> <128x64xf32, accumulator>
          attn_tile.store_shared %o to %tile : <128x64xf32, accumulator> to <128x64xf16, swizzle = 128>
          attn_tile.store_tma %tile[%c0] to %map[%c0, %c0, %c0] async : <128x64xf16, swizzle = 128> to <128x64xf16, swizzle = 128>
          attn_tile.free_tensors %sum : !attn_tile.tensor<128x64xf32>
        }
        attn_tile.wait_stores
      } consumer(192) {
      ^bb0(%group: index):
        attn_tile.mbarrier_arrive %ended[%group] : <1, arrivals = 4>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "epilogue-kernels", "Number of kernels with a role that copies the output">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CommitStagesPass : Pass<"attn-tile-commit-stages", "::attn::tile::KernelOp"> {
  let summary = "Let products give back the stages that they read";
  let description = [{
    Where consumers wait in each step for sums that they read behind the loops only,
    so as to give stages back, the products' thread commits at the stage's mbarrier
    what it has started up to the last product that reads it, as FlashAttention-4's
    warp for products does. Consumers still arrive for the vectors that they read
    themselves, and wait for the sums once, behind the loops. Loops whose wait orders
    more stay as they are: it is needed where consumers store operands, or tell of
    them, without having waited for a product that is started behind the one that
    reads those of the step before. So do persistent kernels, and those whose next
    products are all started behind the sums, for which consumers wait as long.

    Requires: roles, as `--attn-tile-specialize-products` makes them. Ensures: nothing.

    Example: the stage of K is given back by a commit behind the last product that reads it.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-commit-stages))'
    attn_tile.kernel @steps(%n: index, %map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>, %o: !attn_tile.global<2x8x?x64xf32>)
        warps(4) attributes {producer_warps = 4 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %ring = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
      %s, %a, %b = attn_tile.alloc_tensors
          : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      %full = attn_tile.alloc_mbarrier : <2, arrivals = 1>
      %empty = attn_tile.alloc_mbarrier : <2, arrivals = 4>
      %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %added = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      %stored = attn_tile.alloc_mbarrier : <1, arrivals = 4>
      attn_tile.roles producer(56) {
        %tiles = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
          %stage = arith.andi %step, %c1 : index
          %round = arith.shrui %step, %c1 : index
          %parity = arith.andi %round, %c1 : index
          %before = arith.xori %parity, %c1 : index
          attn_tile.mbarrier_wait %empty[%stage], %before : <2, arrivals = 4>
          %k = attn_tile.stage %ring[%stage] : <2x64x64xf16, swizzle = 128>
          attn_tile.copy_tma %map[%c0, %c0, %j] to %k, %full[%stage]
              : <64x64xf16, swizzle = 128> to <64x64xf16, swizzle = 128>, <2, arrivals = 1>
          %next = arith.addi %step, %c1 : index
          scf.yield %next : index
        }
      } products {
        attn_tile.mbarrier_wait %full[%c0], %c0 : <2, arrivals = 1>
        %k0 = attn_tile.stage %ring[%c0] : <2x64x64xf16, swizzle = 128>
        attn_tile.mma_tensor %q, %k0 transpose_b into %s[%c0], %done one_thread
            : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
        %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
          %stage = arith.andi %step, %c1 : index
          %k = attn_tile.stage %ring[%stage] : <2x64x64xf16, swizzle = 128>
          attn_tile.mbarrier_wait %stored[%c0], %stage : <1, arrivals = 4>
          attn_tile.fence_tensors after
          %place = attn_tile.narrow_tensor %s[%c0] : <128x64xf32> -> <128x64xf16>
          attn_tile.mma_tensor %place, %k into %a[%c0] accumulate one_thread
              : !attn_tile.tensor<128x64xf16>, <64x64xf16, swizzle = 128> into <128x64xf32>
          %next = arith.addi %step, %c1 : index
          %exists = arith.cmpi ult, %next, %n : index
          scf.if %exists {
            %nextStage = arith.andi %next, %c1 : index
            %nextRound = arith.shrui %next, %c1 : index
            %parity = arith.andi %nextRound, %c1 : index
            attn_tile.mbarrier_wait %full[%nextStage], %parity : <2, arrivals = 1>
            %nextK = attn_tile.stage %ring[%nextStage] : <2x64x64xf16, swizzle = 128>
            attn_tile.mma_tensor %q, %nextK transpose_b into %s[%c0], %done one_thread
                : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          }
          attn_tile.mma_tensor %q, %k into %b[%c0], %added accumulate one_thread
              : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          scf.yield %next : index
        }
      } consumer(256) {
      ^bb0(%warpgroup: index):
        %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
          %stage = arith.andi %step, %c1 : index
          attn_tile.mbarrier_wait %done[%warpgroup], %stage : <1, arrivals = 1>
          %scores = attn_tile.load_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
          %p = attn_tile.to_operand %scores : <128x64xf32, accumulator> -> <128x64xf16, operand_a>
          %place = attn_tile.narrow_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf16>
          attn_tile.store_tensor %p to %place[%warpgroup] : <128x64xf16, operand_a> to <128x64xf16>
          attn_tile.fence_tensors
          attn_tile.sync_warp
          attn_tile.mbarrier_arrive %stored[%warpgroup] : <1, arrivals = 4>
          attn_tile.mbarrier_wait %added[%warpgroup], %stage : <1, arrivals = 1>
          attn_tile.mbarrier_arrive %empty[%stage] : <2, arrivals = 4>
          %next = arith.addi %step, %c1 : index
          scf.yield %next : index
        }
        %sum = attn_tile.load_tensor %b[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
        attn_tile.store %sum, %o[%c0, %c0, %c0]
            : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.global<2x8x?x64xf32>
        attn_tile.free_tensors %s, %a, %b
            : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels-with-commits-of-stages", "Number of kernels whose products give stages back">
  ];
}

def PairProductsPass : Pass<"attn-tile-pair-products", "::attn::tile::KernelOp"> {
  let summary = "Let two CTAs multiply together";
  let description = [{
    With `cta_pair` in the schedule the two CTAs of a cluster, which stream the same
    tiles, become a pair: a thread of the first one starts the products of both (PTX
    ISA, tcgen05.mma.cta_group::2), whose left operands and sums each has for itself.
    Of a streamed tile, the right operand, a CTA brings one half of the rows, or of the
    columns, or both where products read it in both ways, in place of all of it by
    multicast: a product reads half as much of its shared memory. Copies complete, and
    warps arrive, at the first CTA's mbarriers, and its commits arrive at both's.

    Requires: roles with products, whose stages are given back in both CTAs, by commits
    (`--attn-tile-commit-stages`) or by consumers that have waited for them, and steps
    that are counted, or at least one; else the kernel stays as it is, and a remark says
    why. Ensures: nothing.

    Example: of the right operand of S = Q K^T each CTA has half of the keys.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pair-products))'
    attn_tile.kernel @scores(%keys: !attn_tile.global<1x8x1024x64xf16>, %map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>)
        warps(4) attributes {producer_warps = 4 : i64, cluster_ctas = 2 : i64, mapped = array<i64: 0>, mapped_heads = array<i64: 1>,
                             schedule = #attn.schedule<mma = "tcgen05", cluster_n = 2, cta_pair = true>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
      %ring = attn_tile.alloc : <2x128x64xf16, swizzle = 128>
      %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x128xf32>
      %full = attn_tile.alloc_mbarrier : <2, arrivals = 1>
      %empty = attn_tile.alloc_mbarrier : <2, arrivals = 2>
      %seen = attn_tile.alloc_mbarrier : <1, arrivals = 4>
      %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
      attn_tile.roles producer(56) {
        scf.for %step = %c0 to %c8 step %c1 {
          %stage = arith.andi %step, %c1 : index
          %round = arith.shrui %step, %c1 : index
          %parity = arith.andi %round, %c1 : index
          %before = arith.xori %parity, %c1 : index
          attn_tile.mbarrier_wait %empty[%stage], %before : <2, arrivals = 2>
          %k = attn_tile.stage %ring[%stage] : <2x128x64xf16, swizzle = 128>
          attn_tile.copy_tma %map[%c0, %c0, %step] to %k, %full[%stage] {ctas = 2 : i64}
              : <64x64xf16, swizzle = 128> to <128x64xf16, swizzle = 128>, <2, arrivals = 1>
        }
      } products {
        scf.for %step = %c0 to %c8 step %c1 {
          %stage = arith.andi %step, %c1 : index
          %round = arith.shrui %step, %c1 : index
          %parity = arith.andi %round, %c1 : index
          %k = attn_tile.stage %ring[%stage] : <2x128x64xf16, swizzle = 128>
          attn_tile.mbarrier_wait %full[%stage], %parity : <2, arrivals = 1>
          attn_tile.mbarrier_wait %seen[%c0], %stage : <1, arrivals = 4>
          attn_tile.mma_tensor %q, %k transpose_b into %s[%c0], %done one_thread
              : !attn_tile.shared<128x64xf16, swizzle = 128>, <128x64xf16, swizzle = 128> into <128x128xf32>, !attn_tile.mbarrier<1, arrivals = 1>
          attn_tile.commit_tensors %empty[%stage] {ctas = 2 : i64} : <2, arrivals = 2>
        }
      } consumer(256) {
      ^bb0(%warpgroup: index):
        scf.for %step = %c0 to %c8 step %c1 {
          %stage = arith.andi %step, %c1 : index
          attn_tile.mbarrier_arrive %seen[%warpgroup] : <1, arrivals = 4>
          attn_tile.mbarrier_wait %done[%warpgroup], %stage : <1, arrivals = 1>
        }
        attn_tile.free_tensors %s : !attn_tile.tensor<128x128xf32>
      }
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels-of-cta-pairs", "Number of kernels whose CTAs multiply in pairs">
  ];
}

def SliceStepsPass : Pass<"attn-tile-slice-steps", "::attn::tile::KernelOp"> {
  let summary = "Compute wide steps of a backward some columns at a time";
  let description = [{
    Of products in tensor memory with more than 64 columns a step of the key loops
    loads, changes and stores 32 at a time, with what belongs to these columns: a
    thread then has the weights of a row, and a slice of dP. So tiles of 128 rows and
    128 keys have registers enough, which read shared memory for the other operand
    half as often as tiles of 64. Places that the step has read are given back
    behind its slices. Steps that need a row whole, such as those of a softmax, stay as they are.

    Requires: roles, as `--attn-tile-specialize-warps` makes them. Ensures: nothing.

    Example: four slices of S become exponentials.
    ```mlir
    // attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-slice-steps))'
    attn_tile.kernel @steps(%n: index, %o: !attn_tile.global<2x8x?x64xf32>) warps(4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x128xf32>
      scf.for %j = %c0 to %n step %c1 {
        %scores = attn_tile.load_tensor %s[%c0] : <128x128xf32> -> <128x128xf32, accumulator>
        %weights = attn_tile.map %scores : (!attn_tile.fragment<128x128xf32, accumulator>) -> !attn_tile.fragment<128x128xf32, accumulator> {
        ^bb0(%score: f32, %row: i32, %column: i32):
          %weight = math.exp2 %score : f32
          attn_tile.yield %weight : f32
        }
        %p = attn_tile.to_operand %weights : <128x128xf32, accumulator> -> <128x128xf16, operand_a>
        %place = attn_tile.narrow_tensor %s[%c0] : <128x128xf32> -> <128x128xf16>
        attn_tile.store_tensor %p to %place[%c0] : <128x128xf16, operand_a> to <128x128xf16>
        attn_tile.fence_tensors
      }
      attn_tile.free_tensors %s : !attn_tile.tensor<128x128xf32>
      attn_tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numSliced", "sliced-steps", "Number of key loops whose steps are sliced">
  ];
}

#endif // ATTN_DIALECT_TILE_TRANSFORMS_PRODUCTPASSES_TD
