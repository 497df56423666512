//===- QuantizedOperands.cpp - 8-bit keys and values in graphs --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key and a value that a graph widens from 8 bits and multiplies by a number
// each are a cache of 8 bits with descales: the attention reads the bytes.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

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

private:
  bool takeFactor(ScalarRef scalar, bool divides);
  bool step();

  Value tensor;
  IndexSpace space;
  ScalarGraph graph;
  ElementWalker walker;
  Layout wanted;
  OperandSource source;
  SmallVector<Factor> factors;
};
} // namespace

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
    if (!divides && type && !isNumber && !read)
      read = part;
    else if (!takeFactor(part, divides))
      return false;
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
    Value element = tensor::ExtractOp::create(builder, loc, one, zeros);
    unsigned width = element.getType().getIntOrFloatBitWidth();
    if (width < 32)
      element =
          arith::ExtFOp::create(builder, loc, builder.getF32Type(), element);
    else if (width > 32)
      element =
          arith::TruncFOp::create(builder, loc, builder.getF32Type(), element);
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
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value bytes[] = {key.buildBytes(rewriter, loc),
                   value.buildBytes(rewriter, loc)};
  Value descales[] = {key.buildDescale(rewriter, loc),
                      value.buildDescale(rewriter, loc)};
  rewriter.modifyOpInPlace(op, [&] {
    op.getKeyMutable().assign(bytes[0]);
    op.getValueMutable().assign(bytes[1]);
    op.getDescalesMutable().assign(descales);
  });
  return true;
}
