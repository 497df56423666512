//===- LinearForm.h - Quasi-affine functions of a position ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of i, j, values that do not depend on j, and floors of such sums over
// constants: what the comparisons of a mask are made of. A remainder is written
// x - c * floor(x / c), so that i - i mod c is seen to be c * floor(i / c).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_LINEARFORM_H
#define ATTN_ANALYSIS_LINEARFORM_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace attn {

/// Positions as dimensions of the affine expressions. Dimensions from
/// kFirstRowValue on are values that depend on the row in a way that is not
/// known, symbols are values that depend on neither position.
enum Position : unsigned { kRow = 0, kKey = 1, kFirstRowValue = 2 };

/// How an expression changes while the row grows.
enum class Direction { Constant, Up, Down, Unknown };

/// constant + sum(coefficient * core), where a core is a dimension, a symbol or
/// `form floordiv number`.
class LinearForm {
public:
  LinearForm() = default;
  explicit LinearForm(int64_t constant) : constant(constant) {}

  /// The form of an affine expression, unless its numbers are very large or a
  /// divisor is not a positive constant.
  static std::optional<LinearForm> get(mlir::AffineExpr expr);

  /// this + factor * other, unless numbers become very large.
  std::optional<LinearForm> plus(const LinearForm &other,
                                 int64_t factor = 1) const;
  std::optional<LinearForm> times(int64_t factor) const {
    return LinearForm().plus(*this, factor);
  }
  /// Rounded down and up; the divisor is positive.
  std::optional<LinearForm> floorDiv(int64_t divisor) const;
  std::optional<LinearForm> ceilDiv(int64_t divisor) const;
  std::optional<LinearForm> mod(int64_t divisor) const;

  int64_t getConstant() const { return constant; }
  bool isConstant() const { return terms.empty(); }
  bool dependsOn(Position position) const;
  /// True if it has a value that depends on the row in an unknown way.
  bool hasRowValue() const;
  /// The cores and their coefficients, which are not 0.
  const auto &getTerms() const { return terms; }
  Direction getRowDirection() const;

  mlir::AffineExpr toExpr(mlir::MLIRContext *context) const;

  /// Forms a and b, without negative numbers, such that this = a - b: what data
  /// may be, down to -2^63, has no negative, so that `a <= b` is how to compute
  /// `this <= 0`.
  std::pair<LinearForm, LinearForm> splitBySign() const;

private:
  friend std::optional<struct PositionBound>
  solveAtMostZero(const LinearForm &form, Position position);

  /// Adds coefficient * core; false if a number becomes too large.
  bool add(mlir::AffineExpr core, int64_t coefficient);

  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::AffineExpr, int64_t>, 4> terms;
};

/// position >= bound, or position <= bound.
struct PositionBound {
  bool isLower;
  LinearForm bound;
};

/// Solves `form <= 0` for a position; nothing if it is not a bound on it.
std::optional<PositionBound> solveAtMostZero(const LinearForm &form,
                                             Position position);

} // namespace attn

#endif // ATTN_ANALYSIS_LINEARFORM_H
