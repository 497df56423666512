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

def SerializeOuterLoopsPass
    : Pass<"attn-serialize-outer-loops", "::mlir::ModuleOp"> {
  let summary = "parallel loops around others, or around calls, as loops";
  let description = [{
    A parallel loop that holds another, or a call of a function that may, becomes
    a loop: of nested ones the inner, those of an attention's tiles, are the
    parallel ones. On the CPU a task that waits for others holds a thread, and
    were all threads to wait none would be left for what they wait for.

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

#endif // ATTN_PIPELINES_PASSES_TD
