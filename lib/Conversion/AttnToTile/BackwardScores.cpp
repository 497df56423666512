//===- BackwardScores.cpp - What kernels of score gradients take ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardScores.h"

#include "ExactSum.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/ADT/StringExtras.h"

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
  if (!isUsed || step.getScaleValue() != 0)
    return success();
  return step.emitOpError() << "expected a scale other than 0 for the gradient "
                               "of a bias, a captured tensor or a sink on a "
                               "GPU, got 0";
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

/// The vectors of a nest: a number for each row or key of each query head.
static WorkspaceView getVectorView(ScoreNest &nest, StringRef name) {
  auto type =
      cast<RankedTensorType>(nest.attention.forall.getResult(0).getType());
  std::string sizes[] = {"dim(query, 0)", "dim(query, 1)",
                         nest.keysAreRows() ? "dim(key, 2)" : "dim(query, 2)"};
  WorkspaceView view;
  view.name = name.str();
  view.type = tile::GlobalType::get(type.getContext(), type.getShape(),
                                    type.getElementType());
  view.bytes = llvm::join(ArrayRef(sizes), " * ") + " * 4";
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (type.isDynamicDim(dim))
      view.sizes.push_back(size);
  view.strides = {sizes[1] + " * " + sizes[2], sizes[2]};
  view.byteOffset = "0";
  return view;
}

/// dim(tensor, number) in tiles.
static std::string countTiles(StringRef tensor, int64_t number, int64_t tile) {
  return ("ceildiv(dim(" + tensor + ", " + Twine(number) + "), " + Twine(tile) +
          ")")
      .str();
}

/// The product of the first `rank` sizes.
static std::string getProduct(StringRef tensor, int64_t rank) {
  std::string product;
  for (int64_t dim = 0; dim < rank; ++dim)
    product +=
        (Twine(dim ? " * " : "") + "dim(" + tensor + ", " + Twine(dim) + ")")
            .str();
  return rank ? product : "1";
}

/// CTAs for tiles of the gradient: keys, rows, and all other dimensions.
static std::array<std::string, 3> getTileGrid(ScoreNest &nest,
                                              StringRef gradient) {
  int64_t rank = nest.attention.forall.getRank();
  return {countTiles(gradient, rank - 1, nest.getTileN()),
          countTiles(gradient, rank - 2, nest.getTileM()),
          getProduct(gradient, rank - 2)};
}

/// The exact sums of the elements of a gradient.
static WorkspaceView getSumsView(ScoreNest &nest, StringRef gradient) {
  auto type =
      cast<RankedTensorType>(nest.attention.forall.getResult(0).getType());
  MLIRContext *context = type.getContext();
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(ExactSum::kWords);
  WorkspaceView view;
  view.name = (gradient + "_sums").str();
  view.type =
      tile::GlobalType::get(context, shape, IntegerType::get(context, 64));
  std::string stride = std::to_string(ExactSum::kWords);
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    view.strides.insert(view.strides.begin(), stride);
    std::string size = ("dim(" + gradient + ", " + Twine(dim) + ")").str();
    stride += " * " + size;
    if (type.isDynamicDim(dim))
      view.sizes.insert(view.sizes.begin(), size);
  }
  view.bytes = stride + " * 8";
  view.byteOffset = "0";
  return view;
}

/// A size that is computed from those of operands.
static std::string toExpression(Value value, ArrayRef<KernelOperand> operands) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return std::to_string(*number);
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    for (const KernelOperand &operand : operands)
      if (operand.tensor == dim.getSource())
        return ("dim(" + operand.name + ", " + Twine(*dim.getConstantIndex()) +
                ")")
            .str();
  std::string a = toExpression(op->getOperand(0), operands);
  std::string b = toExpression(op->getOperand(1), operands);
  if (isa<arith::CeilDivUIOp>(op))
    return "ceildiv(" + a + ", " + b + ")";
  assert((isa<arith::MulIOp, arith::AddIOp>(op)) && "as the tiler counts CTAs");
  return "(" + a + (isa<arith::MulIOp>(op) ? " * " : " + ") + b + ")";
}

/// What makes the sums 0, adds to them, and rounds them.
static void addScatterKernels(LaunchPlan &plan, ScoreNest &nest,
                              ArrayRef<KernelOperand> operands,
                              const std::string &gradient) {
  plan.workspaces.push_back(getSumsView(nest, gradient));
  // All scores may belong to one element.
  plan.constraints.push_back(
      {"floordiv(dim(query, 0) * dim(query, 1) * dim(query, 2) * dim(key, "
       "2), " +
           std::to_string(ExactSum::kMostAddends) + ")",
       "expected fewer than 2^39 scores, which add to the gradient of a tensor "
       "that score_mod reads"});
  auto type =
      cast<RankedTensorType>(nest.attention.forall.getResult(0).getType());
  std::string elements =
      "ceildiv(" + getProduct(gradient, type.getRank()) + ", 32)";
  nest.clearEntry = nest.entry + "_clear";
  nest.roundEntry = nest.entry + "_round";
  nest.entry += "_scatter";
  plan.kernels.push_back({nest.clearEntry, {elements, "1", "1"}, /*warps=*/1});
  plan.kernels.push_back(
      {nest.entry,
       {toExpression(nest.scatterLoop.getUpperBound(), operands), "1", "1"},
       nest.attention.schedule.getWarps()});
  plan.kernels.push_back({nest.roundEntry, {elements, "1", "1"}, /*warps=*/1});
}

void attn::addScoreKernels(LaunchPlan &plan, TiledBackward &backward,
                           StringRef name) {
  ArrayRef<KernelOperand> operands = backward.nests.front().attention.operands;
  unsigned view = 0;
  for (ScoreNest &nest : backward.scoreNests) {
    std::string of = getSourceName(operands, nest);
    std::string gradient = "d_" + of;
    nest.entry = (name + "_d" + of).str();
    int64_t warps = nest.attention.schedule.getWarps();
    if (nest.scatterLoop) {
      nest.view = view++;
      addScatterKernels(plan, nest, operands, gradient);
      continue;
    }
    if (!nest.sum) {
      plan.kernels.push_back({nest.entry, getTileGrid(nest, gradient), warps});
      continue;
    }
    bool ofKeys = nest.keysAreRows();
    nest.view = view++;
    plan.workspaces.push_back(getVectorView(nest, gradient + "_vectors"));
    for (SumKernel &sum : backward.sums)
      if (sum.op == nest.sum) {
        sum.entry = nest.entry;
        sum.view = nest.view;
      }
    nest.entry += ofKeys ? "_keys" : "_rows";
    plan.kernels.push_back(
        {nest.entry,
         {countTiles(ofKeys ? "key" : "query", 2,
                     ofKeys ? nest.getTileN() : nest.getTileM()),
          "dim(query, 1)", "dim(query, 0)"},
         warps});
  }
  for (SumKernel &sum : backward.sums) {
    if (sum.op.getLse()) {
      sum.entry = (name + "_dsink").str();
      sum.view = view + 1; // delta, after lse
    }
    for (const KernelOperand &operand : operands)
      if (operand.tensor == sum.op.getResult())
        plan.kernels.push_back(
            {sum.entry,
             {getProduct(operand.name, operand.type.getRank()), "1", "1"},
             /*warps=*/1});
  }
}
