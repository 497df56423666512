//===- Tcgen05Descriptors.cpp - What a tcgen05.mma multiplies -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Hardware checks no descriptor: a wrong bit is another product. Here every
/// bit that has no meaning must be what the PTX ISA says.
///
//===----------------------------------------------------------------------===//

#include "Tcgen05Descriptors.h"

using namespace attn::sim;

namespace {

u32 bitsOf(u64 word, u32 first, u32 count) {
  return u32(word >> first) & ((1u << count) - 1);
}

class InstructionDecoder {
public:
  InstructionDecoder(Warp &warp, const Instruction &instruction,
                     const TensorForm &form, u32 bits)
      : warp(warp), instruction(instruction), form(form), bits(bits) {}

  TensorInstruction run() {
    expect(0, 3, 0, "sparsity");
    bool isInteger = form.kind == TensorKind::I8;
    if (!isInteger)
      expect(3, 1, 0, "saturation");
    expect(4, 2, isInteger ? 2 : 1,
           isInteger ? "the type of D (s32)"
                     : "the type of D (f32 is supported)");
    expect(6, 1, 0, "reserved");
    expect(23, 1, 0, "reserved");
    expect(29, 1, 0, "reserved");
    expect(30, 2, 0, "the maximum shift of .ws");
    if (isInteger)
      expect(13, 2, 0, "the signs of A and B");
    TensorInstruction result;
    result.saturates = bitsOf(bits, 3, 1);
    result.kindA = elementKindOf(7, "A");
    result.kindB = elementKindOf(10, "B");
    result.negateA = bitsOf(bits, 13, 1);
    result.negateB = bitsOf(bits, 14, 1);
    result.mnMajorA = bitsOf(bits, 15, 1);
    result.mnMajorB = bitsOf(bits, 16, 1);
    result.n = 8 * bitsOf(bits, 17, 6);
    result.m = 16 * bitsOf(bits, 24, 5);
    result.k = 32 / elementBytes(result.kindA);
    checkShape(result);
    return result;
  }

private:
  void checkShape(const TensorInstruction &shape) {
    form.ctas == 2 ? checkPairShape(shape) : checkSingleShape(shape);
    bool isTransposed = shape.mnMajorA || shape.mnMajorB;
    if (form.kind == TensorKind::TF32 && isTransposed)
      fail("an MN-major operand of kind::tf32 is not supported");
    bool hasBytes = elementBytes(shape.kindB) == 1;
    if (hasBytes && shape.mnMajorB && shape.n % (16 * form.ctas))
      fail(
          format("N %u with an MN-major B of 8 bits, expected a multiple of %u",
                 shape.n, 16 * form.ctas));
  }

  /// PTX ISA 9.7.16.2.1, cta_group::1.
  void checkSingleShape(const TensorInstruction &shape) {
    u32 step = shape.m == 64 ? 8 : 16;
    if ((shape.m != 64 && shape.m != 128) || shape.n < step || shape.n > 256 ||
        shape.n % step)
      fail(format("M %u and N %u, expected M 64 with N 8 to 256 by 8, or M 128 "
                  "with N 16 to 256 by 16",
                  shape.m, shape.n));
  }

  /// cta_group::2: M and N of both CTAs.
  void checkPairShape(const TensorInstruction &shape) {
    u32 step = form.isTensorA || form.kind == TensorKind::I8 ? 32 : 16;
    if ((shape.m != 128 && shape.m != 256) || shape.n < step || shape.n > 256 ||
        shape.n % step)
      fail(format("M %u and N %u of a pair, expected M 128 or 256 with N %u to "
                  "256 by %u",
                  shape.m, shape.n, step, step));
  }

  ElementKind elementKindOf(u32 first, const char *operand) {
    u32 code = bitsOf(bits, first, 3);
    switch (form.kind) {
    case TensorKind::F16:
      if (code <= 1)
        return code ? ElementKind::BF16 : ElementKind::F16;
      break;
    case TensorKind::TF32:
      if (code == 2)
        return ElementKind::TF32;
      break;
    case TensorKind::F8F6F4:
      if (code <= 1)
        return code ? ElementKind::E5M2 : ElementKind::E4M3;
      break;
    case TensorKind::I8:
      if (code <= 1)
        return code ? ElementKind::S8 : ElementKind::U8;
      break;
    }
    static constexpr const char *expected[] = {
        "0 (f16) or 1 (bf16)", "2 (tf32)",
        "0 (e4m3) or 1 (e5m2); narrower types are not supported",
        "0 (u8) or 1 (s8)"};
    fail(format("bits %u to %u, the type of %s: expected %s, got %u", first,
                first + 2, operand, expected[size_t(form.kind)], code));
  }

  void expect(u32 first, u32 count, u32 expected, const char *what) {
    u32 value = bitsOf(bits, first, count);
    if (value != expected)
      fail(format("bits %u to %u, %s: expected %u, got %u", first,
                  first + count - 1, what, expected, value));
  }

  [[noreturn]] void fail(const std::string &why) {
    fault(warp, instruction, Finding::Memory,
          format("instruction descriptor 0x%08x: %s", bits, why.c_str()));
  }

  Warp &warp;
  const Instruction &instruction;
  TensorForm form;
  u32 bits;
};

} // namespace

TensorInstruction attn::sim::decodeTensorInstruction(Warp &warp,
                                                     const Instruction &i,
                                                     const TensorForm &form,
                                                     u32 bits) {
  return InstructionDecoder(warp, i, form, bits).run();
}

MatrixDescriptor attn::sim::decodeTensorMatrix(Warp &warp, const Instruction &i,
                                               u64 bits, const char *what) {
  auto fail = [&](const std::string &why) {
    fault(warp, i, Finding::Memory,
          format("matrix descriptor 0x%016llx of %s: %s",
                 (unsigned long long)bits, what, why.c_str()));
  };
  auto expect = [&](u32 first, u32 count, u32 expected) {
    u32 value = bitsOf(bits, first, count);
    if (value != expected)
      fail(format("bits %u to %u: expected %u, got %u", first,
                  first + count - 1, expected, value));
  };
  expect(14, 2, 0);
  expect(30, 2, 0);
  expect(46, 3, 1);
  expect(52, 1, 0); // absolute leading dimensions: sm_103a
  expect(53, 8, 0);
  u32 mode = bitsOf(bits, 61, 3);
  MatrixDescriptor matrix;
  switch (mode) {
  case 0:
    break;
  case 2:
    matrix.swizzleBytes = 128;
    break;
  case 4:
    matrix.swizzleBytes = 64;
    break;
  case 6:
    matrix.swizzleBytes = 32;
    break;
  case 1:
    fail("swizzle 1, 128 bytes with atoms of 32, is not supported");
    break;
  default:
    fail(format("swizzle %u: expected 0 (none), 2 (128 bytes), 4 (64) or 6 "
                "(32)",
                mode));
  }
  matrix.start = bitsOf(bits, 0, 14) << 4;
  matrix.leadingOffset = bitsOf(bits, 16, 14) << 4;
  matrix.strideOffset = bitsOf(bits, 32, 14) << 4;
  matrix.baseOffset = bitsOf(bits, 49, 3);
  // The pattern of a swizzle repeats after 1024, 512 or 256 bytes.
  u32 rows = matrix.swizzleBytes ? matrix.swizzleBytes / 16 : 1;
  u32 row = (matrix.start >> 7) % rows;
  if (row != matrix.baseOffset % rows || matrix.baseOffset >= rows)
    fail(format("the matrix starts %u bytes into the pattern of its swizzle, "
                "but its base offset is %u",
                row << 7, matrix.baseOffset));
  return matrix;
}
