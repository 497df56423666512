//===- TileAsyncOps.td - Warp roles, mbarriers and TMA ----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEASYNCOPS_TD
#define ATTN_DIALECT_TILE_IR_TILEASYNCOPS_TD

include "attn/Dialect/Tile/IR/TileOpBase.td"

def RolesOp : AttnTile_Op<"roles", [NoTerminator, SingleBlock,
    HasParent<"KernelOp">]> {
  let summary = "what warps of a CTA do beside each other";
  let description = [{
    Roles have names. The first `warps` warps of the kernel run `consumer`, the
    last one here, whose argument is the number of the warpgroup, the same in all
    its threads. Of the kernel's producer warps the first runs the first of the
    other roles, the second the next one, by one thread each; or with `all` each
    thread of them runs the only one. A role behind those may have a `warpgroup`
    of its own: four producer warps behind the first four, all of whose threads run
    it. The numbers are registers a thread, which the warpgroups divide anew (PTX ISA,
    setmaxnreg); without them all threads keep what the kernel is launched with.

    Example:
    ```mlir
    attn_tile.roles producer(32) {
      attn_tile.copy_tma %k[%b, %h, %n] to %kt, %full[%stage] : ...
    } products {
      attn_tile.mma_tensor %q, %kt transpose_b into %s[%group], %done one_thread : ...
    } correction warpgroup(96) {
      attn_tile.mbarrier_wait %risen[%c0], %parity : ...
    } consumer(192) {
    ^bb0(%warpgroup: index):
      attn_tile.mbarrier_wait %done[%warpgroup], %parity : ...
    }
    ```
  }];
  let arguments = (ins StrArrayAttr:$names, I64Attr:$producer_registers,
                       UnitAttr:$all,
                       OptionalAttr<I64Attr>:$warpgroup_registers,
                       I64Attr:$consumer_registers);
  let regions = (region SizedRegion<1>:$consumer,
                        VariadicRegion<SizedRegion<1>>:$producers);
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<::llvm::StringRef>":$names,
                                 "int64_t":$producerRegisters, "bool":$all,
                                 "int64_t":$consumerRegisters)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kConsumer = "consumer",
                                           kProducer = "producer",
                                           kProducts = "products",
                                           kCorrection = "correction",
                                           kEpilogue = "epilogue";
    /// Of the numbers of registers: no setmaxnreg.
    static constexpr int64_t kAsLaunched = 0;
    static constexpr int64_t kWarpgroupWarps = 4;

    ::mlir::Value getWarpgroup() { return getConsumer().getArgument(0); }
    /// The role of this name, among those of producer warps; null if there is
    /// none.
    ::mlir::Region *getRole(::llvm::StringRef name);
    /// Who loads.
    ::mlir::Region &getProducer() { return getProducers().front(); }
    /// The last of those roles, if a warpgroup runs it; or null.
    ::mlir::Region *getWarpgroupRole() {
      return getWarpgroupRegisters() ? &getProducers().back() : nullptr;
    }
    /// True for an op in a role of one thread.
    bool hasOneThread(::mlir::Operation *op);
    /// Adds `role`, a block, for a warpgroup of `registers` behind the others
    /// or, if there are none, for one thread, in front of a warpgroup's. An op has
    /// as many regions as it is made with: this one is erased.
    RolesOp addRole(::llvm::StringRef name, ::mlir::Region &role,
                    ::std::optional<int64_t> registers = ::std::nullopt);
    std::string getRoleName(unsigned number) {
      return ::llvm::cast<::mlir::StringAttr>(getNames()[number]).str();
    }
  }];
}

def AsWarpgroupOp : AttnTile_Op<"as_warpgroup", [NoTerminator, SingleBlock,
    RecursiveMemoryEffects]> {
  let summary = "what the threads of a warpgroup do in the place of another's";
  let description = [{
    Of a role that has a warpgroup (`attn_tile.roles`). In the body its threads
    have the rows of fragments, and the named barriers, of consumers'
    `warpgroup`, as if they had their numbers.

    Example:
    ```mlir
    attn_tile.roles producer(32) {
      ...
    } correction warpgroup(96) {
      attn_tile.as_warpgroup %c1 {
        %o = attn_tile.load_tensor %sum[%c1] : !attn_tile.tensor<256x64xf32>
            -> !attn_tile.fragment<256x64xf32, accumulator>
      }
    } consumer(192) {
      ...
    }
    ```
  }];
  let arguments = (ins Index:$warpgroup);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$warpgroup attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def AllocMbarrierOp : AttnTile_Op<"alloc_mbarrier", [
    MemoryEffects<[MemAlloc]>]> {
  let summary = "room for mbarriers in shared memory";
  let description = [{
    `offset` as in `attn_tile.alloc`.

    Example:
    ```mlir
    %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<2, arrivals = 1>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs AttnTile_Mbarrier:$barrier);
  let assemblyFormat = "attr-dict `:` type($barrier)";
}

def ClusterBarrierOp : AttnTile_Op<"cluster_barrier", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the cluster that have not ended";
  let description = [{
    Before it, no CTA of the cluster may use another's mbarriers; after the last
    one, none may use another's shared memory, which may be gone (PTX ISA,
    barrier.cluster).
  }];
  let assemblyFormat = "attr-dict";
}

def InitMbarriersOp : AttnTile_Op<"init_mbarriers", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "initialise mbarriers, for all threads of the CTA to use";
  let description = [{
    One thread initialises; all threads meet before any goes on.

    Example:
    ```mlir
    attn_tile.init_mbarriers %full, %empty
        : !attn_tile.mbarrier<2, arrivals = 1>, !attn_tile.mbarrier<2, arrivals = 8>
    ```
  }];
  let arguments = (ins Variadic<AttnTile_Mbarrier>:$barriers);
  let assemblyFormat = "$barriers attr-dict `:` type($barriers)";
}

class AttnTile_MbarrierOp<string mnemonic> :
    AttnTile_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def MbarrierWaitOp : AttnTile_MbarrierOp<"mbarrier_wait"> {
  let summary = "wait until the phase of this parity is complete";
  let description = [{
    With `after`, a row fragment, its elements and what they come from are computed
    before the wait: nothing else orders arithmetic and a wait.

    Example:
    ```mlir
    attn_tile.mbarrier_wait %full[%stage], %parity
        : !attn_tile.mbarrier<2, arrivals = 1>
    attn_tile.mbarrier_wait %full[%stage], %parity after(%sum : !attn_tile.fragment<128xf32, row>)
        : !attn_tile.mbarrier<2, arrivals = 1>
    ```
  }];
  let arguments = (ins AttnTile_Mbarrier:$barrier, Index:$stage, Index:$parity,
                       Optional<AttnTile_Fragment>:$after);
  let builders = [OpBuilder<(ins "::mlir::Value":$barrier,
                                 "::mlir::Value":$stage,
                                 "::mlir::Value":$parity), [{
    build($_builder, $_state, barrier, stage, parity, /*after=*/nullptr);
  }]>];
  let assemblyFormat = [{
    $barrier `[` $stage `]` `,` $parity (`after` `(` $after^ `:` type($after) `)`)?
    attr-dict `:` type($barrier)
  }];
}

def MbarrierTestOp : AttnTile_MbarrierOp<"mbarrier_test"> {
  let summary = "whether the phase of this parity is complete";
  let description = [{
    Does not wait; where it is true it is what `attn_tile.mbarrier_wait` is (PTX
    ISA, mbarrier.test_wait).

    Example:
    ```mlir
    %done = attn_tile.mbarrier_test %full[%stage], %parity
        : !attn_tile.mbarrier<2, arrivals = 1>
    ```
  }];
  let arguments = (ins AttnTile_Mbarrier:$barrier, Index:$stage, Index:$parity);
  let results = (outs I1:$complete);
  let assemblyFormat = [{
    $barrier `[` $stage `]` `,` $parity attr-dict `:` type($barrier)
  }];
}

def GiveUpOp : AttnTile_MbarrierOp<"give_up"> {
  let summary = "report a wait that was in vain, and end the kernel";
  let description = [{
    `attn_wait_report` of the module is two 64-bit words: the address of memory
    that the host can still read when the kernel has failed (mapped host memory),
    0 for none, and a claim. The first thread that gives up writes ten 32-bit words
    there: 1, the number of the wait, the shared address of the mbarrier, stage,
    parity, the number of the loop around it, %ctaid.x, .y and .z, and %tid.x. A
    store to address 0 ends the kernel, a millisecond later.

    Example:
    ```mlir
    attn_tile.give_up 3 at %full[%stage], %parity in %turn
        : !attn_tile.mbarrier<2, arrivals = 1>
    ```
  }];
  let arguments = (ins I64Attr:$number, AttnTile_Mbarrier:$barrier,
                       Index:$stage, Index:$parity, Index:$turn);
  let assemblyFormat = [{
    $number `at` $barrier `[` $stage `]` `,` $parity `in` $turn attr-dict
    `:` type($barrier)
  }];
}

def MbarrierArriveOp : AttnTile_MbarrierOp<"mbarrier_arrive"> {
  let summary = "one arrival of each warp";
  let description = [{
    One lane of each warp that executes this arrives: what a warp has waited for
    is only known to that warp, so that one arrival for a warpgroup would be a
    race. With `ctas` = C > 1 the warp arrives at the barrier in each CTA of its
    cluster of C, with `first_cta` at that of the first one. With `one_thread` a role
    of one thread arrives.

    Example:
    ```mlir
    attn_tile.mbarrier_arrive %empty[%stage] : !attn_tile.mbarrier<2, arrivals = 8>
    attn_tile.mbarrier_arrive %seen[%stage] one_thread : !attn_tile.mbarrier<2, arrivals = 9>
    ```
  }];
  let arguments = (ins AttnTile_Mbarrier:$barrier, Index:$stage,
                       DefaultValuedAttr<I64Attr, "1">:$ctas,
                       UnitAttr:$one_thread, UnitAttr:$first_cta);
  let assemblyFormat = [{
    $barrier `[` $stage `]` (`one_thread` $one_thread^)? attr-dict
    `:` type($barrier)
  }];
  let hasVerifier = 1;
}

def SyncWarpOp : AttnTile_MbarrierOp<"sync_warp"> {
  let summary = "the lanes of a warp meet";
  let description = [{
    What a lane has read or written before, it has for the others after (PTX ISA,
    bar.warp.sync).
  }];
  let assemblyFormat = "attr-dict";
}

def TakeTurnOp : AttnTile_Op<"take_turn", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until it is this warpgroup's turn";
  let description = [{
    The consumer warpgroups take turns, 0, 1, ..., 0, ...: one starts its products
    while the others compute their softmax (FlashAttention-3, section 3.1). Each
    `take_turn` is followed by a `pass_turn`; the last warpgroup passes the first
    turn.

    Example:
    ```mlir
    attn_tile.take_turn %warpgroup
    ```
  }];
  let arguments = (ins Index:$warpgroup);
  let assemblyFormat = "$warpgroup attr-dict";
}

def PassTurnOp : AttnTile_Op<"pass_turn", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "give the turn to the next warpgroup";
  let arguments = (ins Index:$warpgroup);
  let assemblyFormat = "$warpgroup attr-dict";
}

def CopyTmaOp : AttnTile_Op<"copy_tma", [
    MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "start copying a tile from global to shared memory by TMA";
  let description = [{
    The rows [row, row + rows) and all columns of the matrix at the leading
    `indices`, or with one more index the columns from that one on; what is past
    the end is filled with 0. One thread arrives at the
    barrier, announces the tile's bytes and starts the copies (PTX ISA,
    cp.async.bulk.tensor); the phase completes when the tile is there.
    `evict_first` and `evict_last` say how long the L2 cache shall keep it. With
    `ctas` = C > 1 each CTA of a cluster of C brings that part of the rows whose
    number is its rank, 1/C of them, to all of them (multicast): each announces the
    whole tile at its own barrier, and may start when the place is free in all.
    With `first_cta` each CTA of a pair brings its own tile, and the first one's
    barrier says that both are there; in the other the thread only arrives.
    With `pages` the tile has as many parts of the same rows, each those from
    `row` on of the matrix at `(page, h)`, indices being `(h, row)`; a part of
    what is no page of the source is filled with 0. With `rows = [a, b]` only the
    tile's rows from a to b - 1 are copied, and announced.

    Example:
    ```mlir
    attn_tile.copy_tma %k[%b, %h, %n] to %kt, %full[%stage] evict_last
        : !attn_tile.tensor_map<64x64xf16, swizzle = 128>
          to !attn_tile.shared<64x128xf16, swizzle = 128>,
          !attn_tile.mbarrier<2, arrivals = 1>
    attn_tile.copy_tma %pool[%h, %row] pages(%p0, %p1) to %kt, %full[%stage]
        : !attn_tile.tensor_map<32x64xf16, swizzle = 128>
          to !attn_tile.shared<64x128xf16, swizzle = 128>,
          !attn_tile.mbarrier<2, arrivals = 1>
    ```
  }];
  let arguments = (ins AttnTile_TensorMap:$source, Variadic<Index>:$indices,
                       Variadic<Index>:$pages, AttnTile_Shared:$tile, AttnTile_Mbarrier:$barrier,
                       Index:$stage, UnitAttr:$evict_first,
                       UnitAttr:$evict_last,
                       DefaultValuedAttr<I64Attr, "1">:$ctas,
                       UnitAttr:$first_cta,
                       OptionalAttr<DenseI64ArrayAttr>:$rows);
  let assemblyFormat = [{
    $source `[` $indices `]` (`pages` `(` $pages^ `)`)? `to` $tile `,` $barrier `[` $stage `]`
    (`evict_first` $evict_first^)? (`evict_last` $evict_last^)? (`rows` `=` $rows^)?
    attr-dict `:` type($source) `to` type($tile) `,` type($barrier)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$source,
      "::mlir::ValueRange":$indices, "::mlir::ValueRange":$pages,
      "::mlir::Value":$tile, "::mlir::Value":$barrier, "::mlir::Value":$stage,
      "bool":$evictFirst, "bool":$evictLast, "int64_t":$ctas,
      CArg<"bool", "false">:$firstCta), [{
    build($_builder, $_state, source, indices, pages, tile, barrier, stage,
          evictFirst, evictLast, ctas, firstCta, /*rows=*/nullptr);
  }]>];
  let extraClassDeclaration = [{
    /// The first of the tile's rows that are copied, and how many.
    int64_t getFirstRow() { return getRows() ? (*getRows())[0] : 0; }
    int64_t countRows() {
      return getRows() ? (*getRows())[1] - (*getRows())[0]
                       : getTile().getType().getRows();
    }
  }];
}

def CopyBulkOp : AttnTile_Op<"copy_bulk", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "start copying a vector from global to shared memory";
  let description = [{
    The elements [i, i + cols) of the vector at the leading `indices`, all of which
    exist and begin at a multiple of 16 bytes, into a tile of one row. The thread
    that executes this announces the bytes, arrives at the barrier and starts the
    copy (PTX ISA, cp.async.bulk).

    Example:
    ```mlir
    attn_tile.copy_bulk %delta[%b, %h, %m] to %d, %full[%stage]
        : !attn_tile.global<?x8x?xf32> to !attn_tile.shared<1x64xf32, swizzle = 128>,
          !attn_tile.mbarrier<2, arrivals = 2>
    ```
  }];
  let arguments = (ins AttnTile_Global:$source, Variadic<Index>:$indices,
                       AttnTile_Shared:$tile, AttnTile_Mbarrier:$barrier,
                       Index:$stage);
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $tile `,` $barrier `[` $stage `]` attr-dict
    `:` type($source) `to` type($tile) `,` type($barrier)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILEASYNCOPS_TD
