//===- IndexRanges.h - Which index values 32 bits hold ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `index` has 64 bits of meaning (docs/Spec.md), and GPUs compute with 32 what
// provably fits: ranges of values by upstream's InferIntRangeInterface.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_INDEXRANGES_H
#define ATTN_ANALYSIS_INDEXRANGES_H

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// Ranges of integers and index values. Sizes, coordinates and what affine ops
/// make of them are taken to be below kMaxSize; of what data or a caller gives,
/// and of what is made of that, nothing is known but its type. Values are known
/// by their addresses: none may be erased while this is in use.
class IndexRanges {
public:
  /// A sum of a few sizes is below 2^31.
  static constexpr int64_t kMaxSize = int64_t(1) << 29;

  /// Further from 0 than any sum of a few positions and 32-bit data, and times
  /// a factor of 2^20 still a number of 64 bits.
  static constexpr int64_t kFar = int64_t(1) << 40;

  mlir::ConstantIntRanges get(mlir::Value value);

  /// True if the value is in [-2^31, 2^31), whatever the coordinates are.
  bool fits32Bits(mlir::Value value);

  /// True for an unsigned division or shift whose operands may be negative: its
  /// result then needs all 64 bits of them, however few it has.
  bool needs64Bits(mlir::Operation &op);

  /// True if every use of `value` outside of `isOwn` ops compares it with
  /// a number well within 32 bits: cut to 32 bits it compares the same.
  bool isComparedOnly(mlir::Value value,
                      llvm::function_ref<bool(mlir::Operation *)> isOwn);

  /// From now on `value` stands for itself cut to 32 bits.
  void setSaturated(mlir::Value value);

private:
  /// The number of a size, a coordinate, or a position in a tensor.
  bool isPlace(mlir::Value value);
  mlir::ConstantIntRanges compute(mlir::Value value);

  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> known;
};

/// An integer of a mask as an index, or kFar or its negative where it is beyond
/// that: as a bound of keys it means the same, and bounds made of it do not
/// wrap around.
mlir::Value castToTerm(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value);

/// An i64 or index value, or the nearest number that 32 bits hold: as a bound
/// of keys it means the same.
mlir::Value cutTo32Bits(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value);

} // namespace attn

#endif // ATTN_ANALYSIS_INDEXRANGES_H
