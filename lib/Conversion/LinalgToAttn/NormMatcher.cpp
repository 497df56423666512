//===- NormMatcher.cpp - Norms of rows in graphs -----------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand whose element is x w / sqrt(mean(x^2) + epsilon) is an
// attn.qk_norm.
//
//===----------------------------------------------------------------------===//

#include "RowMatcher.h"

#include "attn/Dialect/Attn/IR/RowOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::raise;

namespace {
/// 1 / sqrt(mean of x^2 + epsilon)
struct RootMeanSquare {
  ScalarRef x; ///< in terms of `column`
  AffineExpr column;
  double epsilon;
};
} // namespace

static void collectFactors(ScalarRef scalar, SmallVectorImpl<ScalarRef> &above,
                           SmallVectorImpl<ScalarRef> &below) {
  if (scalar->is("arith.mulf")) {
    for (ScalarRef operand : scalar->operands)
      collectFactors(operand, above, below);
  } else if (scalar->is("arith.divf")) {
    collectFactors(scalar->operands[0], above, below);
    collectFactors(scalar->operands[1], below, above);
  } else {
    above.push_back(scalar);
  }
}

/// x of x * x.
static ScalarRef getSquared(ScalarRef scalar) {
  bool isSquare =
      scalar->is("arith.mulf") && scalar->operands[0] == scalar->operands[1];
  bool isPower = (scalar->is("math.powf") || scalar->is("math.fpowi")) &&
                 scalar->operands[1]->isConstant(2);
  return isSquare || isPower ? scalar->operands[0] : nullptr;
}

/// `square` is mean of x^2 + epsilon over `columns`.
static std::optional<RootMeanSquare> matchMeanSquare(ScalarRef square,
                                                     int64_t columns) {
  RootMeanSquare found{nullptr, {}, 0};
  if (square->is("arith.addf") && square->operands[1]->isConstant()) {
    found.epsilon = square->operands[1]->value;
    square = square->operands[0];
  }
  if (!square->is("arith.mulf") || !square->operands[1]->isConstant() ||
      std::abs(square->operands[1]->value * static_cast<double>(columns) - 1) >
          1e-6)
    return std::nullopt;
  ScalarRef sum = square->operands[0];
  if (sum->kind != Scalar::Kind::Reduce || sum->combiner != Combiner::Sum)
    return std::nullopt;
  found.x = getSquared(sum->operands[0]);
  found.column = sum->affine[0];
  if (!found.x || found.epsilon < 0)
    return std::nullopt;
  return found;
}

/// Takes one of `factors` out that `is` finds to be a root mean square.
static std::optional<RootMeanSquare>
takeRoot(SmallVectorImpl<ScalarRef> &factors, StringRef name, int64_t columns) {
  for (ScalarRef &factor : factors) {
    if (!factor->is(name))
      continue;
    auto found = matchMeanSquare(factor->operands[0], columns);
    if (!found)
      continue;
    factors.erase(&factor);
    return found;
  }
  return std::nullopt;
}

Value RowMatcher::matchNorm(OpBuilder &builder, Location loc) {
  AffineExpr column = space.addVariable(space.constant(getColumns()), false);
  SmallVector<ScalarRef> above, below, ofX, belowX;
  collectFactors(elementOf(tensor, column), above, below);
  auto root = takeRoot(above, "math.rsqrt", getColumns());
  if (!root)
    root = takeRoot(below, "math.sqrt", getColumns());
  if (!root || space.getExtent(root->column) != space.constant(getColumns()))
    return Value();
  ScalarRef x = graph.substitute(root->x, root->column, column);
  collectFactors(x, ofX, belowX);
  for (auto [all, part] : {std::pair(&above, &ofX), {&below, &belowX}})
    for (ScalarRef factor : *part) {
      auto *found = llvm::find(*all, factor);
      if (found == all->end())
        return Value();
      all->erase(found);
    }
  // What is left is the weight.
  if (!below.empty() || above.size() > 1)
    return Value();
  auto source = findSource(x, column, x, column, column);
  if (!source)
    return Value();
  Value weight;
  for (ScalarRef factor : above)
    for (const Element &origin : walker.getOrigins(factor))
      if (origin.indices.size() == 1 && origin.indices[0] == column &&
          walker.getSize(origin.tensor, 0) == space.constant(getColumns()))
        weight = origin.tensor;
  if (!above.empty() && !weight)
    return Value();
  Value rows = buildSource(builder, loc, *source, column);
  return QkNormOp::create(builder, loc, rows.getType(), rows, weight,
                          builder.getF64FloatAttr(root->epsilon));
}
