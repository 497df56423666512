//===- LinalgElements.h - linalg ops, element by element --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LINALGTOATTN_LINALGELEMENTS_H
#define LIB_CONVERSION_LINALGTOATTN_LINALGELEMENTS_H

#include "mlir/IR/DialectRegistry.h"

namespace attn::raise {

/// Lets the capture of attention (Analysis/Elements/ElementReader.h) read
/// linalg ops.
void registerLinalgElementReader(mlir::DialectRegistry &registry);

} // namespace attn::raise

#endif // LIB_CONVERSION_LINALGTOATTN_LINALGELEMENTS_H
