//===- WidenIndex.cpp - Indices that 32 bits may not hold -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-widen-index: `index` is lowered to 32 bits, which hold
// sizes and coordinates; what comes from i64 data or large constants is
// computed in i64.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/IndexRanges.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace attn::tile {
#define GEN_PASS_DEF_WIDENINDEXPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn;
using namespace attn::tile;

namespace {

class IndexWidener {
public:
  explicit IndexWidener(KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()) {}

  /// The number of ops that compute in i64 now.
  int64_t run();

private:
  bool isWide(Value value);
  bool isLarge(Value value);
  bool isData(Value value);
  bool isCandidate(Operation *op);
  Value widen(Value value);
  Value narrow(Value result, Value wide);
  void rewrite(Operation *op);

  KernelOp kernel;
  OpBuilder builder;
  IndexRanges ranges;
  /// What is computed of large constants and of i64 data, whether it fits 32
  /// bits or not; and sums of i32 data in i64.
  DenseSet<Value> madeOfLarge, sums;
  /// What has been rewritten. It stays until the end: `ranges` knows values by
  /// their addresses, which new ones would take over.
  SmallVector<Operation *> replaced;
};

} // namespace

/// True for an index that is made of an i64, or is a large constant.
bool IndexWidener::isWide(Value value) {
  if (!value.getType().isIndex())
    return false;
  IntegerAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValue().abs().ugt(IndexRanges::kMaxSize);
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  return cast && cast.getIn().getType().isInteger(64) &&
         !ranges.fits32Bits(value);
}

/// True for a large constant, i64 data, and what is made of these.
bool IndexWidener::isLarge(Value value) {
  return madeOfLarge.contains(value) ||
         (isWide(value) && !sums.contains(value));
}

/// True for an index that holds an i32 of a tensor, or is made of what was
/// large and fits 32 bits: a sum with it may be wide. A truth is a number of
/// one bit.
bool IndexWidener::isData(Value value) {
  if (auto cast = value.getDefiningOp<arith::IndexCastUIOp>())
    return !cast.getIn().getType().isInteger(1);
  return value.getDefiningOp<arith::IndexCastOp>() ||
         madeOfLarge.contains(value);
}

bool IndexWidener::isCandidate(Operation *op) {
  if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      isa<arith::ConstantOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return false;
  Value result = op->getResult(0);
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isWide(operand) || (isData(operand) && result.getType().isIndex() &&
                               !ranges.fits32Bits(result));
  });
}

Value IndexWidener::widen(Value value) {
  if (!value.getType().isIndex())
    return value;
  Location loc = value.getLoc();
  IntegerAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return arith::ConstantIntOp::create(builder, loc, number.getInt(), 64);
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    if (cast.getIn().getType().isInteger(64))
      return cast.getIn();
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
}

/// `wide`, the value of `result`, as an index; cut to 32 bits where it may be
/// longer: a loop bound then is past the end.
Value IndexWidener::narrow(Value result, Value wide) {
  Location loc = result.getLoc();
  if (!ranges.fits32Bits(result))
    wide = cutTo32Bits(builder, loc, wide);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), wide);
}

void IndexWidener::rewrite(Operation *op) {
  builder.setInsertionPoint(op);
  bool isOfLarge =
      llvm::any_of(op->getOperands(), [&](Value v) { return isLarge(v); });
  SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value v) { return widen(v); });
  Value result = op->getResult(0);
  bool isIndex = result.getType().isIndex();
  Type type = isIndex ? Type(builder.getI64Type()) : result.getType();
  Operation *wide = builder.create(OperationState(
      op->getLoc(), op->getName(), operands, type, op->getAttrs()));
  Value replacement = wide->getResult(0);
  if (isIndex) {
    // Ops that compute in i64 take the sum as it is, all others what is cut.
    Value exact = arith::IndexCastOp::create(
        builder, op->getLoc(), builder.getIndexType(), replacement);
    Value cut = narrow(result, replacement);
    (isOfLarge ? madeOfLarge : sums).insert(exact);
    result.replaceUsesWithIf(exact, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return isa<arith::ArithDialect>(user->getDialect());
    });
    replacement = cut;
  }
  result.replaceAllUsesWith(replacement);
  replaced.push_back(op);
}

int64_t IndexWidener::run() {
  int64_t numOps = 0;
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    auto cast = dyn_cast<arith::IndexCastOp>(op);
    if (cast && cast.getType().isInteger(64) && isWide(cast.getIn())) {
      builder.setInsertionPoint(op);
      cast.replaceAllUsesWith(widen(cast.getIn()));
    } else if (isCandidate(op)) {
      rewrite(op);
      ++numOps;
    } else if (isa<arith::ArithDialect>(op->getDialect()) &&
               llvm::any_of(op->getOperands(), [&](Value operand) {
                 return madeOfLarge.contains(operand);
               })) {
      madeOfLarge.insert_range(op->getResults());
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  return numOps;
}

namespace {
struct WidenIndexPass
    : public attn::tile::impl::WidenIndexPassBase<WidenIndexPass> {
  using WidenIndexPassBase::WidenIndexPassBase;

  void runOnOperation() override {
    numOps += IndexWidener(getOperation()).run();
  }
};
} // namespace
