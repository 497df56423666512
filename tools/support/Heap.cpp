//===- Heap.cpp -----------------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Heap.h"

#include <cstddef>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

void attn::growHeapInHugePages() {
  constexpr int step = 64 << 20; // of address space, not of memory
  constexpr size_t hugePage = 2 << 20;
  mallopt(M_TOP_PAD, step);
  mallopt(M_TRIM_THRESHOLD, 4 * step);
  mallopt(M_MMAP_THRESHOLD, step / 2);
  char *before = static_cast<char *>(sbrk(0));
  // More than what is there, so that the heap grows. Volatile: a compiler may
  // leave out what is allocated and freed.
  void *volatile block = std::malloc(hugePage);
  std::free(block);
  char *after = static_cast<char *>(sbrk(0));
  // Pages of whole huge ones; the kernel's "no" changes nothing but speed.
  size_t toBoundary = -reinterpret_cast<size_t>(before) % hugePage;
  if (after - before > static_cast<ptrdiff_t>(toBoundary + hugePage))
    madvise(before + toBoundary, after - before - toBoundary, MADV_HUGEPAGE);
}
#else
void attn::growHeapInHugePages() {}
#endif
