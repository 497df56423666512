//===- TransformOps.td - The compiler in transform scripts -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of MLIR's transform dialect, so that a script drives the compiler. Where
// one takes a handle to a module, it is to a `builtin.module`.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_TRANSFORMOPS_TD
#define ATTN_PIPELINES_TRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class AttnTransformOp<string mnemonic, list<Trait> traits = []> :
    Op<Transform_Dialect, "attn." # mnemonic, traits>;

// Applied to each op that a handle stands for.
class AttnEachTransformOp<string mnemonic, list<Trait> traits> :
    AttnTransformOp<mnemonic, traits #
                    [TransformOpInterface, TransformEachOpTrait]> {
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
}

// Runs passes on a module: the handle to it is used up, and a new one made.
class AttnModuleTransformOp<string mnemonic> :
    AttnEachTransformOp<mnemonic, [MemoryEffectsOpInterface,
                                   FunctionalStyleTransformOpTrait]> {
  let results = (outs TransformHandleTypeInterface:$transformed);
}

def AttnRaiseOp : AttnModuleTransformOp<"raise"> {
  let summary = "capture the attention graphs of a module";
  let description = [{
    `--attn-to-tensor` on a module: graphs of linalg and TOSA ops that compute
    attention become `attn.attention`. A module without any is a definite
    failure. Uses up the handle and returns a new one.

    Example: `%m = transform.attn.raise %module : (!transform.any_op) -> !transform.any_op`
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

def AttnMatchAttentionOp : AttnTransformOp<"match_attention",
    [MemoryEffectsOpInterface, NavigationTransformOpTrait,
     DeclareOpInterfaceMethods<TransformOpInterface>]> {
  let summary = "find the attentions in ops";
  let description = [{
    Returns a handle to each `attn.attention` in the payload, in the order in
    which they stand there: those of head dimension `head_dim`, if it is given,
    and those with (without) a mask, if `masked` is true (false). The handle may
    be empty.

    Example:
    ```mlir
    %a = transform.attn.match_attention in %module {head_dim = 128 : i64, masked = true}
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       OptionalAttr<I64Attr>:$head_dim,
                       OptionalAttr<BoolAttr>:$masked);
  let results = (outs TransformHandleTypeInterface:$attentions);
  let assemblyFormat =
      "`in` $target attr-dict `:` functional-type(operands, results)";
}

def AttnSetScheduleOp : AttnEachTransformOp<"set_schedule",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "give an attention its schedule";
  let description = [{
    Puts a complete `#attn.schedule` on each `attn.attention`: the fields that
    `schedule` gives, and the cost model's choice for the others
    (`--attn-select-schedule`). A schedule that is there already is replaced. One
    that the target cannot run is a definite failure, with the limit and the
    nearest legal schedule.

    Example:
    ```mlir
    transform.attn.set_schedule %a "tile_m=64 stages=3" target("sm_80")
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       StrAttr:$schedule, StrAttr:$chip, UnitAttr:$allow_tf32);
  let assemblyFormat = [{
    $target $schedule `target` `(` $chip `)` (`allow_tf32` $allow_tf32^)?
    attr-dict `:` type($target)
  }];
}

def AttnTileOp : AttnModuleTransformOp<"tile"> {
  let summary = "tile the attentions of a module";
  let description = [{
    `--attn-to-tiled` on a module, each of whose attentions has a schedule:
    loops over tiles around `attn.online_attention`. Uses up the handle and
    returns a new one.

    Example: `%t = transform.attn.tile %module : (!transform.any_op) -> !transform.any_op`
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

def AttnLowerOp : AttnModuleTransformOp<"lower"> {
  let summary = "lower a module to one CTA's program, or to NVVM";
  let description = [{
    The stages that the module still needs to get to the form `to`: `tensor`,
    `scheduled`, `tiled`, `tile` or `nvvm` (docs/Forms.md). `schedule` has the
    fields for attentions without one. Uses up the handle and returns a new one.

    Example:
    ```mlir
    %n = transform.attn.lower %module to("nvvm") target("sm_90a")
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$form,
                       StrAttr:$chip, OptionalAttr<StrAttr>:$schedule,
                       UnitAttr:$allow_tf32);
  let assemblyFormat = [{
    $target `to` `(` $form `)` `target` `(` $chip `)`
    (`schedule` `(` $schedule^ `)`)? (`allow_tf32` $allow_tf32^)?
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // ATTN_PIPELINES_TRANSFORMOPS_TD
