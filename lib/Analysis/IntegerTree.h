//===- IntegerTree.h - Integers of a mask region ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An integer value of a mask region as minima, maxima and selections of linear
// forms: arithmetic is done on the forms, so that a comparison with 0 becomes
// ands and ors of comparisons of forms. Private to lib/Analysis.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ANALYSIS_INTEGERTREE_H
#define LIB_ANALYSIS_INTEGERTREE_H

#include "attn/Analysis/MaskAnalysis.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn {

struct IntegerTree {
  enum Kind {
    Leaf,
    Min,
    Max,
    Select ///< operands[0] where the condition holds, else operands[1]
  };

  Kind kind = Leaf;
  LinearForm form;                    ///< Leaf
  std::vector<IntegerTree> operands;  ///< two, if not a Leaf
  std::vector<MaskFormula> condition; ///< Select: when, and when not

  static IntegerTree get(LinearForm form) { return {Leaf, form, {}, {}}; }
  static IntegerTree get(Kind kind, IntegerTree a, IntegerTree b) {
    return {kind, {}, {std::move(a), std::move(b)}, {}};
  }
  static IntegerTree get(MaskFormula when, MaskFormula whenNot, IntegerTree a,
                         IntegerTree b) {
    return {Select,
            {},
            {std::move(a), std::move(b)},
            {std::move(when), std::move(whenNot)}};
  }

  size_t countLeaves() const;

  /// this + factor * other, unless it becomes too large.
  std::optional<IntegerTree> plus(const IntegerTree &other,
                                  int64_t factor) const;
  std::optional<IntegerTree> times(int64_t factor) const {
    return get(LinearForm()).plus(*this, factor);
  }

  /// Applies a function to every leaf; it is monotone, unless the tree has no
  /// Min and Max.
  using LeafFunction =
      llvm::function_ref<std::optional<IntegerTree>(const LinearForm &)>;
  std::optional<IntegerTree> map(LeafFunction function) const;
  bool hasMinMax() const;

  /// `this <= 0`.
  MaskFormula atMostZero() const;
};

} // namespace attn

#endif // LIB_ANALYSIS_INTEGERTREE_H
