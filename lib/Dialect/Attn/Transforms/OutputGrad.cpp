//===- OutputGrad.cpp - Gradients of what follows an attention ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With y = mod(x, t[places]), all elementwise:
//
//   dx = dy * dmod/dx,   dt[places] += dy * dmod/dt
//
// Each product is an attn.output_mod of x, whose region reads dy. It is dt
// where t is read at (b, h, i, c) itself, and added up by a linalg.generic
// else.
//
//===----------------------------------------------------------------------===//

#include "GradScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Where a tensor is read
//===----------------------------------------------------------------------===//

/// An index as a function of (b, h, i, c), which the arguments of `mod` behind
/// the first are; null if it is none that a loop nest knows.
static AffineExpr getAffine(Region &mod, Value index) {
  MLIRContext *context = index.getContext();
  if (auto argument = dyn_cast<BlockArgument>(index))
    return argument.getOwner() == &mod.front() && argument.getArgNumber() > 0
               ? getAffineDimExpr(argument.getArgNumber() - 1, context)
               : AffineExpr();
  IntegerAttr number;
  if (matchPattern(index, m_Constant(&number)))
    return getAffineConstantExpr(number.getInt(), context);
  Operation *op = index.getDefiningOp();
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp,
           arith::DivSIOp, arith::FloorDivSIOp, arith::RemUIOp>(op))
    return AffineExpr();
  AffineExpr left = getAffine(mod, op->getOperand(0)),
             right = getAffine(mod, op->getOperand(1));
  if (!left || !right)
    return AffineExpr();
  if (isa<arith::AddIOp>(op))
    return left + right;
  if (isa<arith::SubIOp>(op))
    return left - right;
  auto constant = dyn_cast<AffineConstantExpr>(right);
  if (!constant || constant.getValue() <= 0)
    return AffineExpr();
  // Of a place, which is not negative, all divisions are the same.
  if (isa<arith::MulIOp>(op))
    return left * right;
  if (!isa<AffineDimExpr>(left))
    return AffineExpr();
  return isa<arith::RemUIOp>(op) ? left % right : left.floorDiv(right);
}

/// The place of `read` by (b, h, i, c); nothing if it is not affine.
static std::optional<AffineMap> getPlaces(Region &mod, tensor::ExtractOp read) {
  SmallVector<AffineExpr> places;
  for (Value index : read.getIndices()) {
    places.push_back(getAffine(mod, index));
    if (!places.back())
      return std::nullopt;
  }
  return AffineMap::get(4, 0, places, mod.getContext());
}

LogicalResult attn::verifyOutputGrad(OutputModOp op,
                                     const SetVector<Value> &captures) {
  Region &mod = op.getMod();
  SmallVector<Value> variables = {mod.getArgument(0)};
  for (auto read : mod.getOps<tensor::ExtractOp>()) {
    if (!captures.contains(read.getTensor()))
      continue;
    variables.push_back(read);
    if (!getPlaces(mod, read))
      return read.emitOpError()
             << "cannot be differentiated: expected output_mod to read an "
                "argument at an affine function of (b, h, i, c)";
  }
  return verifyDifferentiable(mod, variables);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// dResult * d `op` / d `variable`, with elements of `type`.
static Value differentiate(OpBuilder &builder, OutputModOp op, Value variable,
                           Value dResult, Type type) {
  Location loc = op.getLoc();
  auto source = cast<RankedTensorType>(op.getSource().getType());
  auto product = OutputModOp::create(builder, loc, source.clone(type),
                                     op.getSource(), ValueRange());
  Region &mod = product.getMod();
  // The verifier of the gradient has seen to it that this succeeds.
  if (failed(differentiateMod(op.getMod(), variable, mod)))
    llvm::report_fatal_error("expected an output_mod that was verified");
  auto yield = cast<YieldOp>(mod.front().getTerminator());
  OpBuilder inner(yield);
  Value factor = tensor::ExtractOp::create(inner, loc, dResult,
                                           mod.getArguments().drop_front());
  Type score = getScoreType(op.getSource());
  if (factor.getType() != score)
    factor = arith::ExtFOp::create(inner, loc, score, factor);
  yield.getValueMutable().assign(
      arith::MulFOp::create(inner, loc, factor, yield.getValue()));
  return product.getResult();
}

/// The sum of `parts` [B, H, M, C] over the elements with one of `places`, in
/// the shape and type of `like`.
static Value addUp(OpBuilder &builder, Location loc, Value parts,
                   AffineMap places, Value like) {
  Type score = getElementTypeOrSelf(parts),
       element = getElementTypeOrSelf(like);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, like);
  Value init = tensor::EmptyOp::create(builder, loc, sizes, score);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(score));
  init = linalg::FillOp::create(builder, loc, zero, init).getResult(0);
  AffineMap maps[] = {builder.getMultiDimIdentityMap(4), places};
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::reduction);
  for (AffineExpr place : places.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(place))
      loops[dim.getPosition()] = utils::IteratorType::parallel;
  auto add = [](OpBuilder &b, Location l, ValueRange arguments) {
    Value sum = arith::AddFOp::create(b, l, arguments[0], arguments[1]);
    linalg::YieldOp::create(b, l, sum);
  };
  Value sum = linalg::GenericOp::create(builder, loc, TypeRange(init.getType()),
                                        parts, init, maps, loops, add)
                  .getResult(0);
  auto type = cast<RankedTensorType>(like.getType());
  if (element != score)
    sum = arith::TruncFOp::create(
        builder, loc, cast<RankedTensorType>(sum.getType()).clone(element),
        sum);
  if (sum.getType() != type)
    sum = tensor::CastOp::create(builder, loc, type, sum);
  return sum;
}

/// The gradient of what `read` reads.
static Value differentiateRead(OpBuilder &builder, OutputModOp op,
                               tensor::ExtractOp read, Value dResult) {
  Value tensor = read.getTensor();
  AffineMap places = *getPlaces(op.getMod(), read);
  auto shape = cast<ShapedType>(tensor.getType()).getShape();
  bool isDense =
      places.isIdentity() &&
      shape == cast<ShapedType>(op.getSource().getType()).getShape() &&
      llvm::none_of(shape, ShapedType::isDynamic);
  if (isDense)
    return differentiate(builder, op, read, dResult,
                         getElementTypeOrSelf(tensor.getType()));
  Value parts =
      differentiate(builder, op, read, dResult, getScoreType(op.getSource()));
  return addUp(builder, op.getLoc(), parts, places, tensor);
}

OutputGradients attn::buildOutputGrad(OpBuilder &builder,
                                      ArrayRef<OutputModOp> mods,
                                      const SetVector<Value> &captures,
                                      Value dResult, Type element) {
  OutputGradients gradients{dResult, {}};
  for (OutputModOp op : llvm::reverse(mods)) {
    Region &mod = op.getMod();
    Value &dOutput = gradients.dOutput;
    for (auto read : llvm::to_vector(mod.getOps<tensor::ExtractOp>()))
      if (captures.contains(read.getTensor()))
        gradients.ofCaptures.push_back(
            {read.getTensor(), differentiateRead(builder, op, read, dOutput)});
    bool isFirst = op == mods.front();
    dOutput = differentiate(builder, op, mod.getArgument(0), dOutput,
                            isFirst ? element : getScoreType(op.getSource()));
  }
  return gradients;
}
