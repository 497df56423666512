//===- ProbMatcher.cpp - Weights that are a function of a softmax ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the softmax that weights are made of, element by element: scales of
// heads, masks after the softmax, a mix with the identity. The function is the
// prob_mod. A graph computes it for hidden keys as well, whose probability is
// 0: unless it gives 0 for them, they are hidden by their scores instead of a
// mask_mod, so that the prob_mod sees them.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;
using namespace attn::raise;
using Progress = MissedAttention::Progress;

/// The parts of `weights` that may be a softmax, from the outside in.
static SmallVector<ScalarRef> findQuotients(ScalarRef weights) {
  llvm::SetVector<ScalarRef> seen;
  SmallVector<ScalarRef> found;
  seen.insert(weights);
  for (size_t next = 0; next < seen.size(); ++next) {
    ScalarRef node = seen[next];
    if (node->kind == Scalar::Kind::Reduce)
      continue;
    if (node->is("arith.divf") || node->is("arith.select"))
      found.push_back(node);
    seen.insert(node->operands.begin(), node->operands.end());
  }
  return found;
}

/// `prob` without what rounds to 8 bits, to `rounded`: kernels round weights as
/// they need it.
static ScalarRef dropRounding(ScalarGraph &graph, ScalarRef prob,
                              Type &rounded) {
  llvm::SetVector<ScalarRef> seen;
  seen.insert(prob);
  for (size_t next = 0; next < seen.size(); ++next) {
    ScalarRef node = seen[next];
    if (node->is("arith.truncf")) {
      rounded = getElementTypeOrSelf(node->op->getResult(0));
      return dropRounding(graph, graph.replace(prob, node, node->operands[0]),
                          rounded);
    }
    seen.insert(node->operands.begin(), node->operands.end());
  }
  return prob;
}

FailureOr<ChangedSoftmax>
attn::raise::matchChangedSoftmax(ElementWalker &walker, ScalarRef weights,
                                 AffineExpr key, MissRecorder &recorder) {
  ScalarGraph &graph = walker.getGraph();
  MissRecorder quiet(recorder.getCandidate());
  for (ScalarRef part : findQuotients(weights)) {
    auto softmax = matchSoftmax(walker, part, key, quiet);
    if (failed(softmax))
      continue;
    ChangedSoftmax changed{*softmax, nullptr,
                           graph.outer(Value(), Number::Float), Type()};
    changed.prob = dropRounding(
        graph, graph.replace(weights, part, changed.hole), changed.rounded);
    if (areElementwise(changed.prob))
      return changed;
    return recorder.miss(Progress::Softmax, weights->op,
                         "expected weights of one softmax, element by element, "
                         "got those of several or with a reduction behind it: "
                         "each softmax is an attention of its own");
  }
  return failure();
}

/// A factor that is rounded, as the inverse of a scale is, is this near.
static constexpr double kRounding = 1e-6;

/// c where `scalar` is c times `hole`, a probability: it is in [0, 1], so that
/// a bound that none reaches is none.
static std::optional<double> getFactor(ScalarRef scalar, ScalarRef hole) {
  if (scalar == hole)
    return 1;
  bool isLeast = scalar->is("arith.minimumf") || scalar->is("arith.minnumf");
  bool isMost = scalar->is("arith.maximumf") || scalar->is("arith.maxnumf");
  bool isProduct = scalar->is("arith.mulf"),
       isQuotient = scalar->is("arith.divf");
  if (!isLeast && !isMost && !isProduct && !isQuotient)
    return std::nullopt;
  for (unsigned i : {1, 0}) {
    ScalarRef constant = scalar->operands[i];
    if (!constant->isConstant() || (isQuotient && i == 0))
      continue;
    std::optional<double> factor = getFactor(scalar->operands[1 - i], hole);
    if (!factor)
      return std::nullopt;
    if (isProduct)
      return *factor * constant->value;
    if (isQuotient)
      return *factor / constant->value;
    double least = std::min(*factor, 0.0) * (1 - kRounding),
           most = std::max(*factor, 0.0) * (1 - kRounding);
    bool isReached = isLeast ? constant->value < most : constant->value > least;
    return isReached ? std::nullopt : factor;
  }
  return std::nullopt;
}

void attn::raise::takeWeightFactor(AttentionMatch &match) {
  std::optional<double> factor = getFactor(match.prob, match.probHole);
  if (!factor || !(*factor > 0) || !std::isfinite(*factor))
    return;
  bool isOne = std::abs(*factor - 1) < kRounding;
  match.weightFactor = isOne ? 1 : *factor;
  match.prob = match.probHole = nullptr;
}

static void addSummands(ScalarGraph &graph, ScalarRef scalar,
                        SmallVectorImpl<ScalarRef> &summands) {
  bool isDifference = scalar->is("arith.subf");
  if (!isDifference && !scalar->is("arith.addf")) {
    summands.push_back(scalar);
    return;
  }
  addSummands(graph, scalar->operands[0], summands);
  ScalarRef other = scalar->operands[1];
  if (isDifference)
    other = graph.mul(other, graph.constant(Number::Float, -1), scalar->op);
  addSummands(graph, other, summands);
}

SmallVector<ScalarRef> attn::raise::splitWeights(ScalarGraph &graph,
                                                 ScalarRef weights) {
  SmallVector<ScalarRef> summands;
  addSummands(graph, weights, summands);
  bool areSoftmaxes = llvm::all_of(summands, [&](ScalarRef summand) {
    return hasSumOfExponentials(graph, summand);
  });
  if (!areSoftmaxes)
    summands.assign({weights});
  return summands;
}

/// True if all `masks` hold where `condition` does, which places the key.
static bool impliesVisible(ScalarGraph &graph, ScalarRef condition,
                           AffineExpr key, ArrayRef<ScalarRef> masks) {
  if (condition->is("arith.andi"))
    return llvm::any_of(condition->operands, [&](ScalarRef part) {
      return impliesVisible(graph, part, key, masks);
    });
  if (!condition->is("arith.cmpi") ||
      condition->predicate != static_cast<int64_t>(arith::CmpIPredicate::eq))
    return false;
  IndexSpace &space = graph.getSpace();
  AffineExpr sides[2];
  for (auto [side, operand] : llvm::zip(sides, condition->operands)) {
    bool isNumber = operand->isConstant();
    if (!isNumber && !operand->isIndex())
      return false;
    side = isNumber ? space.constant(static_cast<int64_t>(operand->value))
                    : operand->affine[0];
  }
  for (AffineExpr other : {sides[1] - sides[0], sides[0] - sides[1]}) {
    AffineExpr place = space.simplify(other + key);
    if (!dependsOn(place, key) && llvm::all_of(masks, [&](ScalarRef mask) {
          return graph.substitute(mask, key, place)->isConstant(1);
        }))
      return true;
  }
  return false;
}

/// True if `scalar` is 0 where `hole` is, and a mask does not hold. A factor
/// that is not finite would make it NaN, as in the graph.
static bool isZeroWhereHidden(ScalarGraph &graph, ScalarRef scalar,
                              ScalarRef hole, AffineExpr key,
                              ArrayRef<ScalarRef> masks) {
  auto isZero = [&](unsigned i) {
    return isZeroWhereHidden(graph, scalar->operands[i], hole, key, masks);
  };
  if (scalar == hole || scalar->isConstant(0))
    return true;
  if (scalar->is("arith.mulf"))
    return isZero(0) || isZero(1);
  if (scalar->is("arith.divf") || scalar->is("arith.negf"))
    return isZero(0);
  if (scalar->is("arith.addf") || scalar->is("arith.subf"))
    return isZero(0) && isZero(1);
  return scalar->is("arith.select") && isZero(2) &&
         (isZero(1) || impliesVisible(graph, scalar->operands[0], key, masks));
}

LogicalResult attn::raise::showHiddenKeys(ElementWalker &walker,
                                          const ScoreContext &context,
                                          AttentionMatch &match,
                                          MissRecorder &recorder) {
  ScalarGraph &graph = walker.getGraph();
  Score &score = match.score;
  if (score.masks.empty() ||
      isZeroWhereHidden(graph, match.prob, match.probHole, context.key,
                        score.masks))
    return success();
  if (match.isGuarded && !everyRowSeesAKey(graph, score.masks, context))
    return recorder.miss(Progress::Softmax, match.prob->op,
                         "expected a function of probabilities that is 0 for "
                         "hidden keys, since rows may see none");
  ScalarRef all = score.masks.front();
  for (ScalarRef mask : ArrayRef(score.masks).drop_front())
    all = graph.apply("arith.andi", Number::Bool, {all, mask}, mask->op);
  score.mod = graph.select(all, score.mod ? score.mod : score.hole,
                           graph.constant(Number::Float, -kInfinity), all->op);
  score.masks.clear();
  return success();
}
