//===- PTX.h - The attn_ptx dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX instructions that the nvvm dialect lacks (PTXOps.td).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PTX_IR_PTX_H
#define ATTN_DIALECT_PTX_IR_PTX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/BasicPtxBuilderInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "attn/Dialect/PTX/IR/PTXDialect.h.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/PTX/IR/PTXOps.h.inc"

namespace attn::ptx {

/// Of an llvm.func: passes of the backend that find nothing in its straight
/// lines of code are left out. The search for sums and products with a common
/// part ("straight-line strength reduction", "n-ary reassociation") took half
/// of the backend's time in a forward, for the first is quadratic in the length
/// of a line; common subexpressions are merged once in place of three times.
/// ptxas makes the same of the code; a backward needs fewer registers by them,
/// for the addresses of the tiles that it passes through shared memory.
inline constexpr llvm::StringLiteral plainArithmeticAttrName =
    "attn_ptx.plain_arithmetic";

} // namespace attn::ptx

#endif // ATTN_DIALECT_PTX_IR_PTX_H
