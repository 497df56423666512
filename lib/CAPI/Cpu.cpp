//===- Cpu.cpp - C API: calls functions compiled for the CPU --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn-c/Cpu.h"

#include "attn/Target/CPU/CpuFunction.h"

#include <exception>
#include <new>
#include <utility>

using namespace attn;

struct AttnCpuFunction {
  std::unique_ptr<CpuFunction> function;
};
struct AttnCpuCall {
  const CpuFunction *function;
  std::vector<ArrayLayout> arguments;
};
struct AttnCpuResults {
  CpuFunction::Results results;
};

static thread_local std::string cpuMessage;

static std::nullptr_t report(llvm::Error error) {
  cpuMessage = llvm::toString(std::move(error));
  return nullptr;
}

/// What `body` makes; NULL where there is no memory for it.
template <typename Body>
static auto guarded(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception &exception) {
    cpuMessage = exception.what();
    return nullptr;
  }
}

const char *attnCpuGetMessage(void) { return cpuMessage.c_str(); }

const char *attnCpuGetHost(void) {
  static const std::string host = describeHost();
  return host.c_str();
}

AttnCpuFunction *attnCpuFunctionLoad(const char *bytes, size_t length) {
  return guarded([&]() -> AttnCpuFunction * {
    auto function = CpuFunction::load(llvm::StringRef(bytes, length));
    if (!function)
      return report(function.takeError());
    return new AttnCpuFunction{std::move(*function)};
  });
}

void attnCpuFunctionDestroy(AttnCpuFunction *function) { delete function; }

size_t attnCpuFunctionGetNumResults(const AttnCpuFunction *function) {
  return function->function->getNumResults();
}

AttnCpuCall *attnCpuCallCreate(const AttnCpuFunction *function,
                               const AttnCpuLayout *arguments,
                               size_t numArguments) {
  return guarded([&]() -> AttnCpuCall * {
    std::vector<ArrayLayout> layouts;
    for (const AttnCpuLayout &from : llvm::ArrayRef(arguments, numArguments))
      layouts.push_back({from.dtype,
                         {from.shape, from.shape + from.rank},
                         {from.strides, from.strides + from.rank}});
    if (llvm::Error error = function->function->check(layouts))
      return report(std::move(error));
    return new AttnCpuCall{function->function.get(), std::move(layouts)};
  });
}

void attnCpuCallDestroy(AttnCpuCall *call) { delete call; }

AttnCpuResults *attnCpuCallRun(const AttnCpuCall *call, void *const *addresses,
                               size_t numThreads) {
  return guarded([&] {
    return new AttnCpuResults{call->function->call(
        call->arguments, llvm::ArrayRef(addresses, call->arguments.size()),
        numThreads)};
  });
}

void attnCpuResultsDestroy(AttnCpuResults *results) { delete results; }

const int64_t *attnCpuResultsGetShape(const AttnCpuResults *results,
                                      size_t index) {
  return results->results.getShape(index).data();
}

void attnCpuResultsCopy(const AttnCpuResults *results, size_t index,
                        void *address, const int64_t *strides) {
  results->results.copyTo(
      index, address,
      llvm::ArrayRef(strides, results->results.getShape(index).size()));
}
