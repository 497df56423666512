//===- RowOps.h - What happens to rows before an attention ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ROWOPS_H
#define ATTN_DIALECT_ATTN_IR_ROWOPS_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include <tuple>

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/RowOps.h.inc"

namespace attn {

/// Where the pairs of an attn.rotary are: pair m has the columns `first + m *
/// stride` and `second + m * stride` of a row, and the table's columns
/// `tableFirst + m * tableStride` and `tableSecond + m * tableStride`.
struct RotaryLayout {
  int64_t pairs;
  int64_t first, second, stride;
  int64_t tableFirst, tableSecond, tableStride;

  /// Of an op that verifies.
  static RotaryLayout get(RotaryOp op);

  /// True if both have the same columns in the same pairs.
  bool hasPairsOf(const RotaryLayout &other) const {
    return std::tie(pairs, first, second, stride) ==
           std::tie(other.pairs, other.first, other.second, other.stride);
  }
  /// The columns that turn: [begin(), end()).
  int64_t begin() const { return first; }
  int64_t end() const { return first + 2 * pairs; }
};

/// True of [rows, H, D], the rows of sequences behind each other; others are
/// [B, H, N, D].
bool isPackedRows(mlir::ShapedType rows);

/// The dimension that counts the rows of a head.
unsigned getRowDim(mlir::ShapedType rows);

/// The tensor whose rows `op`, which may be null, changes; null for ops that do
/// something else.
mlir::Value getRowSource(mlir::Operation *op);

/// `tensor` before all attn.dequantize, attn.rotary and attn.qk_norm.
mlir::Value skipRowOps(mlir::Value tensor);

/// The ops that are computed at once, the last behind the others.
struct RowChain {
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::Value source; ///< of the first

  /// The longest chain that ends in `last`. The columns that two rotations turn
  /// are in the same pairs, or others: a lane has both columns of a pair.
  static RowChain get(mlir::Operation *last);
};

/// The end of the chain that makes `rows`, which may be no result, of a tensor
/// that nothing changes; null if nothing makes them, or several chains do.
mlir::Operation *getOnlyRowChain(mlir::Value rows);

/// A pair, floats of the type to compute in, turned: each column has a factor
/// of its own.
std::pair<mlir::Value, mlir::Value>
turnPair(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
         mlir::Value y, std::pair<mlir::Value, mlir::Value> cos,
         std::pair<mlir::Value, mlir::Value> sin, bool transposed);

/// 1 / sqrt(sum / columns + epsilon), of the squares of a row.
mlir::Value buildRowScale(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value sum, int64_t columns, double epsilon);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_ROWOPS_H
