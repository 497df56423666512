//===- AssertBuilder.h - Checks of data on the device -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conditions are those of the interpreter (lib/Interpreter/MaskChecks.cpp),
// and that descales of attentions are finite, one attn.device_assert each.
// Functions return how many they build.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_ASSERTBUILDER_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_ASSERTBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// Builds checks before an op, and the numbers that they compare.
class AssertBuilder {
public:
  explicit AssertBuilder(mlir::Operation *before)
      : builder(before->getLoc(), before) {}

protected:
  using Predicate = mlir::arith::CmpIPredicate;
  using Condition = llvm::function_ref<mlir::Value(mlir::ValueRange point)>;

  /// Expects the condition at all points of the index space of `sizes`; what it
  /// takes of sizes of tensors is computed before.
  void expect(mlir::Location loc, mlir::ValueRange sizes,
              const llvm::Twine &message, Condition condition);

  mlir::Value constant(int64_t value);
  /// A size of a tensor, constant where it is static.
  mlir::Value getSize(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::Value> getSizes(mlir::Value tensor);
  mlir::Value compare(Predicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value either(mlir::Value a, mlir::Value b);
  mlir::Value minus(mlir::Value a, int64_t b);
  /// An entry, as an index.
  mlir::Value read(mlir::Value tensor, mlir::ValueRange at);

  mlir::ImplicitLocOpBuilder builder;
  int64_t count = 0;
};

/// Checks what a mask_mod of the attention looks into: offsets of packed
/// sequences and lists of blocks.
int64_t buildMaskAsserts(mlir::Operation *attention, mlir::Value query,
                         mlir::Value key, mlir::Region &maskMod);

/// Checks of what says where the rows of operands are, and what they are
/// multiplied by, before an op.
class OperandAsserts : AssertBuilder {
public:
  using AssertBuilder::AssertBuilder;

  /// Lengths, if there are any, that `source` has positions for.
  int64_t checkLengths(mlir::Value lengths, mlir::Value source,
                       llvm::StringRef name);

  /// Entries, of pages with keys that exist, that are pages of the pool.
  int64_t checkTable(PagedOp paged, mlir::Value lengths);

  /// Offsets that ascend, of sequences that `view` has room for.
  int64_t checkSequences(RaggedOp view);

  /// Entries of the map of a view or sum `op` that are heads of `whole`, its
  /// source or destination.
  int64_t checkHeads(mlir::Operation *op, mlir::Value map, mlir::Value whole,
                     llvm::StringRef name);

  /// Positions that are rows of the tables.
  int64_t checkPositions(RotaryOp op);

  /// Slots that are -1 or rows of the pools, and no two of them one row.
  int64_t checkSlots(AppendOp append);

  /// A descale, if there is one, that `op` multiplies by: finite; or divides
  /// by: positive, too.
  int64_t checkDescale(mlir::Operation *op, mlir::Value descale,
                       bool isDivisor = false);

private:
  int64_t checkEntries(PagedOp paged, mlir::Value lengths);
  int64_t checkOffsets(mlir::Location loc, mlir::Value offsets,
                       mlir::Value rows, mlir::Value room);
};

} // namespace attn

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_ASSERTBUILDER_H
