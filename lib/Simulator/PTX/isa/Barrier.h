//===- Barrier.h - Barriers of a CTA ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_BARRIER_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_BARRIER_H

#include "../Machine.h"

namespace attn::sim {

/// After threads exited: barriers that waited for all threads may be complete.
void checkBarriersAfterExit(Cta &cta);
void checkClusterBarrierAfterExit(Cluster &cluster);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_BARRIER_H
