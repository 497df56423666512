//===- OptionText.h - Simulator options as text -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIMULATOR_OPTIONTEXT_H
#define ATTN_SIMULATOR_OPTIONTEXT_H

#include "attn/Simulator/Simulator.h"

namespace attn::sim {

/// Sets what a comma-separated list of "key" or "key=value" says: the checks
/// early-read, overwrite, uninit-shared, uninit-register, wgmma-fence,
/// tensor-fence, tensor-wait, proxy, race, phase, exit, grid-wait, and all;
/// defer, keep-going, shared-fill, threads, max-instructions, seed, slice,
/// max-shared, profile. Returns an empty string, or what is wrong.
std::string parseOptions(const std::string &text, Options &options);

/// Switches one check by name ("race", "all"); false if there is none.
bool setCheck(Checks &checks, const std::string &name, bool on);

} // namespace attn::sim

#endif // ATTN_SIMULATOR_OPTIONTEXT_H
