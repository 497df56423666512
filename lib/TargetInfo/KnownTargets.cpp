//===- KnownTargets.cpp - The chips and their numbers ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources, named at each chip: [CC] CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability" (threads, CTAs, registers, shared
// memory per SM and per CTA) and "Throughput of Native Arithmetic Instructions"
// (16 exponentials per clock and SM on every chip here but B300); [WP] the
// architecture's white paper; [DS] the product's data sheet. `assumed` marks
// estimates: NVIDIA states no sustained L2 or distributed shared memory
// bandwidth. `fitted` marks what makes the time model agree with measurements
// that others have published (python -m attn_mlir.bench published --fit).
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Format.h"
#include "attn/TargetInfo/TargetInfo.h"

namespace attn {

static constexpr int64_t kKiB = 1024;
static constexpr int64_t kMiB = 1024 * kKiB;

/// What [CC] states for a compute capability.
static TargetInfo makeGpu(int64_t computeCapability, int64_t threadsPerSm,
                          int64_t ctasPerSm, int64_t sharedMemoryPerSmBytes) {
  TargetInfo target;
  target.computeCapability = computeCapability;
  target.maxThreadsPerSm = threadsPerSm;
  target.maxCtasPerSm = ctasPerSm;
  // [CC]: 1 KiB of every CTA's share is reserved for the system.
  target.sharedMemoryReservedBytes = 1 * kKiB;
  target.sharedMemoryPerSmBytes = sharedMemoryPerSmBytes;
  target.sharedMemoryPerCtaBytes = sharedMemoryPerSmBytes - 1 * kKiB;
  target.ex2PerClockPerSm = 16;
  target.hasCpAsync = true;
  target.hasTma = computeCapability >= 90;
  target.maxClusterCtas = computeCapability >= 90 ? 8 : 1;
  target.mmaShapes = getMmaShapes(computeCapability);
  return target;
}

static TargetInfo makeA100() {
  TargetInfo target = makeGpu(80, 2048, 32, 164 * kKiB);
  target.name = "sm_80";
  target.product = "A100 SXM4 80 GB";
  // [WP] NVIDIA A100 Tensor Core GPU Architecture, table 5.
  target.smCount = 108;
  target.clockGHz = 1.41;
  target.l2Bytes = 40 * kMiB;
  target.f16TFlops = 312;
  target.i8TOps = 624;
  target.tf32TFlops = 156;
  target.f32TFlops = 19.5;
  // [DS] A100 80 GB data sheet.
  target.dramGBps = 2039;
  // assumed: 70% of the 5120 bytes per clock of [WP].
  target.l2GBps = 5000;
  return target;
}

static TargetInfo makeRtx3090() {
  TargetInfo target = makeGpu(86, 1536, 16, 100 * kKiB);
  target.name = "sm_86";
  target.product = "GeForce RTX 3090";
  // [WP] NVIDIA Ampere GA102 GPU Architecture, table 9.
  target.smCount = 82;
  target.clockGHz = 1.695;
  target.l2Bytes = 6 * kMiB;
  target.dramGBps = 936;
  target.f16TFlops = 71;
  target.i8TOps = 284;
  target.tf32TFlops = 35.6;
  target.f32TFlops = 35.6;
  // assumed: 2.5 times DRAM.
  target.l2GBps = 2300;
  return target;
}

/// Found by experiments: about 14 bits with the leading one (DeepSeek-V3,
/// arXiv 2412.19437, section 3.3.2; SageAttention2, arXiv 2411.10958).
static constexpr int64_t kShortSumBits = 13;

static TargetInfo makeRtx4090() {
  TargetInfo target = makeGpu(89, 1536, 24, 100 * kKiB);
  target.name = "sm_89";
  target.product = "GeForce RTX 4090";
  // [WP] NVIDIA Ada GPU Architecture, appendix A.
  target.smCount = 128;
  target.clockGHz = 2.52;
  target.l2Bytes = 72 * kMiB;
  target.dramGBps = 1008;
  target.f16TFlops = 165.2;
  target.f8TFlops = 330.3;
  target.i8TOps = 660.6;
  target.f8SumBits = kShortSumBits;
  target.tf32TFlops = 82.6;
  target.f32TFlops = 82.6;
  // assumed: 5 times DRAM.
  target.l2GBps = 5000;
  return target;
}

/// What H100 and H200 share.
static TargetInfo makeHopper() {
  TargetInfo target = makeGpu(90, 2048, 32, 228 * kKiB);
  target.name = "sm_90a";
  // [WP] NVIDIA H100 Tensor Core GPU Architecture, table 3.
  target.smCount = 132;
  target.l2Bytes = 50 * kMiB;
  target.f16TFlops = 990;
  target.f8TFlops = 1979;
  target.i8TOps = 1979;
  target.f8SumBits = kShortSumBits;
  target.tf32TFlops = 495;
  target.f32TFlops = 66.9;
  // assumed: the clock that tensor loads hold, and what clusters share.
  target.clockGHz = 1.755;
  target.dsmemGBps = 3300;
  // fitted to times of this compiler's kernels on an H200 (docs/benchmarks):
  // what power leaves of clocks is in them.
  target.wgmmaShare = 0.952;
  target.lanesPerClock = 60.8;
  target.iterationClocks = 271.6;
  target.loadClocks = 1505;
  target.backwardTileClocks = 1000;
  // fitted to half of docs/benchmarks/published.json.
  target.mmaSyncShare = 0.4593;
  target.l2GBps = 7424;
  return target;
}

static TargetInfo makeH100() {
  TargetInfo target = makeHopper();
  target.product = "H100 SXM5 80 GB";
  // [DS] H100 data sheet.
  target.dramGBps = 3350;
  return target;
}

static TargetInfo makeH200() {
  TargetInfo target = makeHopper();
  target.product = "H200 SXM 141 GB";
  // [DS] H200 data sheet.
  target.dramGBps = 4800;
  return target;
}

/// What B200 and B300 share.
static TargetInfo makeBlackwell(int64_t computeCapability) {
  TargetInfo target = makeGpu(computeCapability, 2048, 32, 228 * kKiB);
  target.name = "sm_" + std::to_string(computeCapability) + "a";
  // [DS] DGX B200 data sheet, one eighth: 36 PFLOPS dense f8, 64 TB/s.
  target.f16TFlops = 2250;
  target.f8TFlops = 4500;
  target.tf32TFlops = 1125;
  target.f32TFlops = 75;
  target.dramGBps = 8000;
  // As the driver reports them: 148 SMs and 126 MiB of L2.
  target.smCount = 148;
  target.l2Bytes = 126 * kMiB;
  // assumed: the clock that gives f16TFlops at 8192 operations per clock and
  // SM; an L2 that DRAM does not saturate; Hopper's DSMEM per SM and clock; a
  // cell for each of the 128 lanes of tensor memory in a clock.
  target.clockGHz = 1.85;
  target.l2GBps = 10000;
  target.dsmemGBps = 3900;
  target.tensorMemoryBytesPerClock = 512;
  target.mmaSyncShare = 0.46; // assumed: as Hopper
  return target;
}

static TargetInfo makeB200() {
  TargetInfo target = makeBlackwell(100);
  target.product = "B200";
  target.i8TOps = 4500;
  return target;
}

static TargetInfo makeB300() {
  TargetInfo target = makeBlackwell(103);
  target.product = "B300";
  // assumed: mma.sync's, a thirtieth of what tcgen05 has on B200.
  target.i8TOps = 150;
  // [WP] Blackwell Ultra: twice the exponentials of Blackwell.
  target.ex2PerClockPerSm = 32;
  return target;
}

static TargetInfo makeRtx5090() {
  TargetInfo target = makeGpu(120, 1536, 24, 100 * kKiB);
  target.name = "sm_120";
  target.product = "GeForce RTX 5090";
  // [WP] NVIDIA RTX Blackwell GPU Architecture, appendix A.
  target.smCount = 170;
  target.clockGHz = 2.407;
  target.l2Bytes = 96 * kMiB;
  target.dramGBps = 1792;
  target.f16TFlops = 209.5;
  target.f8TFlops = 419;
  target.i8TOps = 838;
  target.tf32TFlops = 104.8;
  target.f32TFlops = 104.8;
  // assumed: 4 times DRAM. Clusters exist, but their bandwidth is not stated.
  target.l2GBps = 7000;
  target.maxClusterCtas = 1;
  return target;
}

/// A server core of 2024 with AVX-512; every number is assumed. It only has to
/// rank CPU schedules sensibly.
static TargetInfo makeCpu() {
  TargetInfo target;
  target.name = "cpu";
  target.product = "generic 16-core CPU";
  target.kind = TargetKind::Cpu;
  target.smCount = 16;
  target.clockGHz = 3;
  target.maxThreadsPerCta = 1;
  target.maxThreadsPerSm = 1;
  target.maxCtasPerSm = 1;
  target.registersPerSm = 32 * 16;           // 32 vectors of 512 bits
  target.sharedMemoryPerCtaBytes = 1 * kMiB; // a core's own L2
  target.sharedMemoryPerSmBytes = 1 * kMiB;
  target.l2Bytes = 32 * kMiB; // the shared last level
  target.dramGBps = 200;
  target.l2GBps = 800;
  target.f16TFlops = target.f8TFlops = target.i8TOps = 3;
  target.tf32TFlops = target.f32TFlops = 3;
  target.ex2PerClockPerSm = 2;
  return target;
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

namespace {
struct KnownTarget {
  const char *name;
  TargetInfo (*make)();
};
} // namespace

static constexpr KnownTarget knownTargets[] = {
    {"sm_80", makeA100},      {"sm_86", makeRtx3090},   {"sm_89", makeRtx4090},
    {"sm_90a", makeH200},     {"sm_100a", makeB200},    {"sm_103a", makeB300},
    {"sm_120", makeRtx5090},  {"cpu", makeCpu},         {"a100", makeA100},
    {"rtx3090", makeRtx3090}, {"rtx4090", makeRtx4090}, {"h100", makeH100},
    {"h200", makeH200},       {"b200", makeB200},       {"b300", makeB300},
    {"rtx5090", makeRtx5090},
};

std::vector<std::string> getKnownTargetNames() {
  std::vector<std::string> names;
  for (const KnownTarget &known : knownTargets)
    names.emplace_back(known.name);
  return names;
}

Result<TargetInfo> lookupTarget(std::string_view name) {
  for (const KnownTarget &known : knownTargets)
    if (name == known.name) {
      TargetInfo target = known.make();
      target.base = name;
      return target;
    }
  std::vector<std::string> names = getKnownTargetNames();
  std::string nearest = nearestSpelling(name, names);
  return Error{"unknown target '" + std::string(name) + "', expected one of " +
               join(names, ", ") +
               (nearest.empty() ? "" : " (did you mean '" + nearest + "'?)")};
}

} // namespace attn
