//===- WidenBytes.h - 8-bit elements as operands of 16 bits -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_TILETONVVM_WIDENBYTES_H
#define ATTN_CONVERSION_TILETONVVM_WIDENBYTES_H

#include "Common.h"

namespace attn::tile {

/// Registers that `widenBytes` needs, and `%bytes0` and `%bytes1` for bytes.
void declareWidened(PtxBlock &block);

/// Writes what makes a pair of `to`, f16 or bf16, in the register `result` of
/// the bytes `first` and `second` of the register `bytes`, exactly. `from` is
/// f8E4M3FN, f8E5M2 or i8. With `hasFloat8` the target has
/// `cvt.rn.f16x2.e4m3x2` (PTX ISA 9.7.9.21: sm_89 and later).
void widenBytes(PtxBlock &block, mlir::Type from, mlir::Type to,
                const std::string &result, const std::string &bytes,
                int64_t first, int64_t second, bool hasFloat8);

} // namespace attn::tile

#endif // ATTN_CONVERSION_TILETONVVM_WIDENBYTES_H
