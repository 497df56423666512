//===- DeviceRuntime.cpp - Functions of CUDA's device runtime -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global
/// Memory Allocation".
///
//===----------------------------------------------------------------------===//

#include "DeviceRuntime.h"
#include "../Memory.h"

#include <cstdio>

using namespace attn::sim;

namespace {

constexpr size_t maxStringLength = 4096;

class RuntimeCall {
public:
  RuntimeCall(Warp &warp, const Instruction &instruction, u32 lane,
              const CallSite &call)
      : warp(warp), instruction(instruction), lane(lane), call(call),
        local(warp.local + size_t(lane) * warp.localBytes) {}

  void run() {
    if (call.callee == "vprintf") {
      std::string text = formatText(string(argument(0)), argument(1));
      std::fputs(text.c_str(), stdout);
      setResult(s32(text.size()));
    } else if (call.callee == "__assertfail" ||
               call.callee == "__assert_fail") {
      fault(warp, instruction, Finding::Trap,
            format("device assertion failed: %s (%s:%u, lane %u)",
                   string(argument(0)).c_str(), string(argument(1)).c_str(),
                   u32(argument(2)), lane));
    } else if (call.callee == "malloc") {
      setResult(warp.worker->memory->allocate(argument(0), "device malloc",
                                              /*readOnly=*/false));
    } else if (call.callee != "free") {
      fault(warp, instruction, Finding::Ptx,
            "call of external function '" + call.callee + "'");
    }
  }

private:
  u64 argument(size_t index) const {
    u64 value = 0;
    if (index < call.arguments.size())
      std::memcpy(&value, local + call.arguments[index], sizeof value);
    return value;
  }

  template <typename T>
  void setResult(T value) {
    if (!call.results.empty())
      std::memcpy(local + call.results[0], &value, sizeof value);
  }

  template <typename T>
  T load(u64 address) {
    T value;
    std::memcpy(&value,
                pointer(warp, instruction, Space::Generic,
                        {address, sizeof(T), /*isWrite=*/false, lane}),
                sizeof value);
    return value;
  }

  std::string string(u64 address) {
    std::string text;
    while (text.size() < maxStringLength) {
      char c = load<char>(address + text.size());
      if (!c)
        break;
      text += c;
    }
    return text;
  }

  std::string formatText(const std::string &text, u64 values) {
    std::string out;
    u64 offset = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '%') {
        out += text[at];
        continue;
      }
      size_t end = text.find_first_of("diouxXeEfFgGaAcspn%", at + 1);
      if (end == std::string::npos)
        break;
      out += formatValue(text.substr(at, end - at + 1), values, offset);
      at = end;
    }
    return out;
  }

  /// One conversion; its value lies at the next multiple of its size.
  std::string formatValue(std::string spec, u64 values, u64 &offset) {
    char conversion = spec.back();
    if (conversion == '%')
      return "%";
    bool isFloating =
        std::string("eEfFgGaA").find(conversion) != std::string::npos;
    bool is64 = isFloating || conversion == 'p' || conversion == 's' ||
                spec.find('l') != std::string::npos ||
                spec.find('z') != std::string::npos;
    std::string flags = "%";
    for (char c : spec.substr(1, spec.size() - 2))
      if (c != 'l' && c != 'h' && c != 'z' && c != '*')
        flags += c;
    u64 size = is64 ? 8 : 4;
    offset = (offset + size - 1) / size * size;
    u64 address = values + offset;
    offset += size;
    if (isFloating)
      return print(flags + conversion, load<double>(address));
    if (conversion == 's')
      return print(flags + "s", string(load<u64>(address)).c_str());
    if (conversion == 'p')
      return print("0x%llx", load<unsigned long long>(address));
    if (conversion == 'n')
      return "";
    if (is64)
      return print(flags + "ll" + conversion, load<long long>(address));
    return print(flags + conversion, load<s32>(address));
  }

  template <typename T>
  static std::string print(const std::string &spec, T value) {
    char buffer[512];
    std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
    return buffer;
  }

  Warp &warp;
  const Instruction &instruction;
  u32 lane;
  const CallSite &call;
  u8 *local;
};

} // namespace

void attn::sim::callDeviceRuntime(Warp &warp, const Instruction &instruction,
                                  u32 lane, const CallSite &call) {
  RuntimeCall(warp, instruction, lane, call).run();
}
