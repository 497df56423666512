//===- TensorOperands.h - Operands of tcgen05.mma ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Operands are laid out here from the drawings of PTX ISA 9.7.16.4 and .10,
/// and products of small integers are exact: every element must be right.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_SIMULATOR_TENSOROPERANDS_H
#define ATTN_TEST_UNIT_SIMULATOR_TENSOROPERANDS_H

#include "TensorHarness.h"

namespace attn::sim::test {

enum class Element { F16, BF16, TF32, E4M3, E5M2, S8, U8 };

inline unsigned bytesOf(Element element) {
  return element == Element::TF32 ? 4 : element <= Element::BF16 ? 2 : 1;
}

/// The bits of an integer from -8 to 8.
inline uint32_t encode(Element element, int value) {
  if (element >= Element::S8)
    return uint8_t(value);
  if (value == 0)
    return 0;
  uint32_t sign = value < 0, magnitude = value < 0 ? -value : value;
  uint32_t exponent = 31 - __builtin_clz(magnitude);
  uint32_t fraction = magnitude ^ (1u << exponent); // of `exponent` bits
  auto pack = [&](unsigned exponentBits, unsigned fractionBits) {
    uint32_t bias = (1u << (exponentBits - 1)) - 1;
    return sign << (exponentBits + fractionBits) |
           (exponent + bias) << fractionBits |
           fraction << (fractionBits - exponent);
  };
  switch (element) {
  case Element::F16:
    return pack(5, 10);
  case Element::BF16:
    return pack(8, 7);
  case Element::TF32:
    return pack(8, 23);
  case Element::E4M3:
    return pack(4, 3);
  case Element::E5M2:
    return magnitude > 4 ? 0 : pack(5, 2); // two bits of fraction
  case Element::S8:
  case Element::U8:
    break;
  }
  return 0;
}

/// An operand of `rows` (M or N) x `depth`.
struct Operand {
  int rows = 0, depth = 0;
  Element element = Element::F16;
  bool mnMajor = false;
  int swizzle = 128;
  std::vector<int> values; // [row][k]

  int at(int row, int k) const { return values[row * depth + k]; }
};

inline Operand makeOperand(int rows, int depth, Element element, bool mnMajor,
                           int swizzle, int seed) {
  Operand operand{rows, depth, element, mnMajor, swizzle, {}};
  uint32_t state = seed;
  int range = element == Element::E5M2 ? 4 : 8;
  for (int k = 0; k < rows * depth; ++k) {
    state = state * 1664525u + 1013904223u;
    int value = int(state >> 16) % (2 * range + 1) - range;
    operand.values.push_back(element == Element::U8 ? value + range : value);
  }
  return operand;
}

/// `count` rows from `first` on.
inline Operand rowsOf(const Operand &operand, int first, int count) {
  Operand part = operand;
  part.rows = count;
  part.values.assign(operand.values.begin() + first * operand.depth,
                     operand.values.begin() + (first + count) * operand.depth);
  return part;
}

inline double dot(const Operand &a, int row, const Operand &b, int column) {
  double sum = 0;
  for (int k = 0; k < a.depth; ++k)
    sum += double(a.at(row, k)) * b.at(column, k);
  return sum;
}

struct Image {
  std::vector<uint8_t> bytes;
  uint32_t leading = 16, stride = 0;
  /// Bytes from one instruction's part to the next one's.
  std::vector<uint32_t> starts;
};

/// K-major: panels of `swizzle` bytes of k, rows of `swizzle` bytes. MN-major:
/// the same with k for rows. Without a swizzle: matrices of 8 rows of 16 bytes,
/// neighbours along the row first.
inline Image layOut(const Operand &operand) {
  const int bytes = bytesOf(operand.element);
  const int outer = operand.mnMajor ? operand.depth : operand.rows;
  const int inner = operand.mnMajor ? operand.rows : operand.depth;
  Image image;
  image.bytes.resize(size_t(outer) * inner * bytes);
  auto put = [&](size_t offset, int value) {
    uint32_t code = encode(operand.element, value);
    std::memcpy(&image.bytes[offset], &code, bytes);
  };
  auto place = [&](int o, int byte) -> size_t {
    if (!operand.swizzle) {
      int core = byte / 16 * (outer / 8) + o / 8;
      return core * 128 + o % 8 * 16 + byte % 16;
    }
    int panel = byte / operand.swizzle, inPanel = byte % operand.swizzle;
    size_t offset = size_t(panel) * outer * operand.swizzle +
                    size_t(o) * operand.swizzle + inPanel;
    int mask = operand.swizzle / 16 - 1;
    return offset ^ ((offset >> 7 & mask) << 4);
  };
  for (int row = 0; row < operand.rows; ++row)
    for (int k = 0; k < operand.depth; ++k) {
      int o = operand.mnMajor ? k : row, i = operand.mnMajor ? row : k;
      put(place(o, i * bytes), operand.at(row, k));
    }
  int step = 32 / bytes; // k of an instruction
  if (operand.swizzle) {
    image.stride = 8 * operand.swizzle;
    if (operand.mnMajor)
      image.leading = outer * operand.swizzle;
  } else if (operand.mnMajor) {
    image.leading = 128;            // between groups of 8 k
    image.stride = outer / 8 * 128; // between chunks of rows
  } else {
    image.leading = outer / 8 * 128; // between chunks of k
    image.stride = 128;              // between groups of 8 rows
  }
  for (int k = 0; k < operand.depth; k += step) {
    if (operand.mnMajor)
      image.starts.push_back(operand.swizzle ? k * operand.swizzle : k * 16);
    else if (!operand.swizzle)
      image.starts.push_back(k * bytes / 16 * image.leading);
    else
      image.starts.push_back(k * bytes / operand.swizzle * outer *
                                 operand.swizzle +
                             k * bytes % operand.swizzle);
  }
  return image;
}

/// The constant bits of a matrix descriptor.
inline uint64_t layoutBits(const Operand &operand, const Image &image) {
  uint64_t mode = operand.swizzle == 128  ? 2
                  : operand.swizzle == 64 ? 4
                  : operand.swizzle == 32 ? 6
                                          : 0;
  return uint64_t(image.leading >> 4) << 16 |
         uint64_t(image.stride >> 4) << 32 | uint64_t(1) << 46 | mode << 61;
}

inline uint32_t typeCode(Element element) {
  switch (element) {
  case Element::TF32:
    return 2;
  case Element::BF16:
  case Element::E5M2:
  case Element::S8:
    return 1;
  default:
    return 0;
  }
}

inline uint32_t instructionBits(const Operand &a, const Operand &b) {
  uint32_t sum = a.element >= Element::S8 ? 2 : 1; // s32 or f32
  return sum << 4 | typeCode(a.element) << 7 | typeCode(b.element) << 10 |
         uint32_t(a.mnMajor) << 15 | uint32_t(b.mnMajor) << 16 |
         uint32_t(b.rows / 8) << 17 | uint32_t(a.rows / 16) << 24;
}

inline std::string kindOf(Element element) {
  return element >= Element::S8     ? "i8"
         : element == Element::TF32 ? "tf32"
         : bytesOf(element) == 1    ? "f8f6f4"
                                    : "f16";
}

} // namespace attn::sim::test

#endif // ATTN_TEST_UNIT_SIMULATOR_TENSOROPERANDS_H
