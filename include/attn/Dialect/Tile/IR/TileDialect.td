//===- TileDialect.td - The attn_tile dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEDIALECT_TD
#define ATTN_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def AttnTile_Dialect : Dialect {
  let name = "attn_tile";
  let cppNamespace = "::attn::tile";
  let summary = "One CTA's program: global views, shared tiles, fragments";
  let description = [{
    The tile level: what one CTA does, with memory spaces, asynchronous copies,
    stages and tensor-core operations explicit, but written for the CTA as a
    whole. Every op is executed by all warps of the CTA together; which thread
    holds which element is said by the fragment layout and by nothing else.

    A new target adds a lowering of these ops, not a copy of the kernel.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"
  ];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

def AttnTile_RowUpdate : I32EnumAttr<"RowUpdate", "what is done with each row", [
    I32EnumAttrCase<"subtract", 0>, I32EnumAttrCase<"multiply", 1>,
    I32EnumAttrCase<"keep", 2>]> {
  let cppNamespace = "::attn::tile";
}

def AttnTile_Reduction : I32EnumAttr<"Reduction", "row reduction", [
    I32EnumAttrCase<"max", 0>, I32EnumAttrCase<"sum", 1>,
    I32EnumAttrCase<"maximum", 2>]> {
  let cppNamespace = "::attn::tile";
}

#endif // ATTN_DIALECT_TILE_IR_TILEDIALECT_TD
