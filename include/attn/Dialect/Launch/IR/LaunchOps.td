//===- LaunchOps.td - The attn_launch dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_LAUNCH_IR_LAUNCHOPS_TD
#define ATTN_DIALECT_LAUNCH_IR_LAUNCHOPS_TD

include "attn/Dialect/Attn/IR/AttnAttrs.td"
include "attn/Dialect/Launch/IR/LaunchDialect.td"
include "attn/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def AttnLaunch_Workspace : TypeDef<AttnLaunch_Dialect, "Workspace"> {
  let mnemonic = "workspace";
  let summary = "device memory that the launcher allocates";
}

class AttnLaunch_Op<string mnemonic, list<Trait> traits = []> :
    Op<AttnLaunch_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

def ProgramOp : AttnLaunch_Op<"program", [IsolatedFromAbove, NoTerminator,
    SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "what a launcher does for one attention";
  let description = [{
    `semantics` ("attention", "attention_backward", "linear_attention",
    "append" or "merge"), `scale`, `deterministic` and `schedule` say what is computed, and
    how. The body has the operands, workspaces and sizes, and the launches, in
    order: each kernel sees the writes of those before it. If there is an
    `attn_launch.repeat`, all launches are in it.

    Example:
    ```mlir
    attn_launch.program "attention" attributes {scale = 1.250000e-01 : f64, semantics = "attention"} {
      %q = attn_launch.operand input "query" vector(8) argument(0) : !attn_tile.global<?x8x?x64xf16>
      %o = attn_launch.operand output "output" vector(2) result(0) : !attn_tile.global<?x8x?x64xf16>
      %c64 = arith.constant 64 : index
      %c8 = arith.constant 8 : index
      %m = attn_tile.dim %q, 2 : !attn_tile.global<?x8x?x64xf16>
      %tiles = arith.ceildivsi %m, %c64 : index
      %batches = attn_tile.dim %q, 0 : !attn_tile.global<?x8x?x64xf16>
      attn_launch.launch @attention grid(%tiles, %c8, %batches)
          args(%q, %o : !attn_tile.global<?x8x?x64xf16>, !attn_tile.global<?x8x?x64xf16>)
    }
    attn_tile.kernel @attention(%q: !attn_tile.global<?x8x?x64xf16>, %o: !attn_tile.global<?x8x?x64xf16>) warps(4) {
      attn_tile.return
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$semantics, F64Attr:$scale,
                       UnitAttr:$deterministic,
                       OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def OperandOp : AttnLaunch_Op<"operand"> {
  let summary = "a tensor that the caller passes";
  let description = [{
    Kernels read or write `vector` elements at once: addresses and strides are
    multiples of it. The last dimension is contiguous; other strides are the
    caller's. `argument` is the number of the function's argument that the
    operand is, `result` that of the result, where it is one. `dims` are names
    of the dimensions: dynamic ones of one name have one size, in all operands.
    By default, a dimension has a name of its own.

    Example:
    ```mlir
    %q = attn_launch.operand input "query" vector(8) argument(0) dims ["B", "Hq", "M", "D"]
        : !attn_tile.global<?x8x?x64xf16>
    ```
  }];
  let arguments = (ins AttnLaunch_OperandRole:$role, StrAttr:$name,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$vector,
                       OptionalAttr<I64Attr>:$argument,
                       OptionalAttr<I64Attr>:$result_number,
                       OptionalAttr<StrArrayAttr>:$dims);
  let results = (outs AttnTile_Global:$tensor);
  let assemblyFormat = [{
    $role $name (`vector` `(` $vector^ `)`)? (`argument` `(` $argument^ `)`)?
    (`result` `(` $result_number^ `)`)? (`dims` $dims^)? attr-dict `:` type($tensor)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

def StrideOp : AttnLaunch_Op<"stride", [Pure]> {
  let summary = "a stride of an operand, in elements";
  let description = [{
    Example:
    ```mlir
    %q = attn_launch.operand input "query" : !attn_tile.global<?x8x?x64xf16>
    %s = attn_launch.stride %q, 2 : !attn_tile.global<?x8x?x64xf16>
    ```
  }];
  let arguments = (ins AttnTile_Global:$operand, I64Attr:$dim);
  let results = (outs Index:$stride);
  let assemblyFormat = "$operand `,` $dim attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def SmCountOp : AttnLaunch_Op<"sm_count", [Pure]> {
  let summary = "the number of SMs of the device";
  let description = [{
    Example:
    ```mlir
    %sms = attn_launch.sm_count
    ```
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

def ConstraintOp : AttnLaunch_Op<"constraint"> {
  let summary = "a condition on sizes";
  let description = [{
    A launch of a problem where `value` is not `equals` is refused with `message`.

    Example:
    ```mlir
    attn_launch.constraint %rest equals 0, "expected the number of query heads to be a multiple of the number of key heads"
    ```
  }];
  let arguments = (ins Index:$value, I64Attr:$equals, StrAttr:$message);
  let assemblyFormat = "$value `equals` $equals `,` $message attr-dict";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def WorkspaceOp : AttnLaunch_Op<"workspace"> {
  let summary = "device memory that the launcher allocates";
  let description = [{
    `bytes` bytes, as they were, or `zero` before the first kernel.

    Example:
    ```mlir
    %w = attn_launch.workspace "row_lse" bytes(%bytes)
    ```
  }];
  let arguments = (ins StrAttr:$name, Index:$bytes, UnitAttr:$zero);
  let results = (outs AttnLaunch_Workspace:$memory);
  let assemblyFormat = [{
    $name `bytes` `(` $bytes `)` (`zero` $zero^)? attr-dict
  }];
}

def ViewOp : AttnLaunch_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "memory as a kernel sees it";
  let description = [{
    A tensor whose first element is `byte_offset` bytes behind the beginning of
    a workspace, or of an operand; before it where the workspace holds a later
    part of what the kernel addresses. `sizes` are those of the type's dynamic
    dimensions, `strides` (in elements) those of all but the last.

    Example:
    ```mlir
    %v = attn_launch.view %w[%c0] sizes(%m) strides(%c64) : !attn_launch.workspace to !attn_tile.global<?x64xf32>
    ```
  }];
  let arguments = (ins
      AnyTypeOf<[AttnLaunch_Workspace, AttnTile_Global]>:$source,
      Index:$byte_offset, Variadic<Index>:$sizes, Variadic<Index>:$strides);
  let results = (outs AttnTile_Global:$tensor);
  let assemblyFormat = [{
    $source `[` $byte_offset `]` (`sizes` `(` $sizes^ `)`)?
    (`strides` `(` $strides^ `)`)? attr-dict `:` type($source) `to` type($tensor)
  }];
  let hasVerifier = 1;
}

def TensorMapOp : AttnLaunch_Op<"tensor_map", [Pure]> {
  let summary = "a tensor as TMA sees it";
  let description = [{
    A CUtensorMap over an operand or a view (PTX ISA, "Tensor-maps"). A box has
    the columns of the type's shape, and of its rows as many of each of `heads`
    heads. `packed` sequences, [rows, H, D], are one batch [1, H, rows, D]. It asks of an operand what TMA asks for: an address and strides of
    whole chunks of 16 bytes.

    Example:
    ```mlir
    %map = attn_launch.tensor_map %q : !attn_tile.global<?x8x?x64xf16> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AttnTile_Global:$tensor,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$heads,
                       UnitAttr:$packed);
  let results = (outs AttnTile_TensorMap:$map);
  let assemblyFormat = [{
    $tensor (`heads` `(` $heads^ `)`)? (`packed` $packed^)? attr-dict
    `:` type($tensor) `to` type($map)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

def RepeatOp : AttnLaunch_Op<"repeat", [HasParent<"ProgramOp">, NoTerminator,
    SingleBlock]> {
  let summary = "launches in rounds";
  let description = [{
    All launches of the body, `count` times, one round after the other. The
    block's argument is the number of the round, from 0.

    Example:
    ```mlir
    attn_launch.program "rounds" attributes {scale = 1.0 : f64, semantics = "attention"} {
      %c4 = arith.constant 4 : index
      attn_launch.repeat %c4 {
      ^bb0(%iteration: index):
        attn_launch.launch @round grid(%c4, %c4, %c4)
      }
    }
    attn_tile.kernel @round() warps(4) {
      attn_tile.return
    }
    ```
  }];
  let arguments = (ins Index:$count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count $body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getIteration() { return getBody().getArgument(0); }
  }];
}

def LaunchOp : AttnLaunch_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the launch of a kernel";
  let description = [{
    `grid` is in CTAs. `args` are the kernel's parameters, in order: tensors,
    tensor maps, and scalars. Of an `attn_tile.kernel` those that are no tensor
    maps: how these are made the kernel says itself. `--convert-attn-tile-to-nvvm`
    adds them, and what else is known of a CTA then: `threads`, `cluster_ctas`
    CTAs in x and `shared_bytes` of dynamic shared memory.

    A `programmatic` launch may start before the end of the one before it in the
    program, for which its kernel waits itself (`--attn-chain-launches`).

    Example:
    ```mlir
    attn_launch.program "one" attributes {scale = 1.0 : f64, semantics = "attention"} {
      %q = attn_launch.operand input "query" vector(8) : !attn_tile.global<4x64xf16>
      %c1 = arith.constant 1 : index
      %first = arith.constant 2 : i32
      attn_launch.launch @one grid(%c1, %c1, %c1) args(%q, %first : !attn_tile.global<4x64xf16>, i32)
    }
    attn_tile.kernel @one(%q: !attn_tile.global<4x64xf16>, %first: i32) warps(4) {
      attn_tile.return
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, UnitAttr:$programmatic,
                       Index:$grid_x, Index:$grid_y, Index:$grid_z,
                       Variadic<AnyType>:$args,
                       OptionalAttr<I64Attr>:$threads,
                       OptionalAttr<I64Attr>:$cluster_ctas,
                       OptionalAttr<I64Attr>:$shared_bytes);
  let assemblyFormat = [{
    $kernel (`programmatic` $programmatic^)? `grid` `(` $grid_x `,` $grid_y `,` $grid_z `)`
    (`args` `(` $args^ `:` type($args) `)`)? attr-dict
  }];
}

#endif // ATTN_DIALECT_LAUNCH_IR_LAUNCHOPS_TD
