//===- RaggedOps.cpp - Sequences behind each other ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaggedOps.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include <cmath>

using namespace mlir;
using namespace attn;

LogicalResult attn::checkSequences(Operation *op, const TensorValue &offsets,
                                   int64_t rows, int64_t room) {
  if (offsets.elements.empty())
    return op->emitOpError() << "expected an offset for each sequence and the "
                                "end of the last, got none";
  int64_t before = 0;
  for (auto [number, entry] : llvm::enumerate(offsets.elements)) {
    int64_t offset = entry.integer;
    if (offset < before || offset > rows)
      return op->emitOpError()
             << "expected ascending offsets from 0 to " << rows << ", got "
             << offset << " at position " << number;
    if (number > 0 && offset - before > room)
      return op->emitOpError()
             << "expected sequences of at most " << room << " rows, got "
             << offset - before << " of batch " << number - 1;
    before = offset;
  }
  return success();
}

/// How many rows the result of `ragged` has room for.
static int64_t getRoom(RaggedOp ragged, int64_t rows) {
  auto type = cast<ShapedType>(ragged.getResult().getType());
  return type.isDynamicDim(kSequence) ? rows : type.getDimSize(kSequence);
}

static LogicalResult evaluateRagged(Operation *op, Environment &environment) {
  auto ragged = cast<RaggedOp>(op);
  SharedTensor packed = environment.tensor(ragged.getPacked());
  SharedTensor offsets = environment.tensor(ragged.getOffsets());
  int64_t rows = packed->shape[0], room = getRoom(ragged, rows);
  if (failed(checkSequences(op, *offsets, rows, room)))
    return failure();
  auto [heads, columns] = std::pair(packed->shape[1], packed->shape[2]);
  TensorValue result({offsets->shape[0] - 1, heads, room, columns});
  const Scalar nan = Scalar::ofReal(std::nan(""));
  for (auto [number, element] : llvm::enumerate(result.elements)) {
    int64_t d = number % columns, i = number / columns % room;
    int64_t h = number / columns / room % heads;
    int64_t b = number / columns / room / heads;
    int64_t row = offsets->elements[b].integer + i;
    bool exists = row < offsets->elements[b + 1].integer;
    element = exists ? *packed->find({row, h, d}) : nan;
  }
  environment.values[ragged.getResult()] =
      std::make_shared<const TensorValue>(std::move(result));
  return success();
}

static LogicalResult evaluatePack(Operation *op, Environment &environment) {
  auto pack = cast<PackOp>(op);
  SharedTensor source = environment.tensor(pack.getSource());
  SharedTensor offsets = environment.tensor(pack.getOffsets());
  TensorValue result = *environment.tensor(pack.getInit());
  int64_t rows = result.shape[pack.getRowDim()];
  int64_t room = source->shape[kSequence];
  if (failed(checkSequences(op, *offsets, rows, room)))
    return failure();
  if (offsets->shape[0] - 1 != source->shape[kBatch])
    return op->emitOpError() << "expected offsets of " << source->shape[kBatch]
                             << " sequences, got " << offsets->shape[0] - 1;
  int64_t heads = source->shape[kHead];
  int64_t columns = source->shape.size() == 4 ? source->shape[kHeadDim] : 1;
  for (auto [number, element] : llvm::enumerate(source->elements)) {
    int64_t d = number % columns, i = number / columns % room;
    int64_t h = number / columns / room % heads;
    int64_t b = number / columns / room / heads;
    int64_t row = offsets->elements[b].integer + i;
    if (row >= offsets->elements[b + 1].integer)
      continue;
    int64_t place = pack.getRowDim() == 0 ? (row * heads + h) * columns + d
                                          : h * rows + row;
    result.elements[place] = element;
  }
  environment.values[pack.getResult()] =
      std::make_shared<const TensorValue>(std::move(result));
  return success();
}

static LogicalResult evaluateLengths(Operation *op, Environment &environment) {
  auto lengths = cast<SequenceLengthsOp>(op);
  SharedTensor offsets = environment.tensor(lengths.getOffsets());
  if (offsets->elements.empty())
    return op->emitOpError() << "expected an offset for each sequence and the "
                                "end of the last, got none";
  TensorValue result({offsets->shape[0] - 1});
  for (auto [b, length] : llvm::enumerate(result.elements))
    length = Scalar::ofInteger(offsets->elements[b + 1].integer -
                               offsets->elements[b].integer);
  environment.values[lengths.getLengths()] =
      std::make_shared<const TensorValue>(std::move(result));
  return success();
}

OpEvaluator attn::findRaggedEvaluator(Operation *op) {
  if (isa<RaggedOp>(op))
    return evaluateRagged;
  if (isa<PackOp>(op))
    return evaluatePack;
  if (isa<SequenceLengthsOp>(op))
    return evaluateLengths;
  return nullptr;
}
