//===- MatrixDescriptors.h - Shared tiles as operands -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_TILETONVVM_MATRIXDESCRIPTORS_H
#define LIB_CONVERSION_TILETONVVM_MATRIXDESCRIPTORS_H

#include "Common.h"

namespace attn::tile {

/// Products that one instruction sums: 32 bytes of them.
inline int64_t getProductDepth(SharedType type) {
  return 32 / type.getElementBytes();
}

/// Who reads a descriptor: the same layouts, other bits (PTX ISA, "Matrix
/// Descriptor Format" of wgmma and "Shared memory descriptor" of tcgen05).
enum class DescriptorFormat { Wgmma, Tcgen05 };

/// The descriptors of a shared tile as an operand of wgmma or tcgen05.
class MatrixDescriptors {
public:
  /// `tile` before conversion. `isMnMajor`: its rows are k.
  MatrixDescriptors(mlir::ConversionPatternRewriter &rewriter,
                    mlir::Location loc, DescriptorFormat format,
                    mlir::TypedValue<SharedType> tile, bool isMnMajor,
                    bool hasClusters)
      : rewriter(rewriter), loc(loc), format(format), tile(tile),
        type(tile.getType()), isMnMajor(isMnMajor), hasClusters(hasClusters) {}

  /// Of `products` instructions on all of M or N.
  llvm::SmallVector<mlir::Value> getWhole(int64_t products);
  /// The same of the `rows` of M that a warpgroup multiplies.
  llvm::SmallVector<mlir::Value> getRows(mlir::Value warpgroup, int64_t rows,
                                         int64_t products);

private:
  int64_t getLayout() const;
  mlir::Value build(mlir::Value pointer, mlir::Value rowBytes);
  int64_t getOffset(int64_t product) const;
  llvm::SmallVector<mlir::Value> split(mlir::Value descriptor,
                                       int64_t products);

  mlir::ConversionPatternRewriter &rewriter;
  mlir::Location loc;
  DescriptorFormat format;
  mlir::TypedValue<SharedType> tile;
  SharedType type;
  bool isMnMajor, hasClusters;
};

} // namespace attn::tile

#endif // LIB_CONVERSION_TILETONVVM_MATRIXDESCRIPTORS_H
