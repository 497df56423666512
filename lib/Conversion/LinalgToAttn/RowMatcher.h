//===- RowMatcher.h - Rotary embedding and norm in graphs --------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Conversion/LinalgToAttn.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_LINALGTOATTN_ROWMATCHER_H
#define ATTN_LIB_CONVERSION_LINALGTOATTN_ROWMATCHER_H

#include "AttentionMatch.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

namespace attn::raise {

/// Columns [lo, lo + 2 * pairs) in pairs.
struct Pairing {
  int64_t lo, pairs;
  bool interleaved;
};

/// Looks at one operand of an attention.
class RowMatcher {
public:
  explicit RowMatcher(mlir::Value tensor)
      : tensor(tensor),
        type(mlir::cast<mlir::RankedTensorType>(tensor.getType())),
        space(tensor.getContext()), graph(space), walker(graph) {
    for (unsigned dim : {kBatch, kHead, kSequence})
      addRow(walker.getSize(tensor, dim));
  }

  /// What `tensor` is, built by `builder` in place of it; null if it is no such
  /// op.
  mlir::Value matchRotary(mlir::OpBuilder &builder, mlir::Location loc);
  mlir::Value matchNorm(mlir::OpBuilder &builder, mlir::Location loc);

private:
  void addRow(mlir::AffineExpr extent);
  int64_t getColumns() { return type.getDimSize(kHeadDim); }
  ScalarRef elementOf(mlir::Value of, mlir::AffineExpr column) {
    llvm::SmallVector<mlir::AffineExpr> indices(row);
    indices.push_back(column);
    return walker.element(of, indices);
  }

  mlir::Value tryPairing(const Pairing &pairing, mlir::OpBuilder &builder,
                         mlir::Location loc);
  std::optional<OperandSource> findSource(ScalarRef x, mlir::AffineExpr column,
                                          ScalarRef y, mlir::AffineExpr other,
                                          mlir::AffineExpr any);
  bool keepsOtherColumns(const OperandSource &source, const Pairing &pairing,
                         mlir::AffineExpr any);
  llvm::SmallVector<OperandSource> findTables(ScalarRef first, ScalarRef second,
                                              const Pairing &pairing,
                                              mlir::AffineExpr pair);
  mlir::Value buildTable(mlir::OpBuilder &builder, mlir::Location loc,
                         const OperandSource &source);
  mlir::Value buildSource(mlir::OpBuilder &builder, mlir::Location loc,
                          const OperandSource &source, mlir::AffineExpr column);
  bool isColumnOf(const Element &element, mlir::AffineExpr column, int64_t size,
                  unsigned &dim);

  mlir::Value tensor;
  mlir::RankedTensorType type;
  IndexSpace space;
  ScalarGraph graph;
  ElementWalker walker;
  llvm::SmallVector<mlir::AffineExpr> row; ///< batch, head and position
  Layout rowLayout;                        ///< the same; of size 1 empty
};

} // namespace attn::raise

#endif // ATTN_LIB_CONVERSION_LINALGTOATTN_ROWMATCHER_H
