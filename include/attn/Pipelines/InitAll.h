//===- InitAll.h - Everything of this project, registered -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tools: what attn-opt, the plug-in and the language server all load.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_INITALL_H
#define ATTN_PIPELINES_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace attn {

/// This project's dialects, and the interfaces that its passes and targets
/// look up on upstream dialects.
void registerAllAttnDialects(mlir::DialectRegistry &registry);

/// This project's passes and pipelines, by name.
void registerAllAttnPasses();

} // namespace attn

#endif // ATTN_PIPELINES_INITALL_H
