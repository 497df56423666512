//===- HostSymbols.h - What compiled code calls -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_CPU_HOSTSYMBOLS_H
#define ATTN_LIB_TARGET_CPU_HOSTSYMBOLS_H

#include "mlir/Support/LLVM.h"

#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"

#include <cstdint>

namespace attn {

/// Symbols that compiled code may call besides the C library's.
llvm::orc::SymbolMap getHostSymbols(llvm::orc::MangleAndInterner intern);

/// Copies the elements of one ranked memref to another of the same sizes, by
/// their descriptors (CpuJit.cpp).
void copyMemRef(int64_t elementBytes, const int64_t *source,
                const int64_t *target, int64_t rank);

/// Calls `body` with every index of a tensor of that shape, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body);

} // namespace attn

#endif // ATTN_LIB_TARGET_CPU_HOSTSYMBOLS_H
