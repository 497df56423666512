//===- ElementType.h - Element types of tensors -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types the compiler, the cost model and the oracle agree on.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SUPPORT_ELEMENTTYPE_H
#define ATTN_SUPPORT_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Spelled as MLIR spells its builtin types.
enum class ElementType { F8E4M3FN, F8E5M2, F16, BF16, F32, F64, I1, I8 };

/// "bf16", "f8E4M3FN", "i1", ...
std::string_view getName(ElementType type);

/// True for i1 and i8.
bool isInteger(ElementType type);

/// Size in memory. An i1 takes one byte.
int64_t getSizeBytes(ElementType type);

/// Significant bits of a floating-point type, the hidden one included: f16 11,
/// bf16 8, f32 24. Those of the largest number of an i8, 8; zero for i1.
int getPrecisionBits(ElementType type);

/// Parses the name; also the usual aliases fp16, half, bfloat16, fp32, float,
/// fp64, double, fp8, e4m3, e5m2, bool, int8.
std::optional<ElementType> parseElementType(std::string_view name);

/// The names that parseElementType documents in error messages.
std::vector<std::string> getElementTypeNames();

} // namespace attn

#endif // ATTN_SUPPORT_ELEMENTTYPE_H
