//===- LinearProbMod.cpp - Maps of probabilities that are linear ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/LinearProbMod.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

namespace {
/// What a value of the region is, as a function of p and j.
enum class Part {
  Zero,
  OfRow,    ///< depends on neither
  Diagonal, ///< OfRow where i == j, else 0: a select
  Linear,   ///< a sum of OfRow * p and Diagonal
  Other
};

/// Classifies the values of a prob_mod.
class Classifier {
public:
  explicit Classifier(Region &mod) : mod(mod) {}

  Part get(Value value);
  /// True if a select of the region is a diagonal one.
  bool hasDiagonal();
  /// What a diagonal select gives where i == j; null for another op.
  Value getOnDiagonal(Operation &op);

private:
  Part compute(Value value);
  std::optional<arith::CmpIPredicate> comparePlaces(Value condition);

  Region &mod;
  llvm::DenseMap<Value, Part> known;
};
} // namespace

static constexpr unsigned kProbability = 0, kRow = 3, kKey = 4;

/// Whether `condition` is i == j or i != j.
std::optional<arith::CmpIPredicate> Classifier::comparePlaces(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  Value row = mod.getArgument(kRow), key = mod.getArgument(kKey);
  Value sides[] = {compare.getLhs(), compare.getRhs()};
  for (Value &side : sides)
    if (auto cast = side.getDefiningOp<arith::IndexCastOp>())
      side = cast.getIn();
  bool arePlaces = (sides[0] == row && sides[1] == key) ||
                   (sides[0] == key && sides[1] == row);
  if (!arePlaces)
    return std::nullopt;
  return compare.getPredicate();
}

Value Classifier::getOnDiagonal(Operation &op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select)
    return Value();
  std::optional<arith::CmpIPredicate> compared =
      comparePlaces(select.getCondition());
  bool isEqual = compared == arith::CmpIPredicate::eq;
  if (!isEqual && compared != arith::CmpIPredicate::ne)
    return Value();
  Value on = isEqual ? select.getTrueValue() : select.getFalseValue(),
        off = isEqual ? select.getFalseValue() : select.getTrueValue();
  Part kind = get(on);
  return get(off) == Part::Zero && (kind == Part::OfRow || kind == Part::Zero)
             ? on
             : Value();
}

bool Classifier::hasDiagonal() {
  return llvm::any_of(mod.getOps(),
                      [&](Operation &op) { return getOnDiagonal(op); });
}

Part Classifier::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Part part = compute(value);
  known[value] = part;
  return part;
}

Part Classifier::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &mod.front()) {
    if (argument.getArgNumber() == kProbability)
      return Part::Linear;
    return argument.getArgNumber() == kKey ? Part::Other : Part::OfRow;
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentRegion() != &mod)
    return Part::OfRow; // From outside.
  if (matchPattern(value, m_AnyZeroFloat()))
    return Part::Zero;
  if (getOnDiagonal(*op))
    return Part::Diagonal;
  auto parts =
      llvm::map_to_vector(op->getOperands(), [&](Value v) { return get(v); });
  auto isOfRow = [](Part part) {
    return part == Part::OfRow || part == Part::Zero;
  };
  if (llvm::all_of(parts, isOfRow))
    return Part::OfRow;
  if (llvm::is_contained(parts, Part::Other))
    return Part::Other;
  if (isa<arith::NegFOp>(op))
    return parts[0];
  if (isa<arith::MulFOp>(op) && (isOfRow(parts[0]) || isOfRow(parts[1])))
    return isOfRow(parts[0]) ? parts[1] : parts[0];
  if (isa<arith::DivFOp>(op) && isOfRow(parts[1]))
    return parts[0];
  // A number that is added to every weight is no function of the output.
  if (isa<arith::AddFOp, arith::SubFOp>(op) &&
      !llvm::is_contained(parts, Part::OfRow))
    return Part::Linear;
  return Part::Other;
}

/// True if the region of `op` may be copied to another op, but for attn.length.
static bool canMove(Region &mod) {
  return llvm::all_of(mod.getOps(), [](Operation &op) {
    return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
           isa<tensor::ExtractOp, tensor::DimOp, LengthOp, YieldOp>(op);
  });
}

/// True if what is on the diagonal can be added to the output.
static bool canAddValues(AttentionOp op) {
  bool isPlain = !op.getBias() && !op.hasScoreMod() && !op.hasLengths() &&
                 !op.getDropoutRateAttr() && op.getDescales().empty();
  Operation *view = op.getValue().getDefiningOp();
  bool isView = isa_and_present<PagedOp, AppendOp, RaggedOp>(view) ||
                (view && view->getName().getStringRef() == "attn.select_heads");
  return isPlain && !isView && (!op.hasMaskMod() || canMove(op.getMaskMod()));
}

namespace {
/// Builds the output_mod in the place of a prob_mod.
class Folder {
public:
  explicit Folder(AttentionOp op)
      : op(op), outer(op.getLoc(), op), parts(op.getProbMod()) {}

  /// False if the prob_mod is no function of the output.
  bool run();

private:
  Value getLength(LengthOp length);
  void clone(ImplicitLocOpBuilder &b, Operation &inner, IRMapping &mapping);
  Value readValue(ImplicitLocOpBuilder &b, ValueRange at);

  AttentionOp op;
  ImplicitLocOpBuilder outer;
  Classifier parts;
  Value keys, group; ///< N and Hq / Hkv
};
} // namespace

Value Folder::getLength(LengthOp length) {
  Value of =
      length.getSequence() == Sequence::query ? op.getQuery() : op.getKey();
  return getValueOrCreateConstantIndexOp(
      outer, op.getLoc(), getDim(outer, op.getLoc(), of, kSequence));
}

void Folder::clone(ImplicitLocOpBuilder &b, Operation &inner,
                   IRMapping &mapping) {
  if (auto length = dyn_cast<LengthOp>(inner))
    mapping.map(length.getResult(), getLength(length));
  else
    b.clone(inner, mapping);
}

/// V[b, k(h), i, c], and 0 where there is no key i or it is hidden from row i;
/// `at` is (b, h, i, c).
Value Folder::readValue(ImplicitLocOpBuilder &b, ValueRange at) {
  Value row = at[kSequence];
  Value isSeen = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, keys);
  if (op.hasMaskMod()) {
    IRMapping mapping;
    Value places[] = {at[kBatch], at[kHead], row, row};
    mapping.map(op.getMaskMod().getArguments(), places);
    for (Operation &inner : op.getMaskMod().front().without_terminator())
      clone(b, inner, mapping);
    Value visible = mapping.lookupOrDefault(
        op.getMaskMod().front().getTerminator()->getOperand(0));
    isSeen = arith::AndIOp::create(b, isSeen, visible);
  }
  Value last =
      arith::SubIOp::create(b, keys, arith::ConstantIndexOp::create(b, 1));
  Value places[] = {at[kBatch], arith::DivUIOp::create(b, at[kHead], group),
                    arith::MinUIOp::create(b, row, last), at[kHeadDim]};
  Value read = tensor::ExtractOp::create(b, op.getValue(), places);
  Type score = op.getScoreType();
  if (read.getType() != score)
    read = arith::ExtFOp::create(b, score, read);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(score));
  return arith::SelectOp::create(b, isSeen, read, zero);
}

bool Folder::run() {
  Region &mod = op.getProbMod();
  Value yielded = mod.front().getTerminator()->getOperand(0);
  Part part = parts.get(yielded);
  bool hasDiagonal = parts.hasDiagonal();
  AttentionDims dims = AttentionDims::get(op);
  // Whatever the row, there is to be an element that can be read.
  bool isKnown = !ShapedType::isDynamic(dims.queryHeads) &&
                 !ShapedType::isDynamic(dims.keyHeads) && dims.keyHeads > 0 &&
                 dims.keyRows > 0;
  if ((part != Part::Linear && part != Part::Diagonal) || !canMove(mod) ||
      (hasDiagonal && (!canAddValues(op) || !isKnown)))
    return false;
  if (hasDiagonal) {
    keys = getValueOrCreateConstantIndexOp(
        outer, op.getLoc(),
        getDim(outer, op.getLoc(), op.getValue(), kSequence));
    group =
        arith::ConstantIndexOp::create(outer, dims.queryHeads / dims.keyHeads);
  }
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  outer.setInsertionPointAfter(op);
  auto made = OutputModOp::create(outer, type, op.getOutput(), ValueRange());
  outer.setInsertionPoint(op);
  Type index = outer.getIndexType();
  OpBuilder inner(op.getContext());
  Block *block = inner.createBlock(
      &made.getMod(), {}, {op.getScoreType(), index, index, index, index},
      SmallVector<Location>(5, op.getLoc()));
  auto b = ImplicitLocOpBuilder::atBlockEnd(op.getLoc(), block);
  IRMapping mapping;
  for (unsigned argument = 0; argument < kKey; ++argument)
    mapping.map(mod.getArgument(argument), block->getArgument(argument));
  Value value;
  if (hasDiagonal)
    value = readValue(b, block->getArguments().drop_front());
  for (Operation &each : mod.front().without_terminator()) {
    bool readsKey = llvm::any_of(each.getOperands(), [&](Value operand) {
      return !mapping.contains(operand) &&
             mod.isAncestor(operand.getParentRegion());
    });
    if (Value on = parts.getOnDiagonal(each))
      mapping.map(each.getResult(0),
                  arith::MulFOp::create(b, mapping.lookupOrDefault(on), value)
                      .getResult());
    else if (!readsKey) // What compares places is gone.
      clone(b, each, mapping);
  }
  YieldOp::create(b, mapping.lookupOrDefault(yielded));
  op.getOutput().replaceAllUsesExcept(made.getResult(), made);
  op.getOutput().setType(type.clone(op.getScoreType()));
  mod.getBlocks().clear();
  return true;
}

unsigned attn::foldLinearProbMods(Operation *root) {
  SmallVector<AttentionOp> found;
  root->walk([&](AttentionOp op) {
    if (op.hasProbMod())
      found.push_back(op);
  });
  return llvm::count_if(found, [](AttentionOp op) { return Folder(op).run(); });
}
