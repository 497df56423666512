//===- TransformOps.h - The compiler in transform scripts -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_TRANSFORMOPS_H
#define ATTN_PIPELINES_TRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

namespace attn {

/// Adds the transform ops `transform.attn.*` to the transform dialect.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace attn

#define GET_OP_CLASSES
#include "attn/Pipelines/TransformOps.h.inc"

#endif // ATTN_PIPELINES_TRANSFORMOPS_H
