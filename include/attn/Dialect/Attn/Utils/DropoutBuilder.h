//===- DropoutBuilder.h - What dropout keeps --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The words of docs/Spec.md, "Dropout", in arith: Philox 4x32-10 (Salmon et
// al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011) once for a head,
// which gives the key and half of the counter for its elements, and once for
// four of these.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_DROPOUTBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_DROPOUTBUILDER_H

#include "mlir/IR/Builders.h"

#include <array>
#include <optional>

namespace attn {

/// The dropout clause of an op.
struct Dropout {
  mlir::Value seed, offset; ///< i64
  double rate;              ///< in (0, 1)

  /// Nothing without the clause, and with a rate of 0, which keeps everything.
  template <typename OpTy>
  static std::optional<Dropout> get(OpTy op) {
    if (!op.getDropoutSeed() || op.getDropoutRateAttr().getValueAsDouble() == 0)
      return std::nullopt;
    return Dropout{op.getDropoutSeed(), op.getDropoutOffset(),
                   op.getDropoutRateAttr().getValueAsDouble()};
  }

  /// Words below it are dropped: floor(rate * 2^32).
  uint32_t getThreshold() const;
  /// The factor of what is kept: 1 / (1 - rate).
  double getScale() const { return 1 / (1 - rate); }
};

/// Four i32, or vectors of i32.
using PhiloxWords = std::array<mlir::Value, 4>;

/// Philox 4x32-10 of a counter and a key, all of one type.
PhiloxWords buildPhilox(mlir::OpBuilder &builder, mlir::Location loc,
                        PhiloxWords counter, mlir::Value key0,
                        mlir::Value key1);

/// What the elements of head `h` (i32) of batch `b` (i32) have in common.
PhiloxWords buildHeadWords(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value seed, mlir::Value offset, mlir::Value b,
                           mlir::Value h);

/// The words of the elements (i, j), (i, j + 8), (i + 8, j) and (i + 8, j + 8)
/// for an i and a j without bit 3. All i32, or all vectors.
PhiloxWords buildElementWords(mlir::OpBuilder &builder, mlir::Location loc,
                              const PhiloxWords &head, mlir::Value i,
                              mlir::Value j);

/// True where element (b, h, i, j), all of type index, is kept; `j` may be a
/// vector, and so is the result then.
mlir::Value buildKeep(mlir::OpBuilder &builder, mlir::Location loc,
                      const Dropout &dropout, mlir::ValueRange at);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_DROPOUTBUILDER_H
