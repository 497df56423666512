//===- WidenBytes.cpp - 8-bit elements as operands of 16 bits -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenBytes.h"

using namespace mlir;
using namespace attn;
using namespace attn::tile;

/// What a number of type `from` is off by, twice: i8 by 1024 + 128 and
/// f8E4M3FN by a factor of 2^8, both f16.
static StringRef getOffset(Type from) {
  return from.isInteger(8) ? "0x64806480" : "0x5C005C00";
}

void attn::tile::declareWidened(PtxBlock &block, Type from, bool hasFloat8) {
  if (from.isInteger(8) || (isa<Float8E4M3FNType>(from) && !hasFloat8)) {
    block.declare("%offset", 1);
    block.add("mov.b32", {"%offset0", getOffset(from).str()});
  }
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
  /// The selector of prmt for a pair: in each half its byte with `upper` added
  /// above its byte with `lower` added, or byte 4 in place of one.
  std::string getSelector(int64_t pair, std::optional<int64_t> upper,
                          std::optional<int64_t> lower) {
    bool areNeighbours = pairs == BytePairs::Neighbours;
    int64_t first = areNeighbours ? 2 * pair : pair,
            second = first + (areNeighbours ? 1 : 2);
    auto getHalf = [&](int64_t byte) {
      return (upper ? byte + *upper : 4) << 4 | (lower ? byte + *lower : 4);
    };
    return "0x" + llvm::utohexstr(getHalf(second) << 8 | getHalf(first));
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
  for (auto [pair, result] : llvm::enumerate(results))
    block.add("prmt.b32", {result, "%four0", "0x64646464",
                           getSelector(pair, std::nullopt, 0)});
  for (const std::string &result : results)
    block.add("sub.rn.f16x2", {result, result, "%offset0"});
}

/// Each byte above a byte of 0: all there is to do for f8E5M2, the upper byte
/// of an f16.
void ByteWidener::widenE5M2() {
  for (auto [pair, result] : llvm::enumerate(results))
    block.add("prmt.b32",
              {result, bytes, "0", getSelector(pair, 0, std::nullopt)});
}

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
  for (auto [pair, result] : llvm::enumerate(results)) {
    // With 8 prmt takes the highest bit of a byte for all of its bits. Below
    // such a byte of its own, shifted, a number's sign is where that of an f16
    // is, and once more below it.
    block.add("prmt.b32", {result, bytes, "0", getSelector(pair, 8, 0)});
    block.add("shl.b32", {result, result, "7"});
    // An upper byte of ones is that of a NaN.
    block.add("prmt.b32",
              {"%wide0", "%nan0", "0", getSelector(pair, 8, std::nullopt)});
    // a & b | c
    block.add("lop3.b32", {result, result, "0xBF80BF80", "%wide0", "0xEA"});
    block.add("mul.rn.f16x2", {result, result, "%offset0"});
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
