//===- ScalarGraph.h - One element of a tensor as an expression -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar expressions over index variables: what one element of a tensor is,
// computed from constants, indices, elements of other tensors, reductions and
// contractions. Equal expressions are the same object, so a softmax is matched
// by comparing pointers, whatever reshapes and broadcasts lay between its ops.
//
// Numbers have three kinds only: float (no width: casts between float types
// are the identity, since attn computes scores in f32 or f64), int (every
// integer and index; i1 apart) and bool (i1).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_ELEMENTS_SCALARGRAPH_H
#define ATTN_ANALYSIS_ELEMENTS_SCALARGRAPH_H

#include "attn/Analysis/Elements/IndexSpace.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/StringRef.h"

#include <limits>
#include <memory>
#include <vector>

namespace attn::raise {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Number { Float, Int, Bool };

/// The kind of numbers of an element type; none for complex and the like.
std::optional<Number> getNumber(mlir::Type type);

/// How a reduction combines its elements.
enum class Combiner { Max, Sum, And, Or };

class Scalar;
using ScalarRef = const Scalar *;

/// One node of the expression graph; made by ScalarGraph only.
class Scalar : public llvm::FoldingSetNode {
public:
  enum class Kind {
    Constant, ///< `value`, of any number kind
    Index,    ///< `affine[0]`, an int
    Read,     ///< element `operands` of the tensor `source`
    Outer,    ///< the SSA scalar `source`
    Reduce,   ///< `combiner` of operands[0] over the variable affine[0]
    Contract, ///< result of the contraction `op` at its loops `affine`; a null
              ///< entry is a loop that is reduced
    Apply,    ///< the arith or math op `name` on `operands`
  };
  Kind kind;
  Number number;
  double value = 0;
  mlir::Value source;
  mlir::Operation *op = nullptr; ///< Contract; otherwise the op it came from
  llvm::StringRef name;
  int64_t predicate = -1; ///< of a comparison
  Combiner combiner = Combiner::Sum;
  llvm::SmallVector<ScalarRef, 3> operands;
  llvm::SmallVector<mlir::AffineExpr, 4> affine;

  bool isConstant() const { return kind == Kind::Constant; }
  bool isConstant(double expected) const {
    return isConstant() && value == expected;
  }
  bool isIndex() const { return kind == Kind::Index; }
  bool is(llvm::StringRef opName) const {
    return kind == Kind::Apply && name == opName;
  }
  // NOLINTNEXTLINE(readability-identifier-naming): llvm::FoldingSet's name
  void Profile(llvm::FoldingSetNodeID &id) const;
};

/// The affine expression of an index or an integer constant; null for others,
/// and for a constant that is very large.
mlir::AffineExpr toAffine(IndexSpace &space, ScalarRef scalar);

/// Makes and owns scalars; folds what can be folded while making them.
class ScalarGraph {
public:
  explicit ScalarGraph(IndexSpace &space) : space(space) {}

  IndexSpace &getSpace() { return space; }

  ScalarRef constant(Number number, double value);
  ScalarRef index(mlir::AffineExpr expr);
  ScalarRef read(mlir::Value tensor, llvm::ArrayRef<ScalarRef> indices);
  ScalarRef outer(mlir::Value value, Number number);
  ScalarRef contract(mlir::Operation *op,
                     llvm::ArrayRef<mlir::AffineExpr> loops);
  /// Reduction over `variable`. Where the variable runs past the keys and the
  /// body is a choice at that boundary, it is split there.
  ScalarRef reduce(Combiner combiner, mlir::AffineExpr variable, ScalarRef body,
                   mlir::Operation *op);
  /// The op `name` on `operands`; `predicate` for comparisons.
  ScalarRef apply(llvm::StringRef name, Number number,
                  llvm::ArrayRef<ScalarRef> operands, mlir::Operation *op,
                  int64_t predicate = -1);

  // Shorthands.
  ScalarRef add(ScalarRef lhs, ScalarRef rhs, mlir::Operation *op);
  ScalarRef mul(ScalarRef lhs, ScalarRef rhs, mlir::Operation *op);
  ScalarRef select(ScalarRef cond, ScalarRef yes, ScalarRef no,
                   mlir::Operation *op);
  ScalarRef logicalNot(ScalarRef cond, mlir::Operation *op);

  /// The variable that reductions of this extent range over. `inUse` holds
  /// expressions in which the variable must not occur.
  mlir::AffineExpr getBoundVariable(mlir::AffineExpr extent,
                                    llvm::ArrayRef<mlir::AffineExpr> inUse);
  /// Makes `variable` the bound variable of its extent. The first one is the
  /// key position.
  void setBoundVariable(mlir::AffineExpr variable);

  /// `scalar` with `expr` in the place of `variable`.
  ScalarRef substitute(ScalarRef scalar, mlir::AffineExpr variable,
                       mlir::AffineExpr expr);
  /// The same with a number that is computed; null if a reduction, a
  /// contraction or a quotient depends on the variable.
  ScalarRef substitute(ScalarRef scalar, mlir::AffineExpr variable,
                       ScalarRef value);
  /// `scalar` with `replacement` in the place of the node `part`.
  ScalarRef replace(ScalarRef scalar, ScalarRef part, ScalarRef replacement);

  /// True if the free variable `variable` occurs in `scalar`.
  bool dependsOn(ScalarRef scalar, mlir::AffineExpr variable);

  /// Number of nodes made so far.
  size_t size() const { return owned.size(); }

private:
  ScalarRef substituteIndex(ScalarRef index, mlir::AffineExpr variable,
                            ScalarRef value);
  ScalarRef unique(Scalar &&scalar);
  ScalarRef foldInt(llvm::StringRef name, llvm::ArrayRef<ScalarRef> operands);
  ScalarRef foldFloat(llvm::StringRef name, llvm::ArrayRef<ScalarRef> operands,
                      mlir::Operation *op);
  ScalarRef foldBool(llvm::StringRef name, llvm::ArrayRef<ScalarRef> operands,
                     mlir::Operation *op);
  ScalarRef foldCompareOfAbs(llvm::ArrayRef<ScalarRef> operands,
                             int64_t predicate, mlir::Operation *op);
  ScalarRef foldCompare(llvm::StringRef name,
                        llvm::ArrayRef<ScalarRef> operands, int64_t predicate,
                        mlir::Operation *op);
  ScalarRef foldSelect(llvm::ArrayRef<ScalarRef> operands, mlir::Operation *op);
  ScalarRef foldConstants(llvm::StringRef name,
                          llvm::ArrayRef<ScalarRef> operands,
                          int64_t predicate);
  ScalarRef foldThroughSelect(llvm::StringRef name, Number number,
                              llvm::ArrayRef<ScalarRef> operands,
                              mlir::Operation *op, int64_t predicate);

  IndexSpace &space;
  llvm::FoldingSet<Scalar> nodes;
  std::vector<std::unique_ptr<Scalar>> owned;
  llvm::SmallVector<mlir::AffineExpr> boundVariables;
};

/// The value of `name` (an arith or math op) on constants, if it is known how
/// to compute it. Bools are 0 and 1.
std::optional<double> evaluate(llvm::StringRef name, int64_t predicate,
                               llvm::ArrayRef<double> operands);

} // namespace attn::raise

#endif // ATTN_ANALYSIS_ELEMENTS_SCALARGRAPH_H
