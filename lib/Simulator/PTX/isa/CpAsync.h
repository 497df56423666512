//===- CpAsync.h - Non-bulk asynchronous copies -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_CPASYNC_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_CPASYNC_H

#include "../Machine.h"

namespace attn::sim {

/// Completes the cp.async of `lanes` up to a sequence number: what
/// cp.async.mbarrier.arrive waits for.
void completeCpAsyncBefore(Warp &warp, u32 lanes, u64 sequence, u32 time);
/// Completes all of a warp's, at its exit.
void completeAllCpAsync(Warp &warp);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_CPASYNC_H
