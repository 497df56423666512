//===- LinalgToAttn.cpp - Capture of attention graphs -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tries every contraction as the product of weights and values, and the pass
// `--attn-raise` around it.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/LinalgToAttn/LinalgToAttn.h"

#include "AttentionMatch.h"
#include "LinalgElements.h"

#include "attn/Conversion/Passes.h"
#include "attn/Conversion/TosaToAttn/TosaElements.h"
#include "attn/Dialect/Attn/IR/FiniteMasks.h"
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn {
#define GEN_PASS_DEF_ATTNRAISE
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::raise;
using Progress = MissedAttention::Progress;

//===----------------------------------------------------------------------===//
// Library
//===----------------------------------------------------------------------===//

void attn::registerElementReaders(DialectRegistry &registry) {
  registerLinalgElementReader(registry);
  registerTosaElementReader(registry);
}

static void remarkFiniteMask(Operation *op, double value) {
  emitRemark(op->getLoc())
      << "mask value " << value
      << " is finite and a row may have every key masked: kept as "
         "a change of the score; kernels of a GPU skip hidden keys, and "
         "compute such rows again, which --assume-visible-rows spares";
}

static void remarkReachableMask(Operation *op, double value) {
  emitRemark(op->getLoc())
      << "mask value " << value
      << " is a number that scores may reach: kept as a change of the score; "
         "--mask-threshold="
      << value << " says that none does, so that hidden keys are skipped";
}

namespace {
/// What an attention gives, and of how many summands it is one.
struct Part {
  Value result;
  size_t numSummands;
};
} // namespace

/// Builds the attention that `candidate` is. Merged loops are found on the way:
/// each try may ask for one more to be divided.
static FailureOr<Part> buildPart(RewriterBase &rewriter,
                                 const Candidate &candidate,
                                 const RaiseOptions &options,
                                 MissRecorder &recorder) {
  Operation *op = candidate.op;
  constexpr int kMaxTries = 8;
  LoopSplits splits;
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    splits.changed = false;
    IndexSpace space(op->getContext());
    ScalarGraph graph(space);
    ElementWalker walker(graph);
    auto match = matchAttention(walker, candidate, splits, options, recorder);
    if (failed(match) && splits.changed)
      continue;
    if (failed(match))
      return failure();
    if (match->score.finiteMask)
      remarkFiniteMask(op, *match->score.finiteMask);
    if (match->score.reachableMask)
      remarkReachableMask(op, *match->score.reachableMask);
    FailureOr<Value> result =
        buildAttention(rewriter, walker, *match, recorder);
    if (failed(result))
      return failure();
    return Part{*result, match->numSummands};
  }
  return recorder.miss(Progress::Score, op,
                       "expected loops to be merged in one way only");
}

/// Tries one side of `op` as the weights: as a whole, then as a sum of weights,
/// each of an attention of its own.
static LogicalResult tryRaise(RewriterBase &rewriter, Operation *op,
                              bool weightsAreLhs, const RaiseOptions &options,
                              MissRecorder &recorder) {
  auto whole = buildPart(rewriter, {op, weightsAreLhs}, options, recorder);
  if (succeeded(whole)) {
    rewriter.replaceOp(op, whole->result);
    return success();
  }
  std::optional<MissedAttention> miss = recorder.get();
  if (!miss || miss->progress < Progress::Exponential)
    return failure();
  SmallVector<Value> parts;
  size_t numSummands = 1;
  MissRecorder quiet(op);
  for (size_t summand = 0; summand < numSummands; ++summand) {
    auto part =
        buildPart(rewriter, {op, weightsAreLhs, summand}, options, quiet);
    // The parts before are dead.
    if (failed(part) || part->numSummands == 1)
      return failure();
    numSummands = part->numSummands;
    parts.push_back(part->result);
  }
  rewriter.replaceOp(op, sumAttentions(rewriter, op, parts));
  return success();
}

/// Keeps whichever miss came further.
static void keepNearest(std::optional<MissedAttention> &nearest,
                        const std::optional<MissedAttention> &miss) {
  if (miss && (!nearest || nearest->progress < miss->progress))
    nearest = miss;
}

RaiseResult attn::raiseAttention(RewriterBase &rewriter, Operation *root,
                                 const RaiseOptions &options) {
  SmallVector<Operation *> candidates;
  root->walk([&](Operation *op) {
    IndexSpace space(op->getContext());
    ScalarGraph graph(space);
    ElementWalker walker(graph);
    if (getContraction(walker, op))
      candidates.push_back(op);
  });
  RaiseResult result;
  for (Operation *op : candidates) {
    MissRecorder lhs(op), rhs(op);
    if (succeeded(
            tryRaise(rewriter, op, /*weightsAreLhs=*/true, options, lhs)) ||
        succeeded(
            tryRaise(rewriter, op, /*weightsAreLhs=*/false, options, rhs))) {
      ++result.found;
      ++result.raised;
      continue;
    }
    std::optional<MissedAttention> miss = lhs.get();
    keepNearest(miss, rhs.get());
    keepNearest(result.nearestMiss, miss);
    if (miss && miss->progress > Progress::Gate) {
      ++result.found;
      result.missed.push_back(*miss);
    }
  }
  return result;
}

void MissedAttention::attachTo(InFlightDiagnostic &diagnostic) const {
  diagnostic.attachNote(contraction->getLoc())
      << "nearest miss: this contraction as weights times values";
  diagnostic.attachNote(loc) << "the match broke here: " << reason;
}

InFlightDiagnostic attn::emitNoAttention(Operation *root,
                                         const RaiseResult &result) {
  // An implicit module has no line of its own: its first function does.
  Operation *place = root;
  if (isa<ModuleOp>(root) && !root->getRegion(0).front().empty())
    place = &root->getRegion(0).front().front();
  InFlightDiagnostic diagnostic =
      emitError(place->getLoc())
      << "found no attention: looked for softmax(query * key^T) * value, a "
         "contraction (of linalg or TOSA) one of whose operands is a "
         "softmax over another contraction";
  if (result.nearestMiss)
    result.nearestMiss->attachTo(diagnostic);
  else
    diagnostic.attachNote(place->getLoc()) << "there is no contraction in it";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct AttnRaise : public attn::impl::AttnRaiseBase<AttnRaise> {
  using AttnRaiseBase::AttnRaiseBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    AttnRaiseBase::getDependentDialects(registry);
    registerElementReaders(registry);
  }
  void runOnOperation() override;

private:
  LogicalResult cleanUp();
};
} // namespace

template <typename... OpTy>
static bool holds(Operation *root) {
  return root
      ->walk([](Operation *op) {
        return isa<OpTy...>(op) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Erases what is dead and folds reshapes that meet their inverse.
LogicalResult AttnRaise::cleanUp() {
  Operation *root = getOperation();
  IRRewriter rewriter(root->getContext());
  (void)runRegionDCE(rewriter, root->getRegions());
  RewritePatternSet patterns(root->getContext());
  AttentionOp::getCanonicalizationPatterns(patterns, root->getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns,
                                                     root->getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                       root->getContext());
  linalg::TransposeOp::getCanonicalizationPatterns(patterns,
                                                   root->getContext());
  return applyPatternsGreedily(root, std::move(patterns));
}

void AttnRaise::runOnOperation() {
  Operation *root = getOperation();
  bool hasAttention =
      holds<AttentionOp, AttentionBackwardOp, LinearAttentionOp>(root);
  if (failed(checkMaskThreshold(root, maskThreshold)))
    return signalPassFailure();
  RaiseOptions options{maskThreshold, assumeVisibleRows};
  IRRewriter rewriter(root->getContext());
  RaiseResult result = raiseAttention(rewriter, root, options);
  numFound += result.found;
  numRaised += result.raised;
  numMissed += result.missed.size();
  // An append or a merge is a program too, where nothing looks like an
  // attention.
  bool isOther = holds<AppendOp, MergeOp>(root) && !result.nearestMiss;
  if (result.raised == 0 && !hasAttention && !isOther && !allowNone) {
    emitNoAttention(root, result);
    return signalPassFailure();
  }
  for (const MissedAttention &missed : result.missed) {
    InFlightDiagnostic remark = emitRemark(missed.contraction->getLoc())
                                << "not captured as an attention";
    remark.attachNote(missed.loc) << missed.reason;
  }
  if (result.raised != 0 && failed(cleanUp()))
    return signalPassFailure();
  unsigned numChanged = 0;
  root->walk([&](AttentionOp op) {
    unsigned rows = raiseRows(rewriter, op);
    bool isCache = raiseCache(rewriter, op);
    numRows += rows;
    numCaches += isCache;
    numChanged += rows + isCache;
  });
  if (numChanged != 0 && failed(cleanUp()))
    signalPassFailure();
}
