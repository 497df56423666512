//===- MathExtras.cpp - Integer helpers -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Support/MathExtras.h"

#include <cmath>

namespace attn {

int64_t integerSqrt(int64_t value) {
  assert(value >= 0);
  auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(value)));
  // The double root of a 64-bit value can be off by one either way.
  while (root > 0 && root > value / root)
    --root;
  while ((root + 1) <= value / (root + 1))
    ++root;
  return root;
}

} // namespace attn
