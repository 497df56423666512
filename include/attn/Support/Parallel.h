//===- Parallel.h - Parallel loop over an index range -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SUPPORT_PARALLEL_H
#define ATTN_SUPPORT_PARALLEL_H

#include <cstdint>
#include <functional>

namespace attn {

/// Calls body(i) for 0 <= i < count, on as many threads as the machine has
/// (at most `maxThreads` where that is positive). The order is not defined;
/// the body must be safe to call concurrently for different indices. Returns
/// when all calls have returned.
void parallelFor(int64_t count, const std::function<void(int64_t)> &body,
                 int64_t maxThreads = 0);

} // namespace attn

#endif // ATTN_SUPPORT_PARALLEL_H
