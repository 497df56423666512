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
  block.declare("%four", 1);
  block.declare("%nan", 1);
  block.declare("%wide", 2);
  block.declare("%half", 2, /*bits=*/16);
}

namespace {
/// Widens the bytes of a register into two registers of f16.
class ByteWidener {
public:
  ByteWidener(PtxBlock &block, ArrayRef<std::string> results,
              const std::string &bytes, BytePairs pairs)
      : block(block), results(results), bytes(bytes), pairs(pairs) {}

  void widenInteger();
  void widenE5M2();
  void convertE4M3();
  void widenE4M3();

private:
  /// Writes the bytes of `from`, each above or below a byte of `other`.
  void spread(const std::string &from, const std::string &other, bool toUpper) {
    for (auto [pair, result] : llvm::enumerate(results))
      block.add("prmt.b32",
                {result, from, other, getSelector(pair, toUpper, 0)});
  }

  /// That of prmt for the bytes of a pair, with `bits` added, beside byte 4.
  std::string getSelector(int64_t pair, bool toUpper, int64_t bits) {
    bool areNeighbours = pairs == BytePairs::Neighbours;
    int64_t first = (areNeighbours ? 2 * pair : pair) + bits;
    int64_t second = first + (areNeighbours ? 1 : 2);
    int64_t selector = toUpper ? second << 12 | 0x404 | first << 4
                               : 0x4040 | second << 8 | first;
    return "0x" + llvm::utohexstr(selector);
  }

  PtxBlock &block;
  ArrayRef<std::string> results;
  const std::string &bytes;
  BytePairs pairs;
};
} // namespace

/// A byte and 128 are the lowest bits of an f16 that is 1024 larger.
void ByteWidener::widenInteger() {
  block.add("xor.b32 %four0, " + bytes + ", 0x80808080");
  // Each byte below one of 0x64, the upper byte of 1024.
  spread("%four0", "0x64646464", /*toUpper=*/false);
  // 1024 + 128.
  block.add("mov.b32 %four0, 0x64806480");
  for (const std::string &result : results)
    block.add("sub.rn.f16x2", {result, result, "%four0"});
}

/// Each byte above a byte of 0: all there is to do for f8E5M2, the upper byte
/// of an f16.
void ByteWidener::widenE5M2() { spread(bytes, "0", /*toUpper=*/true); }

/// By the instruction, which takes two neighbours.
void ByteWidener::convertE4M3() {
  std::string ordered = bytes;
  if (pairs == BytePairs::EveryOther) {
    ordered = "%four0";
    block.add("prmt.b32 %four0, " + bytes + ", 0, 0x3120");
  }
  const std::string halves[] = {"%half0", "%half1"};
  block.add("mov.b32", {PtxBlock::list(halves), ordered});
  for (auto [result, half] : llvm::zip_equal(results, halves))
    block.add("cvt.rn.f16x2.e4m3x2", {result, half});
}

/// f8E4M3FN has a bit of exponent less than f8E5M2 and one of fraction more:
/// shifted to the same places it is an f16 that is 2^8 too small, but for its
/// one NaN (OCP 8-bit Floating Point Specification, section 5), whose magnitude
/// is all ones: with 1 more its highest bit is set.
void ByteWidener::widenE4M3() {
  block.add("and.b32 %nan0, " + bytes + ", 0x7F7F7F7F");
  block.add("add.u32 %nan0, %nan0, 0x01010101");
  widenE5M2();
  // 2^8, an f16.
  block.add("mov.b32 %four0, 0x5C005C00");
  for (auto [pair, result] : llvm::enumerate(results)) {
    block.add("shr.u32", {"%wide0", result, "1"});
    // With 8 prmt takes the highest bit of a byte for all of its bits: an upper
    // byte of ones is that of a NaN.
    block.add("prmt.b32", {"%wide1", "%nan0", "0", getSelector(pair, true, 8)});
    // a & b | c
    block.add("lop3.b32", {result, result, "0x80008000", "%wide1", "0xEA"});
    block.add("lop3.b32", {result, "%wide0", "0x3F803F80", result, "0xEA"});
    block.add("mul.rn.f16x2", {result, result, "%four0"});
  }
}

void attn::tile::widenBytes(PtxBlock &block, Type from, Type to,
                            ArrayRef<std::string> results,
                            const std::string &bytes, BytePairs pairs,
                            bool hasFloat8) {
  ByteWidener widener(block, results, bytes, pairs);
  if (from.isInteger(8))
    widener.widenInteger();
  else if (isa<Float8E5M2Type>(from))
    widener.widenE5M2();
  else if (hasFloat8)
    widener.convertE4M3();
  else
    widener.widenE4M3();
  if (to.isF16())
    return;
  for (const std::string &result : results) {
    block.add("mov.b32", {"{%half0, %half1}", result});
    block.add("cvt.f32.f16", {"%wide0", "%half0"});
    block.add("cvt.f32.f16", {"%wide1", "%half1"});
    block.add("cvt.rn.bf16x2.f32", {result, "%wide1", "%wide0"});
  }
}
