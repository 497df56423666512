//===- EmitHeader.h - A C++ header that launches kernels --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_HEADER_EMITHEADER_H
#define ATTN_TARGET_HEADER_EMITHEADER_H

#include "attn/Runtime/Bundle.h"

#include <string>

namespace attn {

/// A self-contained C++17 header for the programs of `bundle` (which must be
/// valid) with `ptx` embedded. It needs cuda.h and, linked, the CUDA driver. It
/// declares
///
///   struct NAME_Args { ... };   // an attn_launch::Tensor for each operand
///   attn_launch::Status NAME_launch(const NAME_Args &, CUstream);
///
/// The launch checks sizes, strides and alignment as runtime::bindOperands
/// does, and reports the first fault instead of launching. NAME is the
/// bundle's, with `_` for what no C++ name can hold; of a bundle with calls
/// there is a pair for each program, called NAME_PROGRAM.
std::string emitHeader(const runtime::Bundle &bundle, const std::string &ptx);

} // namespace attn

#endif // ATTN_TARGET_HEADER_EMITHEADER_H
