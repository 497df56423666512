//===- DeviceMemory.h - Global memory ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Allocations inside a reserved range of this process. Gaps of at least a page
/// lie between them, so that an access just outside of one hits none.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_DEVICEMEMORY_H
#define ATTN_LIB_SIMULATOR_PTX_DEVICEMEMORY_H

#include "LaunchChain.h"
#include "Types.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace attn::sim {

struct Allocation {
  u64 address = 0, bytes = 0;
  std::string name;
  bool readOnly = false;
  /// Counts from 0 over the life of the device: an index for counters.
  u32 id = 0;

  u64 end() const { return address + bytes; }
  bool contains(u64 first, u64 count) const {
    return first >= address && first <= end() && count <= end() - first;
  }
};

class DeviceMemory {
public:
  DeviceMemory();
  ~DeviceMemory();

  u64 allocate(u64 bytes, const std::string &name, bool readOnly);
  void release(u64 address);
  /// The allocation that holds `address`, or else the nearest one below.
  std::optional<Allocation> findAtOrBelow(u64 address) const;
  u32 numIds() const;

  /// Serialises atomics and bulk reductions of all host threads.
  std::mutex atomicMutex;
  /// What the launches that may overlap have touched.
  LaunchChain chain;

private:
  u64 arena = 0, arenaBytes = 0, next = 0;
  u32 nextId = 0;
  std::map<u64, Allocation> allocations;
  mutable std::mutex mutex;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_DEVICEMEMORY_H
