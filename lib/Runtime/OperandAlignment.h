//===- OperandAlignment.h - Where an operand may begin ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_OPERANDALIGNMENT_H
#define ATTN_LIB_RUNTIME_OPERANDALIGNMENT_H

#include "attn/Runtime/Manifest.h"

namespace attn::runtime {

/// The error if an operand may not begin at `address`.
std::optional<Error> checkAlignment(const Operand &operand, uint64_t address);

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_OPERANDALIGNMENT_H
