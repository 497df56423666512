//===- RaiseOutputs.cpp - What follows an attention, captured -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-raise-outputs. The output of an attention is followed while
// one op uses it and gives a tensor of the same elements, moved or changed one
// by one. The last of these tensors that is more than a view is an
// attn.output_mod: its element is read off as one of a score is. Where a
// reduction gives the largest magnitude of what there is before (AmaxRaiser.h),
// following goes on behind that.
//
//===----------------------------------------------------------------------===//

#include "AmaxRaiser.h"
#include "AttentionMatch.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn {
#define GEN_PASS_DEF_ATTNRAISEOUTPUTS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::raise;

using Places = SmallVector<AffineExpr>;

namespace {
class OutputRaiser {
public:
  /// Of `output`, that of an attention or of an attn.output_mod behind it.
  OutputRaiser(RewriterBase &rewriter, Value output, bool takesBytes)
      : rewriter(rewriter), output(output), takesBytes(takesBytes),
        space(rewriter.getContext()), graph(space), walker(graph) {}

  /// What is captured; null if nothing is.
  OutputModOp run();

private:
  void follow();
  std::optional<Places> getPlaces(Operation *op, OpOperand &use,
                                  const Places &places);
  OutputModOp build(Value result, ScalarRef element, const Layout &layout);

  RewriterBase &rewriter;
  Value output;
  bool takesBytes; ///< outputs of 8 bits
  IndexSpace space;
  ScalarGraph graph;
  ElementWalker walker;
  Places own; ///< the variables (b, h, i, c)
  /// The tensors that follow the output, and where its element (b, h, i, c) is
  /// in each.
  SmallVector<std::pair<Value, Places>> chain;
};
} // namespace

/// The place in the result of an elementwise op on all loops; nothing if `op`
/// is none, or `use` is broadcast.
static std::optional<Places>
moveThroughLoops(linalg::LinalgOp op, OpOperand &use, const Places &places) {
  if (op.getNumParallelLoops() != op.getNumLoops() ||
      op->getNumResults() != 1 || op.isDpsInit(&use))
    return std::nullopt;
  AffineMap from = op.getMatchingIndexingMap(&use),
            to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!from.isPermutation() || !to.isPermutation())
    return std::nullopt;
  Places loops(places.size());
  for (auto [dim, place] : llvm::enumerate(places))
    loops[from.getDimPosition(dim)] = place;
  return llvm::map_to_vector<4>(
      llvm::seq<unsigned>(0, places.size()),
      [&](unsigned dim) { return loops[to.getDimPosition(dim)]; });
}

/// TOSA ops that work on elements; operands of one shape are not broadcast.
static bool isTosaElementwise(Operation *op) {
  static constexpr StringRef names[] = {
      "tosa.mul",  "tosa.add",   "tosa.sub",     "tosa.sigmoid", "tosa.tanh",
      "tosa.cast", "tosa.clamp", "tosa.maximum", "tosa.minimum"};
  return llvm::is_contained(names, op->getName().getStringRef());
}

std::optional<Places> OutputRaiser::getPlaces(Operation *op, OpOperand &use,
                                              const Places &places) {
  Value source = use.get(), result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  if (isa<tensor::CastOp>(op) ||
      (isTosaElementwise(op) &&
       type.getShape() == cast<ShapedType>(source.getType()).getShape()))
    return places;
  StringRef name = op->getName().getStringRef();
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) ||
      (name == "tosa.reshape" && use.getOperandNumber() == 0)) {
    // The same number of the element in both.
    SmallVector<AffineExpr> from = walker.getSizes(source),
                            to = walker.getSizes(result);
    auto moved = walker.reshape(places, from, to);
    return moved ? std::optional(Places(*moved)) : std::nullopt;
  }
  SmallVector<int64_t> permutation;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    permutation.assign(transpose.getPermutation().begin(),
                       transpose.getPermutation().end());
  else if (auto perms = op->getAttrOfType<DenseI32ArrayAttr>("perms");
           perms && name == "tosa.transpose")
    permutation.assign(perms.asArrayRef().begin(), perms.asArrayRef().end());
  if (!permutation.empty()) {
    if (use.getOperandNumber() != 0)
      return std::nullopt;
    return llvm::map_to_vector<4>(permutation,
                                  [&](int64_t dim) { return places[dim]; });
  }
  if (auto loops = dyn_cast<linalg::LinalgOp>(op))
    return moveThroughLoops(loops, use, places);
  return std::nullopt;
}

void OutputRaiser::follow() {
  for (unsigned dim = 0; dim < 4; ++dim)
    own.push_back(space.addVariable(walker.getSize(output, dim),
                                    /*splittable=*/false));
  chain.push_back({output, own});
  while (true) {
    auto [value, places] = chain.back();
    if (!value.hasOneUse())
      return;
    OpOperand &use = *value.use_begin();
    Operation *op = use.getOwner();
    bool isHere = op->getBlock() == output.getParentBlock() &&
                  op->getNumResults() == 1 &&
                  isa<RankedTensorType>(op->getResult(0).getType());
    std::optional<Places> moved;
    if (isHere)
      moved = getPlaces(op, use, places);
    if (!moved)
      return;
    for (AffineExpr &place : *moved)
      place = space.simplify(place);
    chain.push_back({op->getResult(0), *moved});
  }
}

/// The attention that `output` is of, and the output_mods between, in order.
static SmallVector<Operation *> getProducers(Value output) {
  SmallVector<Operation *> producers;
  while (output) {
    Operation *op = output.getDefiningOp();
    producers.push_back(op);
    auto mod = dyn_cast<OutputModOp>(op);
    output = mod ? mod.getSource() : Value();
  }
  std::reverse(producers.begin(), producers.end());
  return producers;
}

/// The ops of `block` in which something depends on `values`.
static DenseSet<Operation *> getUsersOf(SmallVector<Value> values,
                                        Block &block) {
  DenseSet<Operation *> users;
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers())
      if (Operation *op = block.findAncestorOpInBlock(*user);
          op && users.insert(op).second)
        llvm::append_range(values, op->getResults());
  return users;
}

/// What is computed in front of `end` of largest magnitudes of `producers`, in
/// order. Nothing if `end` depends on it, or it cannot be done behind.
static std::optional<SmallVector<Operation *>>
getDependents(ArrayRef<Operation *> producers, Operation *end) {
  SmallVector<Value> magnitudes;
  for (Operation *producer : producers)
    if (auto mod = dyn_cast<OutputModOp>(producer); mod && mod.getAmax())
      magnitudes.push_back(mod.getAmax());
  DenseSet<Operation *> users = getUsersOf(magnitudes, *end->getBlock());
  if (users.contains(end))
    return std::nullopt;
  SmallVector<Operation *> front;
  for (Operation &op : *end->getBlock()) {
    if (&op == end)
      break;
    if (!users.contains(&op))
      continue;
    if (!isMemoryEffectFree(&op))
      return std::nullopt;
    front.push_back(&op);
  }
  return front;
}

OutputModOp OutputRaiser::build(Value result, ScalarRef element,
                                const Layout &layout) {
  OperandSource source{output, own};
  std::optional<Layout> from = getLayout(walker, source);
  if (!from)
    return OutputModOp();
  Location loc = result.getLoc();
  rewriter.setInsertionPoint(result.getDefiningOp());
  auto whole = cast<RankedTensorType>(output.getType());
  auto type = cast<RankedTensorType>(result.getType());
  FloatType score = getScoreType(output);
  auto mod = OutputModOp::create(
      rewriter, loc, whole.clone(type.getElementType()), output, ValueRange());
  Type index = rewriter.getIndexType();
  Block *block = rewriter.createBlock(&mod.getMod(), {},
                                      {score, index, index, index, index},
                                      SmallVector<Location>(5, loc));
  ScalarEmitter emitter(rewriter, loc, walker, score);
  for (unsigned dim = 0; dim < 4; ++dim)
    emitter.bind(own[dim], block->getArgument(dim + 1));
  emitter.bind(walker.element(output, own), block->getArgument(0));
  Value value = emitter.emit(element);
  if (!value) {
    rewriter.eraseOp(mod);
    return OutputModOp();
  }
  YieldOp::create(rewriter, loc, value);
  rewriter.setInsertionPointAfter(mod);
  Value moved =
      convertLayout(rewriter, loc, space, mod.getResult(), *from, layout);
  if (moved.getType() != type)
    moved = tensor::CastOp::create(rewriter, loc, type, moved);
  rewriter.replaceAllUsesWith(result, moved);
  return mod;
}

/// Moves the attention, and output_mods between, to the last one, whose
/// captures may be results of attentions between: programs are in the order of
/// attentions. What their largest magnitudes are used for goes behind it.
static void moveTogether(RewriterBase &rewriter, OutputModOp mod) {
  SmallVector<Operation *> producers = getProducers(mod.getSource());
  Operation *last = mod;
  if (auto dependents = getDependents(producers, mod))
    for (Operation *op : *dependents) {
      rewriter.moveOpAfter(op, last);
      last = op;
    }
  DominanceInfo dominance;
  for (Operation *producer : producers)
    for (Operation *user : producer->getUsers())
      if (user != mod && !llvm::is_contained(producers, user) &&
          !dominance.properlyDominates(mod.getOperation(), user))
        return;
  for (Operation *producer : producers)
    rewriter.moveOpBefore(producer, mod);
}

/// True if `element` is a sum of what is made of `output` and something that is
/// neither a product, as a share of the values is, nor another attention's. A
/// residual sum is the graph's: what norms its rows reads it again, and a
/// program's operands should not depend on what stands behind it.
static bool isResidualSum(ScalarRef element, ScalarRef output) {
  return (element->is("arith.addf") || element->is("arith.subf")) &&
         llvm::any_of(element->operands, [&](ScalarRef summand) {
           bool isOfAttention = summand->kind == Scalar::Kind::Read &&
                                summand->source.getDefiningOp<AttentionOp>();
           return !contains(summand, output) && !summand->is("arith.mulf") &&
                  !isOfAttention;
         });
}

/// True if no number of `scalar` is further from 0 than `limit`: of
/// min(max(x, low), high), in either order.
static bool isClamped(ScalarRef scalar, double limit) {
  bool hasLow = false, hasHigh = false;
  while (true) {
    bool isMost = scalar->is("arith.minimumf") || scalar->is("arith.minnumf");
    bool isLeast = scalar->is("arith.maximumf") || scalar->is("arith.maxnumf");
    if (!isMost && !isLeast)
      return false;
    bool isSecond = scalar->operands[1]->isConstant();
    ScalarRef bound = scalar->operands[isSecond];
    if (!bound->isConstant())
      return false;
    // An outer bound beyond the limits is what a number becomes.
    if ((isMost && bound->value < -limit) || (isLeast && bound->value > limit))
      return false;
    hasHigh |= isMost && std::abs(bound->value) <= limit;
    hasLow |= isLeast && std::abs(bound->value) <= limit;
    if (hasLow && hasHigh)
      return true;
    scalar = scalar->operands[!isSecond];
  }
}

/// `element` before it is rounded to `type`; null if a graph rounds other than
/// an output_mod does, which goes no further than the largest number.
static ScalarRef getUnrounded(ScalarRef element, FloatType type) {
  if (!element || !isFloat8(type))
    return element;
  double largest =
      APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  bool isSame =
      element->is("arith.truncf") && isClamped(element->operands[0], largest);
  return isSame ? element->operands[0] : nullptr;
}

OutputModOp OutputRaiser::run() {
  if (isFloat8(output.getType()))
    return OutputModOp();
  follow();
  ScalarRef source = walker.element(output, own);
  while (chain.size() > 1) {
    auto [result, places] = chain.pop_back_val();
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(result.getType()));
    std::optional<Layout> layout = getLayout(walker, {result, places});
    if (!type || !layout ||
        (isOfFewBits(type) && !(takesBytes && isFloat8(type))))
      continue;
    ScalarRef element = getUnrounded(walker.element(result, places), type);
    bool isChanged = element && element != source && contains(element, source);
    if (!isChanged || isResidualSum(element, source))
      continue;
    if (!getDependents(getProducers(output), result.getDefiningOp()))
      continue;
    OutputModOp mod = build(result, element, *layout);
    if (!mod)
      continue;
    // Nothing rounds before the function.
    SmallVector<Operation *> unused = {result.getDefiningOp()};
    while (chain.size() > 1)
      unused.push_back(chain.pop_back_val().first.getDefiningOp());
    for (Operation *op : unused)
      rewriter.eraseOp(op);
    moveTogether(rewriter, mod);
    return mod;
  }
  return OutputModOp();
}

/// What `output` is becomes an output_mod's alone: it is not rounded.
static void widen(RewriterBase &rewriter, Value output) {
  auto whole = cast<RankedTensorType>(output.getType());
  rewriter.modifyOpInPlace(output.getDefiningOp(), [&] {
    output.setType(whole.clone(getScoreType(output)));
  });
}

/// Captures what follows the output of an attention; true if something does.
static bool raiseOutputs(RewriterBase &rewriter, AttentionOp attention,
                         bool takesBytes) {
  Value output = attention.getOutput();
  while (true) {
    if (OutputModOp measured = raiseAmax(rewriter, output)) {
      // Of an output_mod it is that itself.
      if (output == attention.getOutput())
        widen(rewriter, output);
      output = measured.getResult();
    } else if (output != attention.getOutput()) {
      return true;
    }
    OutputModOp mod = OutputRaiser(rewriter, output, takesBytes).run();
    if (!mod)
      return output != attention.getOutput();
    widen(rewriter, output);
    output = mod.getResult();
  }
}

namespace {
struct AttnRaiseOutputs
    : public attn::impl::AttnRaiseOutputsBase<AttnRaiseOutputs> {
  using AttnRaiseOutputsBase::AttnRaiseOutputsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    AttnRaiseOutputsBase::getDependentDialects(registry);
    registerElementReaders(registry);
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<AttentionOp> attentions;
    getOperation()->walk([&](AttentionOp op) { attentions.push_back(op); });
    for (AttentionOp op : attentions)
      numRaised += raiseOutputs(rewriter, op, bytes);
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};
} // namespace
