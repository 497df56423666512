//===- Heap.h - Memory of programs that end soon ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_SUPPORT_HEAP_H
#define ATTN_TOOLS_SUPPORT_HEAP_H

namespace attn {

/// Lets the heap grow in huge pages and keeps what is freed. A compilation is
/// over in milliseconds and touches a few thousand pages of 4 KiB for the first
/// time; each of them is a fault. For the first lines of a `main`; does nothing
/// without glibc.
void growHeapInHugePages();

} // namespace attn

#endif // ATTN_TOOLS_SUPPORT_HEAP_H
