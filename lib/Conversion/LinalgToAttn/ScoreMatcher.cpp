//===- ScoreMatcher.cpp - Product, scale, bias, mask and the rest -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes the score apart, from the softmax inwards: masks are taken off, then
// from the product outwards a constant factor is the scale and the first
// summand the bias; whatever is left around them is the score_mod.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/DenseSet.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::raise;
using Progress = MissedAttention::Progress;

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// Contractions in `scalar` that depend on `key`, in the order of the walk.
static SmallVector<ScalarRef> findProducts(ScalarGraph &graph, ScalarRef scalar,
                                           AffineExpr key) {
  llvm::DenseSet<ScalarRef> seen;
  SmallVector<ScalarRef> products, stack = {scalar};
  while (!stack.empty()) {
    ScalarRef next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (next->kind == Scalar::Kind::Contract && graph.dependsOn(next, key))
      products.push_back(next);
    llvm::append_range(stack, llvm::reverse(next->operands));
  }
  return products;
}

/// True if one operand of `product` has the key position, as it is, and no row,
/// and the other does not have it. A product with positions (relative shift,
/// decomposed grids) has rows on both sides or an index made of the key.
static bool isOfQueryAndKey(ElementWalker &walker, ScalarRef product,
                            const ScoreContext &context) {
  auto contraction = getContraction(walker, product->op);
  if (!llvm::is_contained(product->affine, context.key))
    return false;
  auto has = [&](AffineMap map, AffineExpr variable) {
    return llvm::any_of(llvm::enumerate(product->affine), [&](auto loop) {
      return loop.value() && dependsOn(loop.value(), variable) &&
             map.isFunctionOfDim(loop.index());
    });
  };
  bool keyIsLhs = has(contraction->lhsMap, context.key);
  AffineMap keyMap = keyIsLhs ? contraction->lhsMap : contraction->rhsMap;
  AffineMap other = keyIsLhs ? contraction->rhsMap : contraction->lhsMap;
  return !has(other, context.key) &&
         llvm::none_of(context.rows,
                       [&](AffineExpr row) { return has(keyMap, row); });
}

/// The product of query and key among the contractions of a score.
static ScalarRef chooseProduct(ElementWalker &walker,
                               ArrayRef<ScalarRef> products,
                               const ScoreContext &context) {
  const auto *it = llvm::find_if(products, [&](ScalarRef product) {
    return isOfQueryAndKey(walker, product, context);
  });
  return it == products.end() ? products.front() : *it;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

namespace {
/// Takes masks off a score. A mask value is -inf or, where allowed, a finite
/// number at or below the threshold.
class MaskPeeler {
public:
  /// A threshold of 0 stands for half of the lowest number of the type in
  /// which the mask is applied.
  MaskPeeler(ScalarGraph &graph, ScalarRef product, const ScoreContext &context,
             double threshold)
      : graph(graph), product(product), context(context), threshold(threshold) {
  }

  /// The score without its masks.
  ScalarRef peel(ScalarRef score);

  SmallVector<ScalarRef> masks;
  /// The greatest finite value that was taken for a mask.
  std::optional<double> finiteValue;

private:
  bool isMaskValue(ScalarRef scalar, Operation *op);
  /// The condition under which `term` is 0, if it is a mask value otherwise;
  /// `op` adds it to the score.
  ScalarRef asMask(ScalarRef term, Operation *op);
  /// A summand that is a mask value where a condition fails, without it.
  ScalarRef peelTerm(ScalarRef term, Operation *op);
  ScalarRef peelSum(ScalarRef sum);

  ScalarGraph &graph;
  ScalarRef product;
  const ScoreContext &context;
  double threshold;
  double factor = 1; ///< between the scores peeled and the softmax
};
} // namespace

/// Half of the lowest finite number of the type that `op` computes in.
static double getDefaultThreshold(Operation *op) {
  auto type =
      op ? dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()))
         : FloatType();
  if (!type)
    return -kInfinity;
  return llvm::APFloat::getLargest(type.getFloatSemantics(), true)
             .convertToDouble() /
         2;
}

bool MaskPeeler::isMaskValue(ScalarRef scalar, Operation *op) {
  double limit = threshold != 0 ? threshold : getDefaultThreshold(op);
  if (!scalar->isConstant() || !(scalar->value * factor <= limit))
    return false;
  if (std::isfinite(scalar->value))
    finiteValue = std::max(finiteValue.value_or(-kInfinity), scalar->value);
  return true;
}

ScalarRef MaskPeeler::asMask(ScalarRef term, Operation *op) {
  if (term->isConstant(0))
    return graph.constant(Number::Bool, 1);
  if (isMaskValue(term, op))
    return graph.constant(Number::Bool, 0);
  auto isMaskNumber = [&](double value) {
    return value == 0 || isMaskValue(graph.constant(Number::Float, value), op);
  };
  if (isTableOf(graph, term, context, isMaskNumber))
    return graph.apply("arith.cmpf", Number::Bool,
                       {term, graph.constant(Number::Float, 0)}, term->op,
                       static_cast<int64_t>(arith::CmpFPredicate::OEQ));
  bool isChoice = term->is("arith.select");
  bool isBoth = term->is("arith.addf") || term->is("arith.minimumf") ||
                term->is("arith.minnumf");
  if (!isChoice && !isBoth)
    return nullptr;
  ScalarRef lhs = asMask(term->operands[isChoice ? 1 : 0], op);
  ScalarRef rhs = lhs ? asMask(term->operands[isChoice ? 2 : 1], op) : nullptr;
  if (!rhs)
    return nullptr;
  return isChoice
             ? graph.select(term->operands[0], lhs, rhs, term->op)
             : graph.apply("arith.andi", Number::Bool, {lhs, rhs}, term->op);
}

static void flattenSum(ScalarRef sum, SmallVectorImpl<ScalarRef> &terms) {
  if (!sum->is("arith.addf")) {
    terms.push_back(sum);
    return;
  }
  flattenSum(sum->operands[0], terms);
  flattenSum(sum->operands[1], terms);
}

ScalarRef MaskPeeler::peelTerm(ScalarRef term, Operation *op) {
  if (!term->is("arith.select"))
    return term;
  for (int side : {1, 2}) {
    ScalarRef mask = asMask(term->operands[3 - side], op);
    if (!mask || !mask->isConstant(0))
      continue;
    ScalarRef condition = term->operands[0];
    masks.push_back(side == 1 ? condition
                              : graph.logicalNot(condition, term->op));
    return peelTerm(term->operands[side], op);
  }
  return term;
}

ScalarRef MaskPeeler::peelSum(ScalarRef sum) {
  SmallVector<ScalarRef> terms;
  flattenSum(sum, terms);
  ScalarRef result = nullptr;
  for (ScalarRef term : terms) {
    ScalarRef kept = term;
    if (contains(term, product)) {
      kept = peel(term);
    } else if (ScalarRef mask = asMask(term, sum->op)) {
      masks.push_back(mask);
      continue;
    } else {
      kept = peelTerm(term, sum->op);
    }
    result = result ? graph.add(result, kept, sum->op) : kept;
  }
  return result;
}

ScalarRef MaskPeeler::peel(ScalarRef score) {
  if (score->is("arith.select")) {
    for (int side : {1, 2}) {
      ScalarRef kept = score->operands[side];
      if (!contains(kept, product) ||
          !isMaskValue(score->operands[3 - side], score->op))
        continue;
      ScalarRef condition = score->operands[0];
      masks.push_back(side == 1 ? condition
                                : graph.logicalNot(condition, score->op));
      return peel(kept);
    }
    return score;
  }
  if (score->is("arith.addf"))
    return peelSum(score);
  // A positive factor keeps -inf, and makes a finite value another one.
  if (score->is("arith.mulf") && score->operands[1]->isConstant() &&
      score->operands[1]->value > 0) {
    double outer = factor;
    factor *= score->operands[1]->value;
    ScalarRef kept = peel(score->operands[0]);
    factor = outer;
    return graph.mul(kept, score->operands[1], score->op);
  }
  return score;
}

/// Splits conjunctions, and drops conditions that always hold.
static SmallVector<ScalarRef> flattenMasks(ArrayRef<ScalarRef> masks) {
  SmallVector<ScalarRef> pending(masks.rbegin(), masks.rend()), flat;
  while (!pending.empty()) {
    ScalarRef mask = pending.pop_back_val();
    if (mask->is("arith.andi")) {
      pending.push_back(mask->operands[1]);
      pending.push_back(mask->operands[0]);
    } else if (!mask->isConstant(1) && !llvm::is_contained(flat, mask)) {
      flat.push_back(mask);
    }
  }
  return flat;
}

/// Takes the masks off `scalar` and stores them in `score`; the rest is
/// returned.
static ScalarRef peelMasks(ScalarGraph &graph, ScalarRef scalar,
                           const ScoreContext &context, Score &score) {
  auto run = [&](double threshold) {
    MaskPeeler peeler(graph, score.product, context, threshold);
    ScalarRef rest = peeler.peel(scalar);
    SmallVector<ScalarRef> masks;
    for (ScalarRef mask : peeler.masks)
      masks.push_back(replaceTables(graph, mask, context));
    score.masks = flattenMasks(masks);
    score.finiteMask = peeler.finiteValue;
    return rest;
  };
  // What is no smaller than this is a bias.
  constexpr double kGreatestMask = -1000;
  run(kGreatestMask);
  std::optional<double> greatest = score.finiteMask;
  ScalarRef rest = run(context.options.maskThreshold);
  if (context.options.maskThreshold == 0 &&
      greatest > score.finiteMask.value_or(-kInfinity))
    score.reachableMask = greatest;
  // A finite value is -inf only next to a visible key: in a row without one,
  // the graph spreads the weights evenly and attn gives 0.
  if (!score.finiteMask || context.options.assumeVisibleRows ||
      everyRowSeesAKey(graph, score.masks, context)) {
    score.finiteMask.reset();
    return rest;
  }
  double kept = *score.finiteMask;
  rest = run(-kInfinity);
  score.finiteMask = kept;
  return rest;
}

//===----------------------------------------------------------------------===//
// Scale, bias, mod
//===----------------------------------------------------------------------===//

/// The nodes of `scalar` that have `part` as an operand, once per use.
static void findUsers(ScalarRef scalar, ScalarRef part,
                      llvm::DenseSet<ScalarRef> &seen,
                      SmallVectorImpl<ScalarRef> &users) {
  if (!seen.insert(scalar).second)
    return;
  for (ScalarRef operand : scalar->operands) {
    if (operand == part)
      users.push_back(scalar);
    findUsers(operand, part, seen, users);
  }
}

static ScalarRef getOnlyUser(ScalarRef scalar, ScalarRef part) {
  llvm::DenseSet<ScalarRef> seen;
  SmallVector<ScalarRef> users;
  findUsers(scalar, part, seen, users);
  return users.size() == 1 ? users.front() : nullptr;
}

/// Finds scale and bias around the product, and calls the rest the mod.
static void matchLinearPart(ElementWalker &walker, ScalarRef rest,
                            const ScoreContext &context, Score &score) {
  ScalarGraph &graph = walker.getGraph();
  ScalarRef core = score.product, computed = nullptr;
  while (core != rest && !score.bias) {
    ScalarRef user = getOnlyUser(rest, core);
    if (!user)
      break;
    if (user->is("arith.mulf") && user->operands[1]->isConstant()) {
      score.scale *= user->operands[1]->value;
    } else if (user->is("arith.addf")) {
      ScalarRef term = user->operands[user->operands[0] == core ? 1 : 0];
      SmallVector<ScalarRef> summands;
      flattenSum(term, summands);
      for (ScalarRef summand : summands) {
        ScalarRef &sum =
            shouldBeBias(walker, summand, context) ? score.bias : computed;
        sum = sum ? graph.add(sum, summand, user->op) : summand;
      }
      if (!score.bias)
        break;
    } else {
      break;
    }
    core = user;
  }
  score.hole = graph.outer(Value(), Number::Float);
  // What was added beside the bias is added to the score that has it.
  ScalarRef added = score.bias && computed
                        ? graph.add(score.hole, computed, core->op)
                        : score.hole;
  if (core != rest || added != score.hole)
    score.mod = graph.replace(rest, core, added);
}

FailureOr<Score> attn::raise::matchScore(ElementWalker &walker,
                                         ScalarRef scalar,
                                         const ScoreContext &context,
                                         MissRecorder &recorder) {
  ScalarGraph &graph = walker.getGraph();
  SmallVector<ScalarRef> products = findProducts(graph, scalar, context.key);
  if (products.empty())
    return recorder.miss(
        Progress::Softmax, scalar->op,
        "expected the scores to come from a contraction of query and key, "
        "found none between here and the softmax");
  Score score;
  score.product = chooseProduct(walker, products, context);
  ScalarRef rest = peelMasks(graph, scalar, context, score);
  matchLinearPart(walker, rest, context, score);
  return score;
}

//===----------------------------------------------------------------------===//
// Weights without softmax
//===----------------------------------------------------------------------===//

/// `scalar` without a choice of 0 in its place, whose condition is a mask.
static ScalarRef peelChoice(ScalarGraph &graph, ScalarRef scalar,
                            ScalarRef product,
                            SmallVectorImpl<ScalarRef> &masks) {
  if (!scalar->is("arith.select") || contains(scalar->operands[0], product))
    return scalar;
  for (int side : {1, 2}) {
    if (!scalar->operands[3 - side]->isConstant(0))
      continue;
    ScalarRef condition = scalar->operands[0];
    masks.push_back(side == 1 ? condition
                              : graph.logicalNot(condition, scalar->op));
    return scalar->operands[side];
  }
  return scalar;
}

/// Takes what makes `weights` 0 by a factor or a choice off them.
static ScalarRef peelFactors(ScalarGraph &graph, ScalarRef weights,
                             ScalarRef product,
                             SmallVectorImpl<ScalarRef> &masks) {
  auto peel = [&](ScalarRef part) {
    return contains(part, product) ? peelFactors(graph, part, product, masks)
                                   : peelChoice(graph, part, product, masks);
  };
  if (weights->is("arith.mulf")) {
    ScalarRef first = peel(weights->operands[0]);
    return graph.mul(first, peel(weights->operands[1]), weights->op);
  }
  if (weights->is("arith.divf"))
    return graph.apply("arith.divf", Number::Float,
                       {peel(weights->operands[0]), weights->operands[1]},
                       weights->op);
  ScalarRef kept = peelChoice(graph, weights, product, masks);
  return kept == weights ? weights : peel(kept);
}

/// The score that `weights` are a function of: the product with what is
/// multiplied and added, and the masks among it.
static ScalarRef findArgument(ScalarRef weights, ScalarRef product) {
  ScalarRef argument = product;
  while (argument != weights) {
    ScalarRef user = getOnlyUser(weights, argument);
    bool isLinear =
        user && (user->is("arith.addf") || user->is("arith.select") ||
                 (user->is("arith.mulf") && user->operands[1]->isConstant()));
    if (!isLinear)
      break;
    argument = user;
  }
  return argument;
}

FailureOr<Score> attn::raise::matchWeights(ElementWalker &walker,
                                           ScalarRef weights,
                                           const ScoreContext &context,
                                           MissRecorder &recorder) {
  ScalarGraph &graph = walker.getGraph();
  SmallVector<ScalarRef> products = findProducts(graph, weights, context.key);
  // Exponentials that are not divided are a softmax in the making.
  if (products.empty() || weights->is("math.exp"))
    return recorder.miss(Progress::Contraction, weights->op,
                         "expected weights that are a function of the product "
                         "of query and key");
  Score score;
  score.product = chooseProduct(walker, products, context);
  SmallVector<ScalarRef> masks;
  ScalarRef rest = peelFactors(graph, weights, score.product, masks);
  ScalarRef argument = findArgument(rest, score.product);
  // Above, a number is a score.
  constexpr double kGreatestMask = -1000;
  MaskPeeler peeler(graph, score.product, context, kGreatestMask);
  ScalarRef unmasked = peeler.peel(argument);
  auto weightOf = [&](double hidden) {
    return graph.replace(rest, argument, graph.constant(Number::Float, hidden));
  };
  if (!peeler.masks.empty() && weightOf(-kInfinity)->isConstant(0) &&
      weightOf(peeler.finiteValue.value_or(-kInfinity))->isConstant(0)) {
    llvm::append_range(masks, peeler.masks);
    rest = graph.replace(rest, argument, unmasked);
  }
  for (ScalarRef &mask : masks)
    mask = replaceTables(graph, mask, context);
  score.masks = flattenMasks(masks);
  matchLinearPart(walker, rest, context, score);
  if (!score.mod)
    return recorder.miss(Progress::Contraction, weights->op,
                         "expected weights that are more than a product");
  return score;
}

std::optional<std::pair<double, double>>
attn::raise::matchSoftCap(const Score &score) {
  ScalarRef mod = score.mod;
  if (!mod || score.bias || !mod->is("arith.mulf") ||
      !mod->operands[1]->isConstant() || !mod->operands[0]->is("math.tanh"))
    return std::nullopt;
  double cap = mod->operands[1]->value;
  ScalarRef argument = mod->operands[0]->operands[0];
  if (!(cap > 0) || argument != score.hole)
    return std::nullopt;
  return std::pair(cap, cap);
}
