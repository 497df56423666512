//===- IndexSpace.h - Index expressions over named ranges -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Affine index expressions whose variables have known ranges. The range lets
// `(b * 8 + h) floordiv 8` become `b`, which is what makes a chain of reshapes
// and transposes disappear.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_ELEMENTS_INDEXSPACE_H
#define ATTN_ANALYSIS_ELEMENTS_INDEXSPACE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace attn::raise {

/// A size that is known only at run time: dimension `dimension` of a tensor,
/// or an index value where `dimension` is negative.
struct DynamicSize {
  mlir::Value value;
  int64_t dimension;
};

/// A request to write `variable` as `outer * inner + rest`, because an
/// expression divides it by `inner`.
struct Split {
  unsigned variable;
  mlir::AffineExpr inner;
};

/// Variables (affine dimensions, each in [0, extent)) and run-time sizes
/// (affine symbols, each at least 0), and what follows from their ranges.
class IndexSpace {
public:
  explicit IndexSpace(mlir::MLIRContext *context) : context(context) {}

  mlir::MLIRContext *getContext() const { return context; }
  mlir::AffineExpr constant(int64_t value) const;
  /// True for numbers with which expressions do not overflow: those of
  /// positions, sizes and their differences.
  static bool isSmall(double value) {
    constexpr double kMost = static_cast<double>(int64_t(1) << 48);
    return -kMost <= value && value <= kMost;
  }

  /// A new variable in [0, extent).
  mlir::AffineExpr addVariable(mlir::AffineExpr extent, bool splittable);
  /// From now on, does not ask for these variables to be split.
  void freeze(llvm::ArrayRef<mlir::AffineExpr> variables);
  /// The extent of a variable.
  mlir::AffineExpr getExtent(mlir::AffineExpr variable);

  /// The symbol of a run-time size; the same size gives the same symbol.
  mlir::AffineExpr getSymbol(DynamicSize size);
  llvm::ArrayRef<DynamicSize> getSymbols() const { return symbols; }
  /// Notes that two sizes are equal, because an op takes both for one loop.
  void equate(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

  /// An equal expression in normal form. An expression that would be simpler
  /// if a variable were split is recorded, see `getWantedSplit`.
  mlir::AffineExpr simplify(mlir::AffineExpr expr);

  /// The least value the expression can have, if a bound is known.
  std::optional<int64_t> getLowerBound(mlir::AffineExpr expr);
  /// True, false, or unknown: `expr >= 0` for every value of the variables.
  std::optional<bool> isNonNegative(mlir::AffineExpr expr);

  /// The first split that `simplify` could have used.
  std::optional<Split> getWantedSplit() const { return wanted; }
  void setWantedSplit(std::optional<Split> split) { wanted = split; }

  /// If `expr` is a mixed-radix number that covers [0, size) exactly, its
  /// digits from the most to the least significant: `b * 8 + h` is (b, h).
  std::optional<llvm::SmallVector<mlir::AffineExpr>>
  getDigits(mlir::AffineExpr expr, mlir::AffineExpr size);

  /// The value of an expression of symbols and constants only.
  mlir::OpFoldResult materialize(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::AffineExpr expr) const;

private:
  /// coefficient * symbols[0] * ... * base (a null base is 1).
  struct Term {
    int64_t coefficient = 1;
    llvm::SmallVector<mlir::AffineExpr, 2> symbols; ///< sorted, may repeat
    mlir::AffineExpr base = {};

    bool hasSameFactors(const Term &other) const {
      return base == other.base && symbols == other.symbols;
    }
    /// The term without its base: the stride of the base.
    Term getStride() const { return {coefficient, symbols, {}}; }
  };
  using Terms = llvm::SmallVector<Term>;

  Terms flatten(mlir::AffineExpr expr);
  mlir::AffineExpr rebuild(llvm::ArrayRef<Term> terms) const;
  Terms multiply(llvm::ArrayRef<Term> lhs, llvm::ArrayRef<Term> rhs) const;
  Terms divide(llvm::ArrayRef<Term> terms, const Term &divisor, bool remainder);
  Terms recombine(Terms terms);
  bool reduce(Terms &terms, const Term &divisor, Terms &quotient);
  mlir::AffineExpr getExtentOf(const Term &term);
  bool isBaseNonNegative(mlir::AffineExpr base);
  bool isBelow(llvm::ArrayRef<Term> terms, const Term &divisor);
  void wantSplit(llvm::ArrayRef<Term> terms, const Term &divisor);

  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::AffineExpr> extents;
  llvm::SmallVector<bool> splittable;
  llvm::SmallVector<DynamicSize> symbols;
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> equalSizes;
  std::optional<Split> wanted;
};

/// True if `variable` occurs in `expr`.
bool dependsOn(mlir::AffineExpr expr, mlir::AffineExpr variable);

} // namespace attn::raise

#endif // ATTN_ANALYSIS_ELEMENTS_INDEXSPACE_H
