//===- SizePrinter.h - Sizes as expressions of a manifest -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_MANIFEST_SIZEPRINTER_H
#define LIB_TARGET_MANIFEST_SIZEPRINTER_H

#include "mlir/IR/Value.h"

#include <string>

namespace attn {

/// A scalar of a program in the grammar of docs/Manifest.md. Emits an error at
/// an op that the grammar lacks.
mlir::FailureOr<std::string> printSize(mlir::Value value);

} // namespace attn

#endif // LIB_TARGET_MANIFEST_SIZEPRINTER_H
