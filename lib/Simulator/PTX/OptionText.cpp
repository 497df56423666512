//===- OptionText.cpp - Simulator options as text -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Simulator/OptionText.h"

#include <cerrno>
#include <cstdlib>
#include <sstream>

using namespace attn::sim;

bool attn::sim::setCheck(Checks &checks, const std::string &name, bool on) {
  static constexpr std::pair<const char *, bool Checks::*> names[] = {
      {"early-read", &Checks::earlyRead},
      {"overwrite", &Checks::overwrite},
      {"uninit-shared", &Checks::uninitializedShared},
      {"uninit-register", &Checks::uninitializedRegister},
      {"wgmma-fence", &Checks::wgmmaFence},
      {"tensor-fence", &Checks::tensorFence},
      {"tensor-wait", &Checks::tensorWait},
      {"proxy", &Checks::proxyFence},
      {"race", &Checks::race},
      {"phase", &Checks::barrierPhase},
      {"exit", &Checks::exit},
      {"grid-wait", &Checks::gridWait}};
  bool found = false;
  for (const auto &[text, member] : names)
    if (name == text || name == "all") {
      checks.*member = on;
      found = true;
    }
  return found;
}

/// Sets a numeric or Boolean option; false if there is none of that name.
static bool setOption(Options &options, const std::string &key,
                      uint64_t value) {
  if (key == "defer")
    options.deferAsync = value;
  else if (key == "keep-going")
    options.keepGoing = value;
  else if (key == "tensor-order")
    options.strictTensorOrder = value;
  else if (key == "shared-fill")
    options.sharedFill = value;
  else if (key == "threads")
    options.threads = value;
  else if (key == "max-instructions")
    options.maxWarpInstructions = value;
  else if (key == "seed")
    options.seed = value;
  else if (key == "slice")
    options.slice = value ? value : 1;
  else if (key == "max-shared")
    options.maxSharedBytes = value;
  else if (key == "profile")
    options.profileLines = value;
  else
    return setCheck(options.checks, key, value);
  return true;
}

std::string attn::sim::parseOptions(const std::string &text, Options &options) {
  std::stringstream stream(text);
  std::string item;
  while (std::getline(stream, item, ',')) {
    if (item.empty())
      continue;
    size_t equals = item.find('=');
    std::string key = item.substr(0, equals);
    uint64_t value = 1;
    if (equals != std::string::npos) {
      const char *digits = item.c_str() + equals + 1;
      char *end = nullptr;
      errno = 0;
      value = std::strtoull(digits, &end, 0);
      if (end == digits || *end || errno)
        return "option " + key + ": expected a number, got '" + digits + "'";
    }
    if (!setOption(options, key, value))
      return "unknown option '" + key + "'";
  }
  return "";
}
