//===- LaunchChain.cpp - Launches that may overlap ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchChain.h"
#include "Memory.h"

#include <limits>

#include <sys/mman.h>

using namespace attn::sim;

TouchedBytes::TouchedBytes(u64 bytes) : bytes(bytes) {
  // Reserved, not committed: an allocation may be larger than the host's
  // memory.
  void *range = mmap(nullptr, 2 * bytes * sizeof(u16), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    failPtx("", 0,
            format("expected address space to note who touches %llu bytes, got "
                   "none: switch the check grid-wait off",
                   (unsigned long long)bytes));
  marks = static_cast<u16 *>(range);
}

TouchedBytes::~TouchedBytes() { munmap(marks, 2 * bytes * sizeof(u16)); }

void LaunchChain::begin(const std::string &kernel, bool isProgrammatic) {
  constexpr size_t maxLaunches = std::numeric_limits<u16>::max();
  if (!isProgrammatic)
    clear();
  if (kernels.size() == maxLaunches)
    failPtx("", 0,
            format("kernel %s: expected at most %zu programmatic launches, one "
                   "behind the other, got more",
                   kernel.c_str(), maxLaunches));
  kernels.push_back(kernel);
}

void LaunchChain::clear() {
  kernels.clear();
  allocations.clear();
}

TouchedBytes &LaunchChain::touched(u64 address, u64 bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return allocations.try_emplace(address, bytes).first->second;
}

static bool isOrdered(const Warp &warp, u32 lane) {
  const Cluster &cluster = *warp.cta->cluster;
  return ((warp.gridWaited >> lane) & 1) ||
         clocksOf(warp).vector[cluster.gridAgent] != 0;
}

/// The launch before the current one that is the first in `who`; 0: none.
static u16 findEarlier(const u16 *who, u32 bytes, u16 current) {
  for (u32 i = 0; i < bytes; ++i)
    if (who[i] && who[i] != current)
      return who[i];
  return 0;
}

/// Marks the bytes that nobody has touched before.
static void mark(u16 *who, u32 bytes, u16 current) {
  for (u32 i = 0; i < bytes; ++i)
    who[i] = who[i] ? who[i] : current;
}

/// The look-up is the worker's, whose window it is kept beside.
static TouchedBytes &findTouched(Worker &worker) {
  const GlobalWindow &window = worker.window;
  if (worker.touched.size() <= window.id)
    worker.touched.resize(window.id + 1);
  TouchedBytes *&known = worker.touched[window.id];
  if (!known)
    known = &worker.chain->touched(window.begin, window.end - window.begin);
  return *known;
}

static void reportEarly(Warp &warp, const Instruction &instruction,
                        const Access &access, u16 launch, bool wasWritten) {
  const GlobalWindow &window = warp.worker->window;
  std::optional<Allocation> allocation =
      warp.worker->memory->findAtOrBelow(window.begin);
  report(
      warp, instruction, Finding::Race,
      format("%s of %u bytes at byte %llu of '%s' (lane %u) is not ordered "
             "after a griddepcontrol.wait, and kernel %s, which may still "
             "run, %s there",
             access.isWrite ? "write" : "read", access.bytes,
             (unsigned long long)(access.address - window.begin),
             allocation ? allocation->name.c_str() : "", access.lane,
             warp.worker->chain->kernel(launch).c_str(),
             wasWritten ? "writes" : "reads"),
      "execute griddepcontrol.wait before it in every thread, or in one thread "
      "with a barrier behind it");
}

void attn::sim::noteInChain(Warp &warp, const Instruction &instruction,
                            const Access &access) {
  Worker &worker = *warp.worker;
  if (!access.bytes || worker.window.readOnly)
    return;
  TouchedBytes &touched = findTouched(worker);
  u64 at = access.address - worker.window.begin;
  u16 *reader = touched.readers() + at, *writer = touched.writers() + at;
  u16 current = worker.chain->current();
  if (worker.launch->config->isProgrammatic && !isOrdered(warp, access.lane)) {
    u16 wrote = findEarlier(writer, access.bytes, current);
    u16 read =
        access.isWrite ? findEarlier(reader, access.bytes, current) : u16(0);
    if (wrote || read)
      reportEarly(warp, instruction, access, wrote ? wrote : read, wrote);
  }
  mark(access.isWrite ? writer : reader, access.bytes, current);
}

void attn::sim::waitForChain(Warp &warp) {
  warp.gridWaited |= warp.active;
  warp.worker->launch->hasWaited = true;
}

void attn::sim::shareChainWait(Warp &warp, u32 lanes) {
  if (warp.gridWaited & lanes)
    warp.gridWaited |= lanes;
}
