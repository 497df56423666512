//===- SummandMatcher.cpp - What is added to a score -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides where a summand of the score is computed. A tensor with an element
// for each row and key is the bias. What reads smaller tensors at computed
// positions (a table by distance, a product with positions, a grid in two
// halves) stays in the region, and what is expensive in it but depends on the
// distance j - i alone is computed once for each distance.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace attn;
using namespace attn::raise;

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// True if `scalar` is a few instructions and reads: `skipped` nodes count as
/// one read.
static bool isCheap(ScalarRef scalar, ArrayRef<DistanceTable> skipped,
                    llvm::DenseSet<ScalarRef> &seen) {
  constexpr size_t kMaxCheapNodes = 32;
  bool isSkipped = llvm::any_of(skipped, [&](const DistanceTable &table) {
    return table.scalar == scalar;
  });
  if (isSkipped || !seen.insert(scalar).second)
    return true;
  bool isFunction = scalar->kind == Scalar::Kind::Apply &&
                    scalar->name.starts_with("math.") &&
                    scalar->name != "math.absi" && scalar->name != "math.absf";
  if (seen.size() > kMaxCheapNodes || isFunction ||
      scalar->kind == Scalar::Kind::Reduce)
    return false;
  return llvm::all_of(scalar->operands, [&](ScalarRef operand) {
    return isCheap(operand, skipped, seen);
  });
}

static bool isCheap(ScalarRef scalar, ArrayRef<DistanceTable> skipped = {}) {
  llvm::DenseSet<ScalarRef> seen;
  return isCheap(scalar, skipped, seen);
}

//===----------------------------------------------------------------------===//
// Tables by distance
//===----------------------------------------------------------------------===//

/// True if `scalar` depends on `row` and the key only by their difference.
static bool isByDistance(ScalarGraph &graph, ScalarRef scalar, AffineExpr row,
                         AffineExpr key) {
  if (!graph.dependsOn(scalar, row) || !graph.dependsOn(scalar, key))
    return false;
  IndexSpace &space = graph.getSpace();
  auto wanted = space.getWantedSplit();
  AffineExpr last = space.getExtent(row) - 1;
  AffineExpr distance = space.addVariable(
      space.simplify(last + space.getExtent(key)), /*splittable=*/false);
  ScalarRef moved = graph.substitute(scalar, key, distance + row - last);
  space.setWantedSplit(wanted);
  return !graph.dependsOn(moved, row);
}

/// Collects the largest parts of `scalar` that are worth a table. Conditions
/// stay formulas: as such they tell which keys a row sees.
static void findTables(ElementWalker &walker, ScalarRef scalar,
                       const ScoreContext &context,
                       llvm::DenseSet<ScalarRef> &seen,
                       SmallVectorImpl<DistanceTable> &tables) {
  ScalarGraph &graph = walker.getGraph();
  if (!seen.insert(scalar).second || isCheap(scalar))
    return;
  if (scalar->number != Number::Bool && !walker.getOrigins(scalar).empty())
    for (AffineExpr row : context.rows)
      if (isByDistance(graph, scalar, row, context.key)) {
        tables.push_back({scalar, row, context.key});
        return;
      }
  for (ScalarRef operand : scalar->operands)
    findTables(walker, operand, context, seen, tables);
}

SmallVector<DistanceTable>
attn::raise::findTables(ElementWalker &walker, ScalarRef scalar,
                        const ScoreContext &context) {
  llvm::DenseSet<ScalarRef> seen;
  SmallVector<DistanceTable> tables;
  ::findTables(walker, scalar, context, seen, tables);
  return tables;
}

//===----------------------------------------------------------------------===//
// Bias or score_mod
//===----------------------------------------------------------------------===//

static bool readsATensor(ScalarRef scalar) {
  return scalar->kind == Scalar::Kind::Read ||
         scalar->kind == Scalar::Kind::Contract ||
         llvm::any_of(scalar->operands, readsATensor);
}

/// True if `expr` divides `variable`.
static bool isDivided(AffineExpr expr, AffineExpr variable) {
  bool divided = false;
  expr.walk([&](AffineExpr inner) {
    divided |= (inner.getKind() == AffineExprKind::FloorDiv ||
                inner.getKind() == AffineExprKind::Mod) &&
               dependsOn(inner, variable);
  });
  return divided;
}

bool attn::raise::dividesVariable(ScalarRef scalar, AffineExpr variable) {
  return llvm::any_of(scalar->affine,
                      [&](AffineExpr expr) {
                        return expr && isDivided(expr, variable);
                      }) ||
         llvm::any_of(scalar->operands, [&](ScalarRef operand) {
           return dividesVariable(operand, variable);
         });
}

/// True if `expr` divides `variable`, or subtracts it.
static bool isMoved(AffineExpr expr, AffineExpr variable) {
  bool negative = false;
  expr.walk([&](AffineExpr inner) {
    auto product = dyn_cast<AffineBinaryOpExpr>(inner);
    if (!product || inner.getKind() != AffineExprKind::Mul)
      return;
    auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
    negative |= dependsOn(inner, variable) && factor && factor.getValue() < 0;
  });
  return negative || isDivided(expr, variable);
}

/// True if a tensor that is read at `indices` has an element for each row and
/// key.
static bool isPerPair(ArrayRef<AffineExpr> indices,
                      const ScoreContext &context) {
  auto has = [&](AffineExpr variable) {
    return llvm::any_of(indices, [&](AffineExpr expr) {
      return expr && dependsOn(expr, variable);
    });
  };
  bool isMovedKey = llvm::any_of(indices, [&](AffineExpr expr) {
    return expr && dependsOn(expr, context.key) &&
           (isMoved(expr, context.key) ||
            llvm::any_of(context.rows,
                         [&](AffineExpr row) { return isMoved(expr, row); }));
  });
  return has(context.key) && !isMovedKey && llvm::any_of(context.rows, has);
}

/// True if `scalar` reads, or has to read, a tensor of all pairs.
static bool readsPairs(ScalarRef scalar, const ScoreContext &context) {
  if (scalar->kind == Scalar::Kind::Contract)
    return isPerPair(scalar->affine, context);
  if (scalar->kind == Scalar::Kind::Read) {
    SmallVector<AffineExpr> indices;
    for (ScalarRef operand : scalar->operands)
      if (operand->isIndex())
        indices.push_back(operand->affine[0]);
    if (isPerPair(indices, context))
      return true;
  }
  return llvm::any_of(scalar->operands, [&](ScalarRef operand) {
    return readsPairs(operand, context);
  });
}

/// True if what `scalar` reads can be read where it is.
static bool canReadInPlace(ElementWalker &walker, ScalarRef scalar,
                           ArrayRef<DistanceTable> tables) {
  if (llvm::any_of(tables, [&](const DistanceTable &table) {
        return table.scalar == scalar;
      }))
    return true;
  if (scalar->kind == Scalar::Kind::Contract)
    return llvm::any_of(walker.getOrigins(scalar), [&](const Element &origin) {
      return walker.isInBounds(origin.tensor, origin.indices);
    });
  if (scalar->kind == Scalar::Kind::Read &&
      llvm::all_of(scalar->operands,
                   [](ScalarRef index) { return index->isIndex(); })) {
    SmallVector<AffineExpr> indices;
    for (ScalarRef operand : scalar->operands)
      indices.push_back(operand->affine[0]);
    return walker.isInBounds(scalar->source, indices);
  }
  return llvm::all_of(scalar->operands, [&](ScalarRef operand) {
    return canReadInPlace(walker, operand, tables);
  });
}

bool attn::raise::shouldBeBias(ElementWalker &walker, ScalarRef term,
                               const ScoreContext &context) {
  ScalarGraph &graph = walker.getGraph();
  bool dependsOnRow = llvm::any_of(
      context.rows, [&](AffineExpr row) { return graph.dependsOn(term, row); });
  if (!dependsOnRow || !graph.dependsOn(term, context.key))
    return readsATensor(term) || !isCheap(term);
  if (readsPairs(term, context))
    return true;
  auto tables = findTables(walker, term, context);
  return !isCheap(term, tables) || !canReadInPlace(walker, term, tables);
}
