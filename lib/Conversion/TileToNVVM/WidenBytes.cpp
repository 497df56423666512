//===- WidenBytes.cpp - 8-bit elements as operands of 16 bits -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenBytes.h"

using namespace mlir;
using namespace attn;
using namespace attn::tile;

void attn::tile::declareWidened(PtxBlock &block) {
  block.declare("%bytes", 2);
  block.declare("%nan", 1);
  block.declare("%sign", 1);
  block.declare("%wide", 2);
  block.declare("%half", 2, /*bits=*/16);
}

/// A byte and 128 are the lowest bits of an f16 that is 1024 larger.
static void widenInteger(PtxBlock &block, const std::string &result,
                         const std::string &bytes, int64_t first,
                         int64_t second) {
  block.add("xor.b32 %nan0, " + bytes + ", 0x80808080");
  // Each byte below one of 0x64, the upper byte of 1024.
  block.add("prmt.b32 " + result + ", %nan0, 0x64646464, 0x4" +
            std::to_string(second) + "4" + std::to_string(first));
  // 1024 + 128.
  block.add("mov.b32 %sign0, 0x64806480");
  block.add("sub.rn.f16x2 " + result + ", " + result + ", %sign0");
}

/// Each byte above a byte of 0: all there is to do for f8E5M2, the upper byte
/// of an f16.
static void widenE5M2(PtxBlock &block, const std::string &result,
                      const std::string &bytes, int64_t first, int64_t second) {
  block.add("prmt.b32 " + result + ", " + bytes + ", 0, 0x" +
            std::to_string(second) + "4" + std::to_string(first) + "4");
}

/// By the instruction, which takes two neighbours.
static void convertE4M3(PtxBlock &block, const std::string &result,
                        const std::string &bytes, int64_t first,
                        int64_t second) {
  bool areNeighbours = second == first + 1 && first % 2 == 0;
  if (!areNeighbours)
    block.add("prmt.b32 " + result + ", " + bytes + ", 0, 0x44" +
              std::to_string(second) + std::to_string(first));
  block.add("mov.b32 {%half0, %half1}, " + (areNeighbours ? bytes : result));
  block.add("cvt.rn.f16x2.e4m3x2 " + result + ", %half" +
            std::to_string(areNeighbours ? first / 2 : 0));
}

/// f8E4M3FN has a bit of exponent less than f8E5M2 and one of fraction more:
/// shifted to the same places it is an f16 that is 2^8 too small, but for its
/// one NaN (OCP 8-bit Floating Point Specification, section 5).
static void widenE4M3(PtxBlock &block, const std::string &result,
                      const std::string &bytes, int64_t first, int64_t second) {
  widenE5M2(block, result, bytes, first, second);
  block.add("and.b32 %nan0, " + result + ", 0x7F007F00");
  block.add("and.b32 %sign0, " + result + ", 0x80008000");
  block.add("shr.u32 " + result + ", %nan0, 1");
  block.add("or.b32 " + result + ", " + result + ", %sign0");
  // 2^8, an f16.
  block.add("mov.b32 %sign0, 0x5C005C00");
  block.add("mul.rn.f16x2 " + result + ", " + result + ", %sign0");
  // The highest bit of an all-ones magnitude plus 1, spread to those of NaN.
  block.add("add.u32 %nan0, %nan0, 0x01000100");
  block.add("and.b32 %nan0, %nan0, 0x80008000");
  block.add("shr.u32 %sign0, %nan0, 6");
  block.add("sub.u32 %nan0, %nan0, %sign0");
  block.add("or.b32 " + result + ", " + result + ", %nan0");
}

void attn::tile::widenBytes(PtxBlock &block, Type from, Type to,
                            const std::string &result, const std::string &bytes,
                            int64_t first, int64_t second, bool hasFloat8) {
  auto widen = from.isInteger(8)           ? widenInteger
               : isa<Float8E5M2Type>(from) ? widenE5M2
               : hasFloat8                 ? convertE4M3
                                           : widenE4M3;
  widen(block, result, bytes, first, second);
  if (to.isF16())
    return;
  block.add("mov.b32 {%half0, %half1}, " + result);
  for (const char *i : {"0", "1"})
    block.add("cvt.f32.f16 %wide" + std::string(i) + ", %half" + i);
  block.add("cvt.rn.bf16x2.f32 " + result + ", %wide1, %wide0");
}
