//===- OperandChecks.h - Where operands may lie --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_OPERANDCHECKS_H
#define ATTN_LIB_RUNTIME_OPERANDCHECKS_H

#include "attn/Runtime/Manifest.h"

namespace attn::runtime {

/// The error if an operand may not begin at `address`.
std::optional<Error> checkAlignment(const Operand &operand, uint64_t address);

/// The error if an output lies in the memory of another operand: kernels write
/// it while they read. Tensors with gaps may lie in those of each other; an
/// address of 0 is not known.
std::optional<Error> checkAliases(const Manifest &manifest,
                                  const std::vector<OperandBinding> &operands);

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_OPERANDCHECKS_H
