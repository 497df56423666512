//===- Dropout.h - What dropout keeps, by definition ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/Spec.md, "Dropout", element by element.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_DROPOUT_H
#define ATTN_REFERENCE_DROPOUT_H

#include <array>
#include <cstdint>

namespace attn {
namespace reference {

/// Philox 4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3,
/// SC 2011).
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

struct Dropout {
  uint64_t seed = 0, offset = 0;
  double rate = 0; ///< in [0, 1)

  /// The random word of an element.
  uint32_t getWord(int64_t b, int64_t h, int64_t i, int64_t j) const;
  /// True where the element's probability stays.
  bool keeps(int64_t b, int64_t h, int64_t i, int64_t j) const;
};

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_DROPOUT_H
