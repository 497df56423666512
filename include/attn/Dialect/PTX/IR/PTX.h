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

/// Of an llvm.func: the backend looks for no sums and products with a common
/// part in its straight lines of code ("straight-line strength reduction",
/// "n-ary reassociation"). In the long lines of a forward that took half of the
/// backend's time, for the first is quadratic in their length, and ptxas makes
/// the same of its code; a backward needs fewer registers by it, for the
/// addresses of the tiles that it passes through shared memory.
inline constexpr llvm::StringLiteral noStrengthReductionAttrName =
    "attn_ptx.no_strength_reduction";

} // namespace attn::ptx

#endif // ATTN_DIALECT_PTX_IR_PTX_H
