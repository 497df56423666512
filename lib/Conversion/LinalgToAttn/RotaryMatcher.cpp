//===- RotaryMatcher.cpp - Rotary embedding in graphs -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand of an attention whose element in one column is x c - y s and in
// another y c' + x s' is an attn.rotary, whatever slices, concatenations and
// reshapes are between. As a rotation is a product of complex numbers, which
// commutes, the tensor with columns of both is what is turned, and the others
// are tables.
//
//===----------------------------------------------------------------------===//

#include "RowMatcher.h"

#include "attn/Dialect/Attn/IR/RowOps.h"

#include "mlir/IR/TypeUtilities.h"

#include <set>

using namespace mlir;
using namespace attn;
using namespace attn::raise;

namespace {
/// sign * x * y
struct Product {
  ScalarRef x, y;
  int sign;
};

/// x c - y s and y c2 + x s2.
struct Turn {
  ScalarRef x, y, cos, sin, cos2, sin2;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

/// Without a factor below 0, which goes to `sign`.
static ScalarRef takeSign(ScalarGraph &graph, ScalarRef scalar, int &sign) {
  if (!scalar->is("arith.mulf") || !scalar->operands[1]->isConstant() ||
      !(scalar->operands[1]->value < 0))
    return scalar;
  sign = -sign;
  double factor = -scalar->operands[1]->value;
  return graph.mul(scalar->operands[0], graph.constant(Number::Float, factor),
                   scalar->op);
}

static std::optional<Product> asProduct(ScalarGraph &graph, ScalarRef scalar,
                                        int sign) {
  scalar = takeSign(graph, scalar, sign);
  if (!scalar->is("arith.mulf"))
    return std::nullopt;
  ScalarRef x = takeSign(graph, scalar->operands[0], sign);
  ScalarRef y = takeSign(graph, scalar->operands[1], sign);
  return Product{x, y, sign};
}

/// Both products of a sum or difference of two; none if it is none.
static SmallVector<Product> getProducts(ScalarGraph &graph, ScalarRef scalar) {
  bool isDifference = scalar->is("arith.subf");
  if (!scalar->is("arith.addf") && !isDifference)
    return {};
  auto first = asProduct(graph, scalar->operands[0], 1);
  auto second = asProduct(graph, scalar->operands[1], isDifference ? -1 : 1);
  if (!first || !second)
    return {};
  return {*first, *second};
}

/// The four products with either factor in front, in either order.
static SmallVector<std::pair<Product, Product>>
getOrders(ArrayRef<Product> products) {
  SmallVector<std::pair<Product, Product>> orders;
  for (int order = 0; order < 8; ++order) {
    Product first = products[order & 1], second = products[1 - (order & 1)];
    if (order & 2)
      std::swap(first.x, first.y);
    if (order & 4)
      std::swap(second.x, second.y);
    orders.push_back({first, second});
  }
  return orders;
}

/// The ways in which `first` and `second` are a pair that is turned.
static SmallVector<Turn> getTurns(ScalarGraph &graph, ScalarRef first,
                                  ScalarRef second) {
  SmallVector<Turn> turns;
  SmallVector<Product> ofFirst = getProducts(graph, first);
  SmallVector<Product> ofSecond = getProducts(graph, second);
  if (ofFirst.empty() || ofSecond.empty())
    return turns;
  for (auto [own, other] : getOrders(ofFirst))
    for (auto [own2, other2] : getOrders(ofSecond))
      if (own.x == other2.x && other.x == own2.x && own.sign > 0 &&
          other.sign < 0 && own2.sign > 0 && other2.sign > 0)
        turns.push_back({own.x, other.x, own.y, other.y, own2.y, other2.y});
  return turns;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The tables with `first` and `second` of each pair: by pair where both are
/// the same, else by column. Those that the graph computed last go first.
SmallVector<OperandSource> RowMatcher::findTables(ScalarRef first,
                                                  ScalarRef second,
                                                  const Pairing &pairing,
                                                  AffineExpr pair) {
  SmallVector<OperandSource> tables;
  int64_t distance = pairing.interleaved ? 1 : pairing.pairs;
  AffineExpr wide = pairing.interleaved ? pair * 2 : pair;
  SmallVector<Element> origins(walker.getOrigins(first));
  for (const Element &origin : llvm::reverse(origins)) {
    unsigned dim;
    if (!isa<FloatType>(getElementTypeOrSelf(origin.tensor.getType())))
      continue;
    OperandSource source{origin.tensor, origin.indices, 1};
    int64_t columns = 2 * pairing.pairs;
    if (first == second && isColumnOf(origin, pair, pairing.pairs, dim)) {
      columns = pairing.pairs;
    } else if (isColumnOf(origin, wide, columns, dim)) {
      source.indices[dim] = wide + distance;
      if (walker.element(source.tensor, source.indices) != second)
        continue;
    } else {
      continue;
    }
    source.indices[dim] = space.addVariable(space.constant(columns), false);
    tables.push_back(source);
  }
  return tables;
}

/// `made`, or what an equal op has made before: queries and keys share tables.
static Value shareMade(Value made) {
  Operation *op = made.getDefiningOp();
  if (!op || op->getNumOperands() != 1)
    return made;
  for (Operation *twin : op->getOperand(0).getUsers())
    if (twin != op && twin->getBlock() == op->getBlock() &&
        twin->isBeforeInBlock(op) &&
        OperationEquivalence::isEquivalentTo(
            twin, op, OperationEquivalence::IgnoreLocations))
      return twin->getResult(0);
  return made;
}

/// [N, w] or [B, N, w]; null if the table is neither.
Value RowMatcher::buildTable(OpBuilder &builder, Location loc,
                             const OperandSource &source) {
  std::optional<Layout> layout = getLayout(walker, source);
  if (!layout)
    return Value();
  SmallVector<AffineExpr> has;
  for (const auto &digits : *layout)
    has.append(digits);
  AffineExpr column;
  for (AffineExpr variable : has)
    if (!llvm::is_contained(row, variable))
      column = column ? AffineExpr() : variable;
  auto holds = [&](unsigned dim) {
    return !rowLayout[dim].empty() && llvm::is_contained(has, row[dim]);
  };
  bool isOfRows = rowLayout[kSequence].empty() || holds(kSequence);
  if (!column || holds(kHead) || !isOfRows)
    return Value();
  Layout wanted = {rowLayout[kSequence], {column}};
  if (holds(kBatch))
    wanted.insert(wanted.begin(), rowLayout[kBatch]);
  return shareMade(
      convertLayout(builder, loc, space, source.tensor, *layout, wanted));
}

//===----------------------------------------------------------------------===//
// attn.rotary
//===----------------------------------------------------------------------===//

/// Numbers of columns that tensors before `tensor` have: candidates for those
/// that turn.
static std::set<int64_t> findWidths(Value tensor, int64_t columns) {
  constexpr size_t kMaxOps = 40;
  std::set<int64_t> widths = {columns};
  SmallVector<Value> worklist = {tensor};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!worklist.empty() && seen.size() < kMaxOps) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type || type.getRank() == 0)
        continue;
      worklist.insert(worklist.begin(), operand);
      int64_t width = type.getShape().back();
      if (ShapedType::isDynamic(width) || width >= columns)
        continue;
      for (int64_t turning : {width, 2 * width})
        if (turning > 2 && turning < columns && turning % 2 == 0)
          widths.insert(turning);
    }
  }
  return widths;
}

/// True if the columns that do not turn are those of the source.
bool RowMatcher::keepsOtherColumns(const OperandSource &source,
                                   const Pairing &pairing, AffineExpr any) {
  int64_t end = pairing.lo + 2 * pairing.pairs;
  for (auto [first, count] : {std::pair<int64_t, int64_t>(0, pairing.lo),
                              {end, getColumns() - end}}) {
    if (count == 0)
      continue;
    AffineExpr column = space.addVariable(space.constant(count), false) + first;
    SmallVector<AffineExpr> indices;
    for (AffineExpr index : source.indices)
      indices.push_back(index == any ? column : index);
    if (elementOf(tensor, column) != walker.element(source.tensor, indices))
      return false;
  }
  return true;
}

Value RowMatcher::tryPairing(const Pairing &pairing, OpBuilder &builder,
                             Location loc) {
  AffineExpr pair = space.addVariable(space.constant(pairing.pairs), false);
  AffineExpr first = pairing.lo + (pairing.interleaved ? pair * 2 : pair);
  AffineExpr second = first + (pairing.interleaved ? 1 : pairing.pairs);
  AffineExpr any = space.addVariable(space.constant(getColumns()), false);
  ScalarRef x = elementOf(tensor, first), y = elementOf(tensor, second);
  for (const Turn &turn : getTurns(graph, x, y)) {
    auto source = findSource(turn.x, first, turn.y, second, any);
    if (!source || !keepsOtherColumns(*source, pairing, any))
      continue;
    for (const OperandSource &cos :
         findTables(turn.cos, turn.cos2, pairing, pair))
      for (const OperandSource &sin :
           findTables(turn.sin, turn.sin2, pairing, pair)) {
        Value cosTable = buildTable(builder, loc, cos);
        Value sinTable = buildTable(builder, loc, sin);
        if (!cosTable || !sinTable || cosTable.getType() != sinTable.getType())
          continue;
        Value rows = buildSource(builder, loc, *source, any);
        bool isPart = 2 * pairing.pairs != getColumns();
        int64_t columns[] = {pairing.lo, pairing.lo + 2 * pairing.pairs};
        return RotaryOp::create(
            builder, loc, rows.getType(), rows, cosTable, sinTable,
            /*positions=*/Value(),
            pairing.interleaved ? builder.getUnitAttr() : UnitAttr(),
            isPart ? builder.getDenseI64ArrayAttr(columns)
                   : DenseI64ArrayAttr(),
            /*transposed=*/UnitAttr());
      }
  }
  return Value();
}

Value RowMatcher::matchRotary(OpBuilder &builder, Location loc) {
  int64_t columns = getColumns();
  std::set<int64_t> widths = findWidths(tensor, columns);
  for (int64_t width : llvm::reverse(widths))
    for (int64_t lo : std::set<int64_t>{0, columns - width})
      for (bool interleaved : {false, true})
        if (width % 2 == 0 && width > 2)
          if (Value made =
                  tryPairing({lo, width / 2, interleaved}, builder, loc))
            return made;
  return Value();
}
