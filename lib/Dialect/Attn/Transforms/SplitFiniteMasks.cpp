//===- SplitFiniteMasks.cpp - Skip under finite masks -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-split-finite-masks (docs/Rationale/Masks.md).
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Transforms/ScheduleSelection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <limits>

namespace attn {
#define GEN_PASS_DEF_SPLITFINITEMASKSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// What is added to a score hides the pair if it is below any score.
static constexpr double kHiddenSummand = -std::numeric_limits<float>::max() / 2;
/// So does a score in place of another, if the row has an LSE above half of it.
static constexpr double kHiddenScore = -1000;
/// Where sums of D columns are not in slices, in which several CTAs would have
/// the same rows.
static constexpr int64_t kMaxColumns = 256;

static std::optional<double> getNumber(Value value) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValueAsDouble();
  return std::nullopt;
}

namespace {
/// Takes finite masks off the scores of a score_mod, in place.
class MaskPeeler {
public:
  explicit MaskPeeler(Block &mod)
      : mod(mod), builder(OpBuilder::atBlockTerminator(&mod)) {}

  /// Leaves the scores of visible pairs.
  void run();
  /// The conditions of which all hold for a visible pair.
  ArrayRef<Value> getConditions() const { return conditions; }
  /// A row with a greater LSE has no weight left for hidden pairs.
  double getBound() const { return bound; }

private:
  bool peel(OpOperand &use, double mostHidden);
  Value getCondition(Value summand);
  Value both(Value a, Value b);
  void raiseBound(double to) { bound = std::max(bound, to); }

  Block &mod;
  OpBuilder builder;
  SmallVector<Value> conditions;
  double bound = -std::numeric_limits<double>::infinity();
};
} // namespace

Value MaskPeeler::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, a.getLoc(), a, b);
}

/// True if `value` depends on the score that the region is given.
static bool dependsOnScore(Value value, Block &mod) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &mod && argument.getArgNumber() == 0;
  Operation *op = value.getDefiningOp();
  return op->getBlock() == &mod &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOnScore(operand, mod);
         });
}

/// When a summand that is 0 or hides the pair is 0; null if it is something
/// else.
Value MaskPeeler::getCondition(Value summand) {
  if (auto choice = summand.getDefiningOp<arith::SelectOp>()) {
    std::optional<double> yes = getNumber(choice.getTrueValue());
    std::optional<double> no = getNumber(choice.getFalseValue());
    if (!yes || !no)
      return Value();
    if (*yes == 0 && *no <= kHiddenSummand)
      return choice.getCondition();
    if (*no != 0 || *yes > kHiddenSummand)
      return Value();
    Value one = arith::ConstantIntOp::create(builder, choice.getLoc(), 1, 1);
    return arith::XOrIOp::create(builder, choice.getLoc(),
                                 choice.getCondition(), one);
  }
  auto sum = summand.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return Value();
  Value a = getCondition(sum.getLhs());
  Value b = a ? getCondition(sum.getRhs()) : Value();
  return b ? both(a, b) : Value();
}

/// Replaces `use` by the score without its outermost mask, if it has one that
/// is understood, and whose value is at most `mostHidden` where it takes the
/// place of a score.
bool MaskPeeler::peel(OpOperand &use, double mostHidden) {
  Operation *op = use.get().getDefiningOp();
  if (!op || op->getBlock() != &mod)
    return false;
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    bool hidesFalse = getNumber(choice.getFalseValue()).has_value();
    std::optional<double> hidden =
        getNumber(hidesFalse ? choice.getFalseValue() : choice.getTrueValue());
    if (!hidden || *hidden > mostHidden ||
        dependsOnScore(choice.getCondition(), mod))
      return false;
    Value visible = choice.getCondition();
    if (!hidesFalse) {
      Value one = arith::ConstantIntOp::create(builder, op->getLoc(), 1, 1);
      visible = arith::XOrIOp::create(builder, op->getLoc(), visible, one);
    }
    conditions.push_back(visible);
    raiseBound(*hidden / 2);
    use.set(hidesFalse ? choice.getTrueValue() : choice.getFalseValue());
    return true;
  }
  auto sum = dyn_cast<arith::AddFOp>(op);
  if (!sum)
    return false;
  for (auto [score, summand] : {std::pair(sum.getLhs(), sum.getRhs()),
                                std::pair(sum.getRhs(), sum.getLhs())}) {
    Value condition = getCondition(summand);
    if (!condition || dependsOnScore(condition, mod))
      continue;
    conditions.push_back(condition);
    raiseBound(kHiddenSummand / 2);
    use.set(score);
    return true;
  }
  // A mask may be under a summand that is none, which adds to its value, too.
  return sum->hasOneUse() && (peel(sum.getLhsMutable(), kHiddenSummand) ||
                              peel(sum.getRhsMutable(), kHiddenSummand));
}

void MaskPeeler::run() {
  while (peel(mod.getTerminator()->getOpOperand(0), kHiddenScore))
    builder.setInsertionPoint(mod.getTerminator());
}

//===----------------------------------------------------------------------===//
// The masked attention
//===----------------------------------------------------------------------===//

/// Copies `value` of a score_mod, and what it is computed of, to the builder.
static Value copy(OpBuilder &builder, Value value, Block &from,
                  IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (mapping.contains(value) || !op || op->getBlock() != &from)
    return mapping.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    copy(builder, operand, from, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Gives `op` a mask_mod of which all conditions hold.
static void buildMaskMod(AttentionOp op, ArrayRef<Value> conditions) {
  OpBuilder builder(op.getContext());
  Location loc = op.getLoc();
  Block &mod = op.getScoreMod().front();
  Block *mask = addMaskModBlock(builder, loc, op.getMaskMod());
  builder.setInsertionPointToEnd(mask);
  IRMapping mapping;
  mapping.map(mod.getArguments().drop_front(), mask->getArguments());
  Value visible;
  for (Value condition : conditions) {
    Value one = copy(builder, condition, mod, mapping);
    visible = visible ? arith::AndIOp::create(builder, loc, visible, one) : one;
  }
  YieldOp::create(builder, loc, visible);
}

/// Erases what nothing uses, and a score_mod that changes nothing.
static void simplifyScoreMod(AttentionOp op) {
  Block &mod = op.getScoreMod().front();
  SmallVector<Operation *> ops =
      llvm::to_vector(llvm::make_pointer_range(mod.without_terminator()));
  for (Operation *inner : llvm::reverse(ops))
    if (isOpTriviallyDead(inner))
      inner->erase();
  if (mod.getTerminator()->getOperand(0) != mod.getArgument(0))
    return;
  mod.erase();
}

/// `op` with all pairs, and an LSE.
static AttentionOp cloneWithLse(OpBuilder &builder, AttentionOp op) {
  if (op.getLse())
    return cast<AttentionOp>(builder.clone(*op));
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  auto lse =
      RankedTensorType::get(type.getShape().drop_back(), op.getScoreType());
  OperationState state(op.getLoc(), op->getName(), op->getOperands(),
                       {type, lse}, op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  IRMapping mapping;
  for (Region &region : op->getRegions())
    region.cloneInto(state.addRegion(), mapping);
  return cast<AttentionOp>(builder.create(state));
}

/// Chunks of rows are not repaired.
static bool isLargeCache(const ScheduleOverrides &given) {
  Schedule schedule;
  given.apply(schedule);
  return schedule.kind == ScheduleKind::LargeCache;
}

/// Splits `op` if a finite mask hides pairs of it.
static bool split(AttentionOp op) {
  AttentionDims dims = AttentionDims::get(op);
  if (!op.hasScoreMod() || op.hasMaskMod() || !op.getScoreType().isF32() ||
      dims.headDim > kMaxColumns || dims.valueDim > kMaxColumns)
    return false;
  OpBuilder builder(op);
  AttentionOp masked = cloneWithLse(builder, op);
  MaskPeeler peeler(masked.getScoreMod().front());
  peeler.run();
  if (peeler.getConditions().empty()) {
    masked.erase();
    return false;
  }
  buildMaskMod(masked, peeler.getConditions());
  simplifyScoreMod(masked);
  SmallVector<Value> results(masked.getResults());
  if (!op.getSink()) {
    AttentionOp whole = cloneWithLse(builder, op);
    auto repair =
        RepairOp::create(builder, op.getLoc(), masked.getOutput(),
                         masked.getLse(), whole.getOutput(), whole.getLse(),
                         builder.getF64FloatAttr(peeler.getBound()));
    results.assign(repair->result_begin(), repair->result_end());
  }
  for (auto [old, result] : llvm::zip(op->getResults(), results))
    old.replaceAllUsesWith(result);
  op.erase();
  return true;
}

namespace {
struct SplitFiniteMasks
    : public attn::impl::SplitFiniteMasksPassBase<SplitFiniteMasks> {
  using Base::Base;

  void runOnOperation() override {
    Result<ScheduleOverrides> given =
        ScheduleOverrides::parse(schedule.getValue());
    if (!given) {
      getOperation().emitError() << "option schedule: " << given.error();
      return signalPassFailure();
    }
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) {
      bool isSplit = llvm::any_of(op->getUsers(), llvm::IsaPred<RepairOp>);
      if (!isSplit)
        ops.push_back(op);
    });
    for (AttentionOp op : ops)
      if (isLargeCache(mergeFields(op.getSchedule(), *given)))
        numSplit += split(op);
  }
};
} // namespace
