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

#endif // ATTN_DIALECT_PTX_IR_PTX_H
