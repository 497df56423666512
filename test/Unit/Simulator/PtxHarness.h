//===- PtxHarness.h - Run PTX snippets in the simulator ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_SIMULATOR_PTXHARNESS_H
#define ATTN_TEST_UNIT_SIMULATOR_PTXHARNESS_H

#include "attn/Simulator/Simulator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace attn::sim::test {

template <typename To, typename From>
To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline uint32_t f32(float value) { return bits<uint32_t>(value); }
inline float toFloat(uint32_t value) { return bits<float>(value); }

/// A kernel of one .u64 parameter p around `body`, which finds registers %r1..,
/// %rd1.., %h1.. (b16), %f1.., %d1.., %p1.., and `buffer` in %rd0, the thread
/// in %r0. Prefix lines go to module scope.
inline std::string kernel(const std::string &body,
                          const std::string &prefix = "") {
  return ".version 8.5\n.target sm_90a\n.address_size 64\n" + prefix +
         "\n.visible .entry k(.param .u64 p)\n{\n"
         ".reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n"
         ".reg .f32 %f<40>; .reg .f64 %d<10>; .reg .pred %p<10>;\n"
         "ld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\n" +
         body + "\nret;\n}\n";
}

struct Launch {
  uint32_t threads = 32, ctas = 1, cluster = 1;
  uint32_t dynamicShared = 0;
};

/// Runs a kernel on a buffer of 32-bit words, which it may change.
inline LaunchReport runOn(std::vector<uint32_t> &buffer, const std::string &ptx,
                          Options options = {}, Launch launch = {}) {
  Device device;
  auto module = device.load(ptx, "test.ptx");
  if (!module) {
    LaunchReport report;
    report.diagnostics.emplace_back();
    report.diagnostics.back().message = module.error();
    return report;
  }
  size_t bytes = buffer.size() * sizeof(uint32_t);
  uint64_t address = device.allocate(bytes, "buffer");
  std::memcpy(reinterpret_cast<void *>(address), buffer.data(), bytes);
  LaunchConfig config;
  config.block.x = launch.threads;
  config.grid.x = launch.ctas;
  config.cluster.x = launch.cluster;
  config.dynamicSharedBytes = launch.dynamicShared;
  config.parameters.resize(8);
  std::memcpy(config.parameters.data(), &address, 8);
  LaunchReport report = device.launch(**module, "k", config, options);
  std::memcpy(buffer.data(), reinterpret_cast<void *>(address), bytes);
  return report;
}

/// Evaluates instructions that leave their result in %r3, from operands %r1 and
/// %r2: one pair of operands per lane.
inline std::vector<uint32_t>
evaluate(const std::string &instructions,
         const std::vector<std::pair<uint32_t, uint32_t>> &operands,
         uint32_t third = 0) {
  std::vector<uint32_t> buffer(3 * 32, 0);
  for (size_t lane = 0; lane < operands.size(); ++lane) {
    buffer[lane] = operands[lane].first;
    buffer[32 + lane] = operands[lane].second;
  }
  std::string body = "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;\n"
                     "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, "
                     "[%rd1+128];\nmov.u32 %r4, " +
                     std::to_string(third) + ";\n" + instructions +
                     "\nst.global.u32 [%rd1+256], %r3;";
  LaunchReport report = runOn(buffer, kernel(body));
  for (const Diagnostic &diagnostic : report.diagnostics)
    ADD_FAILURE() << instructions << "\n" << diagnostic.str();
  buffer.erase(buffer.begin(), buffer.begin() + 64);
  buffer.resize(operands.size());
  return buffer;
}

/// The result for one pair of operands.
inline uint32_t evaluateOne(const std::string &instructions, uint32_t a,
                            uint32_t b = 0, uint32_t c = 0) {
  return evaluate(instructions, {{a, b}}, c).front();
}

/// The first finding of a kernel, as text; empty if there is none.
inline std::string finding(const std::string &ptx, Options options = {},
                           Launch launch = {}, size_t words = 256) {
  std::vector<uint32_t> buffer(words, 0);
  LaunchReport report = runOn(buffer, ptx, options, launch);
  if (report.diagnostics.empty())
    return "";
  const Diagnostic &first = report.diagnostics.front();
  // What Device::load returns is complete text already.
  return first.file.empty() ? first.message : first.str();
}

} // namespace attn::sim::test

#endif // ATTN_TEST_UNIT_SIMULATOR_PTXHARNESS_H
