//===- LaunchChain.h - Launches that may overlap ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Programmatic dependent launch (PTX ISA 9.7.13, griddepcontrol). Here a
/// kernel runs after the end of the one before it; on a GPU its threads may not
/// before they have waited for that. So what the launches of a chain touch is
/// kept, and an access by a thread that is not ordered after a
/// griddepcontrol.wait is held against it. A chain begins with a launch that
/// starts after the end of all before it.
///
/// A thread is ordered after a wait that it has executed, that a lane of its
/// warp has executed before a bar.warp.sync of both, or that anyone of its
/// cluster has executed before a barrier or mbarrier between the two. Every
/// launch of a chain must have a thread that waits: its end is then the end of
/// all before it.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_LAUNCHCHAIN_H
#define ATTN_LIB_SIMULATOR_PTX_LAUNCHCHAIN_H

#include "Types.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace attn::sim {

struct Access;
struct Instruction;
struct TensorMap;
struct Warp;

/// Who touched each byte of an allocation first: the number of a launch in its
/// chain, from 1, or 0. Memory is taken for what is touched.
class TouchedBytes {
public:
  explicit TouchedBytes(u64 bytes);
  ~TouchedBytes();
  TouchedBytes(const TouchedBytes &) = delete;
  TouchedBytes &operator=(const TouchedBytes &) = delete;

  u16 *readers() { return marks; }
  u16 *writers() { return marks + bytes; }

private:
  u64 bytes;
  u16 *marks; // of readers, then of writers
};

class LaunchChain {
public:
  /// A launch starts: the next of the chain, or the first of a new one.
  void begin(const std::string &kernel, bool isProgrammatic);
  void clear();

  /// The number of the launch that runs.
  u16 current() const { return u16(kernels.size()); }
  const std::string &kernel(u16 launch) const { return kernels[launch - 1]; }
  /// Of the allocation that begins at `address`; valid until the chain ends.
  TouchedBytes &touched(u64 address, u64 bytes);

private:
  std::vector<std::string> kernels;
  std::map<u64, TouchedBytes> allocations;
  std::mutex mutex; // guards `allocations`
};

/// Notes an access of global memory in the worker's window, and reports it
/// where it may overlap with an earlier launch of the chain. Call only where
/// the worker has a chain.
void noteInChain(Warp &warp, const Instruction &instruction,
                 const Access &access);
/// griddepcontrol.wait of the active lanes.
void waitForChain(Warp &warp);
/// The lanes have met in bar.warp.sync.
void shareChainWait(Warp &warp, u32 lanes);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_LAUNCHCHAIN_H
