//===- LaunchDialect.td - The attn_launch dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_LAUNCH_IR_LAUNCHDIALECT_TD
#define ATTN_DIALECT_LAUNCH_IR_LAUNCHDIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def AttnLaunch_Dialect : Dialect {
  let name = "attn_launch";
  let cppNamespace = "::attn::launch";
  let summary = "What is launched: kernels, operands, workspaces, grids";
  let description = [{
    The level above the tile program. An `attn_launch.program` says what a
    launcher does for one attention: which tensors it takes, which memory it
    allocates, and which kernels it launches in which order, with which grids and
    parameters. Sizes are `index` values, computed by `arith` from the sizes of
    operands: `addi`, `subi`, `muli`, `floordivsi`, `ceildivsi`, `remui`, `minsi`,
    `maxsi`. None depends on a tensor's elements, so that a program runs without
    waiting for the device.

    A program lives beside its kernels, through the tile and the nvvm form. From
    the latter the manifest (docs/Manifest.md) and the header are printed, last.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::attn::tile::AttnTileDialect"
  ];
  let useDefaultTypePrinterParser = 1;
}

def AttnLaunch_OperandRole : I32EnumAttr<"OperandRole",
    "whether kernels read or write an operand", [
    I32EnumAttrCase<"Input", 0, "input">,
    I32EnumAttrCase<"Output", 1, "output">,
    I32EnumAttrCase<"InOut", 2, "inout">]> {
  let cppNamespace = "::attn::launch";
}

#endif // ATTN_DIALECT_LAUNCH_IR_LAUNCHDIALECT_TD
