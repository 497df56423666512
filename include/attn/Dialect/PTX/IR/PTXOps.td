//===- PTXOps.td - Instructions that NVVM lacks -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PTX_IR_PTXOPS_TD
#define ATTN_DIALECT_PTX_IR_PTXOPS_TD

include "mlir/Dialect/LLVMIR/BasicPtxBuilderInterface.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/OpBase.td"

def AttnPTX_Dialect : Dialect {
  let name = "attn_ptx";
  let cppNamespace = "::attn::ptx";
  let summary = "PTX instructions that the nvvm dialect lacks";
  let description = [{
    One op for each instruction (or run of instructions that must stay together)
    that this project needs and MLIR's nvvm dialect does not have. The ops
    implement NVVM's BasicPtxBuilderInterface, so that `--convert-nvvm-to-llvm`
    writes them as inline PTX beside its own. When nvvm gains an instruction,
    its op here goes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

class AttnPTX_Op<string mnemonic, list<Trait> traits = []> :
    Op<AttnPTX_Dialect, mnemonic, traits # [
      DeclareOpInterfaceMethods<BasicPtxBuilderOpInterface, ["getAsmValues"]>]>;

def WgmmaOp : AttnPTX_Op<"wgmma", [AttrSizedOperandSegments]> {
  let summary = "a run of wgmma.mma_async into one accumulator";
  let description = [{
    D (+)= A[0] * B[0] + A[1] * B[1] + ..., each product of shape m64nNk16 on
    16-bit inputs, or m64nNk32 on 8-bit ones, with accumulation in f32, or i32 of i8, by one warpgroup (PTX ISA,
    "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation"). N is
    twice the number of elements of the accumulator. Without `acc` the first
    product overwrites D.

    A is in shared memory, one descriptor for each product, or in registers, four
    for each product: nvvm.wgmma.mma_async takes descriptors only. B is K-major,
    or MN-major with `b_mn_major`, which 8-bit operands are not. Of 8-bit floats B
    may have another type than A (`by`). The run is one piece of inline PTX: apart, its
    products would make the backend carry the accumulator from one to the next.
    It begins with wgmma.fence, after which nobody may write the registers: as an
    instruction of its own the backend would write constants into them behind it.

    The accumulator is not there before `attn_ptx.wgmma_wait`.

    Example:
    ```mlir
    %s = attn_ptx.wgmma f16 a_descriptors(%q0, %q1) b(%k0, %k1)
        : !llvm.struct<(f32, f32, f32, f32)>
    %o = attn_ptx.wgmma bf16 a_registers(%p0, %p1, %p2, %p3) b(%v0) b_mn_major
        acc(%o0 : !llvm.struct<(f32, f32, f32, f32)>)
        : !llvm.struct<(f32, f32, f32, f32)>
    ```
  }];
  let arguments = (ins TypeAttr:$element, OptionalAttr<TypeAttr>:$b_element,
                       Variadic<I64>:$a_descriptors,
                       Variadic<I32>:$a_registers, Variadic<I64>:$b,
                       UnitAttr:$a_mn_major, UnitAttr:$b_mn_major,
                       Optional<LLVM_AnyStruct>:$acc);
  let results = (outs LLVM_AnyStruct:$result);
  let assemblyFormat = [{
    $element (`by` $b_element^)? (`a_descriptors` `(` $a_descriptors^ `)`)? (`a_mn_major` $a_mn_major^)?
    (`a_registers` `(` $a_registers^ `)`)? `b` `(` $b `)`
    (`b_mn_major` $b_mn_major^)? (`acc` `(` $acc^ `:` type($acc) `)`)?
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The element type of B.
    ::mlir::Type getElementOfB() { return getBElement().value_or(getElement()); }
    /// Elements of the accumulator that a thread holds: N / 2.
    int64_t getNumRegisters();
  }];
}

def WgmmaWaitOp : AttnPTX_Op<"wgmma_wait", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "wgmma.wait_group, as a value";
  let description = [{
    Waits until at most `pending` groups of the warpgroup's products are in
    flight. `result` is `acc`, there: what reads it cannot be moved before the
    wait, as it could be with nvvm.wgmma.wait.group.sync.aligned, on which no
    value depends.

    Example:
    ```mlir
    %s1 = attn_ptx.wgmma_wait 1, %s : !llvm.struct<(f32, f32, f32, f32)>
    ```
  }];
  let arguments = (ins I64Attr:$pending, LLVM_AnyStruct:$acc);
  let results = (outs LLVM_AnyStruct:$result);
  let assemblyFormat = "$pending `,` $acc attr-dict `:` type($acc)";
  let hasVerifier = 1;
}

def MbarrierArriveOp : Op<AttnPTX_Dialect, "mbarrier_arrive", [
    DeclareOpInterfaceMethods<BasicPtxBuilderOpInterface>]> {
  let summary = "mbarrier.arrive of the threads for which a predicate holds";
  let description = [{
    (PTX ISA, "mbarrier.arrive".) nvvm.mbarrier.arrive has no predicate: the
    branch around it can end a loop, which ptxas then takes for one whose threads
    diverge, and in which it has no uniform registers.

    Example:
    ```mlir
    attn_ptx.mbarrier_arrive %barrier if %is_first : !llvm.ptr<3>
    ```
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$barrier, PtxPredicate:$predicate);
  let assemblyFormat = "$barrier (`if` $predicate^)? attr-dict `:` type($barrier)";
  let extraClassDefinition = [{
    std::string $cppClass::getPtx() {
      return "mbarrier.arrive.shared.b64 _, [%0];";
    }
  }];
}

def MbarrierArriveClusterOp : Op<AttnPTX_Dialect, "mbarrier_arrive_cluster", [
    DeclareOpInterfaceMethods<BasicPtxBuilderOpInterface>]> {
  let summary = "mbarrier.arrive in a CTA of the cluster";
  let description = [{
    Where `condition` holds, arrives at the barrier that is in the shared memory of
    CTA number `cta` of the cluster where `barrier` is in one's own (PTX ISA, "mapa",
    "mbarrier.arrive"). nvvm.mbarrier.arrive on a mapped pointer has no predicate.

    It says that reads of one's own shared memory are over, and publishes no write:
    .release.cluster would cost a MEMBAR.ALL.GPU each time, a sixth of the time of a
    kernel in clusters (docs/benchmarks).

    Example:
    ```mlir
    attn_ptx.mbarrier_arrive_cluster %barrier in %cta if %is_first : !llvm.ptr<3>
    ```
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$barrier, I32:$cta,
                       I1:$condition);
  let assemblyFormat = "$barrier `in` $cta `if` $condition attr-dict `:` type($barrier)";
  let extraClassDefinition = [{
    std::string $cppClass::getPtx() {
      return "{ .reg .b32 peer; mapa.shared::cluster.u32 peer, %0, %1; "
             "@%2 mbarrier.arrive.shared::cluster.b64 _, [peer]; }";
    }
  }];
}

def PinOp : Op<AttnPTX_Dialect, "pin", [
    DeclareOpInterfaceMethods<BasicPtxBuilderOpInterface>]> {
  let summary = "keep the computation of a value here";
  let description = [{
    ptxas orders wgmma.wait_group and waits for mbarriers against memory accesses
    and branches, but not against arithmetic: it moves them up through it, and
    arithmetic down. This is a store to shared memory of a value below -inf: of
    none, which ptxas does not find out. `address` may be any of the CTA's.

    Example:
    ```mlir
    attn_ptx.pin %sum at %barrier : !llvm.ptr<3>
    ```
  }];
  let arguments = (ins F32:$value, LLVM_PointerInAddressSpace<3>:$address);
  let assemblyFormat = "$value `at` $address attr-dict `:` type($address)";
  let extraClassDefinition = [{
    std::string $cppClass::getPtx() {
      return "{ .reg .pred never; setp.lt.f32 never, %0, 0fFF800000; "
             "@never st.shared.f32 [%1], %0; }";
    }
  }];
}

def ExitOp : Op<AttnPTX_Dialect, "exit", [
    DeclareOpInterfaceMethods<BasicPtxBuilderOpInterface>]> {
  let summary = "exit of the threads for which a predicate holds";
  let description = [{
    (PTX ISA, "exit".) A return would need a block of its own.

    Example:
    ```mlir
    attn_ptx.exit if %done
    ```
  }];
  let arguments = (ins I1:$done);
  let assemblyFormat = "`if` $done attr-dict";
  let extraClassDefinition = [{
    std::string $cppClass::getPtx() { return "@%0 exit;"; }
  }];
}

def AddBulkOp : Op<AttnPTX_Dialect, "add_bulk", [
    DeclareOpInterfaceMethods<BasicPtxBuilderOpInterface>]> {
  let summary = "cp.reduce.async.bulk: add a run of f32 to global memory";
  let description = [{
    Starts adding `bytes` bytes of f32 in shared memory to those at `to`, each
    element at once, as part of the thread's bulk group (PTX ISA,
    "cp.reduce.async.bulk"); nvvm has it for tensors only. `policy` is that of the L2 cache.

    Example:
    ```mlir
    attn_ptx.add_bulk %from to %to, %bytes, %policy : !llvm.ptr<3> to !llvm.ptr<1>
    ```
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$from,
                       LLVM_PointerInAddressSpace<1>:$to, I32:$bytes, I64:$policy);
  let assemblyFormat = [{
    $from `to` $to `,` $bytes `,` $policy attr-dict `:` type($from) `to` type($to)
  }];
  let extraClassDefinition = [{
    std::string $cppClass::getPtx() {
      return "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint"
             ".add.f32 [%1], [%0], %2, %3;";
    }
  }];
}

#endif // ATTN_DIALECT_PTX_IR_PTXOPS_TD
