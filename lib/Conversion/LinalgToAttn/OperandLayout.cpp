//===- OperandLayout.cpp - Where query, key and value come from -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows an operand of a contraction through reshapes, transposes, broadcasts,
// widening casts and constant factors, and turns tensors from one order of
// dimensions into another.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::raise;

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

/// The tensor read by `scalar` if it is an element at affine indices, times
/// constants.
static std::optional<OperandSource> asSource(ElementWalker &walker,
                                             ScalarRef scalar) {
  OperandSource source;
  while (scalar->is("arith.mulf") && scalar->operands[1]->isConstant()) {
    source.factor *= scalar->operands[1]->value;
    scalar = scalar->operands[0];
  }
  if (scalar->kind != Scalar::Kind::Read)
    return std::nullopt;
  source.tensor = scalar->source;
  for (ScalarRef operand : scalar->operands) {
    if (operand->isIndex())
      source.indices.push_back(operand->affine[0]);
    else if (operand->isConstant())
      source.indices.push_back(walker.getSpace().constant(operand->value));
    else
      return std::nullopt;
  }
  return source;
}

static unsigned getWidth(Value tensor) {
  Type type = getElementTypeOrSelf(tensor.getType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

static bool hasDivision(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr inner) {
    found |= inner.getKind() == AffineExprKind::FloorDiv ||
             inner.getKind() == AffineExprKind::Mod;
  });
  return found;
}

SmallVector<OperandSource> attn::raise::traceOperand(ElementWalker &walker,
                                                     Value tensor,
                                                     Indices indices) {
  SmallVector<OperandSource> sources;
  OperandSource current{tensor, {}, 1};
  for (AffineExpr index : indices)
    current.indices.push_back(walker.getSpace().simplify(index));
  while (true) {
    sources.push_back(current);
    ScalarRef scalar = walker.step(current.tensor, current.indices);
    auto next = scalar ? asSource(walker, scalar) : std::nullopt;
    // A rounding on the way is part of the meaning; a widening is not.
    if (!next || getWidth(next->tensor) > getWidth(current.tensor) ||
        llvm::any_of(next->indices, hasDivision))
      return sources;
    next->factor *= current.factor;
    current = *next;
  }
}

std::optional<Layout> attn::raise::getLayout(ElementWalker &walker,
                                             const OperandSource &source) {
  Layout layout;
  SmallVector<AffineExpr> all;
  for (auto [dimension, index] : llvm::enumerate(source.indices)) {
    auto digits = walker.getSpace().getDigits(
        index, walker.getSize(source.tensor, dimension));
    if (!digits)
      return std::nullopt;
    for (AffineExpr digit : *digits) {
      if (llvm::is_contained(all, digit))
        return std::nullopt;
      all.push_back(digit);
    }
    layout.push_back(*digits);
  }
  return layout;
}

//===----------------------------------------------------------------------===//
// Converting
//===----------------------------------------------------------------------===//

namespace {
/// Emits reshapes and transposes. Sizes of 1 get placeholder variables, so
/// that a unit dimension can move along in a transpose.
class LayoutConverter {
public:
  LayoutConverter(OpBuilder &builder, Location loc, IndexSpace &space)
      : builder(builder), loc(loc), space(space) {}

  Value run(Value tensor, Layout from, Layout to);

private:
  OpFoldResult getSize(AffineExpr variable) {
    if (isa<AffineSymbolExpr>(variable)) // a placeholder
      return builder.getIndexAttr(1);
    return space.materialize(builder, loc, space.getExtent(variable));
  }
  Value regroup(Value tensor, ArrayRef<ReassociationIndices> groups,
                ArrayRef<AffineExpr> variables, bool expand);
  Value transpose(Value tensor, ArrayRef<AffineExpr> from,
                  ArrayRef<AffineExpr> to);

  OpBuilder &builder;
  Location loc;
  IndexSpace &space;
};
} // namespace

static SmallVector<AffineExpr> flatten(const Layout &layout) {
  SmallVector<AffineExpr> flat;
  for (const auto &variables : layout)
    flat.append(variables);
  return flat;
}

/// Reassociation between a layout and its flat list of variables. Empty
/// dimensions are not allowed.
static SmallVector<ReassociationIndices> getGroups(const Layout &layout) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (const auto &variables : layout) {
    ReassociationIndices group(variables.size());
    std::iota(group.begin(), group.end(), next);
    next += variables.size();
    groups.push_back(group);
  }
  return groups;
}

/// Reassociation that joins each empty dimension with a neighbour.
static SmallVector<ReassociationIndices> getUnitGroups(const Layout &layout) {
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> pending;
  for (auto [dimension, variables] : llvm::enumerate(layout)) {
    pending.push_back(dimension);
    if (variables.empty())
      continue;
    groups.emplace_back(pending.begin(), pending.end());
    pending.clear();
  }
  if (!groups.empty())
    groups.back().append(pending);
  return groups;
}

/// A static shape where sizes are known.
static SmallVector<int64_t> getShape(ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return shape;
}

Value LayoutConverter::regroup(Value tensor,
                               ArrayRef<ReassociationIndices> groups,
                               ArrayRef<AffineExpr> variables, bool expand) {
  if (!expand)
    return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
  SmallVector<OpFoldResult> sizes;
  for (AffineExpr variable : variables)
    sizes.push_back(getSize(variable));
  auto type = cast<RankedTensorType>(tensor.getType());
  auto expanded = RankedTensorType::get(getShape(sizes), type.getElementType());
  return tensor::ExpandShapeOp::create(builder, loc, expanded, tensor, groups,
                                       sizes);
}

Value LayoutConverter::transpose(Value tensor, ArrayRef<AffineExpr> from,
                                 ArrayRef<AffineExpr> to) {
  SmallVector<int64_t> permutation;
  SmallVector<OpFoldResult> sizes;
  for (AffineExpr variable : to) {
    permutation.push_back(llvm::find(from, variable) - from.begin());
    sizes.push_back(getSize(variable));
  }
  if (from == to)
    return tensor;
  Value empty = tensor::EmptyOp::create(builder, loc, sizes,
                                        getElementTypeOrSelf(tensor.getType()));
  return linalg::TransposeOp::create(builder, loc, tensor, empty, permutation)
      ->getResult(0);
}

Value LayoutConverter::run(Value tensor, Layout from, Layout to) {
  // Pair empty dimensions, in order; those left over are dropped or added.
  unsigned placeholder = space.getSymbols().size();
  auto emptyTo = to.begin();
  for (auto &variables : from) {
    if (!variables.empty())
      continue;
    emptyTo = std::find_if(emptyTo, to.end(),
                           [](auto &other) { return other.empty(); });
    if (emptyTo == to.end())
      break;
    variables = {getAffineSymbolExpr(placeholder++, builder.getContext())};
    *emptyTo = variables;
  }
  bool dropsUnits = llvm::any_of(from, [](auto &v) { return v.empty(); });
  if (dropsUnits) {
    tensor = regroup(tensor, getUnitGroups(from), {}, /*expand=*/false);
    llvm::erase_if(from, [](auto &v) { return v.empty(); });
  }
  SmallVector<AffineExpr> flatFrom = flatten(from), flatTo = flatten(to);
  if (flatFrom.size() != from.size())
    tensor = regroup(tensor, getGroups(from), flatFrom, /*expand=*/true);
  tensor = transpose(tensor, flatFrom, flatTo);
  Layout merged(to);
  llvm::erase_if(merged, [](auto &v) { return v.empty(); });
  if (flatTo.size() != merged.size())
    tensor = regroup(tensor, getGroups(merged), {}, /*expand=*/false);
  if (merged.size() == to.size())
    return tensor;
  // Expand to insert the units; sizes come from the tensor that is there.
  SmallVector<OpFoldResult> sizes,
      present = tensor::getMixedSizes(builder, loc, tensor);
  size_t next = 0;
  for (const auto &variables : to)
    sizes.push_back(variables.empty() ? OpFoldResult(builder.getIndexAttr(1))
                                      : present[next++]);
  auto type = RankedTensorType::get(getShape(sizes),
                                    getElementTypeOrSelf(tensor.getType()));
  return tensor::ExpandShapeOp::create(builder, loc, type, tensor,
                                       getUnitGroups(to), sizes);
}

Value attn::raise::convertLayout(OpBuilder &builder, Location loc,
                                 IndexSpace &space, Value tensor,
                                 const Layout &from, const Layout &to) {
  if (from == to)
    return tensor;
  return LayoutConverter(builder, loc, space).run(tensor, from, to);
}
