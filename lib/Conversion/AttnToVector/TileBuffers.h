//===- TileBuffers.h - Tiles in the layout that products want ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies of the operands of a tile, in the score type, contiguous, and
// transposed where the products read columns; and access to rows of tensors.
// Private to lib/Conversion/AttnToVector.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOVECTOR_TILEBUFFERS_H
#define LIB_CONVERSION_ATTNTOVECTOR_TILEBUFFERS_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <map>

namespace attn {

/// Buffers are on the stack of the function that holds the loop over tiles.
/// Those of a whole tile are shared by all steps that read it.
class TileBuffers {
public:
  /// An uninitialized buffer, for the body of the loop over row tiles.
  mlir::Value createBuffer(mlir::ImplicitLocOpBuilder &b,
                           llvm::ArrayRef<int64_t> shape, mlir::Type element);

  /// scale * tile [1, 1, rows, columns] as memref<rows x columns>, filled where
  /// the tile is defined.
  mlir::Value pack(mlir::ImplicitLocOpBuilder &b, mlir::Value tile,
                   mlir::FloatType element, double scale);

  /// The tile transposed: memref<columns x rows>, both rounded up to the
  /// transposed block, filled where the tile is defined.
  mlir::Value packTransposed(mlir::ImplicitLocOpBuilder &b, mlir::Value tile,
                             mlir::FloatType element);

  /// For products of pairs of 16-bit elements, which pass for i32: those of
  /// columns 2 c and 2 c + 1, transposed, as memref<columns / 2 x rows>, both
  /// rounded up to the transposed block; and those of rows 2 r and 2 r + 1, as
  /// memref<rows / 2 x columns>. Columns and rows must be even.
  mlir::Value packColumnPairs(mlir::ImplicitLocOpBuilder &b, mlir::Value tile);
  mlir::Value packRowPairs(mlir::ImplicitLocOpBuilder &b, mlir::Value tile);

  /// Columns [first, first + count) of scale * tile [1, 1, rows, columns], as
  /// memref<rows x count>.
  mlir::Value packColumns(mlir::ImplicitLocOpBuilder &b, mlir::Value tile,
                          mlir::FloatType element, mlir::Value first,
                          int64_t count, double scale);

  /// Columns [first, first + count) of a tile, transposed: memref<count x
  /// rows>, both rounded up to the transposed block.
  mlir::Value packTransposedColumns(mlir::ImplicitLocOpBuilder &b,
                                    mlir::Value tile, mlir::FloatType element,
                                    mlir::Value first, int64_t count);

  /// `width` elements of a tensor's row from `place` on, and the reverse.
  mlir::Value readRow(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor,
                      mlir::ValueRange place, int64_t width);
  mlir::Value writeRow(mlir::ImplicitLocOpBuilder &b, mlir::Value row,
                       mlir::Value tensor, mlir::ValueRange place);

  /// A vector of floats in the wider type `element`.
  mlir::Value extend(mlir::ImplicitLocOpBuilder &b, mlir::Value vector,
                     mlir::Type element);

private:
  enum class Layout { Rows, Columns, RowPairs, ColumnPairs };

  /// Columns [first, first + count) of a tile, `packing` at a time converted to
  /// one element, transposed.
  mlir::Value packTransposedBlocks(
      mlir::ImplicitLocOpBuilder &b, mlir::Value tile, mlir::Type element,
      mlir::Value first, int64_t count, int64_t packing,
      llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value)>
          convert);

  /// The buffer of `tile`, made by `create` behind it unless it is there.
  mlir::Value getPacked(mlir::ImplicitLocOpBuilder &b, mlir::Value tile,
                        mlir::Type element, double scale, Layout layout,
                        llvm::function_ref<mlir::Value()> create);

  std::map<std::tuple<const void *, const void *, double, Layout>, mlir::Value>
      packed;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOVECTOR_TILEBUFFERS_H
