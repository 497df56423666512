//===- LinearScope.h - In a kernel of linear attention ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_LINEAR_LINEARSCOPE_H
#define LIB_CONVERSION_ATTNTOTILE_LINEAR_LINEARSCOPE_H

#include "Linear/LinearAttention.h"

#include "Kernel/Fragments.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attn {

/// The base of what builds a kernel with a CTA for each batch, head and slice
/// of the state's columns.
class LinearScope {
protected:
  LinearScope(mlir::OpBuilder &builder, const LinearKernels &kernels)
      : builder(builder), kernels(kernels), op(kernels.op), loc(op.getLoc()),
        fragments(builder, loc) {}

  /// Sets the builder to the kernel's body.
  void beginKernel(llvm::StringRef name);
  mlir::Value constant(int64_t value);
  mlir::Value dim(mlir::Value tensor, int64_t number);
  mlir::Value toI64(mlir::Value index);
  /// A tile of 0s.
  mlir::Value createZeros(int64_t rows);
  mlir::Value multiply(mlir::Value a, mlir::Value b, bool transposeB,
                       mlir::Value acc);
  /// The indices, and the first column of the slice if there are several.
  llvm::SmallVector<mlir::Value>
  atColumn(llvm::SmallVector<mlir::Value> indices) const;
  /// for first in [0, count) by chunks: state = body(first, state).
  mlir::ValueRange
  loop(mlir::Value count, mlir::ValueRange state,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);

  mlir::Value loadQuery(mlir::Value row);
  mlir::Value loadKey(mlir::Value row);
  mlir::Value loadValue(mlir::Value row);
  /// K^T of a chunk as a left operand.
  mlir::Value transposeKey(mlir::Value key);
  mlir::Value buildFirstState();
  /// scale * acc to the rows from `row` on.
  void storeOutput(mlir::Value acc, mlir::Value row);
  /// The state, if it is a result.
  void storeState(mlir::Value state);
  /// What is carried into the chunk that begins at `row`, if that is a result.
  void storeCarried(mlir::Value state, mlir::Value row);

  mlir::OpBuilder &builder;
  const LinearKernels &kernels;
  LinearAttentionOp op;
  mlir::Location loc;
  Fragments fragments;
  mlir::IRMapping values;
  mlir::Value workspace;
  mlir::Value batch, head, keyHead; ///< of the CTA
  mlir::Value firstColumn;          ///< of its slice; null for all columns

private:
  void mapGrid();
  mlir::Value readState(mlir::Value row, mlir::Value column);
  mlir::Value load(mlir::Value tensor, llvm::ArrayRef<mlir::Value> at,
                   int64_t columns);
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_LINEAR_LINEARSCOPE_H
