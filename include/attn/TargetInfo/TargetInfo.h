//===- TargetInfo.h - Hardware facts as data --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a chip is: capacities, rates and matrix instructions. Schedules are
// chosen and checked against these numbers and nothing else, so a made-up
// target ("what if shared memory were 64 KiB?") is a known one with a field
// changed.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGETINFO_TARGETINFO_H
#define ATTN_TARGETINFO_TARGETINFO_H

#include "attn/Support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

enum class TargetKind { Cpu, Gpu };

/// How matrix products are computed: without matrix instructions, by a warp
/// from registers, by a warpgroup from shared memory, or by one thread into
/// tensor memory.
enum class MmaFamily { None, MmaSync, Wgmma, Tcgen05 };

/// "none", "mma_sync", "wgmma", "tcgen05"
std::string_view getName(MmaFamily family);

/// Operand type of a matrix instruction; the accumulator is f32, or i32 of I8.
enum class MmaOperand { F16, BF16, TF32, F8, I8 };

/// D[m x n] += A[m x k] * B[k x n]. wgmma and tcgen05 take every n that is a
/// multiple of 8 (16) up to `n`; mma.sync exactly `n`.
struct MmaShape {
  MmaFamily family;
  MmaOperand operand;
  int64_t m, n, k;

  /// "mma_sync.m16n8k16.bf16"
  std::string getName() const;
};

/// A target. Rates are those of dense data at the stated clock; GB/s = 1e9
/// bytes per second. Numbers marked `assumed` or `fitted` at their definition
/// in KnownTargets.cpp are estimates to be calibrated on a device.
struct TargetInfo {
  std::string name;    ///< as in --target, e.g. "sm_90a"
  std::string product; ///< the chip the numbers are of
  std::string base;    ///< what lookupTarget was asked for, e.g. "h200"
  TargetKind kind = TargetKind::Gpu;
  int64_t computeCapability = 0; ///< 10 * major + minor; 0 for a CPU

  //===--- Processors ---===//
  int64_t smCount = 0; ///< streaming multiprocessors, or cores of a CPU
  double clockGHz = 0;
  int64_t maxThreadsPerCta = 1024;
  int64_t maxThreadsPerSm = 0;
  int64_t maxCtasPerSm = 0;
  int64_t maxClusterCtas = 1; ///< portable cluster size

  //===--- Memories, from the core outward ---===//
  int64_t registersPerSm = 65536; ///< of 32 bits
  int64_t maxRegistersPerThread = 255;
  /// Shared memory one CTA can get (opt-in); of a CPU: the cache that is meant
  /// to hold a tile.
  int64_t sharedMemoryPerCtaBytes = 0;
  int64_t sharedMemoryPerSmBytes = 0;
  /// What the driver takes of every CTA's share.
  int64_t sharedMemoryReservedBytes = 0;
  int64_t l2Bytes = 0;

  //===--- Rates ---===//
  double dramGBps = 0;
  double l2GBps = 0;    ///< L2 to all SMs, sustained
  double dsmemGBps = 0; ///< SM to SM inside clusters, all SMs; 0 without
  double f16TFlops = 0; ///< f16 and bf16 matrix, f32 accumulation
  double f8TFlops = 0;  ///< 0 where absent
  double i8TOps = 0;    ///< of products of i8
  /// Fraction bits of a sum of f8 products, beside its largest term, that the
  /// tensor cores keep; 0 if those of f32.
  int64_t f8SumBits = 0;
  double tf32TFlops = 0;
  double f32TFlops = 0;        ///< without tensor cores
  double ex2PerClockPerSm = 0; ///< exponentials (MUFU)
  /// Lanes of other instructions that an SM issues a clock.
  double lanesPerClock = 128;
  /// In and out of the shared memory of one SM: 32 banks of 4 bytes.
  double sharedMemoryBytesPerClock = 128;
  /// Between the registers and the tensor memory of one SM; 0 without.
  double tensorMemoryBytesPerClock = 0;
  /// From L2 into one SM while the others read little: its port.
  double fillBytesPerClock = 64;
  /// What wgmma and mma.sync sustain of the matrix rates.
  double wgmmaShare = 1, mmaSyncShare = 1;

  //===--- Latencies, assumed ---===//
  /// Of an iteration over a key tile, what is neither products nor
  /// exponentials: row reductions across lanes, address arithmetic.
  double iterationClocks = 250;
  /// From a request to L2 until its data are in shared memory.
  double loadClocks = 800;
  double launchMicroseconds = 2.5; ///< of a kernel
  /// Of a tile of a backward, what nothing hides: P and dS wait for products,
  /// and products for them.
  double backwardTileClocks = 600;

  //===--- Instructions ---===//
  bool hasCpAsync = false; ///< cp.async and ldmatrix
  bool hasTma = false;     ///< cp.async.bulk.tensor, mbarrier transactions
  std::vector<MmaShape> mmaShapes;

  bool hasMma(MmaFamily family, MmaOperand operand) const;
  bool hasMma(MmaFamily family) const;

  /// Exponentials per second, all SMs.
  double getEx2PerSecond() const {
    return ex2PerClockPerSm * static_cast<double>(smCount) * clockGHz * 1e9;
  }
};

/// Every matrix shape with f32 accumulation that the PTX ISA gives a chip of
/// that compute capability, limited to those this project emits.
std::vector<MmaShape> getMmaShapes(int64_t computeCapability);

//===----------------------------------------------------------------------===//
// Known targets
//===----------------------------------------------------------------------===//

/// The target of that name: sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a,
/// sm_120, cpu, or a product (a100, h100, h200, ...). The error lists the known
/// names and the nearest spelling.
Result<TargetInfo> lookupTarget(std::string_view name);

/// The names lookupTarget takes, families first.
std::vector<std::string> getKnownTargetNames();

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// A number of a target that can be set by name.
struct TargetField {
  std::string name; ///< "smem-bytes"
  std::string description;
};

/// The names setTargetField takes.
std::vector<TargetField> getTargetFields();

/// The value of a field of that name, as setTargetField reads it back.
std::string printTargetField(const TargetInfo &target, std::string_view name);

/// Sets one number, e.g. "smem-bytes" to "65536". Setting smem-bytes sets what
/// a CTA can get, and what an SM has so that it holds exactly one such CTA.
Status setTargetField(TargetInfo &target, std::string_view name,
                      std::string_view value);

/// Sets numbers from "smem-bytes=65536 l2-bytes=4194304".
Status setTargetFields(TargetInfo &target, std::string_view settings);

/// The numbers in which `target` differs from its base, as setTargetFields
/// reads them.
std::string getChangedFields(const TargetInfo &target);

/// Reads a target from text: `name = value` lines, `#` starts a comment. The
/// first field must be `base`, a known target; `name` renames the result.
///
///   base = sm_90a
///   name = small-sram
///   smem-bytes = 65536
Result<TargetInfo> parseTarget(std::string_view text);

} // namespace attn

#endif // ATTN_TARGETINFO_TARGETINFO_H
