//===- BackwardScores.cpp - What kernels of score gradients take ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardScores.h"

#include "Kernel/ExactSum.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/ScoreGradients.h"

using namespace mlir;
using namespace attn;

void attn::takeScoreNests(TiledBackward &backward, Operation *function) {
  SmallVector<BackwardNest, 0> others;
  for (BackwardNest &nest : backward.nests) {
    if (!nest.steps.front().getDScores()) {
      others.push_back(nest);
      continue;
    }
    ScoreNest &taken = backward.scoreNests.emplace_back();
    static_cast<BackwardNest &>(taken) = nest;
    for (Operation *user : nest.attention.forall->getUsers())
      if (auto sum = dyn_cast<BackwardSumOp>(user))
        taken.sum = sum;
    taken.attention.forall->walk([&](BackwardScatterOp scatter) {
      for (Operation *op = scatter; op != taken.attention.forall;
           op = op->getParentOp())
        if (auto loop = dyn_cast<scf::ForOp>(op))
          taken.scatterLoop = loop;
    });
  }
  backward.nests = others;
  function->walk([&](BackwardSumOp op) { backward.sums.push_back({op, ""}); });
}

/// The kernels divide by the scale: delta has it as a factor.
LogicalResult attn::checkScores(TiledBackward &backward) {
  BackwardStepOp step = backward.nests.front().steps.front();
  bool isUsed = !backward.scoreNests.empty() || !backward.sums.empty();
  double scale = step.getScaleValue();
  if (!isUsed || isDivisor(scale))
    return success();
  return step.emitOpError()
         << "expected a scale from 1e-30 to 1e30, or from -1e30 to -1e-30, for "
            "the gradient of a bias, a captured tensor or a sink on a GPU, got "
         << scale;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The name of the operand whose gradient a nest computes.
static std::string getSourceName(ArrayRef<KernelOperand> operands,
                                 ScoreNest &nest) {
  Value capture = nest.steps.front().getCapture();
  if (!capture)
    return "bias";
  for (const KernelOperand &operand : operands)
    if (operand.tensor == capture &&
        StringRef(operand.name).starts_with("capture"))
      return operand.name;
  llvm_unreachable("what score_mod reads is an operand");
}

static void addGradient(TiledAttention &attention, StringRef of,
                        Value gradient) {
  attention.operands.push_back({("d_" + of).str(), gradient,
                                cast<RankedTensorType>(gradient.getType()),
                                /*isOutput=*/true, /*vectorElements=*/1});
}

void attn::addScoreOperands(TiledAttention &attention,
                            TiledBackward &backward) {
  for (ScoreNest &nest : backward.scoreNests)
    addGradient(attention, getSourceName(attention.operands, nest),
                nest.sum ? Value(nest.sum.getResult())
                         : Value(nest.attention.forall.getRegionIterArgs()[0]));
  for (SumKernel &sum : backward.sums) {
    if (!sum.op.getLse())
      continue;
    auto firstOutput =
        llvm::find_if(attention.operands, [](const KernelOperand &operand) {
          return operand.isOutput;
        });
    Value sink = sum.op.getLike();
    KernelOperand operand{"sink", sink, cast<RankedTensorType>(sink.getType())};
    attention.operands.insert(firstOutput, operand);
    addGradient(attention, "sink", sum.op.getResult());
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The type of what a nest computes, as a workspace.
static tile::GlobalType getWorkspaceType(ScoreNest &nest) {
  auto type =
      cast<RankedTensorType>(nest.attention.forall.getResult(0).getType());
  return tile::GlobalType::get(type.getContext(), type.getShape(),
                               type.getElementType());
}

/// The vectors of a nest: a number for each row or key of each query head.
static void addVectorView(LaunchProgram &program, ScoreNest &nest,
                          const std::string &name) {
  program.addWorkspace(
      {name, getWorkspaceType(nest)},
      {program.dim("query", kBatch), program.dim("query", kHead),
       program.dim(nest.keysAreRows() ? "key" : "query", kSequence)});
}

/// CTAs for tiles of the gradient: keys, rows, and all other dimensions.
static void addTileKernel(LaunchProgram &program, ScoreNest &nest,
                          StringRef gradient) {
  int64_t rank = nest.attention.forall.getRank();
  Size keyTiles = program.dim(gradient, rank - 1).ceilDiv(nest.getTileN());
  Size rowTiles = program.dim(gradient, rank - 2).ceilDiv(nest.getTileM());
  program.addKernel(nest.entry, keyTiles, rowTiles,
                    program.getProduct(gradient, rank - 2));
}

/// CTAs for tiles of rows or keys of each head.
static void addVectorKernel(LaunchProgram &program, ScoreNest &nest) {
  bool ofKeys = nest.keysAreRows();
  Size length = program.dim(ofKeys ? "key" : "query", kSequence);
  Size tiles = length.ceilDiv(ofKeys ? nest.getTileN() : nest.getTileM());
  Size heads = program.dim("query", kHead);
  program.addKernel(nest.entry, tiles, heads, program.dim("query", kBatch));
}

/// The exact sums of the elements of a gradient.
static void addSumsView(LaunchProgram &program, ScoreNest &nest,
                        StringRef gradient) {
  tile::GlobalType type = getWorkspaceType(nest);
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(ExactSum::kWords);
  SmallVector<Size> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(program.dim(gradient, dim));
  sizes.push_back(program.constant(ExactSum::kWords));
  MLIRContext *context = type.getContext();
  program.addWorkspace(
      {(gradient + "_sums").str(),
       tile::GlobalType::get(context, shape, IntegerType::get(context, 64))},
      sizes);
}

/// What makes the sums 0, adds to them, and rounds them.
static void addScatterKernels(LaunchProgram &program, ScoreNest &nest,
                              StringRef gradient) {
  addSumsView(program, nest, gradient);
  // All scores may belong to one element.
  Size scores = program.getProduct("query", kSequence + 1);
  scores = scores * program.dim("key", kSequence);
  program.addConstraint(
      scores.floorDiv(ExactSum::kMostAddends),
      "expected fewer than 2^39 scores, which add to the gradient of a tensor "
      "that score_mod reads");
  int64_t rank = getWorkspaceType(nest).getRank();
  Size elements = program.getProduct(gradient, rank).ceilDiv(32);
  nest.clearEntry = nest.entry + "_clear";
  nest.roundEntry = nest.entry + "_round";
  nest.entry += "_scatter";
  program.addKernel(nest.clearEntry, elements);
  program.addKernel(nest.entry,
                    program.getSize(nest.scatterLoop.getUpperBound()));
  program.addKernel(nest.roundEntry, elements);
}

void attn::addScoreKernels(LaunchProgram &program, TiledBackward &backward,
                           StringRef name) {
  ArrayRef<KernelOperand> operands = backward.nests.front().attention.operands;
  unsigned view = 0;
  for (ScoreNest &nest : backward.scoreNests) {
    std::string of = getSourceName(operands, nest);
    std::string gradient = "d_" + of;
    nest.entry = (name + "_d" + of).str();
    if (nest.scatterLoop) {
      nest.view = view++;
      addScatterKernels(program, nest, gradient);
      continue;
    }
    if (!nest.sum) {
      addTileKernel(program, nest, gradient);
      continue;
    }
    nest.view = view++;
    addVectorView(program, nest, gradient + "_vectors");
    for (SumKernel &sum : backward.sums)
      if (sum.op == nest.sum) {
        sum.entry = nest.entry;
        sum.view = nest.view;
      }
    nest.entry += nest.keysAreRows() ? "_keys" : "_rows";
    addVectorKernel(program, nest);
  }
  for (SumKernel &sum : backward.sums) {
    if (sum.op.getLse()) {
      sum.entry = (name + "_dsink").str();
      sum.view = view + 1; // delta, after lse
    }
    for (const KernelOperand &operand : operands)
      if (operand.tensor == sum.op.getResult())
        program.addKernel(sum.entry, program.getProduct(
                                         operand.name, operand.type.getRank()));
  }
}
