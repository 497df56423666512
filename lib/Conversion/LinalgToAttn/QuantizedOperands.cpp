//===- QuantizedOperands.cpp - 8-bit keys and values in graphs --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key and a value that a graph widens from 8 bits and multiplies by a number
// each are a cache of 8 bits with descales: the attention reads the bytes.
// Numbers of heads or tokens are factors of scores and of weights. With a query
// and weights of 8 bits beside them all products are of 8 bits.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;
using namespace attn::raise;

namespace {
/// A number, or the only element of a tensor.
struct Factor {
  double number = 1;
  Value tensor;
};

/// The elements of a tensor of floats, one for each batch, head or row of the
/// operand: each index is one of these (kBatch, kHead, kSequence), or 0 for -1.
struct RowFactor {
  Value tensor;
  SmallVector<int64_t> dims;
  bool divides;
};

/// What one operand, [B, H, N, D], is made of.
class Dequantization {
public:
  explicit Dequantization(Value tensor)
      : tensor(tensor), space(tensor.getContext()), graph(space),
        walker(graph) {}

  /// True if it is the elements of a tensor of 8 bits times factors, each in
  /// its place or moved by reshapes and transposes.
  bool match();
  Type getStoredType() { return getElementTypeOrSelf(source.tensor); }
  Value buildBytes(OpBuilder &builder, Location loc);
  Value buildDescale(OpBuilder &builder, Location loc);
  bool hasRowFactors() const { return !rowFactors.empty(); }
  /// `value` times the factors of rows, at `at` (b, h, j) of the operand.
  Value applyRowFactors(OpBuilder &builder, Location loc, Value value,
                        ArrayRef<Value> at);

private:
  bool isOfRows(ScalarRef read);
  bool takeRowFactor(ScalarRef read, bool divides);
  bool takeFactor(ScalarRef scalar, bool divides);
  bool step();

  Value tensor;
  IndexSpace space;
  ScalarGraph graph;
  ElementWalker walker;
  Layout wanted;
  OperandSource source;
  SmallVector<AffineExpr> variables; ///< the operand's indices
  SmallVector<Factor> factors;
  SmallVector<RowFactor> rowFactors;
};
} // namespace

/// True for an element of a tensor of floats that all columns share.
bool Dequantization::isOfRows(ScalarRef read) {
  if (!isa<FloatType>(getElementTypeOrSelf(read->source)) ||
      isByte(read->source.getType()))
    return false;
  return llvm::none_of(read->operands, [&](ScalarRef index) {
    return index->isIndex() && dependsOn(index->affine[0], variables[kHeadDim]);
  });
}

bool Dequantization::takeRowFactor(ScalarRef read, bool divides) {
  RowFactor factor{read->source, {}, divides};
  for (ScalarRef index : read->operands) {
    AffineExpr expr = index->isIndex()      ? index->affine[0]
                      : index->isConstant() ? space.constant(index->value)
                                            : AffineExpr();
    const auto *found = llvm::find(variables, expr);
    if (expr && expr == space.constant(0))
      factor.dims.push_back(-1);
    else if (expr && found != variables.end())
      factor.dims.push_back(found - variables.begin());
    else
      return false;
  }
  rowFactors.push_back(factor);
  return true;
}

/// Takes a constant, or the element of a tensor that has no other.
bool Dequantization::takeFactor(ScalarRef scalar, bool divides) {
  if (scalar->isConstant()) {
    factors.push_back({divides ? 1 / scalar->value : scalar->value, {}});
    return true;
  }
  if (divides || scalar->kind != Scalar::Kind::Read ||
      !isa<FloatType>(getElementTypeOrSelf(scalar->source)) ||
      cast<ShapedType>(scalar->source.getType()).getNumElements() != 1)
    return false;
  factors.push_back({1, scalar->source});
  return true;
}

/// Through the op that makes `source`: one tensor times factors.
bool Dequantization::step() {
  ScalarRef scalar = walker.step(source.tensor, source.indices);
  if (!scalar)
    return false;
  SmallVector<std::pair<ScalarRef, bool>> open = {{scalar, false}};
  ScalarRef read = nullptr;
  while (!open.empty()) {
    auto [part, divides] = open.pop_back_val();
    bool isProduct = part->is("arith.mulf");
    if (isProduct || part->is("arith.divf")) {
      open.push_back({part->operands[0], divides});
      open.push_back({part->operands[1], divides != !isProduct});
      continue;
    }
    if (part->is("arith.sitofp"))
      part = part->operands[0];
    auto type = part->kind == Scalar::Kind::Read
                    ? dyn_cast<ShapedType>(part->source.getType())
                    : ShapedType();
    bool isNumber = type && type.hasStaticShape() && type.getNumElements() == 1;
    bool isTensor = type && !isNumber;
    if (isTensor && isOfRows(part)) {
      if (!takeRowFactor(part, divides))
        return false;
    } else if (isTensor && !divides && !read) {
      read = part;
    } else if (!takeFactor(part, divides)) {
      return false;
    }
  }
  if (!read || read->source == source.tensor)
    return false;
  source.tensor = read->source;
  source.indices.clear();
  for (ScalarRef index : read->operands) {
    if (index->isIndex())
      source.indices.push_back(index->affine[0]);
    else if (index->isConstant())
      source.indices.push_back(space.constant(index->value));
    else
      return false;
  }
  return true;
}

bool Dequantization::match() {
  if (!tensor.getDefiningOp())
    return false;
  source.tensor = tensor;
  for (int64_t dim = 0; dim < 4; ++dim) {
    AffineExpr extent = walker.getSize(tensor, dim);
    bool isOne = extent == space.constant(1);
    AffineExpr variable =
        isOne ? space.constant(0) : space.addVariable(extent, false);
    source.indices.push_back(variable);
    variables.push_back(variable);
    wanted.push_back({});
    if (!isOne)
      wanted.back().push_back(variable);
  }
  while (!isByte(source.tensor.getType()))
    if (!isa<FloatType>(getElementTypeOrSelf(source.tensor)) || !step())
      return false;
  return getLayout(walker, source).has_value();
}

Value Dequantization::buildBytes(OpBuilder &builder, Location loc) {
  return convertLayout(builder, loc, space, source.tensor,
                       *getLayout(walker, source), wanted);
}

static Value convertToF32(OpBuilder &builder, Location loc, Value element) {
  unsigned width = element.getType().getIntOrFloatBitWidth();
  Type f32 = builder.getF32Type();
  if (width < 32)
    return arith::ExtFOp::create(builder, loc, f32, element);
  if (width > 32)
    return arith::TruncFOp::create(builder, loc, f32, element);
  return element;
}

/// [1] of f32.
Value Dequantization::buildDescale(OpBuilder &builder, Location loc) {
  auto type = RankedTensorType::get({1}, builder.getF32Type());
  double number = 1;
  SmallVector<Value> read;
  for (const Factor &factor : factors) {
    number *= factor.number;
    if (factor.tensor)
      read.push_back(factor.tensor);
  }
  if (read.empty())
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, APFloat(static_cast<float>(number))));
  if (read.size() == 1 && number == 1 && read.front().getType() == type)
    return read.front();
  Value product;
  for (Value one : read) {
    SmallVector<Value> zeros(cast<ShapedType>(one.getType()).getRank(),
                             arith::ConstantIndexOp::create(builder, loc, 0));
    Value element = convertToF32(
        builder, loc, tensor::ExtractOp::create(builder, loc, one, zeros));
    product = product ? arith::MulFOp::create(builder, loc, product, element)
                      : element;
  }
  if (number != 1) {
    Value constant = arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(static_cast<float>(number)));
    product = arith::MulFOp::create(builder, loc, product, constant);
  }
  return tensor::FromElementsOp::create(builder, loc, type, product);
}

Value Dequantization::applyRowFactors(OpBuilder &builder, Location loc,
                                      Value value, ArrayRef<Value> at) {
  for (const RowFactor &factor : rowFactors) {
    SmallVector<Value> indices;
    for (int64_t dim : factor.dims)
      indices.push_back(
          dim < 0 ? arith::ConstantIndexOp::create(builder, loc, 0).getResult()
                  : at[dim]);
    Value element =
        tensor::ExtractOp::create(builder, loc, factor.tensor, indices);
    element = convertToF32(builder, loc, element);
    value =
        factor.divides
            ? arith::DivFOp::create(builder, loc, value, element).getResult()
            : arith::MulFOp::create(builder, loc, value, element);
  }
  return value;
}

/// Query heads of a key head, 0 if they are not known.
static int64_t getGroup(AttentionOp op) {
  int64_t heads = cast<ShapedType>(op.getQuery().getType()).getDimSize(kHead),
          keyHeads = cast<ShapedType>(op.getKey().getType()).getDimSize(kHead);
  bool isKnown = !ShapedType::isDynamic(heads) &&
                 !ShapedType::isDynamic(keyHeads) && keyHeads > 0;
  return isKnown ? heads / keyHeads : 0;
}

/// Multiplies what `mod` is given (a score_mod), or what it is to yield, where
/// it is new (a prob_mod), by the factors of rows of `operand`.
static void addRowFactors(OpBuilder &builder, AttentionOp op, Region &mod,
                          Dequantization &operand, int64_t group) {
  if (!operand.hasRowFactors())
    return;
  Location loc = op.getLoc();
  if (mod.empty()) {
    addScoreModBlock(builder, loc, mod, op.getScoreType());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&mod.front());
    YieldOp::create(builder, loc, mod.getArgument(0));
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&mod.front());
  BlockArgument before = mod.getArgument(0);
  Value keyHead = mod.getArgument(1 + kLoopH);
  if (group > 1)
    keyHead = arith::DivUIOp::create(
        builder, loc, keyHead,
        arith::ConstantIndexOp::create(builder, loc, group));
  Value at[] = {mod.getArgument(1 + kLoopB), keyHead,
                mod.getArgument(1 + kLoopN)};
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : before.getUses())
    uses.push_back(&use);
  Value scaled = operand.applyRowFactors(builder, loc, before, at);
  for (OpOperand *use : uses)
    use->set(scaled);
}

bool attn::raise::raiseCache(RewriterBase &rewriter, AttentionOp op) {
  Type query = getElementTypeOrSelf(op.getQuery());
  // attention_c20, and what an attention with descales has no clauses for.
  if (!(query.isF16() || query.isBF16()) || isByte(op.getKey().getType()) ||
      op.getBias() || !op.getDescales().empty() || !op.getProbMod().empty())
    return false;
  Dequantization key(op.getKey()), value(op.getValue());
  if (!key.match() || !value.match() ||
      key.getStoredType() != value.getStoredType())
    return false;
  int64_t group = getGroup(op);
  if ((key.hasRowFactors() || value.hasRowFactors()) &&
      (group == 0 || !op.getNormalization().hasLse()))
    return false;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value bytes[] = {key.buildBytes(rewriter, loc),
                   value.buildBytes(rewriter, loc)};
  Value descales[] = {key.buildDescale(rewriter, loc),
                      value.buildDescale(rewriter, loc)};
  addRowFactors(rewriter, op, op.getScoreMod(), key, group);
  addRowFactors(rewriter, op, op.getProbMod(), value, group);
  rewriter.modifyOpInPlace(op, [&] {
    op.getKeyMutable().assign(bytes[0]);
    op.getValueMutable().assign(bytes[1]);
    op.getDescalesMutable().assign(descales);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Products of 8 bits
//===----------------------------------------------------------------------===//

/// Why an attention on the bytes that `operands` are made of is not what the
/// graph says, with weights of `weightType`; empty if it is.
static std::string findObstacle(AttentionOp op,
                                ArrayRef<Dequantization *> operands,
                                Type weightType) {
  Type stored = operands.back()->getStoredType();
  auto print = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  if (llvm::any_of(operands, [](Dequantization *operand) {
        return operand->hasRowFactors();
      }))
    return "they have scales of heads or tokens";
  if (op.getBias() || !op.getProbMod().empty() ||
      !op.getNormalization().hasLse())
    return "there is a bias, or another function of scores than softmax";
  if (!weightType)
    return "the graph does not round weights, which products of 8 bits do";
  if (weightType != stored)
    return "the graph rounds weights to " + print(weightType) +
           ", and kernels to the type of the value, " + print(stored);
  return "";
}

void attn::raise::raiseProducts(RewriterBase &rewriter, AttentionOp op,
                                Type weightType) {
  if (isByte(op.getQuery().getType()) || isByte(op.getKey().getType()))
    return;
  Dequantization query(op.getQuery()), key(op.getKey()), value(op.getValue());
  Dequantization *operands[] = {&query, &key, &value};
  for (Dequantization *operand : operands)
    if (!operand->match() || !isa<FloatType>(operand->getStoredType()))
      return;
  if (std::string obstacle = findObstacle(op, operands, weightType);
      !obstacle.empty()) {
    op.emitRemark() << "query, key and value are of 8 bits in the graph, and "
                       "their products of "
                    << getElementTypeOrSelf(op.getQuery()) << ": " << obstacle;
    return;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> bytes, descales;
  for (Dequantization *operand : operands) {
    bytes.push_back(operand->buildBytes(rewriter, op.getLoc()));
    descales.push_back(operand->buildDescale(rewriter, op.getLoc()));
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getQueryMutable().assign(bytes[0]);
    op.getKeyMutable().assign(bytes[1]);
    op.getValueMutable().assign(bytes[2]);
    op.getDescalesMutable().assign(descales);
  });
}
