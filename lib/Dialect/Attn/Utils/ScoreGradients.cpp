//===- ScoreGradients.cpp - Gradients that add up those of scores ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/ScoreGradients.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace attn;

std::optional<unsigned> ScoreGradient::getDim(unsigned loop) const {
  for (auto [dim, index] : llvm::enumerate(map.getResults()))
    if (auto position = dyn_cast<AffineDimExpr>(index);
        position && position.getPosition() == loop)
      return dim;
  return std::nullopt;
}

bool ScoreGradient::isOfTiles() const {
  return getDim(kLoopM) && getDim(kLoopN);
}

/// An index of a read: one of the positions of a score_mod, or a constant; null
/// if it is another.
static AffineExpr getIndex(Value index, Block &scoreMod) {
  MLIRContext *context = index.getContext();
  while (auto conversion = index.getDefiningOp<arith::IndexCastOp>())
    index = conversion.getIn();
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument || argument.getOwner() != &scoreMod)
    return AffineExpr();
  // The score comes first.
  return getAffineDimExpr(argument.getArgNumber() - 1, context);
}

/// The element that a read reads; null where it is not known or where loops
/// over tiles cannot own it.
static AffineMap getElement(tensor::ExtractOp read, Block &scoreMod) {
  SmallVector<AffineExpr> indices;
  llvm::SmallDenseSet<AffineExpr> positions;
  for (Value value : read.getIndices()) {
    AffineExpr index = getIndex(value, scoreMod);
    if (!index ||
        (isa<AffineDimExpr>(index) && !positions.insert(index).second))
      return AffineMap();
    indices.push_back(index);
  }
  MLIRContext *context = read.getContext();
  AffineExpr row = getAffineDimExpr(kLoopM, context);
  AffineExpr key = getAffineDimExpr(kLoopN, context);
  bool isOfTiles = positions.contains(row) && positions.contains(key);
  if (isOfTiles && (indices.back() != key || indices.end()[-2] != row))
    return AffineMap();
  return AffineMap::get(4, 0, indices, context);
}

/// A size of 1 is broadcast.
static AffineMap getElementOfBias(Value bias) {
  MLIRContext *context = bias.getContext();
  auto type = cast<ShapedType>(bias.getType());
  SmallVector<AffineExpr> indices;
  for (unsigned dim = 0; dim < 4; ++dim)
    indices.push_back(type.getDimSize(dim) == 1
                          ? getAffineConstantExpr(0, context)
                          : getAffineDimExpr(dim, context));
  return AffineMap::get(4, 0, indices, context);
}

//===----------------------------------------------------------------------===//
// Reads of any element
//===----------------------------------------------------------------------===//

/// The ops of the score_mod that a value is computed by, in order.
static SetVector<Operation *> getProducers(Value value, Region *scoreMod) {
  SetVector<Operation *> producers;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) {
    return op->getParentRegion() == scoreMod;
  };
  if (value.getParentRegion() == scoreMod && value.getDefiningOp())
    (void)getBackwardSlice(value, &producers, options);
  return producers;
}

static bool dependsOnScore(tensor::ExtractOp read) {
  Value score = read->getParentRegion()->getArgument(0);
  auto isScore = [&](Value value) { return value == score; };
  return llvm::any_of(read.getIndices(), [&](Value index) {
    return llvm::any_of(getProducers(index, read->getParentRegion()),
                        [&](Operation *op) {
                          return llvm::any_of(op->getOperands(), isScore);
                        });
  });
}

namespace {
/// How values of a score_mod change from a position to another one.
struct Step {
  Region *scoreMod;
  int64_t i, j;

  /// By how much, if that is the same everywhere.
  std::optional<int64_t> getChange(Value value) const;

private:
  std::optional<int64_t> getChangeOf(BlockArgument argument) const;
  bool changesNone(ValueRange values) const;
};
} // namespace

std::optional<int64_t> Step::getChangeOf(BlockArgument argument) const {
  // The score comes first.
  switch (argument.getArgNumber()) {
  case 0:
    return std::nullopt;
  case 1 + kLoopM:
    return i;
  case 1 + kLoopN:
    return j;
  default:
    return 0;
  }
}

bool Step::changesNone(ValueRange values) const {
  return llvm::all_of(values, [&](Value value) {
    std::optional<int64_t> change = getChange(value);
    return change && *change == 0;
  });
}

std::optional<int64_t> Step::getChange(Value value) const {
  if (value.getParentRegion() != scoreMod)
    return 0;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return getChangeOf(argument);
  Operation *op = value.getDefiningOp();
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return getChange(op->getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<int64_t> a = getChange(op->getOperand(0));
    std::optional<int64_t> b = getChange(op->getOperand(1));
    if (a && b)
      return isa<arith::AddIOp>(op) ? *a + *b : *a - *b;
  }
  return changesNone(op->getOperands()) ? std::optional<int64_t>(0)
                                        : std::nullopt;
}

bool attn::isInvariant(tensor::ExtractOp read, int64_t stepI, int64_t stepJ) {
  Step step{read->getParentRegion(), stepI, stepJ};
  return llvm::all_of(read.getIndices(), [&](Value index) {
    std::optional<int64_t> change = step.getChange(index);
    return change && *change == 0;
  });
}

void attn::buildIndex(tensor::ExtractOp read, unsigned number, Region &region) {
  Region *scoreMod = read->getParentRegion();
  OpBuilder builder(read.getContext());
  Block *block = builder.createBlock(&region);
  IRMapping mapping;
  for (BlockArgument argument : scoreMod->getArguments().drop_front())
    mapping.map(argument,
                block->addArgument(argument.getType(), argument.getLoc()));
  Value index = read.getIndices()[number];
  for (Operation *op : getProducers(index, scoreMod))
    builder.clone(*op, mapping);
  YieldOp::create(builder, read.getLoc(), mapping.lookupOrDefault(index));
}

bool attn::isDivisor(double scale) {
  return std::abs(scale) >= 1e-30 && std::abs(scale) <= 1e30;
}

ScoreGradients attn::findScoreGradients(AttentionBackwardOp op) {
  ScoreGradients found;
  if (op.getDBias())
    found.gradients.push_back({op.getBias(), cast<OpResult>(op.getDBias()),
                               /*isBias=*/true, getElementOfBias(op.getBias()),
                               /*reads=*/{}});
  for (auto [capture, gradient] :
       llvm::zip_equal(op.getCaptures(), op.getDCaptures())) {
    SmallVector<tensor::ExtractOp> reads = op.getReads(capture);
    if (reads.empty())
      return {{}, {}, capture};
    for (tensor::ExtractOp read : reads)
      if (dependsOnScore(read))
        return {{}, read, {}};
    Block &scoreMod = op.getScoreMod().front();
    AffineMap map = getElement(reads.front(), scoreMod);
    for (tensor::ExtractOp read : reads)
      if (getElement(read, scoreMod) != map)
        map = AffineMap();
    found.gradients.push_back(
        {capture, cast<OpResult>(gradient), /*isBias=*/false, map, reads});
  }
  return found;
}
