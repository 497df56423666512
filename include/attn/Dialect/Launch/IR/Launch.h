//===- Launch.h - The attn_launch dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Includes everything of the attn_launch dialect: dialect, enum, type and ops.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_LAUNCH_IR_LAUNCH_H
#define ATTN_DIALECT_LAUNCH_IR_LAUNCH_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attn/Dialect/Launch/IR/LaunchDialect.h.inc"
#include "attn/Dialect/Launch/IR/LaunchEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Launch/IR/LaunchTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/Launch/IR/LaunchOps.h.inc"

namespace attn::launch {

/// The parameters of a kernel's llvm.func that one of its attn_tile.kernel is:
/// a tensor's pointer, its dynamic sizes (i32) and the strides of all
/// dimensions but the last (i64, in elements); the pointer to a tensor map,
/// which is passed by value; a scalar itself.
llvm::SmallVector<mlir::Type> getParameterTypes(mlir::Type type);

} // namespace attn::launch

#endif // ATTN_DIALECT_LAUNCH_IR_LAUNCH_H
