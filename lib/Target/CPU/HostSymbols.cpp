//===- HostSymbols.cpp - What compiled code calls -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSymbols.h"

#include "mlir/Support/LLVM.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Threading.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace attn;

using Word = int64_t;
static_assert(sizeof(void *) == sizeof(Word), "expected a 64-bit host");

void attn::forEachIndex(ArrayRef<int64_t> shape,
                        function_ref<void(ArrayRef<int64_t>)> body) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    body(index);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// What a failed cf.assert calls after it has printed its message: an input
/// that a module rejects is no reason to dump core.
static void failAssertion() {
  std::fflush(stdout);
  std::fputs("error: an assertion of the module failed on these inputs\n",
             stderr);
  std::_Exit(1);
}

namespace {
/// A rank and the address of a descriptor.
struct UnrankedMemRef {
  int64_t rank;
  const Word *descriptor;
};
} // namespace

/// The number of innermost dimensions that lie together in both.
static int64_t countDense(const Word *sizes, const Word *fromStrides,
                          const Word *toStrides, int64_t rank) {
  int64_t stride = 1, dense = 0;
  for (int64_t d = rank; d-- > 0; ++dense) {
    if (sizes[d] != 1 && (fromStrides[d] != stride || toStrides[d] != stride))
      break;
    stride *= sizes[d];
  }
  return dense;
}

void attn::copyMemRef(int64_t elementBytes, const int64_t *source,
                      const int64_t *target, int64_t rank) {
  auto data = [&](const Word *words) {
    return reinterpret_cast<char *>(words[1]) + words[2] * elementBytes;
  };
  const Word *sizes = source + 3;
  const Word *fromStrides = sizes + rank;
  const Word *toStrides = target + 3 + rank;
  const char *from = data(source);
  char *to = data(target);
  int64_t outer = rank - countDense(sizes, fromStrides, toStrides, rank);
  int64_t bytes = elementBytes;
  for (int64_t d = outer; d < rank; ++d)
    bytes *= sizes[d];
  if (bytes == 0)
    return;
  forEachIndex(ArrayRef(sizes, static_cast<size_t>(outer)),
               [&](ArrayRef<int64_t> index) {
                 int64_t fromOffset = 0, toOffset = 0;
                 for (int64_t d = 0; d < outer; ++d) {
                   fromOffset += index[d] * fromStrides[d];
                   toOffset += index[d] * toStrides[d];
                 }
                 std::memcpy(to + toOffset * elementBytes,
                             from + fromOffset * elementBytes,
                             static_cast<size_t>(bytes));
               });
}

/// What memref.copy between strided layouts calls.
static void copyUnranked(int64_t elementBytes, const UnrankedMemRef *source,
                         const UnrankedMemRef *target) {
  copyMemRef(elementBytes, source->descriptor, target->descriptor,
             source->rank);
}

/// Compiled code takes it that there is memory, and has no way out of a call.
static void *allocateOrEnd(size_t bytes) {
  void *memory = std::malloc(bytes);
  if (!memory)
    llvm::report_bad_alloc_error("expected memory for a tensor, got none");
  return memory;
}

/// Of what tasks keep; `bytes` is a multiple of `alignment`.
static void *alignedAllocateOrEnd(size_t alignment, size_t bytes) {
  void *memory = std::aligned_alloc(alignment, bytes);
  if (!memory)
    llvm::report_bad_alloc_error("expected memory for a task, got none");
  return memory;
}

/// Of the calls of this thread; 0: as many as there are cores.
static thread_local size_t numThreads = 0;

attn::ThreadLimit::ThreadLimit(size_t limit) : previous(numThreads) {
  numThreads = limit;
}
attn::ThreadLimit::~ThreadLimit() { numThreads = previous; }

/// What the code divides the trips of a parallel loop by, in the thread that
/// calls it. 0 is one block, which that thread computes itself.
static int64_t getNumWorkers() {
  if (numThreads == 1)
    return 0;
  static const unsigned numCores =
      llvm::hardware_concurrency().compute_thread_count();
  return static_cast<int64_t>(numThreads ? numThreads : numCores);
}

/// Symbols that compiled code may call besides the C library's.
llvm::orc::SymbolMap attn::getHostSymbols(llvm::orc::MangleAndInterner intern) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                             llvm::JITSymbolFlags::Exported};
  };
  add("abort", &failAssertion);
  // All of this program: another allocator may stand before the C library's.
  add("malloc", &allocateOrEnd);
  add("aligned_alloc", &alignedAllocateOrEnd);
  add("free", &std::free);
  add("memrefCopy", &copyUnranked);
  // MLIR's own spelling.
  add("mlirAsyncRuntimGetNumWorkerThreads", &getNumWorkers);
  return symbols;
}
