//===- RowBuilder.h - The arithmetic of rows that change --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a chain of row ops computes, in a kernel of its own or where the rows of
// a tile are. A warp has a row: its lanes share out the columns so that both of
// a pair are a lane's. Then a rotation is arithmetic on registers, and a norm
// is one sum over the lanes.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWBUILDER_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWBUILDER_H

#include "Kernel/RowChains.h"

#include "mlir/IR/IRMapping.h"

namespace attn {

/// Builds what all lanes of a warp do for a few rows.
class RowBuilder {
public:
  /// Batch, head and position, i64.
  using Place = llvm::SmallVector<mlir::Value>;
  /// Of row number `row` the element of `column` (index), which exists.
  using Read = llvm::function_ref<mlir::Value(size_t row, mlir::Value column)>;
  using Write = llvm::function_ref<void(size_t row, mlir::Value column,
                                        mlir::Value element)>;
  /// The largest magnitude of row number `row` among the columns of the lane,
  /// as they are written, in f32.
  using Measure = llvm::function_ref<void(size_t row, mlir::Value largest)>;

  /// `values` has the kernel's views of what the chain reads beside its source;
  /// `lane` is of type index.
  RowBuilder(mlir::OpBuilder &builder, mlir::Location loc, RowChain chain,
             const mlir::IRMapping &values, mlir::Value lane);

  /// Reads the rows at `places`, changes them in f32, rounds once and writes;
  /// before a row is written it is measured.
  void build(llvm::ArrayRef<Place> places, Read read, Write write,
             Measure measure = nullptr);

private:
  using Value = mlir::Value;

  /// Columns `first + m * stride`, of which lane l has those with m mod 32 = l.
  struct Columns {
    int64_t first, stride, count;
  };
  struct Row {
    Place place;
    /// f32, of each of `columns`; 0 of m past the end.
    llvm::SmallVector<llvm::SmallVector<Value>> registers;
  };

  void shareOutColumns();
  void load(Row &row, llvm::function_ref<Value(Value column)> read);
  void turn(Row &row, RotaryOp op);
  void normalize(Row &row, QkNormOp op);
  void widen(Row &row, DequantizeOp op);
  Value getLargest(const Row &row);
  /// To the type of the rows.
  Value round(Value number);
  void store(Row &row,
             llvm::function_ref<void(Value column, Value element)> write);

  Value getPosition(const Row &row, RotaryOp op);
  Value readTable(const Row &row, RotaryOp op, Value table, Value position,
                  Value column);
  size_t find(int64_t first) const;
  /// `number * 32 + lane`, or the last of `columns`; `isThere` is null where
  /// all lanes have one.
  Value getMember(const Columns &columns, size_t number, Value &isThere);
  Value getColumn(int64_t first, int64_t stride, Value member);
  /// 0 where `condition`, which may be null, does not hold.
  Value readIf(Value condition, llvm::function_ref<Value()> body);

  template <typename OpTy>
  Value create(Value a, Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  Value constant(int64_t value);
  Value i64(int64_t value);
  Value f32(double value);
  Value toI64(Value index);
  Value toF32(Value element);
  /// The element of a tensor outside as f32.
  Value extract(Value tensor, mlir::ValueRange at);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  RowChain chain;
  const mlir::IRMapping &values;
  Value lane;
  mlir::ShapedType type; ///< of the rows
  llvm::SmallVector<Columns> columns;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWBUILDER_H
