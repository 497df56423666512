//===- TosaElements.h - Elements of TOSA results -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TOSA's part of `--attn-raise`: what an element of the result of a TOSA op
// is. The matching itself is the same as for linalg.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_TOSATOATTN_TOSAELEMENTS_H
#define ATTN_CONVERSION_TOSATOATTN_TOSAELEMENTS_H

#include "attn/Conversion/LinalgToAttn/ElementWalker.h"

namespace attn::raise {

/// The element of `result` at `indices`, or null if no TOSA op is known there.
ScalarRef getTosaElement(ElementWalker &walker, mlir::OpResult result,
                         Indices indices);

/// `op` as a contraction, if it is a tosa.matmul of floats.
std::optional<Contraction> getTosaContraction(ElementWalker &walker,
                                              mlir::Operation *op);

} // namespace attn::raise

#endif // ATTN_CONVERSION_TOSATOATTN_TOSAELEMENTS_H
