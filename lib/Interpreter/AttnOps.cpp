//===- AttnOps.cpp - Ops of the attn dialect ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descales.h"
#include "HeadOps.h"
#include "MaskChecks.h"
#include "ModPrograms.h"
#include "OutputOps.h"
#include "PageTable.h"
#include "RaggedOps.h"
#include "RowOps.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Reference/Element.h"

#include <cmath>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// attn.attention
//===----------------------------------------------------------------------===//

static LogicalResult evaluateAttention(Operation *op,
                                       Environment &environment) {
  auto attention = cast<AttentionOp>(op);
  reference::Tensor query = getOperand(attention.getQuery(), environment);
  reference::Tensor key = getOperand(attention.getKey(), environment);
  reference::Tensor value = getOperand(attention.getValue(), environment);
  for (Region &region : attention->getRegions())
    if (failed(checkMaskData(region, environment, query, key)))
      return failure();
  for (auto [name, lengths, source] :
       {std::tuple{"query", attention.getQueryLengths(), &query},
        {"key", attention.getKeyLengths(), &key}})
    if (lengths &&
        failed(checkLengths(op, name, *environment.tensor(lengths),
                            source->getDim(kBatch), source->getDim(kSequence))))
      return failure();
  ModPrograms mods(attention, environment, query, key);
  for (Value operand : {attention.getKey(), attention.getValue()})
    if (PagedOp paged = getPages(operand);
        paged &&
        failed(checkEntries(paged, attention, environment, mods.options)))
      return failure();
  std::optional<reference::Tensor> sink;
  if (attention.getSink())
    mods.options.sink =
        &sink.emplace(getOperand(attention.getSink(), environment));
  std::array<std::optional<reference::Tensor>, 3> descales;
  const reference::Tensor **const targets[] = {&mods.options.queryDescale,
                                               &mods.options.keyDescale,
                                               &mods.options.valueDescale};
  for (auto [operand, descale] : llvm::enumerate(descales)) {
    Value given = attention.getDescaleOf(operand);
    if (!given)
      continue;
    *targets[operand] = &descale.emplace(getOperand(given, environment));
    if (failed(checkDescale(op, *descale, query, key)))
      return failure();
  }
  mods.options.outputType = getResultType(attention.getOutput(), environment);
  bool isOracle = environment.precision == EvaluationPrecision::Float64;
  Result<reference::AttentionResult> result =
      isOracle ? reference::attention(query, key, value, mods.options)
               : reference::unfusedAttention(query, key, value, mods.options);
  if (!result)
    return op->emitOpError() << result.error();
  if (failed(mods.checkReads()))
    return failure();
  environment.values[attention.getOutput()] = fromReference(result->output);
  if (attention.getLse())
    environment.values[attention.getLse()] = fromReference(result->lse);
  return success();
}

//===----------------------------------------------------------------------===//
// attn.normalize and attn.merge
//===----------------------------------------------------------------------===//

/// Fails unless both tensors have the same leading sizes, as many as there are
/// in the shorter shape.
static LogicalResult checkSameRows(Operation *op, const reference::Tensor &a,
                                   const reference::Tensor &b) {
  size_t rank = std::min(a.getShape().size(), b.getShape().size());
  if (ArrayRef<int64_t>(a.getShape()).take_front(rank) ==
      ArrayRef<int64_t>(b.getShape()).take_front(rank))
    return success();
  return op->emitOpError() << "expected operands with the same rows, got "
                           << reference::formatShape(a.getShape()) << " and "
                           << reference::formatShape(b.getShape());
}

namespace {
/// What a row with maximum `max`, sum `sum` of exponentials relative to it, and
/// a sink (-inf: none) ends in.
struct RowEnd {
  double factor; ///< of the accumulator
  double lse = 0;

  explicit RowEnd(double factor) : factor(factor) {}
  RowEnd(double max, double sum, double sink) {
    double larger = std::max(max, sink);
    double shift = larger == -HUGE_VAL ? 0 : larger;
    double decay = std::exp(max - shift);
    double total = sum * decay + std::exp(sink - shift);
    factor = total == 0 ? 0 : decay / total;
    lse = larger + std::log(total);
  }
};
} // namespace

/// The end of a row without softmax, given its sum if it has one.
static RowEnd getPlainEnd(RowReductionInterface reduction, double sum) {
  auto byItsSum = dyn_cast<SumAttr>(reduction);
  if (!byItsSum)
    return RowEnd(1);
  double divisor = sum + byItsSum.getEpsilon().getValueAsDouble();
  return RowEnd(divisor == 0 ? 0 : 1 / divisor);
}

static LogicalResult evaluateNormalize(Operation *op,
                                       Environment &environment) {
  auto normalize = cast<NormalizeOp>(op);
  RowReductionInterface reduction = normalize.getNormalization();
  reference::Tensor acc = getOperand(normalize.getAcc(), environment);
  std::optional<reference::Tensor> sink, max, sum;
  if (normalize.getSink())
    sink = getOperand(normalize.getSink(), environment);
  std::optional<reference::Tensor> descale;
  if (normalize.getDescale())
    descale = getOperand(normalize.getDescale(), environment);
  RunningState state = normalize.getState();
  for (auto [role, tensor] :
       {std::pair{RowRole::Maximum, &max}, {RowRole::Sum, &sum}}) {
    Value row = state.get(role);
    if (row && failed(checkSameRows(
                   op, acc, tensor->emplace(getOperand(row, environment)))))
      return failure();
  }
  if (sink && sink->getNumElements() != acc.getDim(kHead))
    return op->emitOpError()
           << "expected a sink for each of " << acc.getDim(kHead)
           << " heads, got " << sink->getNumElements();
  reference::Tensor output(acc.getShape(),
                           getResultType(normalize.getOutput(), environment));
  int64_t width = acc.getDim(kHeadDim), rows = acc.getDim(kSequence);
  std::optional<reference::Tensor> lse;
  if (normalize.getLse())
    lse.emplace(max->getShape(),
                getResultType(normalize.getLse(), environment));
  for (int64_t row = 0; row < acc.getNumElements() / width; ++row) {
    double own = sink ? (*sink)[row / rows % acc.getDim(kHead)] : -HUGE_VAL;
    double rowSum = sum ? (*sum)[row] : 0;
    RowEnd end =
        max ? RowEnd((*max)[row], rowSum, own) : getPlainEnd(reduction, rowSum);
    double factor = normalize.getScaleValue() *
                    (descale ? getDescaleOfHead(*descale, acc.getDim(kHead),
                                                row / acc.getDim(kSequence))
                             : 1);
    for (int64_t i = row * width; i < (row + 1) * width; ++i)
      output.set(i, factor * acc[i] * end.factor);
    if (lse)
      lse->set(row, end.lse);
  }
  environment.values[normalize.getOutput()] = fromReference(output);
  if (lse)
    environment.values[normalize.getLse()] = fromReference(*lse);
  return success();
}

/// The parts of a merge: `values`, or the elements of their one stack.
static std::vector<reference::Tensor>
getParts(ValueRange values, bool isStacked, Environment &environment) {
  std::vector<reference::Tensor> parts;
  for (Value value : values)
    parts.push_back(getOperand(value, environment));
  if (!isStacked)
    return parts;
  reference::Tensor stack = std::move(parts.front());
  parts.clear();
  std::vector<int64_t> shape(stack.getShape().begin() + 1,
                             stack.getShape().end());
  for (int64_t i = 0; i < stack.getDim(0); ++i) {
    reference::Tensor &part = parts.emplace_back(shape, stack.getType());
    int64_t first = i * part.getNumElements();
    for (int64_t j = 0; j < part.getNumElements(); ++j)
      part.set(j, stack[first + j]);
  }
  return parts;
}

/// exp(part - max), and 0 for a part without keys.
static double getPartWeight(double part, double max) {
  return part == -HUGE_VAL ? 0 : std::exp(part - max);
}

/// The largest of what the parts have at `row`.
static double getMaxPart(ArrayRef<reference::Tensor> parts, int64_t row) {
  double max = -HUGE_VAL;
  for (const reference::Tensor &part : parts)
    max = std::max(max, part[row]);
  return max;
}

/// Weights of the parts of a row: exp(max_p - max), or 1 without maxima.
static std::vector<double> getPartWeights(ArrayRef<reference::Tensor> maxima,
                                          size_t count, int64_t row) {
  std::vector<double> weights(count, 1);
  double max = getMaxPart(maxima, row);
  for (auto [weight, part] : llvm::zip(weights, maxima))
    weight = getPartWeight(part[row], max);
  return weights;
}

/// The weighted sum of what the parts have at `at`; what has no weight does not
/// matter.
static double sumUp(ArrayRef<reference::Tensor> parts, ArrayRef<double> weights,
                    int64_t at) {
  double sum = 0;
  for (auto [part, weight] : llvm::zip_equal(parts, weights))
    sum += weight == 0 ? 0 : weight * part[at];
  return sum;
}

static LogicalResult evaluateCombine(Operation *op, Environment &environment) {
  auto combine = cast<CombineOp>(op);
  RunningState state = combine.getState(), result = combine.getStateResult();
  auto accs = getParts(state.getAcc(), /*isStacked=*/true, environment);
  if (accs.empty())
    return op->emitOpError() << "expected at least one partial result";
  std::vector<reference::Tensor> maxima, sums;
  for (auto [role, parts] :
       {std::pair{RowRole::Maximum, &maxima}, {RowRole::Sum, &sums}}) {
    Value stack = state.get(role);
    if (!stack)
      continue;
    *parts = getParts(stack, /*isStacked=*/true, environment);
    if (parts->size() != accs.size())
      return op->emitOpError() << "expected as many parts of each stack, got "
                               << accs.size() << " and " << parts->size();
    if (failed(checkSameRows(op, accs.front(), parts->front())))
      return failure();
  }
  int64_t width = accs.front().getDim(kHeadDim);
  std::vector<int64_t> rows(accs.front().getShape());
  rows.pop_back();
  reference::Tensor acc(accs.front().getShape(),
                        getResultType(result.getAcc(), environment));
  reference::Tensor max(rows, acc.getType()), sum(rows, acc.getType());
  for (int64_t row = 0; row < max.getNumElements(); ++row) {
    std::vector<double> weights = getPartWeights(maxima, accs.size(), row);
    max.set(row, getMaxPart(maxima, row));
    if (!sums.empty())
      sum.set(row, sumUp(sums, weights, row));
    for (int64_t i = row * width; i < (row + 1) * width; ++i)
      acc.set(i, sumUp(accs, weights, i));
  }
  environment.values[result.getAcc()] = fromReference(acc);
  if (Value value = result.get(RowRole::Maximum))
    environment.values[value] = fromReference(max);
  if (Value value = result.get(RowRole::Sum))
    environment.values[value] = fromReference(sum);
  return success();
}

/// The end of a row of which each part is one score, its LSE.
static RowEnd mergeRow(ArrayRef<reference::Tensor> lses, int64_t row,
                       double max, double sink) {
  double sum = 0;
  for (const reference::Tensor &lse : lses)
    sum += getPartWeight(lse[row], max);
  return RowEnd(max, sum, sink);
}

static LogicalResult evaluateMerge(Operation *op, Environment &environment) {
  auto merge = cast<MergeOp>(op);
  auto outputs = getParts(merge.getOutputs(), merge.isStacked(), environment);
  auto lses = getParts(merge.getLses(), merge.isStacked(), environment);
  std::optional<reference::Tensor> sink;
  if (merge.getSink())
    sink = getOperand(merge.getSink(), environment);
  if (outputs.empty())
    return op->emitOpError() << "expected at least one partial result";
  if (outputs.size() != lses.size())
    return op->emitOpError() << "expected as many partial lses as outputs, got "
                             << lses.size() << " and " << outputs.size();
  for (auto &parts : {outputs, lses})
    for (const reference::Tensor &part : parts)
      if (failed(checkSameRows(op, outputs.front(), part)))
        return failure();
  std::vector<int64_t> shape = outputs.front().getShape();
  if (sink && sink->getNumElements() != shape[kHead])
    return op->emitOpError() << "expected a sink for each of " << shape[kHead]
                             << " heads, got " << sink->getNumElements();
  reference::Tensor output(shape,
                           getResultType(merge.getOutput(), environment));
  reference::Tensor lse(lses.front().getShape(),
                        getResultType(merge.getLse(), environment));
  int64_t width = shape[kHeadDim], rows = shape[kSequence];
  for (int64_t row = 0; row < lse.getNumElements(); ++row) {
    double max = getMaxPart(lses, row);
    double own = sink ? (*sink)[row / rows % shape[kHead]] : -HUGE_VAL;
    RowEnd end = mergeRow(lses, row, max, own);
    lse.set(row, end.lse);
    for (int64_t i = row * width; i < (row + 1) * width; ++i) {
      double sum = 0;
      for (auto [part, partLse] : llvm::zip_equal(outputs, lses))
        if (partLse[row] != -HUGE_VAL)
          sum += std::exp(partLse[row] - max) * part[i];
      output.set(i, sum * end.factor);
    }
  }
  environment.values[merge.getOutput()] = fromReference(output);
  environment.values[merge.getLse()] = fromReference(lse);
  return success();
}

static LogicalResult evaluateRepair(Operation *op, Environment &environment) {
  auto repair = cast<RepairOp>(op);
  reference::Tensor output = getOperand(repair.getOutput(), environment);
  reference::Tensor lse = getOperand(repair.getLse(), environment);
  reference::Tensor whole = getOperand(repair.getWhole(), environment);
  reference::Tensor wholeLse = getOperand(repair.getWholeLse(), environment);
  for (const reference::Tensor *part : {&output, &whole, &wholeLse})
    if (failed(checkSameRows(op, lse, *part)))
      return failure();
  int64_t width = output.getDim(kHeadDim);
  double below = repair.getBelow().convertToDouble();
  for (int64_t row = 0; row < lse.getNumElements(); ++row) {
    if (!(lse[row] < below))
      continue;
    lse.set(row, wholeLse[row]);
    for (int64_t i = row * width; i < (row + 1) * width; ++i)
      output.set(i, whole[i]);
  }
  environment.values[repair.getOutputResult()] = fromReference(output);
  environment.values[repair.getLseResult()] = fromReference(lse);
  return success();
}

/// The rows of pages that are none are NaN: what uses them shows.
static LogicalResult evaluatePaged(Operation *op, Environment &environment) {
  auto paged = cast<PagedOp>(op);
  SharedTensor pool = environment.tensor(paged.getPool());
  PageTable table(paged, environment);
  int64_t page = pool->shape[kSequence], columns = pool->shape[kHeadDim];
  TensorValue result({table.getBatches(), pool->shape[kHead],
                      table.getColumns() * page, columns});
  const Scalar nan = Scalar::ofReal(std::nan(""));
  for (auto [i, element] : llvm::enumerate(result.elements)) {
    int64_t d = i % columns, j = i / columns % result.shape[kSequence];
    int64_t head = i / columns / result.shape[kSequence] % pool->shape[kHead];
    int64_t batch = i / columns / result.shape[kSequence] / pool->shape[kHead];
    int64_t entry = table.find(batch, j / page);
    const Scalar *found = pool->find({entry, head, j % page, d});
    element = found ? *found : nan;
  }
  environment.values[paged.getResult()] =
      std::make_shared<const TensorValue>(std::move(result));
  return success();
}

/// Writes the rows of one pool, rounded to its type also for the oracle: that
/// is what the op means.
static void appendRows(AppendOp append, unsigned number,
                       Environment &environment) {
  const TensorValue &slots = *environment.tensor(append.getSlots());
  const TensorValue &rows = *environment.tensor(append.getRows()[number]);
  TensorValue pool = *environment.tensor(append.getPools()[number]);
  ElementType type =
      toElementType(getElementTypeOrSelf(append.getPools()[number].getType()));
  int64_t heads = pool.shape[kHead], page = pool.shape[kSequence];
  int64_t columns = pool.shape[kHeadDim];
  const TensorValue *descale = nullptr;
  if (append.getDescale(number))
    descale = environment.tensor(append.getDescale(number)).get();
  std::optional<TensorValue> scales;
  if (append.getScale(number))
    scales = *environment.tensor(append.getScale(number));
  // The rows of a head of [B, Hkv, M, D] are together.
  int64_t together = slots.shape.size() == 2 ? slots.shape[1] : 1;
  for (auto [token, slot] : llvm::enumerate(slots.elements)) {
    int64_t outer = token / together, inner = token % together;
    for (int64_t h = 0; slot.integer >= 0 && h < heads; ++h) {
      int64_t from = ((outer * heads + h) * together + inner) * columns;
      int64_t to =
          ((slot.integer / page * heads + h) * page + slot.integer % page) *
          columns;
      double divisor = 1;
      if (descale)
        divisor =
            descale
                ->elements[descale->shape.size() == 1 ? 0 : outer * heads + h]
                .real;
      if (scales) {
        double largest = 0;
        for (int64_t d = 0; d < columns; ++d)
          largest = reference::maxMagnitude(largest,
                                            rows.elements[from + d].toNumber());
        divisor = reference::getTokenScale(largest, type);
        scales->elements[to / columns].real = divisor;
      }
      for (int64_t d = 0; d < columns; ++d) {
        double row = rows.elements[from + d].toNumber();
        pool.elements[to + d] = Scalar::ofNumber(
            descale || scales ? reference::quantize(row, divisor, type)
                              : reference::roundToElement(row, type),
            type);
      }
    }
  }
  environment.values[append.getResults()[number]] =
      std::make_shared<const TensorValue>(std::move(pool));
  if (scales)
    environment.values[append.getScaleResult(number)] =
        std::make_shared<const TensorValue>(std::move(*scales));
}

static LogicalResult evaluateAppend(Operation *op, Environment &environment) {
  auto append = cast<AppendOp>(op);
  if (failed(checkSlots(append, environment)))
    return failure();
  for (Value descale : append.getDescales())
    if (failed(checkDivisors(op, getOperand(descale, environment))))
      return failure();
  for (unsigned number = 0; number < append.getPools().size(); ++number)
    appendRows(append, number, environment);
  return success();
}

/// True if its regions can be evaluated.
static bool hasEvaluableMods(Operation *op) {
  return llvm::none_of(op->getRegions(), [](Region &region) {
    return findUnsupportedRegionOp(region);
  });
}

OpEvaluator attn::findAttnEvaluator(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return hasEvaluableMods(attention) ? evaluateAttention : nullptr;
  if (auto backward = dyn_cast<AttentionBackwardOp>(op))
    return hasEvaluableMods(backward) ? evaluateBackward : nullptr;
  if (isa<BackwardDeltaOp>(op))
    return evaluateDelta;
  if (isa<NormalizeOp>(op))
    return evaluateNormalize;
  if (isa<CombineOp>(op))
    return evaluateCombine;
  if (isa<MergeOp>(op))
    return evaluateMerge;
  if (isa<RepairOp>(op))
    return evaluateRepair;
  if (isa<LinearAttentionOp>(op))
    return evaluateLinearAttention;
  if (isa<PagedOp>(op))
    return evaluatePaged;
  if (isa<AppendOp>(op))
    return evaluateAppend;
  if (OpEvaluator evaluator = findHeadEvaluator(op))
    return evaluator;
  if (OpEvaluator evaluator = findRowEvaluator(op))
    return evaluator;
  if (OpEvaluator evaluator = findOutputEvaluator(op))
    return evaluator;
  return findRaggedEvaluator(op);
}
