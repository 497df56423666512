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

#include <cstddef>
#include <cstdint>

namespace attn {

/// Symbols that compiled code may call besides the C library's and those of
/// MLIR's async runtime.
llvm::orc::SymbolMap getHostSymbols(llvm::orc::MangleAndInterner intern);

/// How many threads calls of compiled code from this thread may take, as long
/// as it lives; 0: one for each core. Code that was compiled for a number of
/// threads keeps to that.
class ThreadLimit {
public:
  explicit ThreadLimit(size_t limit);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit &) = delete;
  ThreadLimit &operator=(const ThreadLimit &) = delete;

private:
  size_t previous;
};

/// Copies the elements of one ranked memref to another of the same sizes, by
/// their descriptors (CpuJit.cpp).
void copyMemRef(int64_t elementBytes, const int64_t *source,
                const int64_t *target, int64_t rank);

/// Calls `body` with every index of a tensor of that shape, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body);

} // namespace attn

#endif // ATTN_LIB_TARGET_CPU_HOSTSYMBOLS_H
