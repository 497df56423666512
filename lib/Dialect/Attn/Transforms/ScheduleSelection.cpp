//===- ScheduleSelection.cpp - What the cost model is asked -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/ScheduleSelection.h"

#include "MaskDensity.h"
#include "TiledForm.h"

#include "attn/Analysis/MaskAnalysis.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModRegion.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Schedule/Family.h"
#include "attn/Support/ElementType.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The mask
//===----------------------------------------------------------------------===//

namespace {
/// Reads a formula as a band around the diagonal.
template <typename OpTy>
class BandReader {
public:
  BandReader(OpTy op, const AttentionProblem &problem)
      : op(op), problem(problem), mask(analyzeMask(op.getMaskMod())) {}

  MaskPattern read() {
    readFormula(mask.formula);
    return pattern;
  }

  /// True if the mask is what `read` returns.
  bool isBand() { return isBand(mask.formula); }

private:
  bool isBand(const MaskFormula &formula) {
    if (formula.kind == MaskFormula::And)
      return llvm::all_of(formula.operands, [&](const MaskFormula &operand) {
        return isBand(operand);
      });
    return (formula.kind == MaskFormula::KeyUpTo ||
            formula.kind == MaskFormula::KeyFrom) &&
           getShift(formula.bound);
  }

  /// Bounds that are not parallel to the diagonal are passed over.
  void readFormula(const MaskFormula &formula) {
    if (formula.kind == MaskFormula::And)
      for (const MaskFormula &operand : formula.operands)
        readFormula(operand);
    if (formula.kind == MaskFormula::KeyUpTo ||
        formula.kind == MaskFormula::KeyFrom)
      readBound(formula);
  }

  void readBound(const MaskFormula &formula) {
    std::optional<int64_t> shift = getShift(formula.bound);
    if (!shift)
      return;
    // Positions count from the bottom right in the pattern.
    int64_t distance = *shift - (problem.kvLength - problem.queryLength);
    if (formula.kind == MaskFormula::KeyUpTo)
      pattern.right = std::min(pattern.right.value_or(distance), distance);
    else
      pattern.left = std::min(pattern.left.value_or(-distance), -distance);
  }

  /// What is added to i in a bound, if its coefficient is 1.
  std::optional<int64_t> getShift(const LinearForm &bound) {
    int64_t shift = bound.getConstant();
    bool hasRow = false;
    for (auto [core, coefficient] : bound.getTerms()) {
      auto dim = dyn_cast<AffineDimExpr>(core);
      if (dim && dim.getPosition() == kRow && coefficient == 1) {
        hasRow = true;
        continue;
      }
      auto symbol = dyn_cast<AffineSymbolExpr>(core);
      std::optional<int64_t> size =
          symbol ? getTypicalSize(mask.symbols[symbol.getPosition()])
                 : std::nullopt;
      if (!size)
        return std::nullopt;
      shift += coefficient * *size;
    }
    return hasRow ? std::optional(shift) : std::nullopt;
  }

  /// The value of a size of the attention, as the problem has it.
  std::optional<int64_t> getTypicalSize(Value term) {
    if (auto length = term.getDefiningOp<LengthOp>())
      return length.getSequence() == Sequence::query ? problem.queryLength
                                                     : problem.kvLength;
    auto dim = term.getDefiningOp<tensor::DimOp>();
    if (!dim || dim.getConstantIndex() != kSequence)
      return std::nullopt;
    if (dim.getSource() == op.getQuery())
      return problem.queryLength;
    if (dim.getSource() == op.getKey() || dim.getSource() == op.getValue())
      return problem.kvLength;
    return std::nullopt;
  }

  OpTy op;
  const AttentionProblem &problem;
  MaskAnalysis mask;
  MaskPattern pattern;
};
} // namespace

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// The element type of a tensor; nothing if the cost model has none like it.
static std::optional<ElementType> getElementType(Type tensor) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(tensor);
  return parseElementType(name);
}

/// Query rows of a decode step, some of them guessed tokens.
static constexpr int64_t kMostDecoded = 16;

/// Whether few rows see the keys that sequences of a cache have.
static bool isDecodeStep(AttentionOp op) {
  int64_t rows = AttentionDims::get(op).queryRows;
  return op.getKeyLengths() && !ShapedType::isDynamic(rows) &&
         rows <= kMostDecoded;
}
static bool isDecodeStep(AttentionBackwardOp) { return false; }

/// What forward and backward have in common, with typical sizes where those of
/// `dims` are not known: of a decode step those of a server.
template <typename OpTy>
static AttentionProblem getSizes(OpTy op, const AttentionDims &dims) {
  // A size of 0 costs nothing whatever the schedule.
  auto known = [](int64_t size, int64_t typical) {
    return ShapedType::isDynamic(size) ? typical : std::max<int64_t>(size, 1);
  };
  AttentionProblem problem;
  bool isDecode = isDecodeStep(op);
  problem.batch = known(dims.batch, isDecode ? 16 : 2);
  problem.kvHeads = known(dims.keyHeads, known(dims.queryHeads, 32));
  problem.queryHeads = known(dims.queryHeads, problem.kvHeads);
  problem.queryLength = known(dims.queryRows, 4096);
  problem.kvLength = known(dims.keyRows, isDecode ? 8192 : 4096);
  problem.headDim = known(dims.headDim, 128);
  problem.valueDim = known(dims.valueDim, problem.headDim);
  problem.elementType =
      getElementType(op.getQuery().getType()).value_or(ElementType::F32);
  auto keyType = getElementType(op.getKey().getType()),
       valueType = getElementType(op.getValue().getType());
  if (!isByte(op.getQuery().getType()) && keyType != problem.elementType)
    problem.cacheType = keyType;
  // Keys of either 8-bit type cost the same.
  if (isByte(op.getQuery().getType()) && valueType != problem.elementType)
    problem.valueType = valueType;
  for (auto [tensor, page] : {std::pair(op.getKey(), &problem.keyPage),
                              std::pair(op.getValue(), &problem.valuePage)})
    if (PagedOp pages = getPages(tensor))
      *page = pages.getPool().getType().getDimSize(kSequence);
  problem.outputType = problem.getWeightType();
  if (op.getOutput())
    problem.outputType =
        getElementType(op.getOutput().getType()).value_or(problem.outputType);
  if (isa<NoneAttr>(op.getNormalization()))
    problem.normalization = Normalization::None;
  if (isa<SumAttr>(op.getNormalization()))
    problem.normalization = Normalization::Sum;
  problem.hasBias = static_cast<bool>(op.getBias());
  problem.isRowBias =
      problem.hasBias &&
      cast<ShapedType>(op.getBias().getType()).getDimSize(kSequence) == 1;
  problem.hasDropout = static_cast<bool>(op.getDropoutSeed());
  if (op.hasMaskMod())
    problem.mask = BandReader(op, problem).read();
  return problem;
}

/// Counts what happens to rows of the query that no other operand has.
static void countQueryOps(AttentionOp op, AttentionProblem &problem) {
  Operation *last = op.getQuery().getDefiningOp();
  if (!getRowSource(last) || op.getQuery() == op.getKey() ||
      op.getQuery() == op.getValue())
    return;
  RowChain chain = RowChain::get(last);
  // Bytes are no tile of the type that the products take.
  if (isByte(chain.source.getType()))
    return;
  for (Operation *rowOp : chain.ops)
    ++(isa<RotaryOp>(rowOp) ? problem.queryRotations : problem.queryNorms);
  for (int64_t *count : {&problem.queryRotations, &problem.queryNorms})
    *count = std::min(*count, AttentionProblem::kMostOps);
}

/// True if `value`, of a region, is computed from `argument`.
static bool dependsOn(Value value, BlockArgument argument) {
  SetVector<Operation *> before;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == argument.getOwner();
  };
  (void)getBackwardSlice(value, &before, options);
  return value == argument || llvm::any_of(before, [&](Operation *op) {
           return llvm::is_contained(op->getOperands(), argument);
         });
}

/// The output is what its output_mods make of it. Of what they read, tensors
/// with an element for each of the output count.
static void countOutputMods(AttentionOp op, AttentionProblem &problem) {
  Value output = op.getOutput();
  SmallPtrSet<Value, 4> captures;
  while (OutputModOp mod = output ? getOutputMod(output) : OutputModOp()) {
    BlockArgument column = mod.getMod().getArguments().back();
    mod.getMod().walk([&](tensor::ExtractOp read) {
      bool isOfElements = llvm::any_of(read.getIndices(), [&](Value index) {
        return dependsOn(index, column);
      });
      if (isOfElements && read.getType().isIntOrFloat() &&
          captures.insert(read.getTensor()).second)
        problem.captureBytes +=
            llvm::divideCeil(read.getType().getIntOrFloatBitWidth(), 8);
    });
    output = mod.getResult();
  }
  problem.captureBytes =
      std::min(problem.captureBytes, AttentionProblem::kMostOps);
  if (output && output != op.getOutput())
    problem.outputType =
        getElementType(output.getType()).value_or(problem.outputType);
}

static AttentionProblem getProblem(AttentionOp op, const AttentionDims &dims) {
  AttentionProblem problem = getSizes(op, dims);
  problem.sharedKV = readsValueInKey(op, op.getKey(), op.getValue());
  countQueryOps(op, problem);
  countOutputMods(op, problem);
  problem.hasLse = static_cast<bool>(op.getLse());
  problem.hasAmax = hasAmax(op.getOutput());
  problem.hasProbMod = op.hasProbMod();
  // Sizes that are too large are refused when a schedule is asked for.
  if (op.hasMaskMod() && problem.verify())
    problem.mask.density = MaskDensity(op.getMaskMod(), problem).getTypical();
  return problem;
}

AttentionProblem attn::getProblem(AttentionOp op) {
  return ::getProblem(op, AttentionDims::get(op));
}

/// The sizes of `op` that are those of all sequences, whatever they are beside:
/// neither their number nor what bounds their lengths.
static AttentionDims getCommonDims(AttentionOp op) {
  AttentionDims dims = AttentionDims::get(op);
  dims.batch = dims.keyRows = ShapedType::kDynamic;
  if (getRagged(op.getQuery()))
    dims.queryRows = ShapedType::kDynamic;
  return dims;
}

bool attn::isBand(AttentionOp op) {
  if (!op.hasMaskMod())
    return true;
  AttentionProblem problem = getSizes(op, AttentionDims::get(op));
  return BandReader(op, problem).isBand();
}

/// True if a score_mod adds to the score what does not depend on it, as a bias
/// does: then its derivative is 1.
static bool isShift(Region &scoreMod) {
  BlockArgument score = scoreMod.getArgument(0);
  if (!score.hasOneUse())
    return false;
  auto sum = dyn_cast<arith::AddFOp>(*score.user_begin());
  return sum && sum->hasOneUse() && isa<YieldOp>(*sum->user_begin());
}

/// The type in which a gradient, or what output_mods make of it, is stored.
static std::optional<ElementType> getStoredType(Value gradient) {
  while (OutputModOp mod = getOutputMod(gradient))
    gradient = mod.getResult();
  return getElementType(gradient.getType());
}

AttentionProblem attn::getProblem(AttentionBackwardOp op) {
  AttentionProblem problem = getSizes(op, AttentionDims::get(op));
  problem.pass = AttentionPass::Backward;
  problem.hasScoreMod = op.hasScoreMod() && !isShift(op.getScoreMod());
  problem.hasAmax = llvm::any_of(getGradients(op), hasAmax);
  problem.dQueryType = getStoredType(op.getDQuery());
  problem.dKeyType = getStoredType(op.getDKey());
  problem.dValueType = getStoredType(op.getDValue());
  return problem;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

ScheduleOverrides attn::mergeFields(std::optional<ScheduleAttr> own,
                                    const ScheduleOverrides &others) {
  if (!own)
    return others;
  ScheduleOverrides merged = own->getFields();
  merged.addMissing(others);
  return merged;
}

/// True if the blocks of every list that a mask looks into are made of whole
/// tiles, which the kernels of the schedule can walk.
static bool walksLists(Region &maskMod, const AttentionProblem &problem,
                       const Schedule &schedule) {
  int64_t heads = schedule.getTileHeads(problem.getGroupSize());
  return schedule.kind != ScheduleKind::SmallCache &&
         llvm::all_of(maskMod.getOps<BlockListedOp>(), [&](auto listed) {
           return listed.getBlock()[0] * heads % schedule.tileM == 0 &&
                  listed.getBlock()[1] % schedule.tileN == 0;
         });
}

/// Puts the schedules that walk the lists of a mask before the others, which
/// would look into them pair by pair.
static void preferListedBlocks(Region &maskMod, const AttentionProblem &problem,
                               Selection &selection) {
  if (!maskMod.empty() && !maskMod.getOps<BlockListedOp>().empty())
    llvm::stable_sort(selection.ranked,
                      [&](const Candidate &a, const Candidate &b) {
                        return walksLists(maskMod, problem, a.schedule) &&
                               !walksLists(maskMod, problem, b.schedule);
                      });
}

/// Puts the schedules whose tiles are parts of the blocks of keys that a
/// score_mod tells apart, and read what is of a block once, before the others.
static void preferKeyBlocks(Region &scoreMod, Selection &selection) {
  SmallVector<int64_t> blocks;
  if (!scoreMod.empty())
    for (Operation &op : scoreMod.front())
      if (std::optional<int64_t> keys = getKeyBlock(&op))
        blocks.push_back(*keys);
  auto readsOnce = [&](const Candidate &candidate) {
    return llvm::all_of(blocks, [&](int64_t keys) {
      return keys % candidate.schedule.tileN == 0;
    });
  };
  if (!blocks.empty())
    llvm::stable_sort(selection.ranked,
                      [&](const Candidate &a, const Candidate &b) {
                        return readsOnce(a) && !readsOnce(b);
                      });
}

/// Why the heads of a group cannot share a tile; empty if they can.
static StringRef findPackingObstacle(AttentionOp op) {
  AttentionDims dims = AttentionDims::get(op);
  if (ShapedType::isDynamic(dims.queryHeads) ||
      ShapedType::isDynamic(dims.keyHeads))
    return "numbers of heads that are not known";
  // A tile of several heads skips only what none of them sees.
  if (op.hasMaskMod() && dependsOnArgument(op.getMaskMod(), kLoopH))
    return "a mask that differs from head to head";
  return "";
}

/// True if the user has set the flag.
static bool isSet(const ScheduleOverrides &overrides, bool Schedule::*flag) {
  Schedule values;
  overrides.apply(values);
  return values.*flag;
}

static RepairOp findRepair(AttentionOp op) {
  for (Operation *user : op->getUsers())
    if (auto repair = dyn_cast<RepairOp>(user))
      return repair;
  return RepairOp();
}

bool attn::repairsRows(AttentionOp op) {
  RepairOp repair = findRepair(op);
  return repair && repair.getWhole() == op.getOutput();
}

/// Chunks of rows are not repaired; and what repairs ends where no row of a
/// CTA's tile needs it, so that its CTAs have one tile each, and do not wait
/// for each other.
static void restrictToRepair(AttentionOp op, ScheduleOverrides &fields) {
  if (!findRepair(op))
    return;
  (void)fields.set("kind", "large_cache");
  if (!repairsRows(op))
    return;
  for (auto [field, value] :
       {std::pair("persistent_ctas", "0"), std::pair("output_tile", "false"),
        std::pair("cluster_m", "1")})
    (void)fields.set(field, value);
}

/// Takes from `features` what kernels of `op` do not have.
static void restrictFeatures(AttentionOp op, const TargetInfo &target,
                             GeneratorFeatures &features) {
  const Family &best = *getFamilies(target).front();
  if (!KeyStorage::of(op).findTmaObstacle().empty())
    features.wgmma = features.producers = false;
  // Of a tile that producers bring two warpgroups with the same rows take
  // columns as values, each up to 256, where it is not widened on the way.
  bool sharesTiles = best.facts.id == MmaFamily::Wgmma &&
                     AttentionDims::get(op).valueDim > best.facts.maxColumns &&
                     !isByte(op.getKey().getType());
  if (readsValueInKey(op, op.getKey(), op.getValue()) && !sharesTiles)
    features.wgmma = false;
  // Weights of a small cache are probabilities only in the end.
  if (op.hasProbMod())
    features.smallCache = false;
  // The kernels of small caches read whole panels.
  if (readsByRow(op) && target.kind == TargetKind::Gpu)
    features.smallCache = false;
  // A CTA has rows of one sequence, and writes them where they are packed.
  if (getRagged(op.getQuery()) && target.kind == TargetKind::Gpu)
    features.smallCache = false;
  // Positions in a caller's lists are no positions of keys.
  if (op.hasMaskMod() && !op.getMaskMod().getOps<BlockListedOp>().empty())
    features.fixedSplits = false;
  features.plans = static_cast<bool>(op.getKeyLengths());
  // Nor does anything go before the kernels of small caches.
  if (appendsFirst(op))
    features.smallCache = false;
  // A CTA reads of a tile's rows whether they saw a key, then writes it.
  if (repairsRows(op))
    features.dvSplit = false;
  // A mask that is no band the model knows may differ by rows all the same;
  // lengths of keys differ by batches, of which a cluster has one.
  bool differsByRow = op.hasMaskMod() || op.getQueryLengths();
  features.uniformRows = !differsByRow && !op.getKeyLengths();
  features.clusters &= !differsByRow;
}

/// True if the user wants the bits of a sequence whatever its batch.
static bool isInvariant(const ScheduleOverrides &overrides) {
  Schedule values;
  overrides.apply(values);
  return values.invariance != Invariance::None;
}

/// Of a decode step of sequences whose number or lengths are not known no
/// number of splits is right: a kernel in front chooses, from the lengths, how
/// long they are. Nothing if something else is asked for, or there is no such
/// kernel.
static std::optional<Selection> selectShares(AttentionOp op,
                                             const AttentionProblem &problem,
                                             const TargetInfo &target,
                                             ScheduleOverrides fields,
                                             const SelectorOptions &options) {
  AttentionDims dims = AttentionDims::get(op);
  bool isKnown = !ShapedType::isDynamic(dims.batch) &&
                 !ShapedType::isDynamic(dims.keyRows);
  if (isKnown || !options.features.plans || !isDecodeStep(op) ||
      target.kind != TargetKind::Gpu)
    return std::nullopt;
  for (StringRef name :
       {"kind", "splits", "split_keys", "balance", "cluster_m", "cluster_d",
        "chunk_rows", "spill", "persistent_ctas", "invariance"})
    if (fields.has(name.str()))
      return std::nullopt;
  (void)fields.set("kind", getName(ScheduleKind::SplitKV));
  (void)fields.set("balance", getName(Balance::Share));
  Result<Selection> selection =
      attn::selectSchedule(problem, target, fields, options);
  if (!selection)
    return std::nullopt;
  return std::move(*selection);
}

FailureOr<Selection> attn::selectSchedule(AttentionOp op,
                                          const TargetInfo &given,
                                          const ScheduleOverrides &overrides,
                                          bool allowTf32) {
  ScheduleOverrides fields = mergeFields(op.getSchedule(), overrides);
  AttentionProblem problem = getProblem(op);
  TargetInfo target = given;
  if (isInvariant(fields)) {
    // Of two batches, or two devices, a schedule may be better; it is the same.
    problem = ::getProblem(op, getCommonDims(op));
    target.smCount = lookupTarget(given.base)->smCount;
  }
  problem.allowTf32 = allowTf32 && problem.elementType == ElementType::F32;
  if (target.kind == TargetKind::Gpu && !problem.allowTf32 &&
      problem.elementType == ElementType::F32)
    return op.emitOpError()
           << "expected f16 or bf16 inputs on a GPU, got f32; products rounded "
              "to tf32 need the option allow-tf32";
  // Tiling leaves nothing of a key loop that is known to be empty.
  if (target.kind == TargetKind::Gpu && AttentionDims::get(op).keyRows == 0)
    return op.emitOpError()
           << "expected at least one key on a GPU, got a key length of 0; make "
              "a length that may be 0 dynamic";
  restrictToRepair(op, fields);
  SelectorOptions options;
  options.features = getGeneratorFeatures(problem, target);
  if (StringRef obstacle = findPackingObstacle(op); !obstacle.empty()) {
    options.features.packGqa = false;
    if (isSet(fields, &Schedule::packGqa))
      return op.emitOpError() << "expected pack_gqa to be false for "
                              << obstacle << ", got true";
  }
  restrictFeatures(op, target, options.features);
  std::optional<MaskDensity> density;
  if (problem.mask.density < 1) {
    density.emplace(op.getMaskMod(), problem);
    options.density = [&](const Schedule &schedule) {
      int64_t heads = schedule.getTileHeads(problem.getGroupSize());
      return density->get(schedule.tileM / heads, schedule.tileN);
    };
  }
  if (std::optional<Selection> shares =
          selectShares(op, problem, target, fields, options))
    return std::move(*shares);
  Result<Selection> selection =
      attn::selectSchedule(problem, target, fields, options);
  if (!selection)
    return op.emitOpError() << selection.error();
  preferListedBlocks(op.getMaskMod(), problem, *selection);
  preferKeyBlocks(op.getScoreMod(), *selection);
  return std::move(*selection);
}
