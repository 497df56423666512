//===- Dropout.cpp - What dropout keeps, by definition --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Dropout.h"

#include <cmath>

namespace attn {
namespace reference {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0];
    uint64_t b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

uint32_t Dropout::getWord(int64_t b, int64_t h, int64_t i, int64_t j) const {
  auto low = [](uint64_t wide) { return static_cast<uint32_t>(wide); };
  auto head = philox4x32({low(offset), low(offset >> 32), low(b), low(h)},
                         {low(seed), low(seed >> 32)});
  auto words = philox4x32({low(i) & ~8u, low(j) & ~8u, head[2], head[3]},
                          {head[0], head[1]});
  return words[(i & 8 ? 2 : 0) + (j & 8 ? 1 : 0)];
}

bool Dropout::keeps(int64_t b, int64_t h, int64_t i, int64_t j) const {
  return getWord(b, h, i, j) >= std::floor(rate * 4294967296.0);
}

} // namespace reference
} // namespace attn
