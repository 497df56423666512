//===- RowMatcher.cpp - Rotary embedding and norm in graphs ------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensors whose rows change, and the operands that are looked at.
//
//===----------------------------------------------------------------------===//

#include "RowMatcher.h"

#include "attn/Dialect/Attn/IR/RowOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;
using namespace attn::raise;

void RowMatcher::addRow(AffineExpr extent) {
  bool isOne = extent == space.constant(1);
  AffineExpr variable =
      isOne ? space.constant(0) : space.addVariable(extent, false);
  row.push_back(variable);
  rowLayout.push_back({});
  if (!isOne)
    rowLayout.back().push_back(variable);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// True if one index of `element`, of a dimension of `size`, is `column`, and
/// no other depends on what that does.
bool RowMatcher::isColumnOf(const Element &element, AffineExpr column,
                            int64_t size, unsigned &dim) {
  column = space.simplify(column);
  std::optional<unsigned> found;
  for (auto [i, index] : llvm::enumerate(element.indices))
    if (index == column)
      found = i;
  if (!found || walker.getSize(element.tensor, *found) != space.constant(size))
    return false;
  dim = *found;
  AffineExpr variable;
  column.walk([&](AffineExpr inner) {
    if (isa<AffineDimExpr>(inner))
      variable = inner;
  });
  for (auto [i, index] : llvm::enumerate(element.indices))
    if (i != dim && variable && dependsOn(index, variable))
      return false;
  return true;
}

/// A tensor with `x` in one column and `y` in another, as a view of which
/// [B, H, N, D] is made; its indices have the column `any`. One that is of that
/// shape goes first.
std::optional<OperandSource>
RowMatcher::findSource(ScalarRef x, AffineExpr column, ScalarRef y,
                       AffineExpr other, AffineExpr any) {
  std::optional<OperandSource> found;
  SmallVector<Element> origins(walker.getOrigins(x));
  for (const Element &origin : origins) {
    unsigned dim;
    if (origin.tensor == tensor ||
        getElementTypeOrSelf(origin.tensor.getType()) !=
            type.getElementType() ||
        !isColumnOf(origin, column, getColumns(), dim))
      continue;
    OperandSource source{origin.tensor, origin.indices, 1};
    source.indices[dim] = other;
    if (walker.element(source.tensor, source.indices) != y)
      continue;
    source.indices[dim] = any;
    std::optional<Layout> layout = getLayout(walker, source);
    Layout wanted(rowLayout);
    wanted.push_back({any});
    if (!layout)
      continue;
    if (*layout == wanted)
      return source;
    // All of the rows, and nothing else.
    SmallVector<AffineExpr> has, needs;
    for (const auto &digits : *layout)
      has.append(digits);
    for (const auto &digits : wanted)
      needs.append(digits);
    bool isSame = has.size() == needs.size() &&
                  llvm::all_of(needs, [&](AffineExpr variable) {
                    return llvm::is_contained(has, variable);
                  });
    if (isSame && !found)
      found = source;
  }
  return found;
}

Value RowMatcher::buildSource(OpBuilder &builder, Location loc,
                              const OperandSource &source, AffineExpr column) {
  Layout wanted(rowLayout);
  wanted.push_back({column});
  return convertLayout(builder, loc, space, source.tensor,
                       *getLayout(walker, source), wanted);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// What `rows` are, in place of them; null if they are no such op.
static Value raiseOnce(OpBuilder &builder, Location loc, Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  if (isFloat8(type) || !rows.getDefiningOp() ||
      getRowSource(rows.getDefiningOp()))
    return Value();
  Value made = RowMatcher(rows).matchRotary(builder, loc);
  if (!made)
    made = RowMatcher(rows).matchNorm(builder, loc);
  return made && made.getType() == type ? made : Value();
}

unsigned attn::raise::raiseRows(RewriterBase &rewriter, AttentionOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  unsigned count = 0;
  for (OpOperand *operand : {&op.getQueryMutable(), &op.getKeyMutable()}) {
    Value made = raiseOnce(rewriter, op.getLoc(), operand->get());
    if (!made)
      continue;
    operand->set(made);
    ++count;
    // What is turned may be normalised before, or turned twice.
    for (Operation *last = made.getDefiningOp(); last;) {
      rewriter.setInsertionPoint(last);
      Value before = raiseOnce(rewriter, op.getLoc(), last->getOperand(0));
      if (before)
        last->setOperand(0, before);
      last = before ? before.getDefiningOp() : nullptr;
      count += before != nullptr;
    }
    rewriter.setInsertionPoint(op);
  }
  return count;
}
