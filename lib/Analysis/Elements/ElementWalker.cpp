//===- ElementWalker.cpp - From a tensor value to an element -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The walk over tensors with its memory, SSA scalars, sizes and reshapes. What
// an op means is in TensorElements.cpp, and for other dialects in their
// ElementReader.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Elements/ElementWalker.h"

#include "attn/Analysis/Elements/ElementReader.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn::raise;

/// The walk ends here: graphs that need more are not attention.
static constexpr size_t kMaxNodes = 1 << 15;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

ScalarRef ElementWalker::readAsIs(Value tensor, Indices indices) {
  SmallVector<ScalarRef> operands;
  for (AffineExpr index : indices)
    operands.push_back(graph.index(index));
  return graph.read(tensor, operands);
}

/// Null for an op of a dialect that nothing reads.
static const ElementReader *getReader(Operation *op) {
  Dialect *dialect = op->getDialect();
  return dialect ? dialect->getRegisteredInterface<ElementReader>() : nullptr;
}

ScalarRef ElementWalker::produce(Value tensor, Indices indices) {
  auto result = dyn_cast<OpResult>(tensor);
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!result || !type || !getNumber(type.getElementType()) ||
      graph.size() > kMaxNodes)
    return nullptr;
  if (ScalarRef scalar = getConstantElement(*this, result, indices))
    return scalar;
  if (ScalarRef scalar = getTensorElement(*this, result, indices))
    return scalar;
  const ElementReader *reader = getReader(result.getOwner());
  return reader ? reader->getElement(*this, result, indices) : nullptr;
}

/// A uniform tensor as its number, any other as it is. Looking whether the
/// tensor is uniform must not ask for splits.
ScalarRef ElementWalker::constantOrRead(Value tensor, Indices indices) {
  auto wanted = getSpace().getWantedSplit();
  isStepping = false;
  ScalarRef scalar = element(tensor, indices);
  isStepping = true;
  getSpace().setWantedSplit(wanted);
  return scalar->isConstant() ? scalar : readAsIs(tensor, indices);
}

ScalarRef ElementWalker::element(Value tensor, Indices indices) {
  SmallVector<AffineExpr> simple;
  std::vector<const void *> key;
  for (AffineExpr index : indices) {
    simple.push_back(getSpace().simplify(index));
    key.push_back(simple.back().getAsOpaquePointer());
  }
  if (isStepping)
    return constantOrRead(tensor, simple);
  auto position = std::pair(tensor.getAsOpaquePointer(), std::move(key));
  auto it = known.find(position);
  if (it != known.end())
    return it->second;
  ScalarRef scalar = produce(tensor, simple);
  if (!scalar)
    scalar = readAsIs(tensor, simple);
  known[position] = scalar;
  origins[scalar].push_back(Element{tensor, simple});
  return scalar;
}

ScalarRef ElementWalker::step(Value tensor, Indices indices) {
  isStepping = true;
  ScalarRef scalar = produce(tensor, indices);
  isStepping = false;
  return scalar;
}

ArrayRef<Element> ElementWalker::getOrigins(ScalarRef scalar) const {
  auto it = origins.find(scalar);
  return it == origins.end() ? ArrayRef<Element>() : it->second;
}

std::optional<Contraction> attn::raise::getContraction(ElementWalker &walker,
                                                       Operation *op) {
  const ElementReader *reader = getReader(op);
  return reader ? reader->getContraction(walker, op) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// SSA scalars
//===----------------------------------------------------------------------===//

bool attn::raise::isOfFewBits(Type type) {
  auto element = dyn_cast<FloatType>(type);
  return element && element.getWidth() < 16;
}

/// True for ops that only change the width of a number: floats of 16 bits and
/// more have no width here, and indices are taken not to overflow.
static bool isWidthCast(Operation *op) {
  if (isa<arith::TruncFOp>(op))
    return !isOfFewBits(op->getResult(0).getType());
  return isa<arith::ExtFOp, arith::IndexCastOp>(op) ||
         (isa<arith::ExtSIOp, arith::TruncIOp>(op) &&
          !op->getOperand(0).getType().isInteger(1) &&
          !op->getResult(0).getType().isInteger(1));
}

ScalarRef ElementWalker::scalar(Value value,
                                llvm::DenseMap<Value, ScalarRef> &inner) {
  auto it = inner.find(value);
  if (it != inner.end())
    return it->second;
  std::optional<Number> number = getNumber(value.getType());
  if (!number)
    return nullptr;
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    if (auto constant = getConstantAt(attribute, 0))
      return graph.constant(*number, *constant);
    return nullptr;
  }
  ScalarRef result = nullptr;
  if (auto opResult = dyn_cast<OpResult>(value))
    result = scalarOfOp(opResult, inner);
  if (!result)
    result = *number == Number::Int && value.getType().isIndex()
                 ? graph.index(getSpace().getSymbol({value, -1}))
                 : graph.outer(value, *number);
  inner[value] = result;
  return result;
}

/// The comparison predicate of an op, or -1.
static int64_t getPredicate(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return static_cast<int64_t>(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return static_cast<int64_t>(compare.getPredicate());
  return -1;
}

/// An element at indices that are computed. What a mask is computed from is
/// followed at a variable in the place of each of them.
ScalarRef ElementWalker::gather(Value tensor, ArrayRef<ScalarRef> indices) {
  ScalarRef read = graph.read(tensor, indices);
  if (read->number != Number::Bool)
    return read;
  SmallVector<AffineExpr> position;
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    AffineExpr known = toAffine(getSpace(), index);
    position.push_back(
        known ? known
              : getSpace().addVariable(getSize(tensor, dimension), false));
  }
  ScalarRef followed = element(tensor, position);
  for (auto [variable, index] : llvm::zip(position, indices))
    if (followed && !toAffine(getSpace(), index))
      followed = graph.substitute(followed, variable, index);
  return followed ? followed : read;
}

ScalarRef ElementWalker::scalarOfOp(OpResult value,
                                    llvm::DenseMap<Value, ScalarRef> &inner) {
  Operation *op = value.getOwner();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    // To ask for a dimension that is not there is undefined, but legal.
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> position = dim.getConstantIndex();
    if (!type || !position || *position < 0 || *position >= type.getRank())
      return nullptr;
    return graph.index(getSize(dim.getSource(), *position));
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<AffineExpr> dims, symbols;
    for (auto [position, operand] : llvm::enumerate(apply.getMapOperands())) {
      ScalarRef inside = scalar(operand, inner);
      bool isDim = position < apply.getAffineMap().getNumDims();
      AffineExpr known = toAffine(getSpace(), inside);
      if (!known)
        return nullptr;
      (isDim ? dims : symbols).push_back(known);
    }
    return graph.index(
        apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, symbols));
  }
  SmallVector<ScalarRef> operands;
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  bool isScalarOp =
      extract ||
      (op->getDialect() &&
       isa<arith::ArithDialect, math::MathDialect>(op->getDialect()));
  if (!isScalarOp || op->getNumResults() != 1)
    return nullptr;
  for (Value operand : extract ? ValueRange(extract.getIndices())
                               : ValueRange(op->getOperands())) {
    operands.push_back(scalar(operand, inner));
    if (!operands.back())
      return nullptr;
  }
  if (extract) {
    SmallVector<AffineExpr> affine;
    for (ScalarRef index : operands)
      if (AffineExpr known = toAffine(getSpace(), index))
        affine.push_back(known);
    return affine.size() == operands.size()
               ? element(extract.getTensor(), affine)
               : gather(extract.getTensor(), operands);
  }
  if (isa<arith::TruncIOp>(op) &&
      !fitsWidth(operands[0], value.getType().getIntOrFloatBitWidth()))
    return nullptr;
  // A number that a function reads once is a size like another.
  if (isa<arith::IndexCastOp>(op) && value.getType().isIndex() &&
      isa<FunctionOpInterface>(op->getParentOp()) &&
      operands[0]->kind == Scalar::Kind::Read && operands[0]->operands.empty())
    return nullptr;
  if (isWidthCast(op))
    return operands[0];
  if (isa<arith::SIToFPOp>(op) && isOfFewBits(value.getType()))
    return nullptr; // two conversions in one
  Number number = *getNumber(value.getType());
  if (isa<arith::ExtUIOp, arith::UIToFPOp, arith::ExtSIOp, arith::SIToFPOp>(
          op) &&
      operands[0]->number == Number::Bool) {
    double one = isa<arith::ExtUIOp, arith::UIToFPOp>(op) ? 1 : -1;
    return graph.select(operands[0], graph.constant(number, one),
                        graph.constant(number, 0), op);
  }
  // What is left of the integer casts would need the width of its operand.
  if (isa<arith::ExtUIOp, arith::UIToFPOp, arith::TruncIOp, arith::BitcastOp,
          arith::ExtSIOp, arith::IndexCastUIOp>(op))
    return nullptr;
  return graph.apply(op->getName().getStringRef(), number, operands, op,
                     getPredicate(op));
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

AffineExpr ElementWalker::sizeOf(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getSpace().constant(*constant);
  llvm::DenseMap<Value, ScalarRef> none;
  ScalarRef size = scalar(cast<Value>(value), none);
  if (AffineExpr known = size ? toAffine(getSpace(), size) : AffineExpr())
    return known;
  return getSpace().getSymbol({cast<Value>(value), -1});
}

AffineExpr ElementWalker::getSize(Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return getSpace().constant(type.getDimSize(dimension));
  Operation *op = tensor.getDefiningOp();
  if (auto inPlace = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return getSize(inPlace.getTiedOpOperand(cast<OpResult>(tensor))->get(),
                   dimension);
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return sizeOf(empty.getMixedSizes()[dimension]);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return sizeOf(expand.getMixedOutputShape()[dimension]);
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    if (slice.getDroppedDims().none())
      return sizeOf(slice.getMixedSizes()[dimension]);
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    if (isa<RankedTensorType>(cast.getSource().getType()))
      return getSize(cast.getSource(), dimension);
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
    ValueRange inputs = concat.getInputs();
    AffineExpr size = getSize(inputs.front(), dimension);
    if (static_cast<int64_t>(concat.getDim()) == dimension)
      for (Value input : inputs.drop_front())
        size = size + getSize(input, dimension);
    return getSpace().simplify(size);
  }
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
    AffineExpr size = getSpace().constant(1);
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    for (int64_t source : groups[dimension])
      size = size * getSize(collapse.getSrc(), source);
    return getSpace().simplify(size);
  }
  if (auto reshape = dyn_cast_or_null<tensor::ReshapeOp>(op))
    if (auto shape = reshape.getShape().getDefiningOp<tensor::FromElementsOp>())
      return sizeOf(shape.getElements()[dimension]);
  return getSpace().simplify(getSpace().getSymbol({tensor, dimension}));
}

SmallVector<AffineExpr> ElementWalker::getSizes(Value tensor) {
  SmallVector<AffineExpr> sizes;
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    sizes.push_back(getSize(tensor, dimension));
  return sizes;
}

bool ElementWalker::isInBounds(Value tensor, Indices indices) {
  IndexSpace &space = getSpace();
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    AffineExpr last = getSize(tensor, dimension) - 1;
    if (!space.isNonNegative(index).value_or(false) ||
        !space.isNonNegative(last - index).value_or(false))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Ends of the shortest prefixes of `a` and `b` (from `i`, `j`) with the same
/// number of elements.
static bool nextGroup(IndexSpace &space, ArrayRef<AffineExpr> a,
                      ArrayRef<AffineExpr> b, size_t &i, size_t &j) {
  size_t firstA = i, firstB = j;
  for (size_t total = 1; total <= a.size() + b.size(); ++total)
    for (size_t takeA = 0; takeA <= total; ++takeA) {
      size_t takeB = total - takeA;
      if (firstA + takeA > a.size() || firstB + takeB > b.size())
        continue;
      AffineExpr sizeA = space.constant(1), sizeB = space.constant(1);
      for (size_t k = 0; k < takeA; ++k)
        sizeA = sizeA * a[firstA + k];
      for (size_t k = 0; k < takeB; ++k)
        sizeB = sizeB * b[firstB + k];
      if (space.simplify(sizeA - sizeB) != space.constant(0))
        continue;
      i = firstA + takeA;
      j = firstB + takeB;
      return true;
    }
  return false;
}

/// The digits of `number` in the mixed radix `sizes`.
static void delinearize(IndexSpace &space, AffineExpr number,
                        ArrayRef<AffineExpr> sizes,
                        SmallVectorImpl<AffineExpr> &digits) {
  for (size_t k = 0; k < sizes.size(); ++k) {
    AffineExpr inner = space.constant(1);
    for (AffineExpr size : sizes.drop_front(k + 1))
      inner = inner * size;
    if (sizes[k] == space.constant(1)) {
      digits.push_back(space.constant(0));
      continue;
    }
    // All sizes before this one may be 1: then this digit is the first.
    bool isFirst = llvm::all_of(sizes.take_front(k), [&](AffineExpr size) {
      return size == space.constant(1);
    });
    AffineExpr digit = number.floorDiv(inner);
    digits.push_back(space.simplify(isFirst ? digit : digit % sizes[k]));
  }
}

std::optional<SmallVector<AffineExpr>>
ElementWalker::reshape(Indices indices, ArrayRef<AffineExpr> sizes,
                       ArrayRef<AffineExpr> sourceSizes) {
  IndexSpace &space = getSpace();
  SmallVector<AffineExpr> source;
  size_t i = 0, j = 0;
  while (i < sizes.size() || j < sourceSizes.size()) {
    size_t firstI = i, firstJ = j;
    if (!nextGroup(space, sizes, sourceSizes, i, j))
      return std::nullopt;
    AffineExpr number = space.constant(0);
    for (size_t k = firstI; k < i; ++k)
      number = number * sizes[k] + indices[k];
    delinearize(space, space.simplify(number),
                sourceSizes.slice(firstJ, j - firstJ), source);
  }
  return source;
}
