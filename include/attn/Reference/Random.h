//===- Random.h - Deterministic random tensors ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs for tests that any program can regenerate. Element i of a stream with
// seed s is a function of (s, i) alone:
//
//   bits(s, i)    = splitmix64 finalizer of s + (i + 1) * 0x9E3779B97F4A7C15
//                   (Steele, Lea, Flood: Fast splittable pseudorandom number
//                   generators, OOPSLA 2014)
//   unit(s, i)    = (bits(s, i) >> 11) * 2^-53                     in [0, 1)
//   uniform(s, i) = low + (high - low) * unit(s, i)
//   normal(s, i)  = mean + deviation * sqrt(-2 log(1 - unit(s, 2i)))
//                                    * cos(2 pi unit(s, 2i + 1))   (Box-Muller)
//
// and is then rounded to the element type. `log` and `cos` are the C library's,
// so a normal value can differ between hosts in the last bit of double, which
// rounding to 16 bits nearly always hides; uniform values never differ.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_RANDOM_H
#define ATTN_REFERENCE_RANDOM_H

#include "attn/Reference/Tensor.h"

namespace attn {
namespace reference {

/// The 64 random bits of element `index` of stream `seed`.
uint64_t randomBits(uint64_t seed, uint64_t index);

/// What to draw from.
struct Distribution {
  enum Kind { Uniform, Normal };
  Kind kind = Normal;
  /// Uniform: [first, second). Normal: mean and standard deviation.
  double first = 0;
  double second = 1;

  static Distribution uniform(double low, double high) {
    return {Uniform, low, high};
  }
  static Distribution normal(double mean = 0, double deviation = 1) {
    return {Normal, mean, deviation};
  }
  /// Scores of such inputs reach the hundreds: a softmax without maximum
  /// subtraction overflows, and rows come out nearly one-hot.
  static Distribution largeMagnitude() { return {Normal, 0, 8}; }
};

/// Element `index` of the stream, before rounding.
double randomValue(uint64_t seed, uint64_t index,
                   const Distribution &distribution);

/// A tensor whose element i (row-major) is randomValue(seed, i).
Tensor makeRandomTensor(std::vector<int64_t> shape, ElementType type,
                        uint64_t seed, const Distribution &distribution = {});

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_RANDOM_H
