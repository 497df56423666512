//===- RowOps.cpp - What happens to rows before an attention --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As docs/Spec.md defines them, column by column: each finds its partner.
//
//===----------------------------------------------------------------------===//

#include "RowOps.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Reference/Element.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// Stores `result`, rounded as results are.
static void storeResult(Value value, TensorValue result,
                        Environment &environment) {
  ElementType type = getResultType(value, environment);
  for (Scalar &element : result.elements)
    element = Scalar::ofReal(reference::roundToElement(element.real, type));
  environment.values[value] =
      std::make_shared<const TensorValue>(std::move(result));
}

namespace {
/// One attn.rotary: where a row finds its angles.
struct Rotation {
  Rotation(RotaryOp op, const Environment &environment)
      : op(op), cos(environment.tensor(op.getCos())),
        sin(environment.tensor(op.getSin())) {
    if (op.getPositions())
      positions = environment.tensor(op.getPositions());
    int64_t columns =
        cast<ShapedType>(op.getSource().getType()).getShape().back();
    begin = op.getColumns() ? (*op.getColumns())[0] : 0;
    width = (op.getColumns() ? (*op.getColumns())[1] : columns) - begin;
  }

  /// The row of the tables for row `n` of a batch, or of packed rows.
  int64_t findPosition(int64_t batch, int64_t n) const {
    if (!positions)
      return n;
    bool isShared = positions->shape.size() == 1 || positions->shape[0] == 1;
    int64_t of = isShared ? 0 : batch;
    return positions->elements[of * positions->shape.back() + n].integer;
  }

  double read(const TensorValue &table, int64_t batch, int64_t position,
              int64_t column) {
    size_t rank = table.shape.size();
    int64_t rows = table.shape[rank - 2], columns = table.shape[rank - 1];
    int64_t of = rank == 3 && table.shape[0] != 1 ? batch : 0;
    // The pair's column, or the column's own.
    if (columns != width)
      column = isHalves() ? column % (width / 2) : column / 2;
    return table.elements[(of * rows + position) * columns + column].real;
  }

  bool isHalves() { return !op.getInterleaved(); }

  RotaryOp op;
  SharedTensor cos, sin, positions;
  int64_t begin, width;
};
} // namespace

static LogicalResult checkPosition(RotaryOp op, int64_t position,
                                   int64_t rows) {
  if (position >= 0 && position < rows)
    return success();
  return op.emitOpError() << "expected positions that are one of " << rows
                          << " rows of the tables, got " << position;
}

static LogicalResult evaluateRotary(Operation *op, Environment &environment) {
  auto rotary = cast<RotaryOp>(op);
  Rotation turn(rotary, environment);
  SharedTensor source = environment.tensor(rotary.getSource());
  bool isPacked = isPackedRows(cast<ShapedType>(rotary.getSource().getType()));
  int64_t heads = source->shape[kHead], columns = source->shape.back(),
          rows = isPacked ? 1 : source->shape[kSequence];
  TensorValue result = *source;
  for (int64_t row = 0, e = source->shape[kBatch] * heads * rows; row < e;
       ++row) {
    int64_t batch = row / rows / heads;
    int64_t position = turn.findPosition(batch, isPacked ? batch : row % rows);
    if (failed(checkPosition(rotary, position, turn.cos->shape.end()[-2])))
      return failure();
    const Scalar *in = &source->elements[row * columns + turn.begin];
    for (int64_t column = 0; column < turn.width; ++column) {
      int64_t half = turn.width / 2;
      bool isFirst = turn.isHalves() ? column < half : column % 2 == 0;
      int64_t distance = turn.isHalves() ? half : 1;
      int64_t partner = isFirst ? column + distance : column - distance;
      double cos = turn.read(*turn.cos, batch, position, column);
      double sin = turn.read(*turn.sin, batch, position,
                             rotary.getTransposed() ? partner : column);
      if (isFirst != rotary.getTransposed())
        sin = -sin;
      result.elements[row * columns + turn.begin + column] =
          Scalar::ofReal(in[column].real * cos + in[partner].real * sin);
    }
  }
  storeResult(rotary.getResult(), std::move(result), environment);
  return success();
}

static LogicalResult evaluateNorm(Operation *op, Environment &environment) {
  auto norm = cast<QkNormOp>(op);
  SharedTensor source = environment.tensor(norm.getSource());
  SharedTensor weight;
  if (norm.getWeight())
    weight = environment.tensor(norm.getWeight());
  size_t columns = source->shape.back();
  TensorValue result = *source;
  for (size_t row = 0; row < result.elements.size(); row += columns) {
    double sum = 0;
    for (size_t column = 0; column < columns; ++column) {
      double x = source->elements[row + column].real;
      sum += x * x;
    }
    double factor = 1 / std::sqrt(sum / static_cast<double>(columns) +
                                  norm.getEpsilon().convertToDouble());
    for (size_t column = 0; column < columns; ++column)
      result.elements[row + column].real *=
          factor * (weight ? weight->elements[column].real : 1);
  }
  storeResult(norm.getResult(), std::move(result), environment);
  return success();
}

static LogicalResult evaluateDequantize(Operation *op,
                                        Environment &environment) {
  auto wide = cast<DequantizeOp>(op);
  SharedTensor source = environment.tensor(wide.getSource());
  TensorValue result = *source;
  bool isInteger = getElementTypeOrSelf(wide.getSource().getType()).isInteger();
  SharedTensor descale;
  if (wide.getDescale())
    descale = environment.tensor(wide.getDescale());
  bool isOfHeads = descale && descale->shape.size() == 2;
  int64_t heads = source->shape[kHead],
          groups = isOfHeads ? descale->shape[kHead] : 1;
  if (isOfHeads && (descale->shape[kBatch] != source->shape[kBatch] ||
                    heads % std::max<int64_t>(groups, 1) != 0))
    return op->emitOpError()
           << "expected a descale of [" << source->shape[kBatch]
           << ", G], G a divisor of " << heads << ", got "
           << reference::formatShape(descale->shape);
  // Of a group of heads.
  int64_t size = source->shape[kSequence] * source->shape[kHeadDim] * heads /
                 std::max<int64_t>(groups, 1);
  for (auto [i, element] : llvm::enumerate(result.elements)) {
    double number =
        isInteger ? static_cast<double>(element.integer) : element.real;
    if (descale)
      number *= descale->elements[isOfHeads ? i / size : 0].real;
    element = Scalar::ofReal(number);
  }
  storeResult(wide.getResult(), std::move(result), environment);
  return success();
}

OpEvaluator attn::findRowEvaluator(Operation *op) {
  if (isa<RotaryOp>(op))
    return evaluateRotary;
  if (isa<QkNormOp>(op))
    return evaluateNorm;
  if (isa<DequantizeOp>(op))
    return evaluateDequantize;
  return nullptr;
}
