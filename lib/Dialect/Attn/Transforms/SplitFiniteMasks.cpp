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
#include "attn/Dialect/Attn/IR/FiniteMasks.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Transforms/ScheduleSelection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"

#include <limits>

namespace attn {
#define GEN_PASS_DEF_SPLITFINITEMASKSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// What is added to a score hides the pair if it is below any score: this by
/// default.
static constexpr double kHiddenSummand = -std::numeric_limits<float>::max() / 2;
/// So does a score in place of another, if the row has an LSE above half of it.
static constexpr double kHiddenScore = -1000;
/// Where sums of D columns are not in slices, in which several CTAs would have
/// the same rows.
static constexpr int64_t kMaxColumns = 256;
/// Of fewer rows, as in decoding, all keys are read in less time than it takes
/// to launch kernels that find out which.
static constexpr int64_t kMinRows = 32;

static std::optional<double> getNumber(Value value) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValueAsDouble();
  return std::nullopt;
}

namespace {
struct FiniteMaskOptions {
  double threshold;       ///< 0: kHiddenSummand
  bool assumeVisibleRows; ///< None has to be repaired.
};

/// Takes finite masks off the scores of a score_mod, in place.
class MaskPeeler {
public:
  /// `threshold` as of the option mask-threshold.
  MaskPeeler(Block &mod, double threshold)
      : mod(mod), builder(OpBuilder::atBlockTerminator(&mod)),
        hiddenSummand(threshold < 0 ? threshold : kHiddenSummand) {}

  /// Leaves the scores of visible pairs.
  void run();
  /// The conditions of which all hold for a visible pair.
  ArrayRef<Value> getConditions() const { return conditions; }
  /// A row with a greater LSE has no weight left for hidden pairs.
  double getBound() const { return bound; }

private:
  /// `kept` where `visible`, else a score of `hidden`.
  struct Choice {
    Value visible, kept;
    double hidden;
  };
  std::optional<Choice> getChoice(arith::SelectOp op);
  bool peel(OpOperand &use, double mostHidden);
  Value peelSum(arith::AddFOp sum);

  Block &mod;
  OpBuilder builder;
  double hiddenSummand;
  SmallVector<Value> conditions;
  double bound = -std::numeric_limits<double>::infinity();
};
} // namespace

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

std::optional<MaskPeeler::Choice> MaskPeeler::getChoice(arith::SelectOp op) {
  if (dependsOnScore(op.getCondition(), mod))
    return std::nullopt;
  double mostHidden = std::max(kHiddenScore, hiddenSummand);
  if (std::optional<double> hidden = getNumber(op.getFalseValue());
      hidden && *hidden <= mostHidden)
    return Choice{op.getCondition(), op.getTrueValue(), *hidden};
  std::optional<double> hidden = getNumber(op.getTrueValue());
  if (!hidden || *hidden > mostHidden)
    return std::nullopt;
  Value one = arith::ConstantIntOp::create(builder, op.getLoc(), 1, 1);
  Value visible =
      arith::XOrIOp::create(builder, op.getLoc(), op.getCondition(), one);
  return Choice{visible, op.getFalseValue(), *hidden};
}

/// Takes masks off the summands of `sum`, to which others add; returns what is
/// left of it, or null if there is none.
Value MaskPeeler::peelSum(arith::AddFOp sum) {
  bool isPeeled = false;
  for (OpOperand &summand : sum->getOpOperands())
    while (peel(summand, hiddenSummand))
      isPeeled = true;
  if (!isPeeled)
    return Value();
  for (unsigned i : {0, 1})
    if (matchPattern(sum->getOperand(i), m_AnyZeroFloat()))
      return sum->getOperand(1 - i);
  return sum.getResult();
}

/// Takes the outermost mask off `use`, the score or a summand, if its value for
/// hidden pairs is at most `mostHidden`.
bool MaskPeeler::peel(OpOperand &use, double mostHidden) {
  Operation *op = use.get().getDefiningOp();
  if (!op || op->getBlock() != &mod)
    return false;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<Choice> choice = getChoice(select);
    if (!choice || choice->hidden > mostHidden)
      return false;
    conditions.push_back(choice->visible);
    bound = std::max(bound, std::max(choice->hidden, kHiddenSummand) / 2);
    use.set(choice->kept);
    return true;
  }
  auto sum = dyn_cast<arith::AddFOp>(op);
  if (!sum || !sum->hasOneUse())
    return false;
  Value left = peelSum(sum);
  if (left)
    use.set(left);
  return static_cast<bool>(left);
}

void MaskPeeler::run() {
  OpOperand &score = mod.getTerminator()->getOpOperand(0);
  while (peel(score, std::max(kHiddenScore, hiddenSummand)))
    continue;
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

/// Takes the end off a mask_mod, or begins one, and sets the builder there;
/// returns what it has yielded, if it was one.
static Value reopenMaskMod(OpBuilder &builder, Region &maskMod) {
  if (maskMod.empty()) {
    Block *block = addMaskModBlock(builder, maskMod.getLoc(), maskMod);
    builder.setInsertionPointToEnd(block);
    return Value();
  }
  Operation *yield = maskMod.front().getTerminator();
  Value visible = yield->getOperand(0);
  yield->erase();
  builder.setInsertionPointToEnd(&maskMod.front());
  return visible;
}

/// `a` and `b`, of which the first may be null.
static Value both(OpBuilder &builder, Location loc, Value a, Value b) {
  return a ? arith::AndIOp::create(builder, loc, a, b) : b;
}

/// True in the mask_mod that the builder is in if all conditions hold, which
/// are on the pairs of `scoreMod`.
static Value buildVisible(OpBuilder &builder, Location loc, Block &scoreMod,
                          ArrayRef<Value> conditions) {
  IRMapping mapping;
  mapping.map(scoreMod.getArguments().drop_front(),
              builder.getInsertionBlock()->getArguments());
  Value visible;
  for (Value condition : conditions)
    visible = both(builder, loc, visible,
                   copy(builder, condition, scoreMod, mapping));
  return visible;
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

/// True for an attention, or a backward, whose score_mod may be a mask.
template <typename OpTy>
static bool mayHide(OpTy op) {
  int64_t rows = AttentionDims::get(op).queryRows;
  // Without exponentials a large negative score is a large weight.
  return op.hasScoreMod() && op.getNormalization().hasLse() &&
         op.getScoreType().isF32() &&
         (ShapedType::isDynamic(rows) || rows >= kMinRows);
}

/// Splits `op` if a finite mask hides pairs of it.
static bool split(AttentionOp op, const FiniteMaskOptions &options) {
  AttentionDims dims = AttentionDims::get(op);
  if (!mayHide(op) || dims.headDim > kMaxColumns || dims.valueDim > kMaxColumns)
    return false;
  // A repair has no largest magnitudes of rows.
  bool repairs = !op.getSink() && !options.assumeVisibleRows;
  if (repairs && hasAmax(op.getOutput()))
    return false;
  OpBuilder builder(op);
  AttentionOp masked = cloneWithLse(builder, op);
  MaskPeeler peeler(masked.getScoreMod().front(), options.threshold);
  peeler.run();
  if (peeler.getConditions().empty()) {
    masked.erase();
    return false;
  }
  Location loc = op.getLoc();
  Value before = reopenMaskMod(builder, masked.getMaskMod());
  Value visible = buildVisible(builder, loc, masked.getScoreMod().front(),
                               peeler.getConditions());
  YieldOp::create(builder, loc, both(builder, loc, before, visible));
  simplifyScoreMod(masked);
  builder.setInsertionPoint(op);
  SmallVector<Value> results(masked.getResults());
  if (repairs) {
    AttentionOp whole = cloneWithLse(builder, op);
    auto repair = RepairOp::create(
        builder, loc, masked.getOutput(), masked.getLse(), whole.getOutput(),
        whole.getLse(), builder.getF64FloatAttr(peeler.getBound()));
    results.assign(repair->result_begin(), repair->result_end());
  }
  for (auto [old, result] : llvm::zip(op->getResults(), results))
    old.replaceAllUsesWith(result);
  op.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// The backward
//===----------------------------------------------------------------------===//

/// True in rows of the mask_mod of `op` that may have no key, by their LSE.
static Value buildIsRepaired(OpBuilder &builder, AttentionBackwardOp op,
                             double bound) {
  Location loc = op.getLoc();
  Region &mask = op.getMaskMod();
  Value head = mask.getArgument(kLoopH);
  // Where no score reaches the bound, all heads see keys or none does: a mask
  // that is the same for them stays so.
  if (head.use_empty() && bound <= kHiddenSummand / 2)
    head = arith::ConstantIndexOp::create(builder, loc, 0);
  Value lse = tensor::ExtractOp::create(
      builder, loc, op.getLse(),
      ValueRange{mask.getArgument(kLoopB), head, mask.getArgument(kLoopM)});
  Value least =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(bound));
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ULE, lse,
                               least);
}

/// True for the mask_mod of a backward that has been here.
static bool readsLse(Region &maskMod, Value lse) {
  return llvm::any_of(lse.getUsers(), [&](Operation *user) {
    return maskMod.isAncestor(user->getParentRegion());
  });
}

/// Gives `op` a mask_mod of the pairs that have weight, if a finite mask hides
/// others: those that it leaves visible, and all of rows that it may have left
/// none. Scores stay as they are.
static bool mask(AttentionBackwardOp op, const FiniteMaskOptions &options) {
  if (!mayHide(op) || readsLse(op.getMaskMod(), op.getLse()))
    return false;
  OpBuilder builder(op);
  auto peeled = cast<AttentionBackwardOp>(builder.clone(*op));
  llvm::scope_exit erasePeeled([&] { peeled.erase(); });
  Block &mod = peeled.getScoreMod().front();
  MaskPeeler peeler(mod, options.threshold);
  peeler.run();
  if (peeler.getConditions().empty())
    return false;
  Location loc = op.getLoc();
  Value before = reopenMaskMod(builder, op.getMaskMod());
  Value visible = buildVisible(builder, loc, mod, peeler.getConditions());
  if (!options.assumeVisibleRows) {
    Value isRepaired = buildIsRepaired(builder, op, peeler.getBound());
    visible = arith::OrIOp::create(builder, loc, visible, isRepaired);
  }
  YieldOp::create(builder, loc, both(builder, loc, before, visible));
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
    if (failed(checkMaskThreshold(getOperation(), maskThreshold)))
      return signalPassFailure();
    FiniteMaskOptions options{maskThreshold, assumeVisibleRows};
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) {
      bool isSplit = llvm::any_of(op->getUsers(), llvm::IsaPred<RepairOp>);
      if (!isSplit && isLargeCache(mergeFields(op.getSchedule(), *given)))
        ops.push_back(op);
    });
    for (AttentionOp op : ops)
      numSplit += split(op, options);
    getOperation().walk([&](AttentionBackwardOp op) {
      if (isLargeCache(mergeFields(op.getSchedule(), *given)))
        numMasked += mask(op, options);
    });
  }
};
} // namespace
