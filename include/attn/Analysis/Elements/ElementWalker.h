//===- ElementWalker.h - From a tensor value to one of its elements -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Says what an element of a tensor is, by walking from the tensor to the ops
// that produce it. Dialects take part with one function per op group; an op
// that none knows ends the walk, and its result is read as it is.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_ELEMENTS_ELEMENTWALKER_H
#define ATTN_ANALYSIS_ELEMENTS_ELEMENTWALKER_H

#include "attn/Analysis/Elements/ScalarGraph.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace attn::raise {

using Indices = llvm::ArrayRef<mlir::AffineExpr>;

/// A tensor and the position of one of its elements.
struct Element {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> indices;
};

/// A contraction: sum over some loops of lhs * rhs, added to init. A null init
/// is zero.
struct Contraction {
  mlir::Operation *op = nullptr;
  mlir::Value lhs, rhs, init;
  mlir::AffineMap lhsMap, rhsMap, resultMap;
  llvm::SmallVector<bool> isReduced;           ///< per loop
  llvm::SmallVector<mlir::AffineExpr> extents; ///< per loop
};

/// True for floats of less than 16 bits. What rounds to them is an
/// "arith.truncf" of the graph: it changes more than what other roundings do.
bool isOfFewBits(mlir::Type type);

class ElementWalker {
public:
  explicit ElementWalker(ScalarGraph &graph) : graph(graph) {}

  ScalarGraph &getGraph() { return graph; }
  IndexSpace &getSpace() { return graph.getSpace(); }

  /// The element of `tensor` at `indices`.
  ScalarRef element(mlir::Value tensor, Indices indices);

  /// The same, but only through the op that defines `tensor`: its operands are
  /// read as they are.
  ScalarRef step(mlir::Value tensor, Indices indices);

  /// The tensor elements that were found to be `scalar`.
  llvm::ArrayRef<Element> getOrigins(ScalarRef scalar) const;

  /// The size of dimension `dimension` of `tensor`.
  mlir::AffineExpr getSize(mlir::Value tensor, int64_t dimension);
  llvm::SmallVector<mlir::AffineExpr> getSizes(mlir::Value tensor);

  /// True if the indices are proven to lie in the tensor.
  bool isInBounds(mlir::Value tensor, Indices indices);

  /// The value of the SSA scalar `value`. `inner` holds the scalars of block
  /// arguments and of loop indices.
  ScalarRef scalar(mlir::Value value,
                   llvm::DenseMap<mlir::Value, ScalarRef> &inner);
  /// The value of an index that is used as a size or an offset.
  mlir::AffineExpr sizeOf(mlir::OpFoldResult value);

  /// Elements of the results of reshapes: the element of the source, given
  /// the sizes on both sides.
  std::optional<llvm::SmallVector<mlir::AffineExpr>>
  reshape(Indices indices, llvm::ArrayRef<mlir::AffineExpr> sizes,
          llvm::ArrayRef<mlir::AffineExpr> sourceSizes);

private:
  ScalarRef produce(mlir::Value tensor, Indices indices);
  ScalarRef readAsIs(mlir::Value tensor, Indices indices);
  ScalarRef constantOrRead(mlir::Value tensor, Indices indices);
  ScalarRef gather(mlir::Value tensor, llvm::ArrayRef<ScalarRef> indices);
  ScalarRef scalarOfOp(mlir::OpResult value,
                       llvm::DenseMap<mlir::Value, ScalarRef> &inner);

  ScalarGraph &graph;
  bool isStepping = false;
  std::map<std::pair<void *, std::vector<const void *>>, ScalarRef> known;
  llvm::DenseMap<ScalarRef, llvm::SmallVector<Element>> origins;
};

// What is known of constants and of the tensor dialect: the element of `result`
// at `indices`, or null. Other dialects have an ElementReader.
ScalarRef getConstantElement(ElementWalker &walker, mlir::OpResult result,
                             Indices indices);
ScalarRef getTensorElement(ElementWalker &walker, mlir::OpResult result,
                           Indices indices);

/// The element at `indices` of `inputs` put one after the other along
/// `dimension`.
ScalarRef getConcatenatedElement(ElementWalker &walker, mlir::Operation *op,
                                 mlir::ValueRange inputs, int64_t dimension,
                                 Indices indices);

/// The element at `indices` of `source` with `low` elements of `value` before
/// it in each dimension, and some behind it.
ScalarRef getPaddedElement(ElementWalker &walker, mlir::Operation *op,
                           mlir::Value source,
                           llvm::ArrayRef<mlir::AffineExpr> low,
                           ScalarRef value, Indices indices);

/// `op` as a contraction in any dialect.
std::optional<Contraction> getContraction(ElementWalker &walker,
                                          mlir::Operation *op);

/// False if `scalar` is a constant, or read of one, that an integer of `width`
/// bits does not hold: what narrows it is no mere change of width. Indices and
/// data are taken not to overflow.
bool fitsWidth(ScalarRef scalar, unsigned width);

/// Number `position` of the constant `attribute`; none if it cannot be read.
std::optional<double> getConstantAt(mlir::Attribute attribute,
                                    int64_t position);

} // namespace attn::raise

#endif // ATTN_ANALYSIS_ELEMENTS_ELEMENTWALKER_H
