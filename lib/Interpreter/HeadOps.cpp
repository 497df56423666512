//===- HeadOps.cpp - Which key head serves a query head -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeadOps.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Reference/Element.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// Fails at an entry that is none of `heads` heads.
static LogicalResult checkEntries(Operation *op, const TensorValue &map,
                                  int64_t heads) {
  for (auto [head, entry] : llvm::enumerate(map.elements))
    if (entry.integer < 0 || entry.integer >= heads)
      return op->emitOpError()
             << "expected entries of the map that are one of " << heads
             << " heads, got " << entry.integer << " of head " << head;
  return success();
}

static LogicalResult evaluateSelect(Operation *op, Environment &environment) {
  auto select = cast<SelectHeadsOp>(op);
  SharedTensor source = environment.tensor(select.getSource());
  SharedTensor map = environment.tensor(select.getMap());
  if (failed(checkEntries(op, *map, source->shape[kHead])))
    return failure();
  std::vector<int64_t> shape = source->shape;
  shape[kHead] = map->shape[0];
  TensorValue result(shape);
  int64_t together = shape[kSequence] * shape[kHeadDim];
  for (auto [number, element] : llvm::enumerate(result.elements)) {
    int64_t h = number / together % shape[kHead];
    int64_t b = number / together / shape[kHead];
    int64_t head = b * source->shape[kHead] + map->elements[h].integer;
    element = source->elements[head * together + number % together];
  }
  environment.values[select.getResult()] =
      std::make_shared<const TensorValue>(std::move(result));
  return success();
}

static LogicalResult evaluateSum(Operation *op, Environment &environment) {
  auto sum = cast<SumHeadsOp>(op);
  SharedTensor source = environment.tensor(sum.getSource());
  SharedTensor map = environment.tensor(sum.getMap());
  std::vector<int64_t> shape = environment.tensor(sum.getInit())->shape;
  if (failed(checkEntries(op, *map, shape[kHead])))
    return failure();
  TensorValue result(shape);
  for (Scalar &element : result.elements)
    element = Scalar::ofReal(0);
  int64_t together = shape[kSequence] * shape[kHeadDim];
  for (auto [number, element] : llvm::enumerate(source->elements)) {
    int64_t h = number / together % map->shape[0];
    int64_t b = number / together / map->shape[0];
    int64_t head = b * shape[kHead] + map->elements[h].integer;
    Scalar &into = result.elements[head * together + number % together];
    into = Scalar::ofReal(into.real + element.real);
  }
  if (environment.precision != EvaluationPrecision::Float64) {
    ElementType type =
        toElementType(getElementTypeOrSelf(sum.getResult().getType()));
    for (Scalar &element : result.elements)
      element = Scalar::ofReal(reference::roundToElement(element.real, type));
  }
  environment.values[sum.getResult()] =
      std::make_shared<const TensorValue>(std::move(result));
  return success();
}

OpEvaluator attn::findHeadEvaluator(Operation *op) {
  if (isa<SelectHeadsOp>(op))
    return evaluateSelect;
  if (isa<SumHeadsOp>(op))
    return evaluateSum;
  return nullptr;
}
