//===- AttnToTile.cpp - Tiled attention to one CTA's program -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass: makes kernels of the nests of each function (docs/Forms.md), and a
// program that launches them.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Utils/ScoreGradients.h"

#include "Backward/Backward.h"
#include "Forward/CombineKernel.h"
#include "Forward/ForwardKernel.h"
#include "Kernel/Appends.h"
#include "Launch/LaunchProgram.h"
#include "Launch/PrologueKernels.h"
#include "Linear/LinearAttention.h"
#include "SmallCache/SmallCache.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOTILE
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static std::string getRepairName(StringRef name) {
  return (name + "_repair").str();
}

static std::string getCombineName(StringRef name) {
  return (name + "_combine").str();
}

/// The kernel `name`, whose CTAs take a row tile, and a slice of the value
/// dimension, each: see ForwardKernel.cpp.
static void addKernel(LaunchProgram &program, const TiledAttention &attention,
                      StringRef name) {
  // Whole clusters: the last CTAs may have no rows.
  int64_t ctas = attention.getClusterCtas();
  Size rowTiles = program.dim("query", kSequence)
                      .ceilDiv(ctas * attention.getTilePositions()) *
                  ctas * attention.getDvSlices();
  Size heads = program.dim("query", kHead).ceilDiv(attention.getTileHeads());
  Size splits = program.getSplits(attention);
  Size batches = program.dim("query", kBatch);
  std::optional<TileOrder> order;
  if (!attention.onlyBelow)
    order = getTileOrder(attention);
  if (int64_t most = attention.schedule.getValues().persistentCtas)
    program.addKernel(name, (rowTiles * heads * batches * splits).min(most));
  else if (order && order->isOfBatches)
    program.addKernel(name, rowTiles * batches, heads, splits);
  else
    program.addKernel(name, rowTiles, heads, batches * splits);
}

/// The states of splits, and the kernel that combines them: [splits * B, Hq, M]
/// (KernelOperands.h), or of sequences behind each other their rows. Of ranges
/// that a plan chooses whole ones are no more than CTAs, and each sequence has
/// a rest besides.
static void addSplits(LaunchProgram &program, const TiledAttention &attention,
                      StringRef name) {
  OnlineAttentionOp step = attention.first;
  bool isPacked = static_cast<bool>(getRagged(step.getQuery()));
  Size splits = program.getSplits(attention);
  Size heads = program.dim("query", kHead);
  Size columns = program.constant(AttentionDims::get(step).valueDim);
  Size batches =
      isPacked ? program.getPackedRows("query") : program.dim("query", kBatch);
  Size parts = batches * splits;
  if (plansRanges(attention)) {
    Size whole = program.getPlannedTiles(attention);
    if (isPacked)
      whole = whole.floorDiv(attention.getDvSlices()) *
              attention.getTilePositions();
    parts = whole + batches;
  }
  SmallVector<Size> rowSizes = {parts, heads};
  Size rows = batches * heads;
  if (!isPacked) {
    rowSizes.push_back(program.dim("query", kSequence));
    rows = rows * rowSizes.back();
  }
  for (const WorkspaceView &view : attention.partials) {
    SmallVector<Size> sizes(rowSizes);
    if (view.name == "partial_output")
      sizes.push_back(columns);
    else if (isPacked)
      std::swap(sizes[0], sizes[1]);
    program.addWorkspace(view, sizes);
  }
  addKernel(program, attention, name);
  program.addKernel(getCombineName(name), rows.ceilDiv(kCombineWarps));
}

static void buildProgram(OpBuilder &builder, const TiledForward &forward,
                         StringRef name) {
  const TiledAttention &main = forward.main;
  LaunchProgram program(builder, main);
  addPrologue(program, main, name);
  if (main.lseView)
    program.addWorkspace(*main.lseView, {program.dim("query", kBatch),
                                         program.dim("query", kHead),
                                         program.dim("query", kSequence)});
  if (main.combine)
    addSplits(program, main, name);
  else
    addKernel(program, main, name);
  if (forward.whole)
    addKernel(program, *forward.whole, getRepairName(name));
  program.finish();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// A function's name as an identifier of PTX (PTX ISA, "Identifiers"): other
/// bytes are written as _xHH, and what begins with a digit gets a _ in front.
static std::string getEntryName(StringRef function) {
  std::string name;
  llvm::raw_string_ostream text(name);
  if (function.empty() || llvm::isDigit(function.front()))
    text << "_";
  for (char c : function)
    if (llvm::isAlnum(c) || c == '_')
      text << c;
    else
      text << "_x" << llvm::format_hex_no_prefix(uint8_t(c), 2, /*Upper=*/true);
  // A lone _ is none.
  return name == "_" ? "_attention" : name;
}

namespace {
struct ConvertAttnToTile
    : public attn::impl::ConvertAttnToTileBase<ConvertAttnToTile> {
  using ConvertAttnToTileBase::ConvertAttnToTileBase;

  void runOnOperation() override {
    if (failed(rejectUntiledBackward()))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    SmallVector<FunctionOpInterface> functions;
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (holds<OnlineAttentionOp>(function) || holdsBackward(function) ||
          holds<LinearAttentionOp>(function) || holds<AppendOp>(function) ||
          holds<MergeOp>(function))
        functions.push_back(function);
    for (FunctionOpInterface function : functions) {
      if (failed(rejectControlFlow(function)) ||
          failed(rejectElements(function)) ||
          failed(rejectOutputMods(function)))
        return signalPassFailure();
      std::string name = getEntryName(function.getName());
      builder.setInsertionPoint(function);
      FailureOr<int64_t> count = buildKernels(builder, function, name);
      if (failed(count))
        return signalPassFailure();
      numKernels += *count;
      function.erase();
    }
  }

private:
  /// --attn-tile-backward leaves these; they would be lost silently.
  LogicalResult rejectUntiledBackward() {
    WalkResult result = getOperation().walk([](AttentionBackwardOp op) {
      if (tensor::ExtractOp read = findScoreGradients(op).unknown)
        read.emitOpError()
            << "expected to read a tensor whose gradient is computed on a GPU "
               "at indices that do not depend on the score";
      else
        op.emitOpError() << "expected a backward that is tiled";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Elements are read byte by byte, and computed with in PTX.
  LogicalResult rejectElements(FunctionOpInterface function) {
    auto isRead = [](Type type) {
      if (auto integer = dyn_cast<IntegerType>(type))
        return integer.isSignless() &&
               llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
      return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
    };
    WalkResult result = function->walk([&](tensor::ExtractOp op) {
      if (isRead(op.getType()))
        return WalkResult::advance();
      op.emitOpError() << "expected a tensor of f16, bf16, f32, f64, i1, i8, "
                          "i16, i32 or i64 on the GPU, got one of "
                       << op.getType();
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Those that --attn-fuse-outputs leaves would be lost silently.
  LogicalResult rejectOutputMods(FunctionOpInterface function) {
    WalkResult result = function->walk([](OutputModOp op) {
      auto nest = op->getParentOfType<scf::ForallOp>();
      if (op.getSource().getDefiningOp<NormalizeOp>() ||
          op.getSource().getDefiningOp<OutputModOp>() ||
          (nest && holds<BackwardStepOp>(nest)))
        return WalkResult::advance();
      op.emitOpError() << "expected the output of an attention, or a gradient, "
                          "that nothing else reads on a GPU, whose kernels "
                          "store it: --attn-outline leaves others to the host";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// A program lists launches, of which none depends on a value.
  LogicalResult rejectControlFlow(FunctionOpInterface function) {
    Region &body = function.getFunctionBody();
    WalkResult result = function->walk([&](scf::ForallOp forall) {
      bool isOutermost = !forall->getParentOfType<scf::ForallOp>();
      Operation *parent = forall->getParentOp();
      if (!isOutermost || (parent == function && body.hasOneBlock()))
        return WalkResult::advance();
      std::string place =
          parent == function
              ? "a block of several"
              : ("'" + parent->getName().getStringRef() + "'").str();
      forall.emitError()
          << "expected an attention that its function computes once, whatever "
             "its arguments are, got one in "
          << place << ": put it into a function of its own";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Returns the number of kernels, without those of the prologue.
  FailureOr<int64_t> buildKernels(OpBuilder &builder, Operation *function,
                                  StringRef name) {
    if (holds<LinearAttentionOp>(function)) {
      WalkResult appends = function->walk([](AppendOp append) {
        append.emitOpError() << "expected no append beside a linear attention "
                                "on a GPU: append in a function of its own";
        return WalkResult::interrupt();
      });
      if (appends.wasInterrupted())
        return failure();
      return buildLinearKernels(builder, function, name);
    }
    if (holdsBackward(function))
      return buildBackwardKernels(builder, function, name);
    if (holds<OnlineAttentionOp>(function))
      return buildForwardKernels(builder, function, name);
    return buildOtherKernels(builder, function, name);
  }

  /// Of a function without an attention, which appends to caches, or merges.
  FailureOr<int64_t> buildOtherKernels(OpBuilder &builder, Operation *function,
                                       StringRef name) {
    FailureOr<TiledAttention> others =
        holds<AppendOp>(function) ? findAppends(function) : findMerge(function);
    if (failed(others))
      return failure();
    LaunchProgram program(builder,
                          ProgramHeader{others->prologue.front().op,
                                        others->operands, others->semantics,
                                        /*scale=*/1,
                                        /*deterministic=*/true,
                                        /*schedule=*/nullptr});
    addPrologue(program, *others, name);
    program.finish();
    if (failed(buildPrologueKernels(builder, *others, name)))
      return failure();
    return 0;
  }

  FailureOr<int64_t> buildForwardKernels(OpBuilder &builder,
                                         Operation *function, StringRef name) {
    FailureOr<TiledForward> forward = findTiledForward(function, allowTf32);
    if (failed(forward))
      return failure();
    TiledAttention &main = forward->main;
    if (main.isSmallCache()) {
      if (failed(buildSmallCacheKernels(builder, main, name)))
        return failure();
      return 2;
    }
    buildProgram(builder, *forward, name);
    if (failed(buildPrologueKernels(builder, main, name)) ||
        failed(buildForwardKernel(builder, main, name)))
      return failure();
    if (main.combine &&
        failed(buildCombineKernel(builder, main, getCombineName(name))))
      return failure();
    if (forward->whole && failed(buildForwardKernel(builder, *forward->whole,
                                                    getRepairName(name))))
      return failure();
    return main.combine || forward->whole ? 2 : 1;
  }

  template <typename OpTy>
  static bool holds(Operation *function) {
    return function->walk([](OpTy) { return WalkResult::interrupt(); })
        .wasInterrupted();
  }
};
} // namespace
