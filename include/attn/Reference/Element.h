//===- Element.h - Rounding to an element type ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion between double and the storage of an element type, bit by bit and
// without help from the host's 16-bit types, so that the oracle shares no
// rounding code with what it judges.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_ELEMENT_H
#define ATTN_REFERENCE_ELEMENT_H

#include "attn/Support/ElementType.h"

#include <cstdint>

namespace attn {
namespace reference {

/// Rounds to the nearest value of `type`, ties to even. Values beyond the
/// largest finite one become infinity by IEEE 754's rule (f8E4M3FN, which has
/// no infinity: NaN). NaN stays NaN; i1 gives 0 or 1 (non-zero).
double roundToElement(double value, ElementType type);

/// The larger of `largest` and the magnitude of `value`; NaN if either is.
double maxMagnitude(double largest, double value);

/// What a row of this largest magnitude is divided by to be stored in 8 bits
/// (attn.append with scales), as f32: 2^-126 at least.
double getTokenScale(double largest, ElementType type);

/// value / descale in f32, no further than the largest finite number of `type`,
/// rounded to it: what stands for `value` with that descale. NaN stays NaN.
double quantize(double value, double descale, ElementType type);

/// The nearest tf32 (8 bits of exponent, 10 of fraction), ties away from zero,
/// as PTX's cvt.rna.tf32 gives; NaN and infinities as they are.
double roundToTf32(double value);

/// The bits of roundToElement(value, type), in the low end of the result. Every
/// NaN gives the quiet NaN without payload.
uint64_t encodeElement(double value, ElementType type);

/// The value that the low bits stand for.
double decodeElement(uint64_t bits, ElementType type);

/// Half the spacing of `type` at 1, relative: 2^-p for p significant bits.
double getUnitRoundoff(ElementType type);

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_ELEMENT_H
