//===- IntegerTree.cpp - Integers of a mask region --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerTree.h"

using namespace mlir;
using namespace attn;

/// Leaves of a tree; sums multiply them.
static constexpr size_t kMostLeaves = 16;

size_t IntegerTree::countLeaves() const {
  return kind == Leaf ? 1
                      : operands[0].countLeaves() + operands[1].countLeaves();
}

bool IntegerTree::hasMinMax() const {
  if (kind == Leaf)
    return false;
  return kind != Select || operands[0].hasMinMax() || operands[1].hasMinMax();
}

std::optional<IntegerTree> IntegerTree::map(LeafFunction function) const {
  if (kind == Leaf)
    return function(form);
  std::optional<IntegerTree> a = operands[0].map(function);
  std::optional<IntegerTree> b = operands[1].map(function);
  if (!a || !b)
    return std::nullopt;
  return IntegerTree{kind, {}, {std::move(*a), std::move(*b)}, condition};
}

std::optional<IntegerTree> IntegerTree::plus(const IntegerTree &other,
                                             int64_t factor) const {
  if (countLeaves() * other.countLeaves() > kMostLeaves)
    return std::nullopt;
  return map([&](const LinearForm &left) -> std::optional<IntegerTree> {
    std::optional<IntegerTree> sum =
        other.map([&](const LinearForm &right) -> std::optional<IntegerTree> {
          std::optional<LinearForm> form = left.plus(right, factor);
          return form ? std::optional(get(*form)) : std::nullopt;
        });
    // A negative factor turns minima into maxima.
    std::function<void(IntegerTree &)> turn = [&](IntegerTree &tree) {
      if (tree.kind == Min || tree.kind == Max)
        tree.kind = tree.kind == Min ? Max : Min;
      for (IntegerTree &operand : tree.operands)
        turn(operand);
    };
    if (sum && factor < 0)
      turn(*sum);
    return sum;
  });
}

MaskFormula IntegerTree::atMostZero() const {
  if (kind == Leaf)
    return MaskFormula::atMostZero(form);
  MaskFormula a = operands[0].atMostZero(), b = operands[1].atMostZero();
  if (kind == Select) {
    a = MaskFormula::combine(MaskFormula::And, condition[0], std::move(a));
    b = MaskFormula::combine(MaskFormula::And, condition[1], std::move(b));
  }
  return MaskFormula::combine(kind == Max ? MaskFormula::And : MaskFormula::Or,
                              std::move(a), std::move(b));
}
