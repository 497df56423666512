//===- LinalgElements.cpp - Elements of linalg results -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an element of the result of a linalg op is. Named ops and generics are
// the same here: indexing maps say which elements of the operands take part,
// the body says how. Reductions and contractions become one node each.
//
//===----------------------------------------------------------------------===//

#include "LinalgElements.h"

#include "attn/Analysis/Elements/ElementReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace attn::raise;

using Environment = llvm::DenseMap<Value, ScalarRef>;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The extents of the loops of `op`, read off its operands: all that are
/// indexed by one loop have the same size.
static SmallVector<AffineExpr> getLoopExtents(ElementWalker &walker,
                                              linalg::LinalgOp op) {
  SmallVector<AffineExpr> extents(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dimension, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      AffineExpr &extent = extents[loop.getPosition()];
      AffineExpr size = walker.getSize(operand.get(), dimension);
      if (extent)
        walker.getSpace().equate(extent, size);
      extent = extent ? walker.getSpace().simplify(extent) : size;
    }
  }
  return extents;
}

/// The values of the loops at `indices` of the result with map `map`; null for
/// the loops that the result does not have. False if the map is not made of
/// distinct loops and constants.
static bool getLoops(AffineMap map, Indices indices,
                     SmallVectorImpl<AffineExpr> &loops) {
  loops.assign(map.getNumDims(), AffineExpr());
  for (auto [expr, index] : llvm::zip(map.getResults(), indices)) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || loops[loop.getPosition()])
      return false;
    loops[loop.getPosition()] = index;
  }
  return true;
}

static SmallVector<AffineExpr> applyMap(AffineMap map,
                                        ArrayRef<AffineExpr> loops) {
  SmallVector<AffineExpr> indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(expr.replaceDims(loops));
  return indices;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Maps the block arguments of inputs and the loop indices to scalars. The
/// arguments of inits are mapped if `withInits`.
static bool bindBody(ElementWalker &walker, linalg::LinalgOp op,
                     ArrayRef<AffineExpr> loops, bool withInits,
                     Environment &environment) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (op.isDpsInit(&operand) && !withInits)
      continue;
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    ScalarRef scalar;
    if (isa<RankedTensorType>(operand.get().getType())) {
      if (argument.use_empty())
        continue;
      scalar = walker.element(
          operand.get(), applyMap(op.getMatchingIndexingMap(&operand), loops));
    } else {
      Environment outside;
      scalar = walker.scalar(operand.get(), outside);
    }
    if (!scalar)
      return false;
    environment[argument] = scalar;
  }
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
    environment[index.getResult()] =
        walker.getGraph().index(loops[index.getDim()]);
  return true;
}

/// The combiner of a reduction body that yields `value`, and the side of it
/// that is combined with the block argument `accumulator`.
static std::optional<std::pair<Combiner, Value>>
matchCombiner(Value value, BlockArgument accumulator) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  auto combiner =
      llvm::StringSwitch<std::optional<Combiner>>(op->getName().getStringRef())
          .Cases({"arith.maximumf", "arith.maxnumf"}, Combiner::Max)
          .Case("arith.addf", Combiner::Sum)
          .Case("arith.andi", Combiner::And)
          .Case("arith.ori", Combiner::Or)
          .Default(std::nullopt);
  bool isBitwise = isa<arith::AndIOp, arith::OrIOp>(op);
  if (!combiner || (isBitwise && !value.getType().isInteger(1)))
    return std::nullopt;
  for (int side : {0, 1})
    if (op->getOperand(side) == accumulator &&
        op->getOperand(1 - side) != accumulator)
      return std::pair(*combiner, op->getOperand(1 - side));
  return std::nullopt;
}

/// True if `value` is computed from the accumulators of `op`.
static bool usesAccumulator(Value value, linalg::LinalgOp op) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == op.getBlock() &&
           argument.getArgNumber() >= op.getNumDpsInputs();
  Operation *definition = value.getDefiningOp();
  return definition && definition->getBlock() == op.getBlock() &&
         llvm::any_of(definition->getOperands(), [&](Value operand) {
           return usesAccumulator(operand, op);
         });
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The block argument behind casts between float types of 16 bits or more.
static BlockArgument stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
        isOfFewBits(op->getResult(0).getType()))
      return {};
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

/// True if `init` holds 0 everywhere.
static bool isZero(ElementWalker &walker, Value init) {
  SmallVector<AffineExpr> indices;
  for (AffineExpr size : walker.getSizes(init))
    indices.push_back(walker.getSpace().addVariable(size, false));
  return walker.element(init, indices)->isConstant(0);
}

static std::optional<Contraction> getLinalgContraction(ElementWalker &walker,
                                                       Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.getNumDpsInputs() != 2 || linalgOp.getNumDpsInits() != 1 ||
      linalgOp.getNumReductionLoops() == 0 ||
      !isa<RankedTensorType>(linalgOp.getDpsInputs()[0].getType()) ||
      !isa<RankedTensorType>(linalgOp.getDpsInputs()[1].getType()))
    return std::nullopt;
  Block *body = linalgOp.getBlock();
  auto sum =
      matchCombiner(body->getTerminator()->getOperand(0), body->getArgument(2));
  if (!sum || sum->first != Combiner::Sum)
    return std::nullopt;
  // The product may be rounded to the type of the accumulator.
  Value product = sum->second;
  while (auto *cast = product.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(cast))
      break;
    product = cast->getOperand(0);
  }
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (!mul)
    return std::nullopt;
  BlockArgument lhs = stripCasts(mul.getLhs()), rhs = stripCasts(mul.getRhs());
  if (!lhs || !rhs || lhs == rhs || lhs.getOwner() != body ||
      rhs.getOwner() != body || lhs.getArgNumber() > 1 ||
      rhs.getArgNumber() > 1)
    return std::nullopt;
  Contraction contraction;
  contraction.op = op;
  contraction.lhs = linalgOp.getDpsInputs()[0];
  contraction.rhs = linalgOp.getDpsInputs()[1];
  contraction.lhsMap = linalgOp.getIndexingMapsArray()[0];
  contraction.rhsMap = linalgOp.getIndexingMapsArray()[1];
  contraction.resultMap = linalgOp.getIndexingMapsArray()[2];
  for (utils::IteratorType iterator : linalgOp.getIteratorTypesArray())
    contraction.isReduced.push_back(iterator == utils::IteratorType::reduction);
  contraction.extents = getLoopExtents(walker, linalgOp);
  if (!isZero(walker, linalgOp.getDpsInits()[0]))
    contraction.init = linalgOp.getDpsInits()[0];
  return contraction;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// A sum of a few integers, such as the parts of an index: written out.
static ScalarRef getIntegerSum(ElementWalker &walker, linalg::LinalgOp op,
                               OpResult result, Indices indices,
                               SmallVector<AffineExpr> loops) {
  constexpr int64_t kMaxTerms = 8;
  Block *body = op.getBlock();
  unsigned number = result.getResultNumber();
  Value accumulator = body->getArgument(op.getNumDpsInputs() + number);
  auto sum =
      body->getTerminator()->getOperand(number).getDefiningOp<arith::AddIOp>();
  if (!sum || op.getNumReductionLoops() != 1 ||
      !llvm::is_contained(sum->getOperands(), accumulator))
    return nullptr;
  auto *bound = llvm::find(loops, AffineExpr());
  auto extent = dyn_cast_or_null<AffineConstantExpr>(
      getLoopExtents(walker, op)[bound - loops.begin()]);
  if (!extent || extent.getValue() > kMaxTerms)
    return nullptr;
  ScalarRef total = walker.element(op.getDpsInits()[number], indices);
  for (int64_t trip = 0; trip < extent.getValue(); ++trip) {
    *bound = walker.getSpace().constant(trip);
    Environment environment;
    if (!bindBody(walker, op, loops, /*withInits=*/false, environment))
      return nullptr;
    environment[accumulator] = total;
    total = walker.scalar(sum, environment);
    if (!total)
      return nullptr;
  }
  return total;
}

/// A reduction over one loop with more than one trip.
static ScalarRef getReduced(ElementWalker &walker, linalg::LinalgOp op,
                            OpResult result, Indices indices,
                            SmallVector<AffineExpr> loops) {
  ScalarGraph &graph = walker.getGraph();
  SmallVector<AffineExpr> extents = getLoopExtents(walker, op);
  AffineExpr bound;
  for (auto [loop, extent] : llvm::zip(loops, extents)) {
    if (loop)
      continue;
    if (!extent)
      return nullptr;
    if (extent == walker.getSpace().constant(1)) {
      loop = walker.getSpace().constant(0);
    } else if (bound) {
      return nullptr;
    } else {
      bound = graph.getBoundVariable(extent, indices);
      loop = bound;
    }
  }
  unsigned number = result.getResultNumber();
  Block *body = op.getBlock();
  auto combined =
      matchCombiner(body->getTerminator()->getOperand(number),
                    body->getArgument(op.getNumDpsInputs() + number));
  Environment environment;
  if (!combined || usesAccumulator(combined->second, op) ||
      !bindBody(walker, op, loops, /*withInits=*/false, environment))
    return nullptr;
  ScalarRef reduced = walker.scalar(combined->second, environment);
  ScalarRef init = walker.element(op.getDpsInits()[number], indices);
  if (!reduced)
    return nullptr;
  if (bound)
    reduced = graph.reduce(combined->first, bound, reduced, op);
  StringRef name = body->getTerminator()
                       ->getOperand(number)
                       .getDefiningOp()
                       ->getName()
                       .getStringRef();
  return graph.apply(name, reduced->number, {reduced, init}, op);
}

/// linalg.softmax: exp(x - max) / sum over the same, where the maximum can be
/// left out since it changes nothing but the range of the numbers.
static ScalarRef getSoftmax(ElementWalker &walker, linalg::SoftmaxOp op,
                            Indices indices) {
  ScalarGraph &graph = walker.getGraph();
  int64_t dimension = op.getDimension();
  auto exponential = [&](Indices position) {
    return graph.apply("math.exp", Number::Float,
                       {walker.element(op.getInput(), position)}, op);
  };
  SmallVector<AffineExpr> position(indices);
  SmallVector<AffineExpr> others(indices);
  others.erase(others.begin() + dimension);
  AffineExpr bound =
      graph.getBoundVariable(walker.getSize(op.getInput(), dimension), others);
  position[dimension] = bound;
  ScalarRef sum = graph.reduce(Combiner::Sum, bound, exponential(position), op);
  return graph.apply("arith.divf", Number::Float, {exponential(indices), sum},
                     op);
}

/// A contraction at the loops of its result.
static ScalarRef getContracted(ElementWalker &walker,
                               const Contraction &contraction, Indices indices,
                               ArrayRef<AffineExpr> loops) {
  ScalarRef product = walker.getGraph().contract(contraction.op, loops);
  if (!contraction.init)
    return product;
  return walker.getGraph().add(
      product, walker.element(contraction.init, indices), contraction.op);
}

static ScalarRef getLinalgElement(ElementWalker &walker, OpResult result,
                                  Indices indices) {
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(result.getOwner()))
    return getSoftmax(walker, softmax, indices);
  auto op = dyn_cast<linalg::LinalgOp>(result.getOwner());
  if (!op || !op.hasPureTensorSemantics())
    return nullptr;
  unsigned number = result.getResultNumber();
  AffineMap map = op.getIndexingMapMatchingResult(result);
  SmallVector<AffineExpr> loops;
  if (!getLoops(map, indices, loops))
    return nullptr;
  if (auto contraction = getLinalgContraction(walker, op))
    return getContracted(walker, *contraction, indices, loops);
  if (op.getNumReductionLoops() != 0)
    if (ScalarRef sum = getIntegerSum(walker, op, result, indices, loops))
      return sum;
  if (op.getNumReductionLoops() != 0)
    return getReduced(walker, op, result, indices, loops);
  // Loops without an index in the result have one trip.
  for (auto [loop, extent] : llvm::zip(loops, getLoopExtents(walker, op))) {
    if (!loop && extent != walker.getSpace().constant(1))
      return nullptr;
    if (!loop)
      loop = walker.getSpace().constant(0);
  }
  Environment environment;
  if (!bindBody(walker, op, loops, /*withInits=*/true, environment))
    return nullptr;
  return walker.scalar(op.getBlock()->getTerminator()->getOperand(number),
                       environment);
}

void attn::raise::registerLinalgElementReader(DialectRegistry &registry) {
  registerElementReader<linalg::LinalgDialect, getLinalgElement,
                        getLinalgContraction>(registry);
}
