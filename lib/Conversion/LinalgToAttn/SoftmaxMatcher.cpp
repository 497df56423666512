//===- SoftmaxMatcher.cpp - A softmax in its many spellings -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A softmax is exp(x - c) / sum over j of exp(x - c), for any c that does not
// depend on j: whether c is the maximum, a guarded maximum or 0 changes the
// range of the numbers and not the quotient.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace attn;
using namespace attn::raise;
using Progress = MissedAttention::Progress;

LogicalResult MissRecorder::miss(Progress progress, Operation *op,
                                 const Twine &reason) {
  // Bodies of named linalg ops have no location of their own.
  while (op && isa<UnknownLoc>(op->getLoc()) && op->getParentOp())
    op = op->getParentOp();
  missed = MissedAttention{candidate, (op ? op : candidate)->getLoc(),
                           reason.str(), progress};
  return failure();
}

/// "a linalg.generic" style name of what a scalar comes from.
static std::string describe(ScalarRef scalar) {
  switch (scalar->kind) {
  case Scalar::Kind::Apply:
    return scalar->name.str();
  case Scalar::Kind::Constant:
    return "a constant";
  case Scalar::Kind::Reduce:
    return "a reduction";
  default:
    return scalar->op
               ? "the result of " + scalar->op->getName().getStringRef().str()
               : "an argument";
  }
}

static bool containsImpl(ScalarRef scalar,
                         llvm::function_ref<bool(ScalarRef)> isPart,
                         llvm::DenseSet<ScalarRef> &seen) {
  if (isPart(scalar))
    return true;
  if (!seen.insert(scalar).second)
    return false;
  return llvm::any_of(scalar->operands, [&](ScalarRef operand) {
    return containsImpl(operand, isPart, seen);
  });
}

bool attn::raise::contains(ScalarRef scalar, ScalarRef part) {
  llvm::DenseSet<ScalarRef> seen;
  return containsImpl(
      scalar, [&](ScalarRef node) { return node == part; }, seen);
}

static bool isReduction(ScalarRef scalar) {
  return scalar->kind == Scalar::Kind::Reduce;
}

/// True if `isPart` holds for a scalar that `scalar` is computed from without
/// a reduction between the two.
static bool containsHere(ScalarRef scalar,
                         llvm::function_ref<bool(ScalarRef)> isPart) {
  llvm::DenseSet<ScalarRef> seen;
  SmallVector<ScalarRef> worklist = {scalar};
  while (!worklist.empty()) {
    ScalarRef node = worklist.pop_back_val();
    if (!seen.insert(node).second)
      continue;
    if (isPart(node))
      return true;
    if (!isReduction(node))
      worklist.append(node->operands.begin(), node->operands.end());
  }
  return false;
}

bool attn::raise::areElementwise(ScalarRef weights) {
  return !containsHere(weights, isReduction);
}

static bool hasExponential(ScalarRef scalar) {
  return containsHere(scalar,
                      [](ScalarRef node) { return node->is("math.exp"); });
}

namespace {
/// `score - shift`, where the shift is the same for every key.
struct Shifted {
  ScalarRef score;
  ScalarRef shift; ///< null if there is none
};
} // namespace

/// Takes the maximum, or whatever else is the same for every key, off the
/// exponent.
static Shifted stripShift(ScalarGraph &graph, ScalarRef exponent,
                          AffineExpr key) {
  if (exponent->is("arith.subf") &&
      !graph.dependsOn(exponent->operands[1], key))
    return {exponent->operands[0], exponent->operands[1]};
  if (exponent->is("arith.mulf") && exponent->operands[1]->isConstant()) {
    Shifted inner = stripShift(graph, exponent->operands[0], key);
    if (!inner.shift)
      return {exponent, nullptr};
    ScalarRef factor = exponent->operands[1];
    return {graph.mul(inner.score, factor, exponent->op),
            graph.mul(inner.shift, factor, exponent->op)};
  }
  return {exponent, nullptr};
}

/// exp(y) as y. A choice between exp(y) and 0 is exp(-inf where it is 0).
static ScalarRef getExponent(ScalarGraph &graph, ScalarRef scalar) {
  if (scalar->is("math.exp"))
    return scalar->operands[0];
  ScalarRef condition = nullptr, inner = nullptr;
  bool isInverted = false;
  if (scalar->is("arith.select")) {
    isInverted = scalar->operands[1]->isConstant(0);
    if (!isInverted && !scalar->operands[2]->isConstant(0))
      return nullptr;
    condition = scalar->operands[0];
    inner = getExponent(graph, scalar->operands[isInverted ? 2 : 1]);
  } else if (scalar->is("arith.mulf")) {
    for (int side : {0, 1}) {
      ScalarRef factor = scalar->operands[side];
      if (factor->is("arith.select") && factor->operands[1]->isConstant(1) &&
          factor->operands[2]->isConstant(0)) {
        condition = factor->operands[0];
        inner = getExponent(graph, scalar->operands[1 - side]);
      }
    }
  }
  if (!inner)
    return nullptr;
  if (isInverted)
    condition = graph.logicalNot(condition, scalar->op);
  return graph.select(condition, inner,
                      graph.constant(Number::Float, -kInfinity), scalar->op);
}

/// A softmax has it. A gate (SwiGLU) or a modulation (adaLN) has exponentials
/// only, and a norm of them sums what they are a part of.
bool attn::raise::hasSumOfExponentials(ScalarGraph &graph, ScalarRef scalar) {
  return containsHere(scalar, [&](ScalarRef node) {
    return isReduction(node) && node->combiner == Combiner::Sum &&
           getExponent(graph, node->operands[0]);
  });
}

/// True if `condition` holds only in rows whose every score is -inf: it is
/// `all of (score == -inf)`, `max of score == -inf`, or not `any of (score !=
/// -inf)`.
static bool meansAllMasked(ScalarRef condition, ScalarRef score) {
  bool isNegated =
      condition->is("arith.xori") && condition->operands[1]->isConstant(1);
  if (isNegated)
    condition = condition->operands[0];
  Combiner wanted = isNegated ? Combiner::Or : Combiner::And;
  if (condition->kind == Scalar::Kind::Reduce &&
      condition->combiner == wanted) {
    ScalarRef body = condition->operands[0];
    bool bodyNegated =
        body->is("arith.xori") && body->operands[1]->isConstant(1);
    if (bodyNegated)
      body = body->operands[0];
    auto equal = isNegated != bodyNegated ? arith::CmpFPredicate::UNE
                                          : arith::CmpFPredicate::OEQ;
    return body->is("arith.cmpf") &&
           body->predicate == static_cast<int64_t>(equal) &&
           body->operands[0] == score &&
           body->operands[1]->isConstant(-kInfinity);
  }
  return !isNegated && condition->is("arith.cmpf") &&
         condition->predicate ==
             static_cast<int64_t>(arith::CmpFPredicate::OEQ) &&
         condition->operands[1]->isConstant(-kInfinity) &&
         condition->operands[0]->kind == Scalar::Kind::Reduce &&
         condition->operands[0]->combiner == Combiner::Max &&
         condition->operands[0]->operands[0] == score;
}

/// Takes a guard against a sum of 0 off the denominator: where the sum is 0,
/// so is every weight.
static ScalarRef stripZeroGuard(ScalarRef sum) {
  if (!sum->is("arith.select") || !sum->operands[0]->is("arith.cmpf"))
    return sum;
  ScalarRef compare = sum->operands[0];
  bool isGuard =
      compare->predicate == static_cast<int64_t>(arith::CmpFPredicate::OEQ) &&
      compare->operands[1]->isConstant(0) &&
      compare->operands[0] == sum->operands[2] &&
      sum->operands[1]->isConstant();
  return isGuard ? sum->operands[2] : sum;
}

/// Weights that sum no exponentials: fails unless they have some.
static LogicalResult checkForSoftmax(ElementWalker &walker, ScalarRef weights,
                                     MissRecorder &recorder) {
  if (Operation *hiding = findHidingOp(walker, weights))
    return recorder.miss(Progress::Hidden, hiding,
                         "expected the weights to be a softmax, got one "
                         "behind " +
                             hiding->getName().getStringRef() +
                             ", whose elements are not followed");
  if (mixSoftmax(walker, weights))
    return recorder.miss(Progress::Softmax, weights->op,
                         "expected the weights of a head to be made of its own "
                         "softmax, got a contraction that mixes several, as "
                         "talking heads do");
  if (hasExponential(weights))
    return success();
  return recorder.miss(Progress::Contraction, weights->op,
                       "expected the weights to be a softmax, got " +
                           describe(weights));
}

FailureOr<Softmax> attn::raise::matchSoftmax(ElementWalker &walker,
                                             ScalarRef weights, AffineExpr key,
                                             MissRecorder &recorder) {
  ScalarGraph &graph = walker.getGraph();
  bool hasSum = hasSumOfExponentials(graph, weights);
  if (!hasSum && failed(checkForSoftmax(walker, weights, recorder)))
    return failure();
  ScalarRef guard = nullptr, quotient = weights;
  if (weights->is("arith.select") && weights->operands[1]->isConstant(0)) {
    guard = weights->operands[0];
    quotient = weights->operands[2];
  }
  if (!quotient->is("arith.divf"))
    return recorder.miss(
        hasSum ? Progress::Exponential : Progress::Gate, quotient->op,
        "expected the weights to be divided by their row sum, got " +
            describe(quotient));
  ScalarRef exponential = quotient->operands[0];
  ScalarRef exponent = getExponent(graph, exponential);
  if (!exponent)
    return recorder.miss(Progress::Exponential, exponential->op,
                         "expected the numerator of the weights to be an "
                         "exponential, got " +
                             describe(exponential));
  // The denominator, perhaps with the exponential of a sink.
  ScalarRef sum = stripZeroGuard(quotient->operands[1]), sink = nullptr;
  if (sum->is("arith.addf")) {
    int side = sum->operands[0]->kind == Scalar::Kind::Reduce ? 0 : 1;
    sink = sum->operands[1 - side];
    sum = sum->operands[side];
  }
  if (sum->kind != Scalar::Kind::Reduce || sum->combiner != Combiner::Sum ||
      sum->affine[0] != key || sum->operands[0] != exponential)
    return recorder.miss(Progress::Exponential, sum->op,
                         "expected the denominator to be the sum of the "
                         "exponentials over the keys, got " +
                             describe(sum));
  // A graph may shift twice: once by itself, once in its softmax.
  Softmax softmax{exponent};
  ScalarRef logit = sink && sink->is("math.exp") && !graph.dependsOn(sink, key)
                        ? sink->operands[0]
                        : nullptr;
  while (true) {
    Shifted shifted = stripShift(graph, softmax.score, key);
    if (!shifted.shift)
      break;
    softmax.score = shifted.score;
    bool sameShift =
        logit && logit->is("arith.subf") && logit->operands[1] == shifted.shift;
    logit = sameShift ? logit->operands[0] : nullptr;
  }
  softmax.sink = logit;
  if (sink && !logit)
    return recorder.miss(Progress::Exponential, sink->op,
                         "expected what is added to the row sum to be the "
                         "exponential of a sink, got " +
                             describe(sink));
  if (guard && !meansAllMasked(guard, softmax.score))
    return recorder.miss(Progress::Softmax, guard->op,
                         "expected the weights to be set to 0 only in rows "
                         "whose every score is -inf, got " +
                             describe(guard));
  softmax.isGuarded = static_cast<bool>(guard);
  return softmax;
}
