//===- WidenBytes.h - 8-bit elements as operands of 16 bits -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_TILETONVVM_WIDENBYTES_H
#define ATTN_CONVERSION_TILETONVVM_WIDENBYTES_H

#include "Common.h"

namespace attn::tile {

/// Which of the four bytes of a register are a pair: neighbours (0, 1) and
/// (2, 3), or every other one, (0, 2) and (1, 3).
enum class BytePairs { Neighbours, EveryOther };

/// Registers that `widenBytes` needs for numbers of type `from`.
void declareWidened(PtxBlock &block, mlir::Type from, bool hasFloat8);

/// Writes what makes two pairs of `to`, f16 or bf16, in the two registers
/// `results` of the bytes of another register, exactly. `from` is f8E4M3FN,
/// f8E5M2 or i8. With `hasFloat8` the target has `cvt.rn.f16x2.e4m3x2` (PTX ISA
/// 9.7.9.21: sm_89 and later).
void widenBytes(PtxBlock &block, mlir::Type from, mlir::Type to,
                llvm::ArrayRef<std::string> results, const std::string &bytes,
                BytePairs pairs, bool hasFloat8);

} // namespace attn::tile

#endif // ATTN_CONVERSION_TILETONVVM_WIDENBYTES_H
