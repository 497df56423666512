//===- Diagnostic.h - A finding of the simulator ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIMULATOR_DIAGNOSTIC_H
#define ATTN_SIMULATOR_DIAGNOSTIC_H

#include <array>
#include <cstdint>
#include <string>

namespace attn::sim {

/// The kind of a finding, after the tools of compute-sanitizer; `async` and
/// `proxy` have no counterpart there.
enum class Finding {
  Ptx,    // text that is not (supported) PTX, or an unsuitable launch
  Memory, // memcheck: out of bounds, misaligned, leaks into other spaces
  Init,   // initcheck: uninitialised shared memory and registers
  Race,   // racecheck: shared-memory hazards between warps
  Sync,   // synccheck: barriers, mbarriers, deadlock
  Async,  // operations in flight: early reads, overwritten sources
  Proxy,  // missing fence.proxy.async
  Trap    // trap, assertion, instruction limit
};

/// "memcheck", "racecheck", ...
const char *name(Finding finding);

struct Diagnostic {
  Finding finding = Finding::Ptx;
  /// What is wrong, with addresses: lower case, no final period.
  std::string message;
  /// What usually mends it; may be empty.
  std::string remedy;

  // Where; line 0 means that there is no place in the text.
  std::string file;
  uint32_t line = 0;
  std::string kernel;
  std::string text; // the instruction
  bool hasThread = false;
  std::array<uint32_t, 3> cta{};
  uint32_t warp = 0;
  uint32_t lanes = 0;

  /// "FILE:LINE: error: racecheck: MESSAGE", then the thread, the instruction
  /// and the remedy on lines of their own.
  std::string str() const;
};

} // namespace attn::sim

#endif // ATTN_SIMULATOR_DIAGNOSTIC_H
