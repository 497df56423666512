//===- DeviceMemory.cpp - Global memory -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Error.h"

#include <sys/mman.h>

using namespace attn::sim;

namespace {
constexpr u64 page = 4096;
/// cudaMalloc aligns to at least 256 bytes; 512 is what drivers do.
constexpr u64 allocationAlignment = 512;
/// A hint only: equal runs then print equal addresses.
constexpr u64 arenaHint = 0x200000000000ull;
} // namespace

DeviceMemory::DeviceMemory() {
  // Reserved, not committed; where address space is limited, as much as there
  // is. Without any, the first allocation fails.
  for (u64 bytes = 1ull << 38; bytes >= 1ull << 24; bytes /= 2) {
    void *range =
        mmap(reinterpret_cast<void *>(arenaHint), bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
      continue;
    arena = reinterpret_cast<u64>(range);
    arenaBytes = bytes;
    next = arena + page;
    return;
  }
}

DeviceMemory::~DeviceMemory() {
  if (arenaBytes)
    munmap(reinterpret_cast<void *>(arena), arenaBytes);
}

u64 DeviceMemory::allocate(u64 bytes, const std::string &name, bool readOnly) {
  std::lock_guard<std::mutex> lock(mutex);
  u64 limit = arena + arenaBytes;
  if (bytes > limit - next || limit - next - bytes < 2 * page)
    failPtx("", 0,
            format("device memory exhausted: %llu bytes for '%s'",
                   (unsigned long long)bytes, name.c_str()));
  u64 address = next;
  next = (next + bytes + page + allocationAlignment - 1) / allocationAlignment *
         allocationAlignment;
  allocations[address] = {address, bytes, name, readOnly, nextId++};
  return address;
}

void DeviceMemory::release(u64 address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = allocations.find(address);
  if (it == allocations.end())
    return;
  // Whole pages go back to the system; the addresses are never used again.
  u64 low = (address + page - 1) / page * page;
  u64 high = it->second.end() / page * page;
  if (high > low)
    madvise(reinterpret_cast<void *>(low), high - low, MADV_DONTNEED);
  allocations.erase(it);
}

std::optional<Allocation> DeviceMemory::findAtOrBelow(u64 address) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = allocations.upper_bound(address);
  if (it == allocations.begin())
    return std::nullopt;
  return std::prev(it)->second;
}

u32 DeviceMemory::numIds() const {
  std::lock_guard<std::mutex> lock(mutex);
  return nextId;
}
