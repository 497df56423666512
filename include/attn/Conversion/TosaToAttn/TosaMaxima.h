//===- TosaMaxima.h - Largest magnitudes in TOSA ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_TOSATOATTN_TOSAMAXIMA_H
#define ATTN_CONVERSION_TOSATOATTN_TOSAMAXIMA_H

#include "mlir/IR/Value.h"

namespace attn::raise {

/// The tosa.reduce_max that takes tosa.abs of `tensor` along its last
/// dimension, where a NaN is the largest; null if there is none. TOSA reduces
/// one dimension at a time.
mlir::Operation *findRowMaxima(mlir::Value tensor);

} // namespace attn::raise

#endif // ATTN_CONVERSION_TOSATOATTN_TOSAMAXIMA_H
