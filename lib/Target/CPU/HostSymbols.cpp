//===- HostSymbols.cpp - What compiled code calls -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSymbols.h"

#include "attn/Support/Parallel.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
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

/// The nearest bf16, ties to the one with an even last bit, in the low half of
/// a float: where the processor cannot round, LLVM calls these two, whose
/// result it takes from the low half of a vector register.
static float roundToBf16(float value) {
  auto bits = llvm::bit_cast<uint32_t>(value);
  constexpr uint32_t kQuiet = 0x40;
  bits = std::isnan(value) ? bits >> 16 | kQuiet
                           : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return llvm::bit_cast<float>(bits);
}

/// As above. A float that lies between two of bf16 tells on which side of their
/// middle `value` is if it is odd where it is not exact.
static float roundDoubleToBf16(double value) {
  auto rounded = static_cast<float>(value);
  auto bits = llvm::bit_cast<uint32_t>(rounded);
  if (std::isfinite(rounded) && rounded != value && bits % 2 == 0)
    bits = std::fabs(rounded) < std::fabs(value) ? bits + 1 : bits - 1;
  return roundToBf16(llvm::bit_cast<float>(bits));
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
  add("free", &std::free);
  add("memrefCopy", &copyUnranked);
  add(kParallelForName, &parallelForRanges);
  add("__truncsfbf2", &roundToBf16);
  add("__truncdfbf2", &roundDoubleToBf16);
  return symbols;
}
