//===- LatencyModel.h - Clocks of the timeline ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The numbers of docs/Simulator.md, section "Trace": those of an H100. They
/// say what overlaps with what, and never change what is computed.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_LATENCYMODEL_H
#define ATTN_LIB_SIMULATOR_PTX_LATENCYMODEL_H

#include "attn/Simulator/Counters.h"

namespace attn::sim {

/// Cycles until a copy from global memory has arrived, and bytes per cycle of
/// one SM's share of HBM and L2 bandwidth (H100 SXM: 3.35 TB/s over 132 SMs at
/// 1.755 GHz is 14 B; L2 hits are about twice as fast).
inline constexpr uint64_t copyLatency = 600;
inline constexpr uint64_t copyBytesPerCycle = 24;
/// The same of a B200: 8 TB/s over 148 SMs at 1.85 GHz is 29 B, L2 hits have
/// 36.
inline constexpr uint64_t blackwellCopyBytesPerCycle = 32;
/// Dense FLOPs of an SM's tensor cores per cycle (H100: 989 TFLOP/s of bf16).
inline constexpr uint64_t tensorFlopsPerCycle = 4096;
/// The same of a B200, for tcgen05.mma (2.25 PFLOP/s over 148 SMs at 1.85 GHz).
inline constexpr uint64_t tcgen05FlopsPerCycle = 8192;
/// Bytes of shared memory that an SM reads or writes in a cycle.
inline constexpr uint64_t sharedBytesPerCycle = 128;
/// Pipeline latency of the first result of a wgmma.
inline constexpr uint64_t wgmmaLatency = 32;
/// Warp instructions that an SM issues in a cycle, and lanes of special
/// functions (MUFU).
inline constexpr uint64_t schedulersPerSm = 4;
inline constexpr uint64_t specialFunctionsPerCycle = 16;

/// Of a chip such as 90, of sm_90a; those of consumers are none of these.
inline uint64_t getCopyBytesPerCycle(int chip) {
  return chip / 10 == 10 ? blackwellCopyBytesPerCycle : copyBytesPerCycle;
}

inline bool isSpecialFunction(InstructionClass instructionClass) {
  return instructionClass == InstructionClass::Ex2 ||
         instructionClass == InstructionClass::Mufu;
}

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_LATENCYMODEL_H
