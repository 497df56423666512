//===- RoleMatcher.cpp - Which loop is batch, head, query -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that query, key and value have is a batch or a key head. One that key
// and value do not have is a query position, or the place of a query head in
// its group. Which of the equally valid readings is taken follows the order of
// the dimensions.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::raise;
using Progress = MissedAttention::Progress;

SmallVector<AffineExpr> Roles::getQueryHeads() const {
  SmallVector<AffineExpr> heads(keyHeads);
  heads.append(groups);
  return heads;
}

namespace {
/// A source with its layout.
struct Placed {
  OperandSource source;
  Layout layout;

  bool has(AffineExpr variable) const {
    return llvm::any_of(layout, [&](const auto &variables) {
      return llvm::is_contained(variables, variable);
    });
  }
  bool hasExactly(ArrayRef<AffineExpr> variables) const {
    size_t count = 0;
    for (const auto &dimension : layout)
      count += dimension.size();
    return count == variables.size() &&
           llvm::all_of(variables,
                        [&](AffineExpr variable) { return has(variable); });
  }
  Type getType() const { return getElementTypeOrSelf(source.tensor.getType()); }
};
} // namespace

/// The sources whose layout is known, nearest to the contraction first.
static SmallVector<Placed> place(ElementWalker &walker,
                                 ArrayRef<OperandSource> sources) {
  SmallVector<Placed> placed;
  for (const OperandSource &source : sources)
    if (auto layout = getLayout(walker, source))
      placed.push_back({source, *layout});
  return placed;
}

/// The last source that has exactly `variables`; with `type`, of that element
/// type; unless it `takesFactor`, one that is the operand without a factor.
static const Placed *findSource(ArrayRef<Placed> placed,
                                ArrayRef<AffineExpr> variables, Type type = {},
                                bool takesFactor = true) {
  for (const Placed &candidate : llvm::reverse(placed))
    if (candidate.hasExactly(variables) &&
        (!type || candidate.getType() == type) &&
        (takesFactor || candidate.source.factor == 1))
      return &candidate;
  return nullptr;
}

static SmallVector<AffineExpr>
join(std::initializer_list<ArrayRef<AffineExpr>> lists) {
  SmallVector<AffineExpr> all;
  for (ArrayRef<AffineExpr> list : lists)
    all.append(list.begin(), list.end());
  return all;
}

/// Batch variables that neither key nor value need: the tensors that they are
/// broadcast from do not have them.
static SmallVector<AffineExpr> findGroups(ArrayRef<AffineExpr> batch,
                                          ArrayRef<AffineExpr> otherKey,
                                          ArrayRef<AffineExpr> otherValue,
                                          ArrayRef<Placed> keys,
                                          ArrayRef<Placed> values) {
  SmallVector<AffineExpr> groups;
  auto lacks = [&](ArrayRef<Placed> placed, ArrayRef<AffineExpr> others,
                   AffineExpr variable) {
    return llvm::any_of(placed, [&](const Placed &candidate) {
      return !candidate.has(variable) &&
             llvm::all_of(others, [&](AffineExpr other) {
               return candidate.has(other);
             });
    });
  };
  for (AffineExpr variable : batch)
    if (lacks(keys, otherKey, variable) && lacks(values, otherValue, variable))
      groups.push_back(variable);
  return groups;
}

/// Splits the shared variables into batch and key heads.
static void assignBatch(ArrayRef<AffineExpr> shared, bool hasUnitBatch,
                        bool hasGroupOfSameLoop, Roles &roles) {
  if (shared.empty())
    return;
  bool isHead = shared.size() > 1 || hasUnitBatch || hasGroupOfSameLoop;
  roles.batch.append(shared.begin(), shared.end() - (isHead ? 1 : 0));
  if (isHead)
    roles.keyHeads = {shared.back()};
}

/// True if the query tensor has a dimension of size 1 beside batch or head:
/// then a single shared variable is the head of a batch of one.
static bool hasUnitDimension(ArrayRef<Placed> queries) {
  return llvm::any_of(queries, [](const Placed &query) {
    return query.layout.size() >= 4 &&
           llvm::any_of(query.layout, [](const auto &variables) {
             return variables.empty();
           });
  });
}

/// The row variable that a mask compares with the key; else the last.
static AffineExpr chooseQuery(ScalarGraph &graph, ArrayRef<AffineExpr> rows,
                              const Score &score) {
  AffineExpr chosen;
  for (AffineExpr row : rows) {
    bool isUsed = llvm::any_of(score.masks, [&](ScalarRef mask) {
      return graph.dependsOn(mask, row);
    });
    if (isUsed && chosen)
      return rows.back();
    if (isUsed)
      chosen = row;
  }
  return chosen ? chosen : rows.back();
}

/// True if the score takes the key position apart: rows and keys are positions
/// of a grid, and all row variables together are the query position.
static bool isGrid(const Score &score, AffineExpr key) {
  SmallVector<ScalarRef> parts(score.masks);
  parts.append({score.bias, score.mod});
  return llvm::any_of(parts, [&](ScalarRef part) {
    return part && dividesVariable(part, key);
  });
}

/// Takes query, key and value from sources of one element type.
static LogicalResult chooseSources(AttentionMatch &match,
                                   ArrayRef<Placed> queries,
                                   ArrayRef<Placed> keys,
                                   ArrayRef<Placed> values,
                                   MissRecorder &recorder) {
  const Roles &roles = match.roles;
  auto forQuery = join(
      {roles.batch, roles.keyHeads, roles.groups, roles.query, roles.headDim});
  auto forKey = join({roles.batch, roles.keyHeads, roles.key, roles.headDim});
  auto forValue =
      join({roles.batch, roles.keyHeads, roles.key, roles.valueDim});
  for (const Placed &first : llvm::reverse(queries)) {
    const Placed *query = findSource(queries, forQuery, first.getType());
    const Placed *key = findSource(keys, forKey, first.getType());
    const Placed *value = findSource(values, forValue, first.getType(),
                                     /*takesFactor=*/false);
    if (!query || !key || !value)
      continue;
    match.query = query->source;
    match.key = key->source;
    match.value = value->source;
    return success();
  }
  Operation *product = match.score.product->op;
  if (!findSource(queries, forQuery))
    return recorder.miss(Progress::Score, product,
                         "expected the query to have batch, head, position and "
                         "head dimension, each of its own loop");
  if (!findSource(keys, forKey))
    return recorder.miss(Progress::Score, product,
                         "expected the key to have batch, head, position and "
                         "head dimension, each of its own loop");
  if (!findSource(values, forValue))
    return recorder.miss(Progress::Score, match.values.op,
                         "expected the value to have batch, head, position and "
                         "head dimension, each of its own loop");
  return recorder.miss(Progress::Score, product,
                       "expected query, key and value of one element type");
}

LogicalResult attn::raise::assignRoles(
    ElementWalker &walker, AttentionMatch &match, ArrayRef<AffineExpr> batch,
    ArrayRef<AffineExpr> rows, ArrayRef<OperandSource> queryTrail,
    ArrayRef<OperandSource> keyTrail, ArrayRef<OperandSource> valueTrail,
    MissRecorder &recorder) {
  Roles &roles = match.roles;
  SmallVector<Placed> queries = place(walker, queryTrail);
  SmallVector<Placed> keys = place(walker, keyTrail);
  SmallVector<Placed> values = place(walker, valueTrail);
  auto groups = findGroups(batch, join({roles.key, roles.headDim}),
                           join({roles.key, roles.valueDim}), keys, values);
  SmallVector<AffineExpr> shared;
  for (AffineExpr variable : batch)
    if (!llvm::is_contained(groups, variable))
      shared.push_back(variable);
  // A group that is part of the batch loops comes from a repeat of heads.
  bool fromRepeat = !groups.empty();
  if (isGrid(match.score, roles.key.front())) {
    roles.query.append(rows.begin(), rows.end());
  } else if (!rows.empty()) {
    AffineExpr query = chooseQuery(walker.getGraph(), rows, match.score);
    roles.query = {query};
    for (AffineExpr row : rows)
      if (row != query)
        groups.push_back(row);
  }
  roles.groups = groups;
  assignBatch(shared, hasUnitDimension(queries), fromRepeat, roles);
  if (failed(chooseSources(match, queries, keys, values, recorder)))
    return failure();
  for (auto [name, variables] :
       {std::pair<StringRef, ArrayRef<AffineExpr>>{"D", roles.headDim},
        {"Dv", roles.valueDim}})
    for (AffineExpr variable : variables)
      if (!isa<AffineConstantExpr>(walker.getSpace().getExtent(variable)))
        return recorder.miss(Progress::Score, match.values.op,
                             "expected the head dimension " + name +
                                 " to be static, got a dynamic size");
  return success();
}
