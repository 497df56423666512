//===- TensorElements.cpp - Elements of tensor and constant ops -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an element of the result of a tensor op or of a constant is.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Elements/ElementWalker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn::raise;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static double toDouble(const llvm::APInt &value) {
  return value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
}

static double toDouble(llvm::APFloat value) {
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

/// Number `position` of the raw little-endian bytes of a resource.
static std::optional<double> getResourceAt(DenseResourceElementsAttr resource,
                                           int64_t position) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  Type type = resource.getType().getElementType();
  if (!blob || !type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  // The bytes of i1 resources are one per element.
  unsigned bits = type.getIntOrFloatBitWidth();
  size_t bytes = (bits + 7) / 8;
  ArrayRef<char> data = blob->getData();
  if ((position + 1) * bytes > data.size())
    return std::nullopt;
  uint64_t raw = 0;
  for (size_t i = 0; i < bytes; ++i)
    raw |= static_cast<uint64_t>(
               static_cast<unsigned char>(data[position * bytes + i]))
           << (8 * i);
  if (bits == 1)
    return raw != 0;
  llvm::APInt value(bits, raw);
  if (auto floatType = dyn_cast<FloatType>(type))
    return toDouble(llvm::APFloat(floatType.getFloatSemantics(), value));
  return toDouble(value);
}

std::optional<double> attn::raise::getConstantAt(Attribute attribute,
                                                 int64_t position) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return toDouble(integer.getValue());
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return toDouble(number.getValue());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    return getResourceAt(resource, position);
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense || (!dense.isSplat() && position >= dense.getNumElements()))
    return std::nullopt;
  position = dense.isSplat() ? 0 : position;
  if (isa<FloatType>(dense.getElementType()))
    return toDouble(*(dense.value_begin<llvm::APFloat>() + position));
  if (dense.getElementType().isIntOrIndex())
    return toDouble(*(dense.value_begin<llvm::APInt>() + position));
  return std::nullopt;
}

bool attn::raise::fitsWidth(ScalarRef scalar, unsigned width) {
  if (width >= 64)
    return true;
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  auto fits = [&](double value) { return -limit <= value && value < limit; };
  if (scalar->isConstant())
    return fits(scalar->value);
  Attribute attribute;
  if (scalar->kind != Scalar::Kind::Read ||
      !matchPattern(scalar->source, m_Constant(&attribute)))
    return true;
  int64_t count = cast<ShapedType>(scalar->source.getType()).getNumElements();
  return llvm::all_of(llvm::seq<int64_t>(0, count), [&](int64_t position) {
    return fits(getConstantAt(attribute, position).value_or(0));
  });
}

namespace {
/// A digit of a position, `position floordiv stride mod size`, and what each
/// step of it adds.
struct Digit {
  int64_t stride, size, step;
};
} // namespace

/// The digits that the constant is a sum of, without its first element: [0, 1,
/// 2, ...] has one, the index of a relative position in a window one for each
/// coordinate of query and key. None if it is no such sum.
static std::optional<SmallVector<Digit>> findDigits(Attribute attribute,
                                                    ShapedType type) {
  constexpr int64_t kMaxElements = 1 << 22;
  constexpr size_t kMaxDigits = 8;
  int64_t count = type.getNumElements();
  if (count < 2 || count > kMaxElements ||
      !type.getElementType().isIntOrIndex() ||
      type.getElementType().isInteger(1))
    return std::nullopt;
  // What a position may be: products with sizes can be counted.
  constexpr double kLargest = 1LL << 32;
  auto isTooLarge = [&](int64_t position) {
    return !(std::fabs(getConstantAt(attribute, position).value_or(0)) <=
             kLargest);
  };
  if (llvm::any_of(llvm::seq<int64_t>(0, count), isTooLarge))
    return std::nullopt;
  auto valueAt = [&](int64_t position) {
    return static_cast<int64_t>(getConstantAt(attribute, position).value_or(0));
  };
  SmallVector<Digit> digits;
  auto sumAt = [&](int64_t position) {
    int64_t sum = valueAt(0);
    for (const Digit &digit : digits)
      sum += position / digit.stride % digit.size * digit.step;
    return sum;
  };
  for (int64_t stride = 1; stride < count;) {
    Digit digit{stride, 1, valueAt(stride) - valueAt(0)};
    while (digit.size * stride < count &&
           valueAt(digit.size * stride) == valueAt(0) + digit.size * digit.step)
      ++digit.size;
    stride *= digit.size;
    if (count % stride != 0 || digits.size() == kMaxDigits)
      return std::nullopt;
    digits.push_back(digit);
  }
  for (int64_t position = 0; position < count; ++position)
    if (valueAt(position) != sumAt(position))
      return std::nullopt;
  return digits;
}

/// An element of a constant that is a sum of digits of its position.
static ScalarRef getDigitSum(ElementWalker &walker, Attribute attribute,
                             ShapedType type, Indices indices) {
  auto digits = findDigits(attribute, type);
  auto first = getConstantAt(attribute, 0);
  if (!digits || !first)
    return nullptr;
  AffineExpr position = walker.getSpace().constant(0);
  for (auto [index, size] : llvm::zip(indices, type.getShape()))
    position = position * size + index;
  AffineExpr sum = walker.getSpace().constant(*first);
  for (const Digit &digit : *digits)
    sum = sum + position.floorDiv(digit.stride) % digit.size * digit.step;
  return walker.getGraph().index(sum);
}

ScalarRef attn::raise::getConstantElement(ElementWalker &walker,
                                          OpResult result, Indices indices) {
  Attribute attribute;
  if (!matchPattern(result, m_Constant(&attribute)))
    return nullptr;
  auto type = cast<RankedTensorType>(result.getType());
  Number number = *getNumber(type.getElementType());
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  bool isUniform = (dense && dense.isSplat()) || type.getNumElements() == 1;
  if (isUniform) {
    if (auto value = getConstantAt(attribute, 0))
      return walker.getGraph().constant(number, *value);
    return nullptr;
  }
  return getDigitSum(walker, attribute, type, indices);
}

//===----------------------------------------------------------------------===//
// Tensor ops
//===----------------------------------------------------------------------===//

static ScalarRef getReshaped(ElementWalker &walker, Value source, Value result,
                             Indices indices) {
  SmallVector<AffineExpr> from = walker.getSizes(result),
                          to = walker.getSizes(source);
  auto position = walker.reshape(indices, from, to);
  return position ? walker.element(source, *position) : nullptr;
}

static ScalarRef getSliced(ElementWalker &walker, tensor::ExtractSliceOp op,
                           Indices indices) {
  SmallVector<AffineExpr> source;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  size_t next = 0;
  for (auto [dimension, offset, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
    AffineExpr index = walker.getSpace().constant(0);
    if (!dropped.test(dimension))
      index = indices[next++];
    AffineExpr scaled = index * walker.sizeOf(stride);
    source.push_back(scaled + walker.sizeOf(offset));
  }
  return walker.element(op.getSource(), source);
}

/// True where `positions` lie in a box of `sizes` that begins at 0.
static ScalarRef isInside(ElementWalker &walker, ArrayRef<AffineExpr> positions,
                          ArrayRef<AffineExpr> sizes, Operation *op) {
  ScalarGraph &graph = walker.getGraph();
  ScalarRef inside = graph.constant(Number::Bool, 1);
  auto require = [&](arith::CmpIPredicate predicate, ScalarRef lhs,
                     ScalarRef rhs) {
    ScalarRef holds = graph.apply("arith.cmpi", Number::Bool, {lhs, rhs}, op,
                                  static_cast<int64_t>(predicate));
    inside = graph.apply("arith.andi", Number::Bool, {inside, holds}, op);
  };
  for (auto [expr, size] : llvm::zip(positions, sizes)) {
    ScalarRef position = graph.index(expr);
    require(arith::CmpIPredicate::sle, graph.constant(Number::Int, 0),
            position);
    require(arith::CmpIPredicate::slt, position, graph.index(size));
  }
  return inside;
}

/// An insertion covers a box of the destination: a choice per dimension.
static ScalarRef getInserted(ElementWalker &walker, tensor::InsertSliceOp op,
                             Indices indices) {
  auto sourceType = op.getSourceType();
  if (sourceType.getRank() != op.getDestType().getRank() || !op.hasUnitStride())
    return nullptr;
  SmallVector<AffineExpr> source, sizes;
  for (auto [index, offset, size] :
       llvm::zip(indices, op.getMixedOffsets(), op.getMixedSizes())) {
    source.push_back(index - walker.sizeOf(offset));
    sizes.push_back(walker.sizeOf(size));
  }
  ScalarRef inside = isInside(walker, source, sizes, op);
  if (inside->isConstant(0))
    return walker.element(op.getDest(), indices);
  ScalarRef inserted = walker.element(op.getSource(), source);
  return inside->isConstant(1)
             ? inserted
             : walker.getGraph().select(
                   inside, inserted, walker.element(op.getDest(), indices), op);
}

ScalarRef attn::raise::getPaddedElement(ElementWalker &walker, Operation *op,
                                        Value source, ArrayRef<AffineExpr> low,
                                        ScalarRef value, Indices indices) {
  SmallVector<AffineExpr> position;
  for (auto [index, before] : llvm::zip(indices, low))
    position.push_back(walker.getSpace().simplify(index - before));
  ScalarRef inside = isInside(walker, position, walker.getSizes(source), op);
  if (inside->isConstant(0))
    return value;
  ScalarRef element = walker.element(source, position);
  return inside->isConstant(1)
             ? element
             : walker.getGraph().select(inside, element, value, op);
}

static ScalarRef getPadded(ElementWalker &walker, tensor::PadOp op,
                           Indices indices) {
  Value padding = op.getConstantPaddingValue();
  if (!padding)
    return nullptr;
  // MLIR verifies one that says "dynamic" and has no operand for it.
  if (llvm::count(op.getStaticLow(), ShapedType::kDynamic) !=
      static_cast<int64_t>(op.getLow().size()))
    return nullptr;
  SmallVector<AffineExpr> low;
  for (OpFoldResult before : op.getMixedLowPad())
    low.push_back(walker.sizeOf(before));
  llvm::DenseMap<Value, ScalarRef> none;
  ScalarRef value = walker.scalar(padding, none);
  return value
             ? getPaddedElement(walker, op, op.getSource(), low, value, indices)
             : nullptr;
}

/// Piece after piece: the first whose end lies beyond the index.
ScalarRef attn::raise::getConcatenatedElement(ElementWalker &walker,
                                              Operation *op, ValueRange inputs,
                                              int64_t dimension,
                                              Indices indices) {
  ScalarGraph &graph = walker.getGraph();
  SmallVector<AffineExpr> position(indices);
  if (inputs.size() == 1)
    return walker.element(inputs.front(), position);
  AffineExpr size = walker.getSize(inputs.front(), dimension);
  ScalarRef inFirst =
      graph.apply("arith.cmpi", Number::Bool,
                  {graph.index(indices[dimension]), graph.index(size)}, op,
                  static_cast<int64_t>(arith::CmpIPredicate::slt));
  if (inFirst->isConstant(1))
    return walker.element(inputs.front(), position);
  position[dimension] = indices[dimension] - size;
  ScalarRef rest = getConcatenatedElement(walker, op, inputs.drop_front(),
                                          dimension, position);
  if (inFirst->isConstant(0))
    return rest;
  return graph.select(inFirst, walker.element(inputs.front(), indices), rest,
                      op);
}

ScalarRef attn::raise::getTensorElement(ElementWalker &walker, OpResult result,
                                        Indices indices) {
  return llvm::TypeSwitch<Operation *, ScalarRef>(result.getOwner())
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>([&](auto op) {
        return getReshaped(walker, op.getSrc(), result, indices);
      })
      .Case<tensor::ReshapeOp>([&](tensor::ReshapeOp op) -> ScalarRef {
        if (!isa<RankedTensorType>(op.getSource().getType()))
          return nullptr;
        return getReshaped(walker, op.getSource(), result, indices);
      })
      .Case<tensor::CastOp>([&](tensor::CastOp op) -> ScalarRef {
        if (!isa<RankedTensorType>(op.getSource().getType()))
          return nullptr;
        return walker.element(op.getSource(), indices);
      })
      .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp op) {
        return getSliced(walker, op, indices);
      })
      .Case<tensor::InsertSliceOp>([&](tensor::InsertSliceOp op) {
        return getInserted(walker, op, indices);
      })
      .Case<tensor::PadOp>(
          [&](tensor::PadOp op) { return getPadded(walker, op, indices); })
      .Case<tensor::ConcatOp>([&](tensor::ConcatOp op) {
        return getConcatenatedElement(walker, op, op.getInputs(), op.getDim(),
                                      indices);
      })
      .Case<tensor::SplatOp>([&](tensor::SplatOp op) {
        llvm::DenseMap<Value, ScalarRef> none;
        return walker.scalar(op.getInput(), none);
      })
      .Default([](Operation *) { return nullptr; });
}
