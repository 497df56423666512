//===- Random.cpp - Deterministic random tensors --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Random.h"

#include <cmath>

namespace attn {
namespace reference {

uint64_t randomBits(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static double randomUnit(uint64_t seed, uint64_t index) {
  return std::ldexp(static_cast<double>(randomBits(seed, index) >> 11), -53);
}

double randomValue(uint64_t seed, uint64_t index,
                   const Distribution &distribution) {
  if (distribution.kind == Distribution::Uniform)
    return distribution.first +
           (distribution.second - distribution.first) * randomUnit(seed, index);
  constexpr double twoPi = 6.283185307179586476925;
  double radius = std::sqrt(-2 * std::log(1 - randomUnit(seed, 2 * index)));
  double angle = twoPi * randomUnit(seed, 2 * index + 1);
  return distribution.first + distribution.second * radius * std::cos(angle);
}

Tensor makeRandomTensor(std::vector<int64_t> shape, ElementType type,
                        uint64_t seed, const Distribution &distribution) {
  Tensor tensor(std::move(shape), type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.set(i, randomValue(seed, static_cast<uint64_t>(i), distribution));
  return tensor;
}

} // namespace reference
} // namespace attn
