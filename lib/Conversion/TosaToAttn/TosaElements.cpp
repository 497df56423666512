//===- TosaElements.cpp - Elements of TOSA results -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an element of the result of a TOSA op is (TOSA 1.0 specification):
// elementwise ops broadcast sizes of 1, reductions keep their dimension.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/TosaToAttn/TosaElements.h"

#include "attn/Analysis/Elements/ElementReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::raise;

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

namespace {
/// A scalar op, for floats and for integers, and its comparison predicates.
struct ScalarOp {
  StringRef onFloats, onInts, onBools;
  int64_t floatPredicate = -1, intPredicate = -1;
};
} // namespace

static ScalarOp compare(arith::CmpFPredicate onFloats,
                        arith::CmpIPredicate onInts) {
  return {"arith.cmpf", "arith.cmpi", "arith.cmpi",
          static_cast<int64_t>(onFloats), static_cast<int64_t>(onInts)};
}

/// The scalar op behind an elementwise TOSA op; empty names if there is none.
static ScalarOp getScalarOp(StringRef name) {
  return llvm::StringSwitch<ScalarOp>(name)
      .Case("tosa.add", {"arith.addf", "arith.addi", ""})
      .Case("tosa.sub", {"arith.subf", "arith.subi", ""})
      .Case("tosa.mul", {"arith.mulf", "arith.muli", ""})
      .Case("tosa.maximum", {"arith.maximumf", "arith.maxsi", ""})
      .Case("tosa.minimum", {"arith.minimumf", "arith.minsi", ""})
      .Case("tosa.pow", {"math.powf", "", ""})
      .Case("tosa.exp", {"math.exp", "", ""})
      .Case("tosa.log", {"math.log", "", ""})
      .Case("tosa.tanh", {"math.tanh", "", ""})
      .Case("tosa.erf", {"math.erf", "", ""})
      .Case("tosa.rsqrt", {"math.rsqrt", "", ""})
      .Case("tosa.abs", {"math.absf", "math.absi", ""})
      .Case("tosa.floor", {"math.floor", "", ""})
      .Case("tosa.ceil", {"math.ceil", "", ""})
      .Case("tosa.intdiv", {"", "arith.divsi", ""})
      .Case("tosa.select", {"arith.select", "arith.select", "arith.select"})
      .Case("tosa.logical_and", {"", "", "arith.andi"})
      .Case("tosa.logical_or", {"", "", "arith.ori"})
      .Case("tosa.logical_xor", {"", "", "arith.xori"})
      .Case("tosa.greater",
            compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt))
      .Case("tosa.greater_equal",
            compare(arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge))
      .Case("tosa.equal",
            compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq))
      .Default({});
}

/// The element of an operand that broadcasts to the result.
static ScalarRef getBroadcast(ElementWalker &walker, Value operand,
                              Indices indices) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || type.getRank() > static_cast<int64_t>(indices.size()))
    return nullptr;
  SmallVector<AffineExpr> position;
  for (auto [size, index] :
       llvm::zip(type.getShape(), indices.take_back(type.getRank())))
    position.push_back(size == 1 ? walker.getSpace().constant(0) : index);
  return walker.element(operand, position);
}

/// tosa.mul has a shift operand for integers, which must be 0 here.
static bool hasShift(Operation *op) {
  auto mul = dyn_cast<tosa::MulOp>(op);
  return mul && !isa<FloatType>(getElementTypeOrSelf(mul.getInput1())) &&
         !matchPattern(mul.getShift(), m_Zero());
}

static ScalarRef getElementwise(ElementWalker &walker, Operation *op,
                                Indices indices) {
  ScalarOp scalarOp = getScalarOp(op->getName().getStringRef());
  if (hasShift(op) || (scalarOp.onFloats.empty() && scalarOp.onInts.empty() &&
                       scalarOp.onBools.empty()))
    return nullptr;
  unsigned count = isa<tosa::MulOp>(op) ? 2 : op->getNumOperands();
  SmallVector<ScalarRef> operands;
  for (Value operand : op->getOperands().take_front(count)) {
    operands.push_back(getBroadcast(walker, operand, indices));
    if (!operands.back())
      return nullptr;
  }
  Number number = operands.back()->number;
  StringRef name = number == Number::Float ? scalarOp.onFloats
                   : number == Number::Int ? scalarOp.onInts
                                           : scalarOp.onBools;
  if (name.empty())
    return nullptr;
  bool isCompare = scalarOp.intPredicate >= 0;
  int64_t predicate =
      number == Number::Float ? scalarOp.floatPredicate : scalarOp.intPredicate;
  return walker.getGraph().apply(name, isCompare ? Number::Bool : number,
                                 operands, op, predicate);
}

/// Conversions between kinds of numbers; widths do not matter here.
static ScalarRef getCast(ElementWalker &walker, tosa::CastOp op,
                         Indices indices) {
  ScalarGraph &graph = walker.getGraph();
  ScalarRef input = walker.element(op.getInput(), indices);
  auto to = getNumber(getElementTypeOrSelf(op.getType()));
  if (!to)
    return nullptr;
  if (*to == Number::Int && input->number == Number::Int &&
      !fitsWidth(input,
                 getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth()))
    return nullptr;
  if (isOfFewBits(getElementTypeOrSelf(op.getType())) &&
      input->number == Number::Float)
    return graph.apply("arith.truncf", *to, {input}, op);
  if (*to == input->number)
    return input;
  if (input->number == Number::Bool)
    return graph.select(input, graph.constant(*to, 1), graph.constant(*to, 0),
                        op);
  if (*to == Number::Bool && input->number == Number::Int)
    return graph.apply("arith.cmpi", Number::Bool,
                       {input, graph.constant(Number::Int, 0)}, op,
                       static_cast<int64_t>(arith::CmpIPredicate::ne));
  if (*to == Number::Float)
    return graph.apply("arith.sitofp", Number::Float, {input}, op);
  return nullptr; // float to int rounds to nearest even: not needed so far
}

/// Both ends are numbers of the tensor's type.
static ScalarRef getClamped(ElementWalker &walker, tosa::ClampOp op,
                            Indices indices) {
  auto min = dyn_cast<FloatAttr>(op.getMinValAttr()),
       max = dyn_cast<FloatAttr>(op.getMaxValAttr());
  if (!min || !max || op.getNanMode() != tosa::NanPropagationMode::PROPAGATE)
    return nullptr;
  ScalarGraph &graph = walker.getGraph();
  auto end = [&](FloatAttr number) {
    return graph.constant(Number::Float, number.getValueAsDouble());
  };
  ScalarRef input = walker.element(op.getInput(), indices);
  ScalarRef bounded =
      graph.apply("arith.minimumf", Number::Float, {input, end(max)}, op);
  return graph.apply("arith.maximumf", Number::Float, {bounded, end(min)}, op);
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

static ScalarRef getTransposed(ElementWalker &walker, tosa::TransposeOp op,
                               Indices indices) {
  SmallVector<AffineExpr> position(indices.size());
  for (auto [dimension, source] : llvm::enumerate(op.getPerms()))
    position[source] = indices[dimension];
  return walker.element(op.getInput1(), position);
}

static ScalarRef getTiled(ElementWalker &walker, tosa::TileOp op,
                          Indices indices) {
  SmallVector<AffineExpr> position;
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    AffineExpr size = walker.getSize(op.getInput1(), dimension);
    position.push_back(size == walker.getSpace().constant(1) ? size - 1
                                                             : index % size);
  }
  return walker.element(op.getInput1(), position);
}

static ScalarRef getSliced(ElementWalker &walker, tosa::SliceOp op,
                           Indices indices) {
  DenseIntElementsAttr starts;
  if (!matchPattern(op.getStart(), m_Constant(&starts)))
    return nullptr;
  SmallVector<AffineExpr> position;
  for (auto [index, start] :
       llvm::zip(indices, starts.getValues<llvm::APInt>()))
    position.push_back(index + start.getSExtValue());
  return walker.element(op.getInput1(), position);
}

static ScalarRef getReshaped(ElementWalker &walker, tosa::ReshapeOp op,
                             Indices indices) {
  SmallVector<AffineExpr> from = walker.getSizes(op.getResult()),
                          to = walker.getSizes(op.getInput1());
  auto position = walker.reshape(indices, from, to);
  return position ? walker.element(op.getInput1(), *position) : nullptr;
}

//===----------------------------------------------------------------------===//
// Reductions and contractions
//===----------------------------------------------------------------------===//

static ScalarRef getReduced(ElementWalker &walker, Combiner combiner,
                            Operation *op, int64_t axis, Indices indices) {
  ScalarGraph &graph = walker.getGraph();
  SmallVector<AffineExpr> position(indices);
  position[axis] =
      graph.getBoundVariable(walker.getSize(op->getOperand(0), axis), indices);
  return graph.reduce(combiner, position[axis],
                      walker.element(op->getOperand(0), position), op);
}

/// tosa.matmul: [B, M, K] x [B, K, N].
static std::optional<Contraction> getMatMul(ElementWalker &walker,
                                            tosa::MatMulOp op) {
  AffineExpr ofA = walker.getSize(op.getA(), 0),
             ofB = walker.getSize(op.getB(), 0);
  if (ofA != ofB)
    return std::nullopt;
  MLIRContext *context = op.getContext();
  AffineExpr batch, row, column, reduced;
  bindDims(context, batch, row, column, reduced);
  Contraction contraction;
  contraction.lhs = op.getA();
  contraction.rhs = op.getB();
  contraction.lhsMap = AffineMap::get(4, 0, {batch, row, reduced}, context);
  contraction.rhsMap = AffineMap::get(4, 0, {batch, reduced, column}, context);
  contraction.resultMap = AffineMap::get(4, 0, {batch, row, column}, context);
  contraction.isReduced = {false, false, false, true};
  contraction.extents = {
      walker.getSize(op.getA(), 0), walker.getSize(op.getA(), 1),
      walker.getSize(op.getB(), 2), walker.getSize(op.getA(), 2)};
  return contraction;
}

/// A tensor with the same number around it.
static ScalarRef getPadded(ElementWalker &walker, tosa::PadOp op,
                           Indices indices) {
  DenseIntElementsAttr padding;
  if (!matchPattern(op.getPadding(), m_Constant(&padding)))
    return nullptr;
  SmallVector<AffineExpr> low;
  for (auto [position, size] : llvm::enumerate(padding.getValues<int64_t>()))
    if (position % 2 == 0)
      low.push_back(walker.getSpace().constant(size));
  AffineExpr first = walker.getSpace().constant(0);
  ScalarRef value = walker.element(op.getPadConst(), {first});
  return attn::raise::getPaddedElement(walker, op, op.getInput1(), low, value,
                                       indices);
}

/// A convolution with a 1x1 kernel is a product of matrices; exporters write
/// linear layers so. [N, H, W, IC] x [OC, 1, 1, IC].
static std::optional<Contraction> getPointwise(ElementWalker &walker,
                                               tosa::Conv2DOp op) {
  auto isAll = [](ArrayRef<int64_t> values, int64_t expected) {
    return llvm::all_of(values,
                        [&](int64_t value) { return value == expected; });
  };
  auto weight = cast<ShapedType>(op.getWeight().getType());
  if (weight.getDimSize(1) != 1 || weight.getDimSize(2) != 1 ||
      !isAll(op.getPad(), 0) || !isAll(op.getStride(), 1) ||
      !isAll(op.getDilation(), 1) ||
      !matchPattern(op.getBias(), m_AnyZeroFloat()))
    return std::nullopt;
  MLIRContext *context = op.getContext();
  AffineExpr n, h, w, out, in, zero = getAffineConstantExpr(0, context);
  bindDims(context, n, h, w, out, in);
  Contraction contraction;
  contraction.lhs = op.getInput();
  contraction.rhs = op.getWeight();
  contraction.lhsMap = AffineMap::get(5, 0, {n, h, w, in}, context);
  contraction.rhsMap = AffineMap::get(5, 0, {out, zero, zero, in}, context);
  contraction.resultMap = AffineMap::get(5, 0, {n, h, w, out}, context);
  contraction.isReduced = {false, false, false, false, true};
  for (int64_t dimension : {0, 1, 2})
    contraction.extents.push_back(walker.getSize(op.getInput(), dimension));
  contraction.extents.push_back(walker.getSize(op.getWeight(), 0));
  contraction.extents.push_back(walker.getSize(op.getInput(), 3));
  return contraction;
}

static std::optional<Contraction> getTosaContraction(ElementWalker &walker,
                                                     Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return std::nullopt;
  std::optional<Contraction> contraction;
  if (auto matmul = dyn_cast<tosa::MatMulOp>(op))
    contraction = getMatMul(walker, matmul);
  else if (auto convolution = dyn_cast<tosa::Conv2DOp>(op))
    contraction = getPointwise(walker, convolution);
  if (contraction)
    contraction->op = op;
  return contraction;
}

/// A contraction: all its loops but the last are dimensions of the result.
static ScalarRef getContracted(ElementWalker &walker, Operation *op,
                               Indices indices) {
  if (!getTosaContraction(walker, op))
    return nullptr;
  SmallVector<AffineExpr> loops(indices);
  loops.push_back(AffineExpr());
  return walker.getGraph().contract(op, loops);
}

static ScalarRef getTosaElement(ElementWalker &walker, OpResult result,
                                Indices indices) {
  ScalarGraph &graph = walker.getGraph();
  return llvm::TypeSwitch<Operation *, ScalarRef>(result.getOwner())
      .Case<tosa::ReshapeOp>(
          [&](auto op) { return getReshaped(walker, op, indices); })
      .Case<tosa::TransposeOp>(
          [&](auto op) { return getTransposed(walker, op, indices); })
      .Case<tosa::TileOp>(
          [&](auto op) { return getTiled(walker, op, indices); })
      .Case<tosa::SliceOp>(
          [&](auto op) { return getSliced(walker, op, indices); })
      .Case<tosa::PadOp>(
          [&](auto op) { return getPadded(walker, op, indices); })
      .Case<tosa::ConcatOp>([&](tosa::ConcatOp op) {
        return getConcatenatedElement(walker, op, op.getInput1(), op.getAxis(),
                                      indices);
      })
      .Case<tosa::CastOp>([&](auto op) { return getCast(walker, op, indices); })
      .Case<tosa::ClampOp>(
          [&](auto op) { return getClamped(walker, op, indices); })
      .Case<tosa::ReduceMaxOp>([&](tosa::ReduceMaxOp op) {
        return getReduced(walker, Combiner::Max, op, op.getAxis(), indices);
      })
      .Case<tosa::ReduceSumOp>([&](tosa::ReduceSumOp op) {
        return getReduced(walker, Combiner::Sum, op, op.getAxis(), indices);
      })
      .Case<tosa::ReduceAllOp>([&](tosa::ReduceAllOp op) {
        return getReduced(walker, Combiner::And, op, op.getAxis(), indices);
      })
      .Case<tosa::ReduceAnyOp>([&](tosa::ReduceAnyOp op) {
        return getReduced(walker, Combiner::Or, op, op.getAxis(), indices);
      })
      .Case<tosa::MatMulOp, tosa::Conv2DOp>(
          [&](auto op) { return getContracted(walker, op, indices); })
      .Case<tosa::NegateOp>([&](tosa::NegateOp op) -> ScalarRef {
        ScalarRef input = walker.element(op.getInput1(), indices);
        return input->number == Number::Float
                   ? graph.mul(input, graph.constant(Number::Float, -1), op)
                   : nullptr;
      })
      .Case<tosa::ReciprocalOp>([&](tosa::ReciprocalOp op) {
        return graph.apply("arith.divf", Number::Float,
                           {graph.constant(Number::Float, 1),
                            walker.element(op.getInput1(), indices)},
                           op);
      })
      .Case<tosa::LogicalNotOp>([&](tosa::LogicalNotOp op) {
        return graph.logicalNot(walker.element(op.getInput1(), indices), op);
      })
      .Default(
          [&](Operation *op) { return getElementwise(walker, op, indices); });
}

void attn::raise::registerTosaElementReader(DialectRegistry &registry) {
  registerElementReader<tosa::TosaDialect, getTosaElement, getTosaContraction>(
      registry);
}
