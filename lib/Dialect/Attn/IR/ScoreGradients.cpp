//===- ScoreGradients.cpp - Gradients that add up those of scores ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ScoreGradients.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/Matchers.h"

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

ScoreGradients attn::findScoreGradients(AttentionBackwardOp op) {
  ScoreGradients found;
  if (op.getDBias())
    found.gradients.push_back({op.getBias(), cast<OpResult>(op.getDBias()),
                               /*isBias=*/true,
                               getElementOfBias(op.getBias())});
  for (auto [capture, gradient] :
       llvm::zip_equal(op.getCaptures(), op.getDCaptures())) {
    AffineMap map;
    for (tensor::ExtractOp read : op.getReads(capture)) {
      AffineMap element = getElement(read, op.getScoreMod().front());
      if (!element || (map && element != map))
        return {{}, read};
      map = element;
    }
    found.gradients.push_back(
        {capture, cast<OpResult>(gradient), /*isBias=*/false, map});
  }
  return found;
}
