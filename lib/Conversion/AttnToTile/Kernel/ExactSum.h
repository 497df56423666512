//===- ExactSum.h - Sums of f32 in any order --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum in fixed point, as wide as f32 (Kulisch, "Computer Arithmetic and
// Validity", 2008): integers are added, in any order, and the sum is the same
// bits whatever the order was. Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_EXACTSUM_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_EXACTSUM_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn {

/// Sums in memory, each of so many words of i64. Word k counts units of
/// 2^(24 k - 149), the last one addends that are not finite. Sums of fewer than
/// kMostAddends fit.
class ExactSum {
public:
  static constexpr int64_t kWords = 13;
  static constexpr int64_t kMostAddends = int64_t(1) << 39;

  /// `words` is a tensor of sums and their words.
  ExactSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value words)
      : builder(builder), loc(loc), words(words) {}

  /// Makes the sum at `indices` (i64) 0.
  void clear(mlir::ValueRange indices);
  /// Adds an f32 that is not 0, beside what other threads add.
  void add(mlir::Value addend, mlir::ValueRange indices);
  /// The sum in f64; NaN if an addend was not finite.
  mlir::Value get(mlir::ValueRange indices);

private:
  /// Words are what is left of 24 bits, shifted by up to 23.
  static constexpr int64_t kBits = 24, kNotFinite = kWords - 1;
  static constexpr int64_t kLeastExponent = -149;

  mlir::Value i32(int64_t number);
  mlir::Value i64(int64_t number);
  mlir::Value toI64(mlir::Value value);
  void addToWord(mlir::Value value, mlir::ValueRange indices, mlir::Value word);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value words;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_EXACTSUM_H
