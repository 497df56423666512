//===- AttentionMatcher.cpp - One contraction as an attention -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Starts at the contraction of weights and values and finds softmax, score and
// operands. Roles of the dimensions are in RoleMatcher.cpp.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;
using namespace attn::raise;
using Progress = MissedAttention::Progress;

void LoopSplits::divide(unsigned loop, unsigned digit, int64_t inner) {
  SmallVector<int64_t> &inners = sizes[loop];
  if (digit > 0)
    inners[digit - 1] /= inner;
  inners.insert(inners.begin() + digit, inner);
  changed = true;
}

namespace {
/// The loops of the candidate as variables.
struct Loops {
  SmallVector<AffineExpr> exprs; ///< per loop, over its digits
  SmallVector<AffineExpr> batch, rows, columns, keys;
  /// Per variable: its loop and its digit there.
  llvm::DenseMap<AffineExpr, std::pair<unsigned, unsigned>> positions;
};
} // namespace

static bool usesLoop(AffineMap map, unsigned loop) {
  return map.isFunctionOfDim(loop);
}

/// Makes the variables of one loop.
static SmallVector<AffineExpr> addLoop(IndexSpace &space, AffineExpr extent,
                                       ArrayRef<int64_t> inners, bool canSplit,
                                       AffineExpr &expr) {
  SmallVector<AffineExpr> digits;
  int64_t product = 1;
  for (int64_t inner : inners)
    product *= inner;
  AffineExpr outer = space.simplify(extent.floorDiv(product));
  digits.push_back(space.addVariable(outer, canSplit));
  expr = digits.front();
  for (int64_t inner : inners) {
    digits.push_back(space.addVariable(space.constant(inner), canSplit));
    expr = expr * inner + digits.back();
  }
  expr = space.simplify(expr);
  return digits;
}

static Loops addLoops(IndexSpace &space, const Contraction &contraction,
                      bool weightsAreLhs, LoopSplits &splits) {
  AffineMap weights = contraction.lhsMap, values = contraction.rhsMap;
  if (!weightsAreLhs)
    std::swap(weights, values);
  Loops loops;
  loops.exprs.resize(contraction.extents.size());
  for (auto [loop, extent] : llvm::enumerate(contraction.extents)) {
    bool isReduced = contraction.isReduced[loop];
    SmallVector<AffineExpr> digits =
        addLoop(space, extent, splits.get(loop), !isReduced, loops.exprs[loop]);
    for (auto [digit, variable] : llvm::enumerate(digits)) {
      loops.positions[variable] = {loop, digit};
      if (space.getExtent(variable) == space.constant(1))
        continue;
      bool inWeights = usesLoop(weights, loop),
           inValues = usesLoop(values, loop);
      (isReduced   ? loops.keys
       : inWeights ? (inValues ? loops.batch : loops.rows)
                   : loops.columns)
          .push_back(variable);
    }
  }
  return loops;
}

static SmallVector<AffineExpr> applyMap(IndexSpace &space, AffineMap map,
                                        ArrayRef<AffineExpr> loops) {
  SmallVector<AffineExpr> indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(space.simplify(expr.replaceDims(loops)));
  return indices;
}

/// If the walk wanted a loop to be divided, notes that and fails.
static LogicalResult checkSplits(IndexSpace &space, const Loops &loops,
                                 LoopSplits &splits) {
  auto wanted = space.getWantedSplit();
  if (!wanted)
    return success();
  AffineExpr variable = getAffineDimExpr(wanted->variable, space.getContext());
  auto inner = dyn_cast<AffineConstantExpr>(wanted->inner);
  auto position = loops.positions.find(variable);
  if (!inner || position == loops.positions.end()) {
    space.setWantedSplit(std::nullopt);
    return success();
  }
  splits.divide(position->second.first, position->second.second,
                inner.getValue());
  return failure();
}

/// Orders row variables as the dimensions of the weights are: the query
/// position is next to the key position.
static void orderRows(ArrayRef<AffineExpr> weightIndices, Loops &loops) {
  SmallVector<AffineExpr> ordered;
  for (AffineExpr index : weightIndices)
    for (AffineExpr row : loops.rows)
      if (dependsOn(index, row))
        ordered.push_back(row);
  if (ordered.size() == loops.rows.size())
    loops.rows = ordered;
}

/// Traces query and key from the contraction of the score.
static LogicalResult traceProduct(ElementWalker &walker, ScalarRef product,
                                  AffineExpr key, AttentionMatch &match,
                                  SmallVectorImpl<OperandSource> &queries,
                                  SmallVectorImpl<OperandSource> &keys,
                                  MissRecorder &recorder) {
  IndexSpace &space = walker.getSpace();
  auto contraction = getContraction(walker, product->op);
  SmallVector<AffineExpr> loops;
  for (auto [loop, known] : llvm::enumerate(product->affine)) {
    AffineExpr expr = known;
    AffineExpr extent = contraction->extents[loop];
    if (!expr) {
      expr = space.addVariable(extent, /*splittable=*/false);
      if (extent != space.constant(1))
        match.roles.headDim.push_back(expr);
    }
    loops.push_back(expr);
  }
  auto lhs = applyMap(space, contraction->lhsMap, loops);
  auto rhs = applyMap(space, contraction->rhsMap, loops);
  auto hasKey = [&](ArrayRef<AffineExpr> indices) {
    return llvm::any_of(indices,
                        [&](AffineExpr expr) { return dependsOn(expr, key); });
  };
  if (hasKey(lhs) == hasKey(rhs))
    return recorder.miss(Progress::Softmax, product->op,
                         "expected the key position in one operand of the "
                         "product of query and key, found it in both");
  bool keyIsLhs = hasKey(lhs);
  queries = traceOperand(walker, keyIsLhs ? contraction->rhs : contraction->lhs,
                         keyIsLhs ? rhs : lhs);
  keys = traceOperand(walker, keyIsLhs ? contraction->lhs : contraction->rhs,
                      keyIsLhs ? lhs : rhs);
  return success();
}

/// The tensor that holds the bias, in the layout that it can be taken in. A
/// tensor that repeats it along a dimension will not do: such a bias is small
/// enough to be computed per element.
static std::optional<OperandSource>
findBias(ElementWalker &walker, ScalarRef bias, const Roles &roles) {
  Layout target = {roles.batch, roles.getQueryHeads(), roles.query, roles.key};
  ScalarGraph &graph = walker.getGraph();
  auto fits = [&](const OperandSource &source) {
    auto layout = getLayout(walker, source);
    if (source.factor != 1 || !layout ||
        !isa<FloatType>(getElementTypeOrSelf(source.tensor.getType())))
      return false;
    SmallVector<AffineExpr> all;
    for (auto &variables : *layout)
      all.append(variables);
    if (!llvm::all_of(all, [&](AffineExpr variable) {
          return graph.dependsOn(bias, variable);
        }))
      return false;
    // A dimension is there as a whole or not at all.
    size_t covered = 0;
    for (auto &variables : target) {
      size_t present = llvm::count_if(variables, [&](AffineExpr variable) {
        return llvm::is_contained(all, variable);
      });
      if (present != 0 && present != variables.size())
        return false;
      covered += present;
    }
    return covered == all.size();
  };
  SmallVector<Element> origins(walker.getOrigins(bias));
  for (const Element &origin : llvm::reverse(origins)) {
    auto trail = traceOperand(walker, origin.tensor, origin.indices);
    for (const OperandSource &source : llvm::reverse(trail))
      if (fits(source))
        return source;
  }
  if (bias->kind != Scalar::Kind::Read)
    return std::nullopt;
  OperandSource source{bias->source, {}, 1};
  for (ScalarRef operand : bias->operands) {
    if (!operand->isIndex() && !operand->isConstant())
      return std::nullopt;
    source.indices.push_back(operand->isIndex()
                                 ? operand->affine[0]
                                 : walker.getSpace().constant(operand->value));
  }
  return fits(source) ? std::optional(source) : std::nullopt;
}

/// Without a tensor for it, the bias becomes part of the score_mod.
static void settleBias(ElementWalker &walker, AttentionMatch &match) {
  Score &score = match.score;
  if (!score.bias)
    return;
  match.bias = findBias(walker, score.bias, match.roles);
  if (match.bias)
    return;
  ScalarGraph &graph = walker.getGraph();
  ScalarRef sum = graph.add(score.hole, score.bias, score.bias->op);
  score.mod = score.mod ? graph.replace(score.mod, score.hole, sum) : sum;
  score.bias = nullptr;
}

/// The contraction itself: one key loop, no accumulator.
static FailureOr<Contraction>
matchCandidate(ElementWalker &walker, Operation *op, MissRecorder &recorder) {
  auto contraction = getContraction(walker, op);
  if (!contraction)
    return recorder.miss(Progress::Contraction, op, "expected a contraction");
  for (AffineMap map :
       {contraction->lhsMap, contraction->rhsMap, contraction->resultMap})
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return recorder.miss(Progress::Contraction, op,
                           "expected operands to be indexed by single loops");
  return *contraction;
}

/// Takes the weights apart: a softmax of scores, a function of one or, where
/// keys differ from head to head or batch to batch, a function of each score.
static LogicalResult matchScores(ElementWalker &walker, ScalarRef weights,
                                 const ScoreContext &context, bool isBatched,
                                 AttentionMatch &match,
                                 MissRecorder &recorder) {
  // Kernels round weights as they need it: of 8 bits those of a graph are too.
  while (weights->is("arith.truncf")) {
    match.weightType = getElementTypeOrSelf(weights->op->getResult(0));
    weights = weights->operands[0];
  }
  auto softmax = matchSoftmax(walker, weights, context.key, recorder);
  if (failed(softmax)) {
    auto changed = matchChangedSoftmax(walker, weights, context.key, recorder);
    if (succeeded(changed)) {
      softmax = changed->softmax;
      match.prob = changed->prob;
      match.probHole = changed->hole;
      if (changed->rounded)
        match.weightType = changed->rounded;
      // What makes use of the range of 8 bits, as kernels do by themselves.
      bool areBytes = isByte(match.values.lhs.getType()) &&
                      isByte(match.values.rhs.getType());
      if (areBytes || match.weightType)
        takeWeightFactor(match);
    }
  }
  match.hasSoftmax = succeeded(softmax);
  if (!match.hasSoftmax && (!isBatched || !areElementwise(weights)))
    return failure();
  // What is said of a miss is what a softmax misses.
  MissRecorder quiet(match.values.op);
  auto score = match.hasSoftmax
                   ? matchScore(walker, softmax->score, context, recorder)
                   : matchWeights(walker, weights, context, quiet);
  if (failed(score))
    return failure();
  match.score = *score;
  if (match.hasSoftmax) {
    match.sink = softmax->sink;
    match.isGuarded = softmax->isGuarded;
  }
  return success(!match.prob ||
                 succeeded(showHiddenKeys(walker, context, match, recorder)));
}

/// A feed-forward layer has the same weights for all of the batch: fails where
/// keys or values do not differ along one of `variables`.
static LogicalResult checkKeysDiffer(const AttentionMatch &match,
                                     ArrayRef<AffineExpr> variables,
                                     MissRecorder &recorder) {
  auto differs = [&](const OperandSource &source) {
    return llvm::any_of(source.indices, [&](AffineExpr index) {
      return llvm::any_of(variables, [&](AffineExpr variable) {
        return dependsOn(index, variable);
      });
    });
  };
  if (differs(match.key) && differs(match.value))
    return success();
  return recorder.miss(Progress::Contraction, match.values.op,
                       "expected keys and values of each batch or head, got "
                       "the same for all");
}

/// The layout of what the contraction gives.
static LogicalResult findResultLayout(ElementWalker &walker,
                                      ArrayRef<AffineExpr> loops,
                                      AttentionMatch &match,
                                      MissRecorder &recorder) {
  Operation *op = match.values.op;
  OperandSource result{
      op->getResult(0),
      applyMap(walker.getSpace(), match.values.resultMap, loops)};
  auto layout = getLayout(walker, result);
  if (!layout)
    return recorder.miss(Progress::Score, op,
                         "expected the result to have one loop per dimension");
  match.resultLayout = *layout;
  return success();
}

FailureOr<AttentionMatch>
attn::raise::matchAttention(ElementWalker &walker, const Candidate &candidate,
                            LoopSplits &splits, const RaiseOptions &options,
                            MissRecorder &softmaxRecorder) {
  IndexSpace &space = walker.getSpace();
  const auto &[op, weightsAreLhs, summand] = candidate;
  auto contraction = matchCandidate(walker, op, softmaxRecorder);
  if (failed(contraction))
    return failure();
  AttentionMatch match;
  match.values = *contraction;
  Loops loops = addLoops(space, *contraction, weightsAreLhs, splits);
  if (loops.keys.size() != 1)
    return softmaxRecorder.miss(Progress::Contraction, op,
                                "expected one reduced loop, got " +
                                    Twine(loops.keys.size()));
  AffineExpr key = loops.keys.front();
  walker.getGraph().setBoundVariable(key);
  Value weights = contraction->lhs, values = contraction->rhs;
  AffineMap weightsMap = contraction->lhsMap, valuesMap = contraction->rhsMap;
  if (!weightsAreLhs) {
    std::swap(weights, values);
    std::swap(weightsMap, valuesMap);
  }
  auto weightIndices = applyMap(space, weightsMap, loops.exprs);
  orderRows(weightIndices, loops);
  ScoreContext context{key, loops.rows, options};
  ScalarRef weight = walker.element(weights, weightIndices);
  if (summand) {
    auto summands = splitWeights(walker.getGraph(), weight);
    match.numSummands = summands.size();
    weight = summands[*summand];
  }
  LogicalResult isMatched =
      matchScores(walker, weight, context,
                  /*isBatched=*/!loops.batch.empty(), match, softmaxRecorder);
  if (failed(isMatched) || failed(checkSplits(space, loops, splits)))
    return failure();
  MissRecorder quiet(op);
  MissRecorder &recorder = match.hasSoftmax ? softmaxRecorder : quiet;
  if (contraction->init)
    return recorder.miss(Progress::Softmax, op,
                         "expected the product of weights and values to start "
                         "from zero");
  SmallVector<OperandSource> queryTrail, keyTrail, valueTrail;
  space.freeze(loops.rows);
  if (failed(traceProduct(walker, match.score.product, key, match, queryTrail,
                          keyTrail, recorder)))
    return failure();
  valueTrail =
      traceOperand(walker, values, applyMap(space, valuesMap, loops.exprs));
  if (failed(checkSplits(space, loops, splits)))
    return failure();
  match.roles.key = {key};
  match.roles.valueDim = loops.columns;
  if (failed(assignRoles(walker, match, loops.batch, loops.rows, queryTrail,
                         keyTrail, valueTrail, recorder)))
    return failure();
  if ((!match.hasSoftmax &&
       failed(checkKeysDiffer(match, loops.batch, recorder))) ||
      failed(findResultLayout(walker, loops.exprs, match, recorder)))
    return failure();
  settleBias(walker, match);
  if (match.score.mod)
    match.score.tables = findTables(walker, match.score.mod, context);
  return match;
}
