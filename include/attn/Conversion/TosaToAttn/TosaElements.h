//===- TosaElements.h - TOSA ops, element by element ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_TOSATOATTN_TOSAELEMENTS_H
#define ATTN_CONVERSION_TOSATOATTN_TOSAELEMENTS_H

#include "mlir/IR/DialectRegistry.h"

namespace attn::raise {

/// Lets the capture of attention (Analysis/Elements/ElementReader.h) read TOSA
/// ops.
void registerTosaElementReader(mlir::DialectRegistry &registry);

} // namespace attn::raise

#endif // ATTN_CONVERSION_TOSATOATTN_TOSAELEMENTS_H
