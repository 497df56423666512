//===- Serve.cpp - Many calls of one compiled function --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve.h"

#include "CpuDevice.h"
#include "Inputs.h"

#include "attn/Runtime/Npy.h"

#include <iostream>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

/// One answer; nothing of it may wait in a buffer while the caller waits for
/// it.
static void answer(StringRef line) {
  llvm::outs() << line << "\n";
  llvm::outs().flush();
}

/// Reads the arguments, calls the function, writes the results.
static bool call(func::FuncOp function, CpuJit &jit, StringRef request,
                 Options options) {
  SmallVector<StringRef> files;
  request.split(files, '\t');
  size_t arguments = function.getNumArguments();
  size_t expected = arguments + function.getNumResults();
  if (files.size() != expected)
    return reportError("expected " + std::to_string(expected) +
                       " files in a request, got " +
                       std::to_string(files.size()));
  for (StringRef file : ArrayRef(files).take_front(arguments))
    options.set.inputs.push_back(file.str());
  auto inputs = makeInputs(function, options);
  if (!inputs)
    return false;
  std::vector<HostTensor> results = jit.run(*inputs);
  for (auto [file, result] :
       llvm::zip_equal(ArrayRef(files).drop_front(arguments), results))
    if (auto error = runtime::writeNpy(file.str(), result))
      return reportError(error->message);
  return true;
}

bool attn::run::serve(func::FuncOp function, const Options &options) {
  auto jit = compileForCpu(function, CpuPath::Device, options);
  if (failed(jit))
    return false;
  answer("ready");
  std::string request;
  while (std::getline(std::cin, request))
    answer(call(function, **jit, request, options) ? "ok" : "failed");
  return true;
}
