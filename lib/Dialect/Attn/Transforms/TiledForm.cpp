//===- TiledForm.cpp - Pieces of the tiled form -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

OpFoldResult attn::boundedTile(OpBuilder &builder, Location loc, int64_t tile,
                               OpFoldResult offset, OpFoldResult total) {
  AffineExpr left =
      builder.getAffineSymbolExpr(0) - builder.getAffineDimExpr(0);
  AffineMap map = AffineMap::get(
      1, 1, {builder.getAffineConstantExpr(tile), left}, builder.getContext());
  return affine::makeComposedFoldedAffineMin(builder, loc, map,
                                             {offset, total});
}

bool attn::divides(int64_t tile, OpFoldResult total) {
  std::optional<int64_t> number = getConstantIntValue(total);
  return number && *number % tile == 0;
}

void attn::replaceLengths(OpBuilder &builder, Region &region, Value query,
                          Value key) {
  for (LengthOp length :
       llvm::make_early_inc_range(region.getOps<LengthOp>())) {
    Value source = length.getSequence() == Sequence::query ? query : key;
    OpFoldResult size = getDim(builder, length.getLoc(), source, kSequence);
    length.replaceAllUsesWith(
        getValueOrCreateConstantIndexOp(builder, length.getLoc(), size));
    length.erase();
  }
}

bool attn::dependsOnArgument(Region &region, unsigned number) {
  return llvm::any_of(
      region.getArgument(number).getUses(), [&](OpOperand &use) {
        auto listed = dyn_cast<BlockListedOp>(use.getOwner());
        return !listed || use.getOperandNumber() != 2 + number ||
               number > kLoopH ||
               listed.getNumBlocks().getType().getDimSize(number) != 1;
      });
}

Value attn::createFilled(OpBuilder &builder, Location loc,
                         ArrayRef<OpFoldResult> sizes, FloatType type,
                         const APFloat &value) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type);
  Value scalar = arith::ConstantOp::create(builder, loc,
                                           builder.getFloatAttr(type, value));
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

RunningState attn::createInitialState(OpBuilder &builder, Location loc,
                                      RowReductionInterface reduction,
                                      ArrayRef<OpFoldResult> rows,
                                      OpFoldResult valueDim,
                                      FloatType scoreType) {
  auto fill = [&](ArrayRef<OpFoldResult> sizes, double number) {
    APFloat value = builder.getFloatAttr(scoreType, number).getValue();
    return createFilled(builder, loc, sizes, scoreType, value);
  };
  SmallVector<OpFoldResult> accSizes(rows);
  accSizes.push_back(valueDim);
  SmallVector<Value> values = {fill(accSizes, 0)};
  for (const RowValue &row : reduction.getRowValues())
    values.push_back(fill(rows, row.neutral));
  return RunningState(reduction, values);
}

void attn::eraseWithProducers(Operation *op) {
  SetVector<Operation *> worklist;
  worklist.insert(op);
  while (!worklist.empty()) {
    Operation *candidate = worklist.pop_back_val();
    if (!isOpTriviallyDead(candidate))
      continue;
    for (Value operand : candidate->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        worklist.insert(producer);
    candidate->erase();
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The value that a nest over (b, h, m, split) puts into the stack of which
/// `slice` is a part; null if it is none.
static Value getStackedValue(Value slice) {
  auto extract = slice.getDefiningOp<tensor::ExtractSliceOp>();
  auto stack = extract ? dyn_cast<OpResult>(extract.getSource()) : OpResult();
  auto nest =
      stack ? dyn_cast<scf::ForallOp>(stack.getOwner()) : scf::ForallOp();
  if (!nest || nest.getRank() != 4)
    return Value();
  SmallVector<Operation *> inserts =
      nest.getCombiningOps(nest.getTiedBlockArgument(stack));
  auto insert = llvm::hasSingleElement(inserts)
                    ? dyn_cast<tensor::ParallelInsertSliceOp>(inserts.front())
                    : tensor::ParallelInsertSliceOp();
  return insert ? insert.getSource() : Value();
}

SmallVector<Value> attn::getPartialState(CombineOp combine) {
  SmallVector<Value> state =
      llvm::map_to_vector(combine.getOperands(), getStackedValue);
  if (!llvm::all_of(state, [](Value value) { return bool(value); }))
    state.clear();
  return state;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// True for the induction variable, and for scalars that the body computes
/// from it.
static bool isPosition(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && isMemoryEffectFree(op) &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isPosition(operand, loop); });
}

LogicalResult attn::verifyTiledStep(OnlineAttentionOp step) {
  auto loop = dyn_cast<scf::ForOp>(step->getParentOp());
  if (!loop || getStep(loop) != step)
    return step.emitOpError() << "expected to be the only one in an scf.for "
                                 "over key tiles in the form 'tiled'";
  std::optional<ScheduleAttr> schedule = step.getSchedule();
  if (!schedule || !schedule->isComplete())
    return step.emitOpError()
           << "expected a complete schedule in the form 'tiled'";
  AttentionDims dims = AttentionDims::get(step);
  bool isPacked = schedule->getValues().packGqa;
  if (dims.batch != 1 || (dims.queryHeads != 1 && !isPacked))
    return step.emitOpError() << "expected one batch and one query head in "
                                 "the form 'tiled', got "
                              << step.getQuery().getType();
  if (!ShapedType::isDynamic(dims.queryRows) &&
      dims.queryHeads * dims.queryRows != schedule->getValues().tileM)
    return step.emitOpError()
           << "expected tile_m = " << schedule->getValues().tileM
           << " query rows in the form 'tiled', got "
           << dims.queryHeads * dims.queryRows;
  if (!ShapedType::isDynamic(dims.keyRows) &&
      dims.keyRows != schedule->getValues().tileN)
    return step.emitOpError()
           << "expected tile_n = " << schedule->getValues().tileN
           << " key rows in the form 'tiled', got " << dims.keyRows;
  if (!isPosition(step.getOffsets()[kLoopN], loop))
    return step.emitOpError() << "expected the key offset to be computed from "
                                 "the induction variable of the loop around it";
  return success();
}

/// Checks the loops that end in `state`.
static LogicalResult verifyKeyLoops(ValueRange state) {
  KeyLoops keys = getKeyLoops(state);
  for (auto [index, loop] : llvm::enumerate(keys.loops)) {
    if (!getStep(loop))
      return loop.emitOpError() << "expected one attn.online_attention in a "
                                   "key loop of the form 'tiled'";
    if (index > 0 &&
        loop.getLowerBound() != keys.loops[index - 1].getUpperBound())
      return loop.emitOpError() << "expected to start where the key loop "
                                   "before it ends";
  }
  return success();
}

LogicalResult attn::verifyTiledEnd(NormalizeOp normalize) {
  auto forall = dyn_cast<scf::ForallOp>(normalize->getParentOp());
  if (!forall || forall.getRank() != 3)
    return normalize.emitOpError() << "expected to be in an scf.forall over "
                                      "(b, h, m) in the form 'tiled'";
  auto combine = normalize.getAcc().getDefiningOp<CombineOp>();
  if (!combine) {
    RunningState state = normalize.getState();
    return verifyKeyLoops(state.getValues());
  }
  SmallVector<Value> partial = getPartialState(combine);
  if (partial.empty())
    return combine.emitOpError()
           << "expected slices of what an scf.forall over (b, h, m, split) "
              "gives in the form 'tiled'";
  return verifyKeyLoops(partial);
}
