//===- MaskReader.h - What a mask_mod computes ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_ANALYSIS_MASKREADER_H
#define ATTN_LIB_ANALYSIS_MASKREADER_H

#include "FormRanges.h"
#include "IntegerTree.h"
#include "attn/Analysis/MaskAnalysis.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

using MaybeTree = std::optional<IntegerTree>;

/// Reads the values of a mask_mod region.
class MaskReader {
public:
  MaskReader(mlir::Region &region, MaskAnalysis &result)
      : region(region), symbols(result.symbols), rowValues(result.rowValues),
        ranges(result) {}

  /// The formula of an i1 value, or of its negation.
  MaskFormula readFormula(mlir::Value value, bool negated);

private:
  MaskFormula readXor(mlir::Value a, mlir::Value b, bool negated);
  /// Of `condition ? a : b`, whose values may be negated.
  MaskFormula readBranches(mlir::Value condition, mlir::Value a, bool negatesA,
                           mlir::Value b, bool negatesB);
  MaskFormula readSelect(mlir::arith::SelectOp op, bool negated);
  MaskFormula readCompare(mlir::arith::CmpIOp op, bool negated);
  /// `form <= 0`, where that is known to be what is computed.
  MaskFormula atMostZero(const LinearForm &form);
  bool isExact(const IntegerTree &tree);
  /// `a <= b`, or `a < b`.
  MaskFormula readOrder(const MaybeTree &a, const MaybeTree &b, bool isStrict);

  /// The number that a value is, if it is constant.
  static std::optional<int64_t> getNumber(mlir::Value value);
  /// An index or integer value, if it is understood.
  MaybeTree readInteger(mlir::Value value);
  MaybeTree computeInteger(mlir::Value value);
  bool isBetterAsSymbol(mlir::Value value, const IntegerTree &tree);
  MaybeTree readResult(mlir::Operation *op);
  MaybeTree readDivision(mlir::Operation *op);
  MaybeTree divideTowardsZero(const LinearForm &form, int64_t divisor);
  MaybeTree readBits(mlir::Operation *op);
  MaybeTree readChoice(mlir::Operation *op);
  MaybeTree readExpr(mlir::AffineExpr expr, mlir::ValueRange operands,
                     unsigned numDims);
  MaybeTree readExtremum(mlir::AffineMap map, mlir::ValueRange operands,
                         IntegerTree::Kind kind);
  MaybeTree sum(const MaybeTree &a, const MaybeTree &b, int64_t factor);
  MaybeTree multiply(const MaybeTree &a, const MaybeTree &b);

  /// True if `value` depends neither on i nor on j.
  bool isInvariant(mlir::Value value) {
    return isBefore(value, kLoopM, invariants);
  }
  /// True if `value` does not depend on j.
  bool isOfRow(mlir::Value value) {
    return isBefore(value, kLoopN, valuesOfRow);
  }
  /// True if `value` depends on no argument from number `end` on.
  bool isBefore(mlir::Value value, unsigned end,
                llvm::DenseMap<mlir::Value, bool> &known);
  /// A symbol, or a row value.
  LinearForm getSymbol(mlir::Value value);
  bool isNonNegative(const LinearForm &form);
  bool isNonNegative(mlir::AffineExpr core);
  bool isNonNegative(const IntegerTree &tree);
  mlir::MLIRContext *context() { return region.front().back().getContext(); }

  mlir::Region &region;
  std::vector<mlir::Value> &symbols, &rowValues;
  llvm::DenseMap<mlir::Value, MaybeTree> trees;
  llvm::DenseMap<mlir::Value, bool> invariants, valuesOfRow;
  FormRanges ranges;
  /// Values that may still be read: a formula is a tree, so that values used
  /// many times could make it exponentially large.
  int budget = 512;
};

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_MASKREADER_H
