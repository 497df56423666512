//===- MaskMatcher.cpp - Masks as comparisons of positions -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constant tables become bands of positions, rows are proven to see a key, and
// bands get the name that attn has for them.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::raise;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Constant tables
//===----------------------------------------------------------------------===//

/// Larger tables stay tables.
static constexpr int64_t kMaxTableSize = 1 << 22;

using Point = llvm::DenseMap<AffineExpr, int64_t>;

static std::optional<int64_t> evaluateAt(AffineExpr expr, const Point &point) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto it = point.find(expr); it != point.end())
    return it->second;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto lhs = evaluateAt(binary.getLHS(), point);
  auto rhs = evaluateAt(binary.getRHS(), point);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *lhs + *rhs;
  case AffineExprKind::Mul:
    return *lhs * *rhs;
  case AffineExprKind::FloorDiv:
    return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs))
                    : std::nullopt;
  case AffineExprKind::Mod:
    return *rhs > 0 ? std::optional(llvm::mod(*lhs, *rhs)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

static std::optional<double> evaluateAt(ScalarRef scalar, const Point &point) {
  if (scalar->isConstant())
    return scalar->value;
  if (scalar->isIndex()) {
    auto index = evaluateAt(scalar->affine[0], point);
    return index ? std::optional<double>(*index) : std::nullopt;
  }
  SmallVector<double> operands;
  for (ScalarRef operand : scalar->operands) {
    auto value = evaluateAt(operand, point);
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  if (scalar->kind == Scalar::Kind::Apply)
    return evaluate(scalar->name, scalar->predicate, operands);
  Attribute attribute;
  if (scalar->kind != Scalar::Kind::Read ||
      !matchPattern(scalar->source, m_Constant(&attribute)))
    return std::nullopt;
  int64_t position = 0;
  auto type = cast<RankedTensorType>(scalar->source.getType());
  for (auto [index, size] : llvm::zip(operands, type.getShape())) {
    if (index < 0 || index >= size)
      return std::nullopt;
    position = position * size + static_cast<int64_t>(index);
  }
  return getConstantAt(attribute, position);
}

static bool readsAConstant(ScalarRef scalar) {
  Attribute attribute;
  return (scalar->kind == Scalar::Kind::Read &&
          matchPattern(scalar->source, m_Constant(&attribute))) ||
         llvm::any_of(scalar->operands, readsAConstant);
}

namespace {
/// Visible keys: first <= j - i <= last.
struct Band {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
};
} // namespace

namespace {
/// The values of a scalar for every row and key, row by row.
struct Grid {
  AffineExpr row;
  int64_t rows, keys;
  std::vector<double> values;
};
} // namespace

/// Evaluates `scalar` for every row and key, if it depends on one of the rows
/// and the key only and reads nothing but constants.
static std::optional<Grid> evaluateGrid(ScalarGraph &graph, ScalarRef scalar,
                                        const ScoreContext &context) {
  auto getStatic = [&](AffineExpr variable) -> int64_t {
    auto extent =
        dyn_cast<AffineConstantExpr>(graph.getSpace().getExtent(variable));
    return extent ? extent.getValue() : -1;
  };
  for (AffineExpr row : context.rows) {
    if (!graph.dependsOn(scalar, row))
      continue;
    Grid grid{row, getStatic(row), getStatic(context.key), {}};
    if (grid.rows <= 0 || grid.keys <= 0 ||
        grid.rows > kMaxTableSize / grid.keys)
      return std::nullopt;
    Point point;
    for (int64_t i = 0; i < grid.rows; ++i)
      for (int64_t j = 0; j < grid.keys; ++j) {
        point[row] = i;
        point[context.key] = j;
        auto value = evaluateAt(scalar, point);
        if (!value)
          return std::nullopt;
        grid.values.push_back(*value);
      }
    return grid;
  }
  return std::nullopt;
}

/// The band that the true values of the grid are, if they are one.
static std::optional<Band> findBand(const Grid &grid) {
  Band band;
  auto forEach = [&](llvm::function_ref<void(int64_t, bool)> visit) {
    for (int64_t i = 0; i < grid.rows; ++i)
      for (int64_t j = 0; j < grid.keys; ++j)
        visit(j - i, grid.values[i * grid.keys + j] != 0);
  };
  forEach([&](int64_t offset, bool isVisible) {
    if (!isVisible)
      return;
    band.first = std::min(band.first, offset);
    band.last = std::max(band.last, offset);
  });
  bool isBand = band.first <= band.last;
  forEach([&](int64_t offset, bool isVisible) {
    isBand &= isVisible == (band.first <= offset && offset <= band.last);
  });
  return isBand ? std::optional(band) : std::nullopt;
}

bool attn::raise::isTableOf(ScalarGraph &graph, ScalarRef scalar,
                            const ScoreContext &context,
                            llvm::function_ref<bool(double)> predicate) {
  if (!readsAConstant(scalar))
    return false;
  auto grid = evaluateGrid(graph, scalar, context);
  return grid && llvm::all_of(grid->values, predicate);
}

static ScalarRef lessOrEqual(ScalarGraph &graph, AffineExpr lhs, AffineExpr rhs,
                             Operation *op) {
  return graph.apply("arith.cmpi", Number::Bool,
                     {graph.index(lhs), graph.index(rhs)}, op,
                     static_cast<int64_t>(CmpIPredicate::sle));
}

static ScalarRef tableToBand(ScalarGraph &graph, ScalarRef condition,
                             const ScoreContext &context) {
  auto grid = evaluateGrid(graph, condition, context);
  auto band = grid ? findBand(*grid) : std::nullopt;
  if (!band)
    return nullptr;
  Operation *op = condition->op;
  return graph.apply(
      "arith.andi", Number::Bool,
      {lessOrEqual(graph, context.key, grid->row + band->last, op),
       lessOrEqual(graph, grid->row + band->first, context.key, op)},
      op);
}

/// The read of a constant table that `condition` is, or compares with a
/// constant.
static ScalarRef getTableRead(ScalarRef condition) {
  bool isCompare =
      condition->is("arith.cmpi") && condition->operands[1]->isConstant();
  ScalarRef read = isCompare ? condition->operands[0] : condition;
  Attribute attribute;
  bool isTable = read->kind == Scalar::Kind::Read &&
                 matchPattern(read->source, m_Constant(&attribute));
  return isTable ? read : nullptr;
}

/// The condition for each element of the table that `read` reads, if it has two
/// dimensions beside those of size 1, whose indices are stored.
static std::optional<Grid> evaluateTable(ScalarRef condition, ScalarRef read,
                                         SmallVectorImpl<ScalarRef> &indices) {
  auto type = cast<RankedTensorType>(read->source.getType());
  Grid grid{{}, 1, 1, {}};
  for (auto [index, size] : llvm::zip(read->operands, type.getShape())) {
    if (size == 1)
      continue;
    indices.push_back(index);
    (indices.size() == 1 ? grid.rows : grid.keys) = size;
  }
  Attribute attribute;
  matchPattern(read->source, m_Constant(&attribute));
  if (indices.size() != 2 || type.getNumElements() > kMaxTableSize)
    return std::nullopt;
  for (int64_t position = 0; position < type.getNumElements(); ++position) {
    auto value = getConstantAt(attribute, position);
    if (value && condition != read)
      value = evaluate(condition->name, condition->predicate,
                       {*value, condition->operands[1]->value});
    if (!value)
      return std::nullopt;
    grid.values.push_back(*value);
  }
  return grid;
}

/// A read of a table that is a band, at computed indices: `table[x, y]` with
/// first <= y - x <= last.
static ScalarRef readToBand(ScalarGraph &graph, ScalarRef condition) {
  ScalarRef read = getTableRead(condition);
  SmallVector<ScalarRef> indices;
  auto grid = read ? evaluateTable(condition, read, indices) : std::nullopt;
  auto band = grid ? findBand(*grid) : std::nullopt;
  if (!band)
    return nullptr;
  ScalarRef all = graph.constant(Number::Bool, 1);
  auto require = [&](ScalarRef lhs, ScalarRef rhs, int64_t offset) {
    ScalarRef bound =
        graph.apply("arith.addi", Number::Int,
                    {rhs, graph.constant(Number::Int, offset)}, read->op);
    ScalarRef holds =
        graph.apply("arith.cmpi", Number::Bool, {lhs, bound}, read->op,
                    static_cast<int64_t>(CmpIPredicate::sle));
    all = graph.apply("arith.andi", Number::Bool, {all, holds}, read->op);
  };
  if (band->last < grid->keys - 1)
    require(indices[1], indices[0], band->last);
  if (band->first > 1 - grid->rows)
    require(indices[0], indices[1], -band->first);
  return all;
}

ScalarRef attn::raise::replaceTables(ScalarGraph &graph, ScalarRef condition,
                                     const ScoreContext &context) {
  if (!readsAConstant(condition))
    return condition;
  if (ScalarRef band = tableToBand(graph, condition, context))
    return band;
  if (ScalarRef band = readToBand(graph, condition))
    return band;
  if (!condition->is("arith.andi") && !condition->is("arith.ori") &&
      !condition->is("arith.xori"))
    return condition;
  SmallVector<ScalarRef> operands;
  for (ScalarRef operand : condition->operands)
    operands.push_back(replaceTables(graph, operand, context));
  return graph.apply(condition->name, Number::Bool, operands, condition->op);
}

//===----------------------------------------------------------------------===//
// Rows that see a key
//===----------------------------------------------------------------------===//

bool attn::raise::everyRowSeesAKey(ScalarGraph &graph,
                                   ArrayRef<ScalarRef> masks,
                                   const ScoreContext &context) {
  IndexSpace &space = graph.getSpace();
  AffineExpr keys = space.getExtent(context.key);
  // Keys that a mask is likely to leave: the first, the last, the query's own.
  SmallVector<AffineExpr> witnesses = {space.constant(0), keys - 1};
  for (AffineExpr row : context.rows) {
    witnesses.push_back(row);
    witnesses.push_back(row + keys - space.getExtent(row));
  }
  return llvm::any_of(witnesses, [&](AffineExpr witness) {
    auto isInside = [&](AffineExpr expr) {
      return space.isNonNegative(expr).value_or(false);
    };
    // N - 1 is a key wherever there is one at all.
    bool isKey = witness == keys - 1 ||
                 (isInside(witness) && (witness == space.constant(0) ||
                                        isInside(keys - 1 - witness)));
    return isKey && llvm::all_of(masks, [&](ScalarRef mask) {
             return graph.substitute(mask, context.key, witness)->isConstant(1);
           });
  });
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// j - i <= right, and i - j <= left; null where there is no bound.
struct Window {
  AffineExpr left, right;
};
} // namespace

/// Reads masks as bounds of j - i; false if one is something else.
static bool readWindow(IndexSpace &space, ArrayRef<ScalarRef> masks,
                       AffineExpr row, AffineExpr key, Window &window) {
  for (ScalarRef mask : masks) {
    if (!mask->is("arith.cmpi") ||
        llvm::any_of(mask->operands,
                     [](ScalarRef operand) { return !operand->isIndex(); }))
      return false;
    auto predicate = static_cast<CmpIPredicate>(mask->predicate);
    AffineExpr slack =
        mask->operands[1]->affine[0] - mask->operands[0]->affine[0];
    if (predicate == CmpIPredicate::slt)
      slack = slack - 1;
    else if (predicate != CmpIPredicate::sle)
      return false;
    // slack >= 0; either slack = i - j + right or slack = j - i + left.
    AffineExpr right = space.simplify(slack - row + key);
    AffineExpr left = space.simplify(slack - key + row);
    bool isRight = right.isSymbolicOrConstant();
    AffineExpr &bound = isRight ? window.right : window.left;
    if ((!isRight && !left.isSymbolicOrConstant()) || bound)
      return false;
    bound = isRight ? right : left;
  }
  return true;
}

static AffineExpr getGroupExtent(IndexSpace &space,
                                 ArrayRef<AffineExpr> variables) {
  AffineExpr extent = space.constant(1);
  for (AffineExpr variable : variables)
    extent = extent * space.getExtent(variable);
  return space.simplify(extent);
}

std::optional<NamedMod> attn::raise::nameMask(IndexSpace &space,
                                              ArrayRef<ScalarRef> masks,
                                              const Roles &roles) {
  if (roles.query.size() != 1 || roles.key.size() != 1)
    return std::nullopt;
  Window window;
  if (!readWindow(space, masks, roles.query[0], roles.key[0], window))
    return std::nullopt;
  AffineExpr queries = getGroupExtent(space, roles.query);
  AffineExpr keys = getGroupExtent(space, roles.key);
  auto always = [&](AffineExpr slack) {
    return space.isNonNegative(slack).value_or(false);
  };
  // A bound that no pair of positions exceeds is none.
  if (window.right && always(window.right - keys + 1))
    window.right = {};
  if (window.left && always(window.left - queries + 1))
    window.left = {};
  NamedMod named{NamedMod::Causal};
  if (window.right && !window.left) {
    if (window.right == space.constant(0))
      return named;
    if (window.right == space.simplify(keys - queries)) {
      named.alignment = CausalAlignment::BottomRight;
      return named;
    }
  }
  auto getBound = [](AffineExpr bound) -> std::optional<int64_t> {
    if (!bound)
      return -1;
    auto constant = dyn_cast<AffineConstantExpr>(bound);
    if (!constant || constant.getValue() < 0)
      return std::nullopt;
    return constant.getValue();
  };
  auto left = getBound(window.left), right = getBound(window.right);
  if (!left || !right || (*left < 0 && *right < 0))
    return std::nullopt;
  named.kind = NamedMod::SlidingWindow;
  named.left = *left;
  named.right = *right;
  return named;
}
