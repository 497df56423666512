//===- FormRanges.cpp - Which linear forms are exact ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormRanges.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace attn;

/// The number that is furthest from 0, as far as it is.
static double getMost(const ConstantIntRanges &range) {
  return std::max(std::abs(range.smin().roundToDouble(/*isSigned=*/true)),
                  std::abs(range.smax().roundToDouble(/*isSigned=*/true)));
}

bool FormRanges::mayWrap(Operation *op) {
  if (isa<affine::AffineDialect>(op->getDialect()))
    return !llvm::all_of(op->getOperands(),
                         [&](Value v) { return ranges.fits32Bits(v); });
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
           arith::TruncIOp, arith::IndexCastOp>(op))
    return false;
  Type type = op->getResult(0).getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  // Every pair of the ends of what the operands may be, with room for a
  // product.
  SmallVector<APInt> ends[2];
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    ConstantIntRanges range = ranges.get(operand);
    ends[number] = {range.smin().sext(130), range.smax().sext(130)};
  }
  if (op->getNumOperands() == 1)
    ends[1] = {APInt(130, 0)};
  auto compute = [&](const APInt &a, const APInt &b) {
    if (isa<arith::MulIOp>(op))
      return a * b;
    if (isa<arith::ShLIOp>(op))
      return a.shl(b.getLimitedValue(64));
    return isa<arith::SubIOp>(op) ? a - b : a + b;
  };
  return llvm::any_of(ends[0], [&](const APInt &a) {
    return llvm::any_of(ends[1], [&](const APInt &b) {
      return !compute(a, b).isSignedIntN(width);
    });
  });
}

std::optional<FormRanges::Reach> FormRanges::getReach(AffineExpr core) {
  constexpr double cut = IndexRanges::kFar;
  if (auto quotient = dyn_cast<AffineBinaryOpExpr>(core)) {
    std::optional<LinearForm> dividend = LinearForm::get(quotient.getLHS());
    std::optional<Reach> reach =
        dividend ? getReach(*dividend) : std::optional<Reach>();
    if (!reach)
      return std::nullopt;
    double divisor = cast<AffineConstantExpr>(quotient.getRHS()).getValue();
    reach->most = reach->most / divisor + 1;
    if (reach->far)
      reach->far = *reach->far / divisor - 1;
    return reach;
  }
  Value value;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(core))
    value = mask.symbols[symbol.getPosition()];
  else if (unsigned number = cast<AffineDimExpr>(core).getPosition();
           number >= kFirstRowValue)
    value = mask.rowValues[number - kFirstRowValue];
  else
    return Reach{IndexRanges::kMaxSize, std::nullopt};
  double most = getMost(ranges.get(value));
  return most <= cut ? Reach{most, std::nullopt} : Reach{cut, cut};
}

std::optional<FormRanges::Reach> FormRanges::getReach(const LinearForm &form) {
  // Of all but the value that may have been cut.
  double others = std::abs(static_cast<double>(form.getConstant()));
  Reach sum;
  for (auto [core, coefficient] : form.getTerms()) {
    std::optional<Reach> reach = getReach(core);
    if (!reach || (reach->far && sum.far))
      return std::nullopt;
    double factor = std::abs(static_cast<double>(coefficient));
    sum.most += factor * reach->most;
    if (reach->far)
      sum.far = factor * *reach->far;
    else
      others += factor * reach->most;
  }
  sum.most += std::abs(static_cast<double>(form.getConstant()));
  if (sum.far)
    sum.far = *sum.far - others;
  // Where a value was cut, it must still be what decides; and sums of a few of
  // such forms are to fit 64 bits.
  constexpr double limit = int64_t(1) << 61;
  bool isKnown = sum.most <= limit && (!sum.far || *sum.far > 0);
  return isKnown ? std::optional(sum) : std::nullopt;
}

bool FormRanges::isExact(const LinearForm &form) {
  return getReach(form).has_value();
}
