//===- TensorOps.cpp - Ops that make or move tensors ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarOps.h"
#include "Values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace attn;

static void setTensor(Environment &environment, Value value,
                      TensorValue tensor) {
  environment.values[value] =
      std::make_shared<const TensorValue>(std::move(tensor));
}

static LogicalResult evaluateConstant(Operation *op, Environment &environment) {
  auto attr = cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
  TensorValue tensor(attr.getType().getShape().vec());
  if (isa<FloatType>(attr.getElementType())) {
    for (auto [element, value] :
         llvm::zip_equal(tensor.elements, attr.getValues<APFloat>())) {
      APFloat real = value;
      bool losesInfo;
      real.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
      element = Scalar::ofReal(real.convertToDouble());
    }
  } else {
    for (auto [element, value] :
         llvm::zip_equal(tensor.elements, attr.getValues<APInt>()))
      element = Scalar::ofInteger(
          wrapInteger(value.getZExtValue(), value.getBitWidth()));
  }
  setTensor(environment, op->getResult(0), std::move(tensor));
  return success();
}

/// The result's shape, its dynamic sizes taken from `dynamicSizes` in order.
static std::vector<int64_t> fillShape(Type type, ValueRange dynamicSizes,
                                      const Environment &environment) {
  std::vector<int64_t> shape = cast<ShapedType>(type).getShape().vec();
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size)) {
      size = environment.scalar(dynamicSizes.front()).integer;
      dynamicSizes = dynamicSizes.drop_front();
    }
  return shape;
}

static LogicalResult evaluateEmpty(Operation *op, Environment &environment) {
  Type type = op->getResult(0).getType();
  TensorValue tensor(fillShape(type, op->getOperands(), environment));
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    llvm::fill(tensor.elements, Scalar::ofReal(reference::getUnwritten()));
  setTensor(environment, op->getResult(0), std::move(tensor));
  return success();
}

static LogicalResult evaluateFill(Operation *op, Environment &environment) {
  auto fill = cast<linalg::FillOp>(op);
  TensorValue tensor(environment.tensor(fill.getOutputs().front())->shape);
  llvm::fill(tensor.elements, environment.scalar(fill.getInputs().front()));
  setTensor(environment, op->getResult(0), std::move(tensor));
  return success();
}

static LogicalResult evaluateDim(Operation *op, Environment &environment) {
  auto dim = cast<tensor::DimOp>(op);
  const SharedTensor &tensor = environment.tensor(dim.getSource());
  size_t index =
      static_cast<size_t>(environment.scalar(dim.getIndex()).integer);
  if (index >= tensor->shape.size())
    return op->emitOpError() << "expected a dimension below "
                             << tensor->shape.size() << ", got " << index;
  environment.values[op->getResult(0)] =
      Scalar::ofInteger(tensor->shape[index]);
  return success();
}

static LogicalResult evaluateExtract(Operation *op, Environment &environment) {
  auto extract = cast<tensor::ExtractOp>(op);
  SmallVector<int64_t> index;
  for (Value value : extract.getIndices())
    index.push_back(environment.scalar(value).integer);
  const Scalar *element = environment.tensor(extract.getTensor())->find(index);
  if (!element)
    return op->emitOpError() << "reads out of range";
  environment.values[op->getResult(0)] = *element;
  return success();
}

/// The tensor without the dimensions that a slice drops.
static TensorValue dropDims(TensorValue tensor,
                            const llvm::SmallBitVector &dims) {
  std::vector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(tensor.shape))
    if (!dims.test(dim))
      shape.push_back(size);
  tensor.shape = std::move(shape);
  return tensor;
}

/// True if `size` numbers from `offset` on, `stride` apart, are in [0, extent).
static bool isInside(int64_t offset, int64_t size, int64_t stride,
                     int64_t extent) {
  if (size <= 0 || extent <= 0)
    return size == 0;
  if (size > extent || offset < 0 || offset >= extent)
    return false;
  // Then nothing overflows.
  if (size > 1 && (stride > extent || stride < -extent))
    return false;
  int64_t last = size == 1 ? offset : offset + (size - 1) * stride;
  return last >= 0 && last < extent;
}

static LogicalResult evaluateSlice(Operation *op, Environment &environment) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  auto getNumbers = [&](ArrayRef<OpFoldResult> mixed) {
    return llvm::map_to_vector(mixed, [&](OpFoldResult number) {
      if (auto value = dyn_cast<Value>(number))
        return environment.scalar(value).integer;
      return *getConstantIntValue(number);
    });
  };
  SmallVector<int64_t> offsets = getNumbers(slice.getMixedOffsets()),
                       sizes = getNumbers(slice.getMixedSizes()),
                       strides = getNumbers(slice.getMixedStrides());
  SharedTensor source = environment.tensor(slice.getSource());
  for (auto [offset, size, stride, extent] :
       llvm::zip_equal(offsets, sizes, strides, source->shape))
    if (!isInside(offset, size, stride, extent))
      return op->emitOpError() << "reads out of range";
  TensorValue tensor(std::vector<int64_t>(sizes.begin(), sizes.end()));
  SmallVector<int64_t> index(sizes.size());
  for (auto [number, element] : llvm::enumerate(tensor.elements)) {
    int64_t rest = static_cast<int64_t>(number);
    for (size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim])
      index[dim] = offsets[dim] + rest % sizes[dim] * strides[dim];
    element = *source->find(index);
  }
  setTensor(environment, op->getResult(0),
            dropDims(std::move(tensor), slice.getDroppedDims()));
  return success();
}

/// The same elements under another shape.
static LogicalResult reshape(Operation *op, Environment &environment,
                             std::vector<int64_t> shape) {
  TensorValue tensor = *environment.tensor(op->getOperand(0));
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  if (count != static_cast<int64_t>(tensor.elements.size()))
    return op->emitOpError() << "expected " << tensor.elements.size()
                             << " elements, got " << count;
  tensor.shape = std::move(shape);
  setTensor(environment, op->getResult(0), std::move(tensor));
  return success();
}

static LogicalResult evaluateExpand(Operation *op, Environment &environment) {
  return reshape(op, environment,
                 fillShape(op->getResult(0).getType(),
                           cast<tensor::ExpandShapeOp>(op).getOutputShape(),
                           environment));
}

static LogicalResult evaluateCollapse(Operation *op, Environment &environment) {
  auto collapse = cast<tensor::CollapseShapeOp>(op);
  const SharedTensor &source = environment.tensor(collapse.getSrc());
  std::vector<int64_t> shape;
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    shape.push_back(1);
    for (int64_t dim : group)
      shape.back() *= source->shape[dim];
  }
  return reshape(op, environment, shape);
}

static LogicalResult evaluateCast(Operation *op, Environment &environment) {
  const SharedTensor &source = environment.tensor(op->getOperand(0));
  auto type = cast<ShapedType>(op->getResult(0).getType());
  for (auto [size, expected] : llvm::zip_equal(source->shape, type.getShape()))
    if (!ShapedType::isDynamic(expected) && size != expected)
      return op->emitOpError()
             << "expected size " << expected << ", got " << size;
  environment.values[op->getResult(0)] = source;
  return success();
}

static LogicalResult evaluateTranspose(Operation *op,
                                       Environment &environment) {
  auto transpose = cast<linalg::TransposeOp>(op);
  const SharedTensor &source = environment.tensor(transpose.getInput());
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  std::vector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(source->shape[dim]);
  TensorValue tensor(shape);
  SmallVector<int64_t> index(shape.size(), 0), sourceIndex(shape.size());
  for (Scalar &element : tensor.elements) {
    for (auto [position, dim] : llvm::enumerate(permutation))
      sourceIndex[dim] = index[position];
    element = *source->find(sourceIndex);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  setTensor(environment, op->getResult(0), std::move(tensor));
  return success();
}

OpEvaluator attn::findTensorEvaluator(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue()) ? evaluateConstant
                                                       : nullptr;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return evaluateExpand;
  if (isa<tensor::EmptyOp>(op))
    return evaluateEmpty;
  if (isa<linalg::FillOp>(op))
    return evaluateFill;
  if (isa<tensor::DimOp>(op))
    return evaluateDim;
  if (isa<tensor::ExtractOp>(op))
    return evaluateExtract;
  if (isa<tensor::ExtractSliceOp>(op))
    return evaluateSlice;
  if (isa<tensor::CollapseShapeOp>(op))
    return evaluateCollapse;
  if (isa<tensor::CastOp>(op))
    return evaluateCast;
  if (isa<linalg::TransposeOp>(op))
    return evaluateTranspose;
  return nullptr;
}
