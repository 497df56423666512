//===- FloatPairs.h - Arithmetic of two f32 at once -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, add, mul and fma .f32x2, of sm_100 and later: two neighbouring
// registers in one instruction, each rounded as by itself. LLVM makes them of
// vector<2xf32>.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_TILETONVVM_FLOATPAIRS_H
#define LIB_CONVERSION_TILETONVVM_FLOATPAIRS_H

#include "mlir/IR/Builders.h"

#include <array>

namespace attn::tile {

using ValuePair = std::array<mlir::Value, 2>;

/// True for an op of f32 that has an instruction for pairs.
bool isPaired(mlir::Operation *op);

mlir::Value packPair(mlir::OpBuilder &builder, mlir::Location loc,
                     ValuePair values);
ValuePair unpackPair(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value pair);

/// `op` on pairs in place of its operands.
mlir::Value createPaired(mlir::OpBuilder &builder, mlir::Operation *op,
                         mlir::ValueRange pairs);

} // namespace attn::tile

#endif // LIB_CONVERSION_TILETONVVM_FLOATPAIRS_H
