//===- AmaxRaiser.cpp - Largest magnitudes of outputs, captured -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AmaxRaiser.h"

#include "attn/Conversion/TosaToAttn/TosaMaxima.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// Beyond, no schedule of a GPU has the rows of an output in one CTA.
static constexpr int64_t kMostColumns = 256;

namespace {
/// A reduction of magnitudes, and the elementwise op in front of it that gives
/// them, if it does not do that itself.
struct Reduction {
  linalg::LinalgOp op, magnitudes;
};
} // namespace

/// `value` before it is made wider.
static Value skipExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

/// What a value is the magnitude of; null if it is none.
static Value getMagnitudeOf(Value value) {
  auto magnitude = skipExtension(value).getDefiningOp<math::AbsFOp>();
  return magnitude ? skipExtension(magnitude.getOperand()) : Value();
}

static Value getYielded(linalg::LinalgOp op) {
  return op.getBlock()->getTerminator()->getOperand(0);
}

/// True for an op of one tensor and one result, which walks over the former in
/// order.
static bool walksInput(linalg::LinalgOp op) {
  return op && op.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity();
}

/// True for elementwise magnitudes of a tensor.
static bool isMagnitude(linalg::LinalgOp op) {
  return walksInput(op) && op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         getMagnitudeOf(getYielded(op)) == op.getBlock()->getArgument(0);
}

/// What the op takes the maximum of beside what there was before; null if it
/// does not.
static Value getReduced(linalg::LinalgOp op) {
  if (!walksInput(op) || op.getNumReductionLoops() == 0)
    return Value();
  // A NaN is the largest, as it is in an amax.
  auto max = getYielded(op).getDefiningOp<arith::MaximumFOp>();
  if (!max)
    return Value();
  for (unsigned operand : {0, 1})
    if (max->getOperand(operand) == op.getRegionOutputArgs().front())
      return max->getOperand(1 - operand);
  return Value();
}

/// The reduction of magnitudes that `user` of a tensor is, or begins.
static std::optional<Reduction> matchReduction(Operation *user) {
  auto op = dyn_cast<linalg::LinalgOp>(user);
  Reduction reduction{op, {}};
  if (op && isMagnitude(op) && op->hasOneUse()) {
    reduction.magnitudes = op;
    reduction.op = dyn_cast<linalg::LinalgOp>(*op->user_begin());
  }
  if (!reduction.op)
    return std::nullopt;
  Value reduced = getReduced(reduction.op);
  if (!reduced)
    return std::nullopt;
  Value element = reduction.op.getBlock()->getArgument(0);
  bool isOfMagnitudes = reduction.magnitudes
                            ? skipExtension(reduced) == element
                            : getMagnitudeOf(reduced) == element;
  return isOfMagnitudes ? std::optional(reduction) : std::nullopt;
}

/// True if rows of the output are reduced, whatever else is.
static bool reducesRows(Reduction reduction) {
  return reduction.op.getNumLoops() == kHeadDim + 1 &&
         reduction.op.getIteratorTypesArray().back() ==
             utils::IteratorType::reduction;
}

/// A reduction of the magnitudes of `output`. Of a view of it that is one of
/// everything: the same elements, whatever their order.
static std::optional<Reduction> findReduction(Value output, Value view) {
  for (Operation *user : view.getUsers()) {
    if (user->getBlock() != output.getParentBlock())
      continue;
    std::optional<Reduction> found = matchReduction(user);
    if (found && (view == output ? reducesRows(*found)
                                 : found->op.getNumParallelLoops() == 0))
      return found;
    bool isView = isa<tensor::CastOp, tensor::CollapseShapeOp,
                      tensor::ExpandShapeOp, linalg::TransposeOp>(user);
    if (isView && (found = findReduction(output, user->getResult(0))))
      return found;
  }
  return std::nullopt;
}

/// The op of TOSA that gives the largest magnitudes of rows of `output`, or of
/// a view of it that has the same rows.
static Operation *findTosaMaxima(Value output, Value view) {
  auto type = cast<RankedTensorType>(view.getType());
  int64_t columns = cast<ShapedType>(output.getType()).getDimSize(kHeadDim);
  if (!type.hasStaticShape() || type.getRank() == 0 ||
      type.getShape().back() != columns)
    return nullptr;
  Operation *found = raise::findRowMaxima(view);
  if (found && found->getBlock() == output.getParentBlock())
    return found;
  for (Operation *user : view.getUsers())
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user) ||
        user->getName().getStringRef() == "tosa.reshape")
      if (Operation *behind = findTosaMaxima(output, user->getResult(0)))
        return behind;
  return nullptr;
}

/// The op that gives `output`, or the identity behind it, with an amax.
static OutputModOp addAmax(RewriterBase &rewriter, Value output) {
  Location loc = output.getLoc();
  rewriter.setInsertionPointAfterValue(output);
  auto mod = output.getDefiningOp<OutputModOp>();
  Value source = mod ? mod.getSource() : output;
  auto type = cast<RankedTensorType>(output.getType());
  FloatType score = getScoreType(source);
  auto rows = RankedTensorType::get(type.getShape().drop_back(), score);
  auto made =
      OutputModOp::create(rewriter, loc, type, rows, source, ValueRange());
  if (mod) {
    made.getMod().takeBody(mod.getMod());
    rewriter.replaceAllUsesWith(output, made.getResult());
    rewriter.eraseOp(mod);
    return made;
  }
  Type index = rewriter.getIndexType();
  Block *block = rewriter.createBlock(&made.getMod(), {},
                                      {score, index, index, index, index},
                                      SmallVector<Location>(5, loc));
  YieldOp::create(rewriter, loc, block->getArgument(0));
  rewriter.replaceAllUsesExcept(output, made.getResult(), made);
  return made;
}

/// `value` in the float type `type`.
static Value convert(OpBuilder &builder, Location loc, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  return from < to
             ? arith::ExtFOp::create(builder, loc, type, value).getResult()
             : arith::TruncFOp::create(builder, loc, type, value);
}

/// Reduces `amax` in place of the output: the same maximum, since the rounding
/// of what is reduced does not change which is larger.
static void reduceRows(RewriterBase &rewriter, Reduction reduction,
                       Value amax) {
  linalg::LinalgOp op = reduction.op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value init = op.getDpsInitOperand(0)->get();
  AffineMap rows = rewriter.getMultiDimIdentityMap(kHeadDim);
  // That of everything may have other loops, of a view.
  AffineMap kept = AffineMap::get(kHeadDim, 0, rewriter.getContext());
  SmallVector<utils::IteratorType> loops(kHeadDim,
                                         utils::IteratorType::reduction);
  if (op.getNumParallelLoops() > 0) {
    kept = AffineMap::get(
        kHeadDim, 0,
        op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults(),
        rewriter.getContext());
    loops = op.getIteratorTypesArray();
    loops.pop_back();
  }
  Type element = getElementTypeOrSelf(init.getType());
  AffineMap maps[] = {rows, kept};
  auto body = [&](OpBuilder &b, Location l, ValueRange arguments) {
    Value row = convert(b, l, arguments[0], element);
    Value max = arith::MaximumFOp::create(b, l, arguments[1], row);
    linalg::YieldOp::create(b, l, max);
  };
  auto reduced = linalg::GenericOp::create(
      rewriter, loc, TypeRange(init.getType()), amax, init, maps, loops, body);
  rewriter.replaceOp(op, reduced);
  if (reduction.magnitudes)
    rewriter.eraseOp(reduction.magnitudes);
}

/// Gives `amax` in place of the maxima of rows that `op` takes.
static void replaceMaxima(RewriterBase &rewriter, Operation *op, Value amax) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto rows = cast<RankedTensorType>(amax.getType());
  if (rows.getElementType() != type.getElementType()) {
    AffineMap map = rewriter.getMultiDimIdentityMap(kHeadDim);
    SmallVector<utils::IteratorType> loops(kHeadDim,
                                           utils::IteratorType::parallel);
    auto body = [&](OpBuilder &b, Location l, ValueRange arguments) {
      linalg::YieldOp::create(
          b, l, convert(b, l, arguments[0], type.getElementType()));
    };
    Value empty = tensor::EmptyOp::create(rewriter, loc, rows.getShape(),
                                          type.getElementType());
    amax = linalg::GenericOp::create(rewriter, loc, empty.getType(), amax,
                                     empty, ArrayRef{map, map}, loops, body)
               .getResult(0);
  }
  auto all = [](int64_t rank) {
    return SmallVector<ReassociationIndices>{
        llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
  };
  Value numbers =
      tensor::CollapseShapeOp::create(rewriter, loc, amax, all(kHeadDim));
  Operation *magnitude = op->getOperand(0).getDefiningOp();
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, numbers,
                                                     all(type.getRank()));
  rewriter.eraseOp(magnitude);
}

OutputModOp raise::raiseAmax(RewriterBase &rewriter, Value output) {
  int64_t columns = cast<ShapedType>(output.getType()).getDimSize(kHeadDim);
  if (ShapedType::isDynamic(columns) || columns > kMostColumns)
    return OutputModOp();
  std::optional<Reduction> reduction = findReduction(output, output);
  Operation *ofTosa = reduction ? nullptr : findTosaMaxima(output, output);
  if (!reduction && !ofTosa)
    return OutputModOp();
  OutputModOp mod = addAmax(rewriter, output);
  if (reduction)
    reduceRows(rewriter, *reduction, mod.getAmax());
  else
    replaceMaxima(rewriter, ofTosa, mod.getAmax());
  return mod;
}
