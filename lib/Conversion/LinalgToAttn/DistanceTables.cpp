//===- DistanceTables.cpp - What depends on a distance alone ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table has one element for each distance of a key from a row. It is filled
// by the ops of the graph themselves, cloned for one row and key that have the
// distance: a bucket that is a rounded logarithm must not change by another
// order of the products before it.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>

using namespace mlir;
using namespace attn;
using namespace attn::raise;

namespace {
/// Computes one element of a tensor by the bodies of the elementwise ops that
/// it comes from. Anything else is read.
class ElementCloner {
public:
  ElementCloner(OpBuilder &builder, Location loc, ElementWalker &walker,
                ScalarEmitter &emitter)
      : builder(builder), loc(loc), walker(walker), emitter(emitter) {}

  Value run(Value tensor, Indices indices);

private:
  Value runReshape(Value source, Value result, Indices indices);
  Value runLinalg(linalg::LinalgOp op, OpResult result, Indices indices);
  Value read(Value tensor, Indices indices);

  std::map<std::pair<void *, std::vector<const void *>>, Value> known;
  OpBuilder &builder;
  Location loc;
  ElementWalker &walker;
  ScalarEmitter &emitter;
};
} // namespace

Value ElementCloner::read(Value tensor, Indices indices) {
  SmallVector<Value> position;
  for (AffineExpr index : indices)
    position.push_back(emitter.emitAffine(walker.getSpace().simplify(index)));
  return tensor::ExtractOp::create(builder, loc, tensor, position);
}

Value ElementCloner::runReshape(Value source, Value result, Indices indices) {
  SmallVector<AffineExpr> from = walker.getSizes(result),
                          to = walker.getSizes(source);
  auto position = walker.reshape(indices, from, to);
  return position ? run(source, *position) : Value();
}

/// The body of an op without reductions, at the loops that give the element.
Value ElementCloner::runLinalg(linalg::LinalgOp op, OpResult result,
                               Indices indices) {
  SmallVector<AffineExpr> loops(op.getNumLoops());
  AffineMap map = op.getIndexingMapMatchingResult(result);
  if (op.getNumReductionLoops() != 0 || !map.isPermutation())
    return nullptr;
  for (auto [expr, index] : llvm::zip(map.getResults(), indices))
    loops[cast<AffineDimExpr>(expr).getPosition()] = index;
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    if (!isa<RankedTensorType>(operand.get().getType())) {
      mapping.map(argument, operand.get());
      continue;
    }
    SmallVector<AffineExpr> position;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      position.push_back(expr.replaceDims(loops));
    mapping.map(argument, run(operand.get(), position));
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(),
                  emitter.emitAffine(
                      walker.getSpace().simplify(loops[index.getDim()])));
    else if (inner.getNumResults() != 0) // not an assertion
      builder.clone(inner, mapping);
  }
  return mapping.lookupOrDefault(
      op.getBlock()->getTerminator()->getOperand(result.getResultNumber()));
}

Value ElementCloner::run(Value tensor, Indices indices) {
  std::vector<const void *> position;
  for (AffineExpr index : indices)
    position.push_back(walker.getSpace().simplify(index).getAsOpaquePointer());
  Value &value = known[{tensor.getAsOpaquePointer(), std::move(position)}];
  if (value)
    return value;
  Operation *op = tensor.getDefiningOp();
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    value = runReshape(expand.getSrc(), tensor, indices);
  else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op))
    value = runReshape(collapse.getSrc(), tensor, indices);
  else if (auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op))
    value = runLinalg(linalgOp, cast<OpResult>(tensor), indices);
  if (!value)
    value = read(tensor, indices);
  return value;
}

/// Variables beside row and key that `scalar` depends on.
static SmallVector<AffineExpr> getOthers(ElementWalker &walker,
                                         const DistanceTable &entry,
                                         const Element &origin) {
  SmallVector<AffineExpr> others;
  auto collect = [&](AffineExpr expr) {
    bool isOther = isa<AffineDimExpr>(expr) && expr != entry.row &&
                   expr != entry.key && !llvm::is_contained(others, expr);
    if (isOther && walker.getGraph().dependsOn(entry.scalar, expr))
      others.push_back(expr);
  };
  for (AffineExpr index : origin.indices)
    index.walk(collect);
  return others;
}

Element attn::raise::createTable(OpBuilder &builder, Location loc,
                                 ElementWalker &walker,
                                 const DistanceTable &entry,
                                 FloatType scoreType) {
  IndexSpace &space = walker.getSpace();
  const Element &origin = walker.getOrigins(entry.scalar).front();
  AffineExpr rows = space.getExtent(entry.row);
  Element table;
  table.indices = getOthers(walker, entry, origin);
  SmallVector<OpFoldResult> sizes;
  for (AffineExpr variable : table.indices)
    sizes.push_back(space.materialize(builder, loc, space.getExtent(variable)));
  sizes.push_back(space.materialize(
      builder, loc, space.simplify(rows + space.getExtent(entry.key) - 1)));
  table.indices.push_back(space.simplify(entry.key - entry.row + rows - 1));
  Value last = getValueOrCreateConstantIndexOp(
      builder, loc, space.materialize(builder, loc, space.simplify(rows - 1)));
  size_t rank = sizes.size();
  auto fill = [&](OpBuilder &inner, Location loc, ValueRange) {
    ScalarEmitter emitter(inner, loc, walker, scoreType);
    for (size_t k = 0; k + 1 < rank; ++k)
      emitter.bind(table.indices[k], linalg::IndexOp::create(inner, loc, k));
    // The first row or the first key has the distance.
    Value position = linalg::IndexOp::create(inner, loc, rank - 1);
    Value zero = arith::ConstantIndexOp::create(inner, loc, 0);
    Value forward = arith::SubIOp::create(inner, loc, position, last);
    Value back = arith::SubIOp::create(inner, loc, last, position);
    emitter.bind(entry.row, arith::MaxSIOp::create(inner, loc, back, zero));
    emitter.bind(entry.key, arith::MaxSIOp::create(inner, loc, forward, zero));
    ElementCloner cloner(inner, loc, walker, emitter);
    linalg::YieldOp::create(inner, loc,
                            cloner.run(origin.tensor, origin.indices));
  };
  Value empty = tensor::EmptyOp::create(
      builder, loc, sizes, getElementTypeOrSelf(origin.tensor.getType()));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  table.tensor =
      linalg::GenericOp::create(
          builder, loc, TypeRange(empty.getType()), ValueRange(),
          ValueRange(empty),
          AffineMap::getMultiDimIdentityMap(rank, builder.getContext()), loops,
          fill)
          .getResult(0);
  return table;
}
