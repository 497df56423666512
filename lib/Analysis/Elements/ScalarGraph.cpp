//===- ScalarGraph.cpp - One element of a tensor as an expression -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Making, comparing and rewriting scalar expressions. The folds are in
// ScalarFolds.cpp.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Elements/ScalarGraph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace mlir;
using namespace attn::raise;

std::optional<Number> attn::raise::getNumber(Type type) {
  if (isa<FloatType>(type))
    return Number::Float;
  if (type.isInteger(1))
    return Number::Bool;
  if (type.isIntOrIndex())
    return Number::Int;
  return std::nullopt;
}

void Scalar::Profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(static_cast<int>(kind));
  id.AddInteger(static_cast<int>(number));
  id.AddInteger(llvm::bit_cast<uint64_t>(value));
  id.AddPointer(source.getAsOpaquePointer());
  id.AddPointer(kind == Kind::Contract ? op : nullptr);
  id.AddString(name);
  id.AddInteger(predicate);
  id.AddInteger(static_cast<int>(combiner));
  for (ScalarRef operand : operands)
    id.AddPointer(operand);
  for (AffineExpr expr : affine)
    id.AddPointer(expr ? expr.getAsOpaquePointer() : nullptr);
}

//===----------------------------------------------------------------------===//
// Making nodes
//===----------------------------------------------------------------------===//

ScalarRef ScalarGraph::unique(Scalar &&scalar) {
  llvm::FoldingSetNodeID id;
  scalar.Profile(id);
  void *position = nullptr;
  if (ScalarRef known = nodes.FindNodeOrInsertPos(id, position))
    return known;
  owned.push_back(std::make_unique<Scalar>(std::move(scalar)));
  nodes.InsertNode(owned.back().get(), position);
  return owned.back().get();
}

ScalarRef ScalarGraph::constant(Number number, double value) {
  Scalar scalar;
  scalar.kind = Scalar::Kind::Constant;
  scalar.number = number;
  scalar.value = value == 0 ? 0 : value; // one zero
  return unique(std::move(scalar));
}

ScalarRef ScalarGraph::index(AffineExpr expr) {
  expr = space.simplify(expr);
  if (auto value = dyn_cast<AffineConstantExpr>(expr))
    return constant(Number::Int, value.getValue());
  Scalar scalar;
  scalar.kind = Scalar::Kind::Index;
  scalar.number = Number::Int;
  scalar.affine = {expr};
  return unique(std::move(scalar));
}

ScalarRef ScalarGraph::read(Value tensor, ArrayRef<ScalarRef> indices) {
  Scalar scalar;
  scalar.kind = Scalar::Kind::Read;
  scalar.number =
      getNumber(getElementTypeOrSelf(tensor.getType())).value_or(Number::Float);
  scalar.source = tensor;
  scalar.op = tensor.getDefiningOp();
  scalar.operands.append(indices.begin(), indices.end());
  return unique(std::move(scalar));
}

ScalarRef ScalarGraph::outer(Value value, Number number) {
  Scalar scalar;
  scalar.kind = Scalar::Kind::Outer;
  scalar.number = number;
  scalar.source = value;
  scalar.op = value.getDefiningOp();
  return unique(std::move(scalar));
}

ScalarRef ScalarGraph::contract(Operation *op, ArrayRef<AffineExpr> loops) {
  Scalar scalar;
  scalar.kind = Scalar::Kind::Contract;
  scalar.number = Number::Float;
  scalar.op = op;
  for (AffineExpr loop : loops)
    scalar.affine.push_back(loop ? space.simplify(loop) : loop);
  return unique(std::move(scalar));
}

ScalarRef ScalarGraph::apply(StringRef name, Number number,
                             ArrayRef<ScalarRef> operands, Operation *op,
                             int64_t predicate) {
  if (ScalarRef folded = foldConstants(name, operands, predicate))
    return folded;
  ScalarRef folded = nullptr;
  if (name == "arith.select")
    folded = foldSelect(operands, op);
  else if (name == "arith.cmpi" || name == "arith.cmpf")
    folded = foldCompare(name, operands, predicate, op);
  else if (number == Number::Int)
    folded = foldInt(name, operands);
  else if (number == Number::Bool)
    folded = foldBool(name, operands, op);
  else
    folded = foldFloat(name, operands, op);
  if (!folded)
    folded = foldThroughSelect(name, number, operands, op, predicate);
  if (folded)
    return folded;
  Scalar scalar;
  scalar.kind = Scalar::Kind::Apply;
  scalar.number = number;
  scalar.name = name;
  scalar.op = op;
  scalar.predicate = predicate;
  scalar.operands.append(operands.begin(), operands.end());
  return unique(std::move(scalar));
}

ScalarRef ScalarGraph::add(ScalarRef lhs, ScalarRef rhs, Operation *op) {
  return apply("arith.addf", Number::Float, {lhs, rhs}, op);
}

ScalarRef ScalarGraph::mul(ScalarRef lhs, ScalarRef rhs, Operation *op) {
  return apply("arith.mulf", Number::Float, {lhs, rhs}, op);
}

ScalarRef ScalarGraph::select(ScalarRef cond, ScalarRef yes, ScalarRef no,
                              Operation *op) {
  return apply("arith.select", yes->number, {cond, yes, no}, op);
}

ScalarRef ScalarGraph::logicalNot(ScalarRef cond, Operation *op) {
  return apply("arith.xori", Number::Bool, {cond, constant(Number::Bool, 1)},
               op);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void ScalarGraph::setBoundVariable(AffineExpr variable) {
  boundVariables.push_back(variable);
}

AffineExpr ScalarGraph::getBoundVariable(AffineExpr extent,
                                         ArrayRef<AffineExpr> inUse) {
  extent = space.simplify(extent);
  for (AffineExpr variable : boundVariables) {
    bool isFree = llvm::any_of(inUse, [&](AffineExpr expr) {
      return expr && raise::dependsOn(expr, variable);
    });
    if (space.getExtent(variable) == extent && !isFree)
      return variable;
  }
  AffineExpr variable = space.addVariable(extent, /*splittable=*/false);
  boundVariables.push_back(variable);
  return variable;
}

/// True if `body` chooses by `variable < boundary`.
static bool hasBoundary(ScalarRef body, AffineExpr variable, int64_t boundary) {
  if (body->is("arith.cmpi") && body->operands[0]->isIndex() &&
      body->operands[0]->affine[0] == variable &&
      body->operands[1]->isConstant(boundary) &&
      body->predicate == static_cast<int64_t>(arith::CmpIPredicate::slt))
    return true;
  return body->kind == Scalar::Kind::Apply &&
         llvm::any_of(body->operands, [&](ScalarRef operand) {
           return hasBoundary(operand, variable, boundary);
         });
}

static StringRef getCombinerName(Combiner combiner) {
  switch (combiner) {
  case Combiner::Max:
    return "arith.maximumf";
  case Combiner::Sum:
    return "arith.addf";
  case Combiner::And:
    return "arith.andi";
  case Combiner::Or:
    return "arith.ori";
  }
  llvm_unreachable("unknown combiner");
}

ScalarRef ScalarGraph::reduce(Combiner combiner, AffineExpr variable,
                              ScalarRef body, Operation *op) {
  auto extent = dyn_cast<AffineConstantExpr>(space.getExtent(variable));
  if (extent && extent.getValue() == 1)
    return substitute(body, variable, space.constant(0));
  // More columns than keys: a sink was put behind the scores.
  AffineExpr key = boundVariables.empty() ? variable : boundVariables.front();
  auto keys = dyn_cast<AffineConstantExpr>(space.getExtent(key));
  if (extent && keys && keys.getValue() < extent.getValue() &&
      hasBoundary(body, variable, keys.getValue()) && !dependsOn(body, key)) {
    AffineExpr after = getBoundVariable(
        space.constant(extent.getValue() - keys.getValue()), {key});
    ScalarRef first =
        reduce(combiner, key, substitute(body, variable, key), op);
    ScalarRef second =
        reduce(combiner, after,
               substitute(body, variable, after + keys.getValue()), op);
    return apply(getCombinerName(combiner), body->number, {first, second}, op);
  }
  Scalar scalar;
  scalar.kind = Scalar::Kind::Reduce;
  scalar.number = body->number;
  scalar.op = op;
  scalar.combiner = combiner;
  scalar.affine = {variable};
  scalar.operands = {body};
  return unique(std::move(scalar));
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// Rebuilds a scalar bottom up with a substitution for affine expressions and
/// for nodes. Memoized: the graph is shared.
class Rewriter {
public:
  using MapExpr = llvm::function_ref<AffineExpr(AffineExpr)>;
  using MapNode = llvm::function_ref<ScalarRef(ScalarRef)>;
  Rewriter(ScalarGraph &graph, MapExpr mapExpr, MapNode mapNode)
      : graph(graph), mapExpr(mapExpr), mapNode(mapNode) {}

  ScalarRef run(ScalarRef scalar) {
    if (ScalarRef mapped = mapNode(scalar))
      return mapped;
    auto [it, isNew] = done.try_emplace(scalar, nullptr);
    if (!isNew)
      return it->second;
    ScalarRef result = rebuild(scalar);
    done[scalar] = result;
    return result;
  }

private:
  ScalarRef rebuild(ScalarRef scalar) {
    SmallVector<ScalarRef> operands;
    for (ScalarRef operand : scalar->operands)
      operands.push_back(run(operand));
    SmallVector<AffineExpr> affine;
    for (AffineExpr expr : scalar->affine)
      affine.push_back(expr ? mapExpr(expr) : expr);
    switch (scalar->kind) {
    case Scalar::Kind::Constant:
    case Scalar::Kind::Outer:
      return scalar;
    case Scalar::Kind::Index:
      return graph.index(affine[0]);
    case Scalar::Kind::Read:
      return graph.read(scalar->source, operands);
    case Scalar::Kind::Reduce:
      return graph.reduce(scalar->combiner, scalar->affine[0], operands[0],
                          scalar->op);
    case Scalar::Kind::Contract:
      return graph.contract(scalar->op, affine);
    case Scalar::Kind::Apply:
      return graph.apply(scalar->name, scalar->number, operands, scalar->op,
                         scalar->predicate);
    }
    llvm_unreachable("unknown kind of scalar");
  }

  ScalarGraph &graph;
  MapExpr mapExpr;
  MapNode mapNode;
  llvm::DenseMap<ScalarRef, ScalarRef> done;
};
} // namespace

ScalarRef ScalarGraph::substitute(ScalarRef scalar, AffineExpr variable,
                                  AffineExpr expr) {
  if (variable == expr)
    return scalar;
  auto mapExpr = [&](AffineExpr old) { return old.replace(variable, expr); };
  // A reduction binds its variable: nothing in it is free to be replaced.
  auto mapNode = [&](ScalarRef node) -> ScalarRef {
    bool binds =
        node->kind == Scalar::Kind::Reduce && node->affine[0] == variable;
    return binds ? node : nullptr;
  };
  return Rewriter(*this, mapExpr, mapNode).run(scalar);
}

/// The index `factor * variable + rest` with `value` for the variable.
ScalarRef ScalarGraph::substituteIndex(ScalarRef scalar, AffineExpr variable,
                                       ScalarRef value) {
  AffineExpr expr = scalar->affine[0];
  AffineExpr rest = space.simplify(expr.replace(variable, space.constant(0)));
  AffineExpr next =
      space.simplify(expr.replace(variable, space.constant(1)) - rest);
  auto factor = dyn_cast<AffineConstantExpr>(next);
  if (!factor ||
      space.simplify(expr - rest - variable * next) != space.constant(0))
    return nullptr;
  auto compute = [&](StringRef name, ScalarRef lhs, ScalarRef rhs) {
    return apply(name, Number::Int, {lhs, rhs}, scalar->op);
  };
  if (factor.getValue() == -1)
    return compute("arith.subi", index(rest), value);
  if (factor.getValue() != 1)
    value = compute("arith.muli", value, index(next));
  return rest == space.constant(0) ? value
                                   : compute("arith.addi", value, index(rest));
}

ScalarRef ScalarGraph::substitute(ScalarRef scalar, AffineExpr variable,
                                  ScalarRef value) {
  bool fails = false;
  auto mapExpr = [](AffineExpr expr) { return expr; };
  auto mapNode = [&](ScalarRef node) -> ScalarRef {
    if (!llvm::any_of(node->affine, [&](AffineExpr expr) {
          return expr && raise::dependsOn(expr, variable);
        }))
      return nullptr;
    ScalarRef mapped =
        node->isIndex() ? substituteIndex(node, variable, value) : nullptr;
    fails |= !mapped;
    return mapped ? mapped : node;
  };
  ScalarRef result = Rewriter(*this, mapExpr, mapNode).run(scalar);
  return fails ? nullptr : result;
}

ScalarRef ScalarGraph::replace(ScalarRef scalar, ScalarRef part,
                               ScalarRef replacement) {
  auto mapExpr = [](AffineExpr expr) { return expr; };
  auto mapNode = [&](ScalarRef node) {
    return node == part ? replacement : nullptr;
  };
  return Rewriter(*this, mapExpr, mapNode).run(scalar);
}

static bool dependsOnImpl(ScalarRef scalar, AffineExpr variable,
                          llvm::DenseMap<ScalarRef, bool> &done) {
  auto [it, isNew] = done.try_emplace(scalar, false);
  if (!isNew)
    return it->second;
  bool result = false;
  if (scalar->kind == Scalar::Kind::Reduce && scalar->affine[0] == variable)
    return false;
  for (AffineExpr expr : scalar->affine)
    result |= expr && dependsOn(expr, variable);
  for (ScalarRef operand : scalar->operands)
    result = result || dependsOnImpl(operand, variable, done);
  done[scalar] = result;
  return result;
}

bool ScalarGraph::dependsOn(ScalarRef scalar, AffineExpr variable) {
  llvm::DenseMap<ScalarRef, bool> done;
  return dependsOnImpl(scalar, variable, done);
}
