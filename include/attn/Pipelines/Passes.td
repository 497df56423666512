//===- Passes.td - Passes that run the whole compiler ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_PASSES_TD
#define ATTN_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlinePass : Pass<"attn-outline", "::mlir::ModuleOp"> {
  let summary = "compile each attention, leaving a call in its place";
  let description = [{
    For a host compiler: replaces each `attn.attention` and
    `attn.attention_backward` by a call to an external function, and compiles it
    for `target`. Nothing else in the module changes, whatever dialects it is
    made of. What the attention reads, scalars that its regions capture
    included, becomes the arguments of the call; its results are those of the
    call. Attentions that are alike share one function.

    The function carries the kernel as `attn.kernel`: a dictionary with
    `target`, `ptx` and `manifest`, the texts of NAME.ptx and NAME.json
    (docs/Manifest.md). The manifest's operands are the arguments of the
    function and then its results, in order: who implements the function
    allocates the results and launches. With the option `directory`, the
    compiler writes NAME.ptx, NAME.json and NAME.h there instead, and the
    dictionary has the names of the files.

    In a module without an attention each `attn.append` becomes a call, of
    `@f_append` in `@f`.

    An attention that cannot be compiled is an error; with the option
    `fallback`, it becomes linalg ops where it stands, with a warning that has
    the reason.

    Requires: nothing; `--attn-raise` before it captures graphs. Ensures: no
    `attn.attention` and no `attn.attention_backward`.

    Example, `--attn-outline=target=sm_80`:
    ```mlir
    %o = attn.attention %q, %k, %v : ...
    // becomes
    %o = call @f_attention(%q, %k, %v) : (...) -> tensor<1x8x64x32xf16>
    ...
    func.func private @f_attention(...) -> tensor<1x8x64x32xf16>
        attributes {attn.kernel = {target = "sm_80", ptx = "...", manifest = "..."}}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_80\"",
           "Target to compile for: sm_80, ...">,
    Option<"targetFields", "target-fields", "std::string", "\"\"",
           "Numbers of the target to change: 'smem-bytes=65536 ...'">,
    Option<"schedule", "schedule", "std::string", "\"\"",
           "Fields of the schedule that are given: 'tile_m=64 stages=3'">,
    Option<"allowTf32", "allow-tf32", "bool", "false",
           "Let f32 attention use tf32 tensor cores">,
    Option<"deterministic", "deterministic", "bool", "false",
           "Gradients are the same bits in every run">,
    Option<"deviceAsserts", "device-asserts", "bool", "false",
           "Check before each launch the lists and offsets that masks read">,
    Option<"programmaticLaunch", "programmatic-launch", "bool", "true",
           "Start kernels while those before them still run, on sm_90 and later">,
    Option<"maskThreshold", "mask-threshold", "double", "0",
           "Finite mask values at or below this hide keys (0: half of the lowest "
           "number of the score's type)">,
    Option<"assumeVisibleRows", "assume-visible-rows", "bool", "false",
           "Take it that every query sees at least one key">,
    Option<"fallback", "fallback", "bool", "false",
           "Turn what cannot be compiled into linalg ops">,
    Option<"directory", "directory", "std::string", "\"\"",
           "Write the kernels to files in this folder, which must exist">
  ];
  let statistics = [
    Statistic<"numOutlined", "num-outlined", "Number of attentions replaced by a call">,
    Statistic<"numKernels", "num-kernels", "Number of kernels compiled for them">,
    Statistic<"numFallbacks", "num-fallbacks", "Number of attentions turned into linalg ops">
  ];
}

def ShareAttentionsPass : Pass<"attn-share-attentions", "::mlir::ModuleOp"> {
  let summary = "equal attentions as calls of one function";
  let description = [{
    Attentions and backwards of a module that are equal but for their tensors, as
    those of a model's layers are, become calls of one private function, so that it
    is compiled once. One that is like no other stays where it is.

    Requires: nothing. Ensures: no two attentions of the module are equal.

    Example:
    ```mlir
    func.func @two(%q: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
      %a = attn.attention %q, %q, %q
          : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>
          -> tensor<1x2x96x64xf16>
      %b = attn.attention %a, %q, %q
          : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>
          -> tensor<1x2x96x64xf16>
      return %b : tensor<1x2x96x64xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let statistics = [
    Statistic<"numShared", "num-shared", "Number of attentions replaced by a call">,
    Statistic<"numFunctions", "num-functions", "Number of functions made for them">
  ];
}

def LowerTosaPass : Pass<"attn-lower-tosa", "::mlir::ModuleOp"> {
  let summary = "TOSA ops to linalg, arith, tensor and scf";
  let description = [{
    Runs upstream's passes from TOSA, and its canonicalizer between them, on a
    module with TOSA ops; on others, most, they would be a twentieth of a
    compilation for nothing.

    Requires: nothing. Ensures: no TOSA op.

    Example:
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = tosa.add %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
  }];
}

def SerializeOuterLoopsPass
    : Pass<"attn-serialize-outer-loops", "::mlir::ModuleOp"> {
  let summary = "parallel loops around others, or around calls, as loops";
  let description = [{
    A parallel loop that holds another, or a call of a function that may, becomes
    a loop: of nested ones the inner, those of an attention's tiles, are the
    parallel ones. They have more trips, and on the CPU trips that run beside
    others take no further threads.

    Requires: `scf.forall` on buffers. Ensures: no parallel loop runs within
    another.

    Example:
    ```mlir
    func.func @two(%m: memref<3x4xf32>, %x: f32) {
      scf.forall (%i) in (3) {
        scf.forall (%j) in (4) {
          memref.store %x, %m[%i, %j] : memref<3x4xf32>
        }
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Number of parallel loops made loops">
  ];
}

def OutlineParallelLoopsPass
    : Pass<"attn-outline-parallel-loops", "::mlir::ModuleOp"> {
  let summary = "bodies of parallel loops as functions of a range of trips";
  let description = [{
    An `scf.parallel` becomes a call of a function that runs its trips, of all
    dimensions, from the first argument on up to the second; what the body
    reads from above is the other arguments, but for constants. The call, of all
    trips, has the attribute `attn.parallel`: `--attn-dispatch-parallel-calls`
    lets threads share it; as it stands it is a loop. So is a parallel loop with
    reductions, which stays.

    Requires: buffers. Ensures: no `scf.parallel` without results.

    Example:
    ```mlir
    func.func @fill(%m: memref<3x4xf32>, %x: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      scf.parallel (%i, %j) = (%c0, %c0) to (%c3, %c4) step (%c1, %c1) {
        memref.store %x, %m[%i, %j] : memref<3x4xf32>
      }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::scf::SCFDialect"
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Number of parallel loops outlined">
  ];
}

def DispatchParallelCallsPass
    : Pass<"attn-dispatch-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "calls of outlined parallel loops through the host's threads";
  let description = [{
    A call that `--attn-outline-parallel-loops` has marked becomes one of the
    host's `attnParallelFor(body, context, count)`, which calls
    `body(context, begin, end)` for ranges that make up `count` trips. The
    context is on the caller's stack and holds what the body captures.

    Requires: functions and calls of the LLVM dialect, one call for each outlined loop. Ensures:
    no call is marked.

    Example:
    ```mlir
    llvm.func @f_loop(%begin: i64, %end: i64, %x: f32, %p: !llvm.ptr) {
      llvm.store %x, %p : f32, !llvm.ptr
      llvm.return
    }
    llvm.func @f(%x: f32, %p: !llvm.ptr) {
      %c0 = llvm.mlir.constant(0 : i64) : i64
      %c7 = llvm.mlir.constant(7 : i64) : i64
      llvm.call @f_loop(%c0, %c7, %x, %p) {attn.parallel} : (i64, i64, f32, !llvm.ptr) -> ()
      llvm.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Number of calls that threads share">
  ];
}

#endif // ATTN_PIPELINES_PASSES_TD
